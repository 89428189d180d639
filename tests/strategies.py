"""Texts that are hard to split and to merge, for hypothesis."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hypothesis import strategies as st

#: The 25 White_Space code points, and what only stdlib ``re`` and ``str.isspace`` take for such.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
NO_WHITE_SPACE = "\x1c\x1d\x1e\x1f\u180e\u200b\ufeff"

#: By the case classes that o200k_base tells apart: Lu, Ll, Lt, Lm, Lo; some above U+FFFF, some
#: whose case has no other or a longer one.
CASED = "AZazÀÉàéǅᾼʰˈªºẞßİıſKꭰᏸᲀᲐა\U00010400\U00010428\U0001d400\U0001d41a"
#: Letters of scripts without case, and the marks that some of them take.
OTHER_LETTERS = "中文字々〇ー한한กำעربيشकषिன்ကြាఅ\U00020000\U00030000\U00016a40\U0001e900"
#: Mn, Mc and Me.
MARKS = "\u0301\u0327\u0903\u0940\u094d\u0e33\u20dd\ufe0f\U0001d165\U000e0100"
#: Nd, Nl and No.
DIGITS = "0123456789٣۴५๕０Ⅷↈ〇²½①\U0001d7d8\U0001e950\U0001f100"
SYMBOLS = "'’`\"-_.,;:!?/\\()[]{}<>|@#$%^&*+=~…—«»。、“”€©™°\u200d\ufffd\x00\x7f\xad"
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "1️⃣", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
#: Assigned by Unicode 15, 16 and 17, unassigned, for private use, or no character at all.
RECENT = (
    "\U0001faf8\U00031350\u1c89\u1c8a\ua7cb\ua7da\U000105c0\U00010d4a\U00010d65\U00010d40"
    "\ua7ce\ua7d2\u088f\U00016ea0\U0001fac8\u0378\U000dfffd\ue000\U000f0000\uffff\U0010ffff"
)
SURROGATES = ["\ud83d\ude00", "\ud83d", "\ude00", "\ude00\ud83d", "\udfff", "\ud800\udc00"]
CONTRACTIONS = [
    "'s", "'S", "'ſ", "'t", "'T", "'re", "'RE", "'rE", "'ve", "'VE", "'Ve", "'m", "'M", "'ll",
    "'LL", "'lL", "'d", "'D", "'l", "'r", "'v", "'x", "'sſ", "'lls", "'S's", "''S", "''ll", "’s",
    "’LL", "’ve",
]  # fmt: skip
NEWLINES = ["\n", "\r", "\r\n", "\n\n", "\n\r", " \n", "\n ", "\r \r", "/\n", "\n/"]
RUNS = [
    " ",
    "\t",
    "\n",
    "\r\n",
    "\xa0",
    "\u3000",
    "    ",
    "a",
    "Aa",
    "é",
    "中",
    "7",
    "=",
    "-*",
    "/",
]
WORDS = [
    "hello", "World", "camelCase", "XMLHttpRequest", "don't", "O'Neill", "naïve", "Straße",
    "antidisestablishmentarianism", "3.14159", "0x1F", "https://example.org/?q=1#x", "<br/>\n",
    "    return self._x\n", "\tif (a && b) {\n", "// TODO\r\n", "Привет", "Γειά", "สวัสดี", "नमस्ते",
    "مرحبا", "안녕하세요", "こんにちは", "你好，世界。",
]  # fmt: skip
SPECIAL_PARTS = [
    "<|", "|>", "<", "|", ">", "<|end", "<|endof", "endoftext", "<|endoftext|>", "<|endoftext",
    "|endoftext|>", "<|<|endoftext|>|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_", "middle|>",
    "<|endofprompt|>", "<|start|>", "<|startoftext|>", "<|return|>", "<|reserved_200000|>",
    "<|reserved_2000", "<|reserved_200018|>", "<|im_start|>",
]  # fmt: skip

characters = st.one_of(
    *map(
        st.sampled_from,
        (WHITE_SPACE, NO_WHITE_SPACE, CASED, OTHER_LETTERS, MARKS, DIGITS, SYMBOLS, RECENT),
    ),
    st.characters(exclude_categories=()),
)
pieces = st.one_of(
    characters,
    st.sampled_from(CONTRACTIONS),
    st.sampled_from(NEWLINES),
    st.sampled_from(WORDS),
    st.sampled_from(EMOJI),
    st.sampled_from(SURROGATES),
    st.sampled_from(SPECIAL_PARTS),
    st.text("aA's \n1", max_size=8),
    st.builds(lambda run, times: run * times, st.sampled_from(RUNS), st.integers(1, 90)),
)

#: Any text, by preference a hard one.
texts = st.lists(pieces, max_size=20).map("".join)


def texts_from(ranks: Mapping[bytes, int]) -> st.SearchStrategy[str]:
    """Texts of a vocabulary's own tokens, as they are and cut: where merges compete."""
    tokens = st.sampled_from(
        [text for text in (t.decode("utf-8", "ignore") for t in ranks) if text]
    )
    cut = st.builds(lambda token, start, end: token[start:end], tokens, *[st.integers(-3, 3)] * 2)
    return st.lists(st.one_of(tokens, cut, pieces), max_size=20).map("".join)


def names_from(names: Collection[str]) -> st.SearchStrategy[frozenset[str]]:
    """Sets of special tokens' names, and of others."""
    name = st.sampled_from([*sorted(names), "<|", "no special token", "e"])
    return st.frozensets(name, max_size=6)


#: Characters that are composed, decomposed, ordered, removed, joined and replaced.
characters_to_normalize = st.one_of(
    st.sampled_from("aeiouASDddjkqxl\u0645\u06d2\u1100\u1161\u11a8\uac00\ud7a3`<=>1 "),
    st.sampled_from("\u0300\u0301\u0307\u0323\u0327\u0338\u0345\u05b0\u3099\u0f71\u0f72\u0344"),
    st.sampled_from("ﬁﬀ①Ⅷℌ㍿ｱﾞ\u2126\u212b\u0340\u0344\u0958\ufb1d\U0001d15e\U0002f800İß™…"),
    # Marks that BERT keeps, and puts in order.
    st.sampled_from("\u1b44\u302e\u302f\U0001d165\U0001d16d\U000110b9\u08d4\U0001e000\u1dfb"),
    # Composed, or put in order, only in a later version of Unicode.
    st.sampled_from("\U00011935\U00011930\U00011938\U000105d2\U000105c9\u0898\u1abf\u1dfa"),
    st.sampled_from("\u0600\U000110bd\u0915\u094d\u0937\u0940\u200d\u200c\ufe0f\u20e3\u0e33"),
    st.sampled_from("\x00\x01\t\n\r\x7f\x85\x8f\xa0\xad\u180e\u200b\u2028\u2581\ufeff\ufffd"),
    st.sampled_from("中文㐀字\uf900\U00020000\U0002b820\U0002b920かがカ゛\u3099￥ＡａﾊﾟِAב"),
    st.sampled_from("\u09c7\u09be\u0b47\u0b56\U00011131\U00011127👍🏽👩❤🇩🇪\r\n"),
    st.sampled_from(MARKS + OTHER_LETTERS + RECENT + WHITE_SPACE),
    st.characters(codec="utf-8"),
)

texts_to_normalize = st.lists(
    st.one_of(characters_to_normalize, st.sampled_from([*EMOJI, "\r\n", "  ", "``", "ａ\u0301"])),
    max_size=12,
).map("".join)

#: Bytes that are often within a character, and often wrong there.
some_bytes = st.lists(
    st.one_of(
        st.characters(exclude_categories=["Cs"]).map(str.encode),
        st.sampled_from(
            [bytes([byte]) for byte in b"a\x80\x90\xa0\xbf\xc0\xc3\xe0\xed\xf0\xf4\xff"]
        ),
        st.sampled_from([b"\xf0\x9f", b"\xe4\xb8", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90"]),
    ),
    max_size=12,
)

#: What is in a file of UTF-8: no surrogates.
utf8_texts = texts.map(lambda text: text.encode("utf-8", "ignore").decode())
