#!/usr/bin/env python3
"""Write ``fixtures/golden/*.json``: what the real libraries make of texts that are hard.

    python tools/build_golden.py [--check]

Needs tiktoken, which runs offline, on the files that this package writes; it checks their sha256.
For DeepSeek's encodings it needs tokenizers, which runs on the files that DeepSeek published.
With ``--check`` nothing is written, and the exit status is 1 if a file is missing or is not what
would be written.

A file holds the version of the library, the name of the encoding, ``ordinary``: pairs of a text and
its ids, and ``special``: triples of a text, what ``allowed_special`` is, and the ids, all with
``disallowed_special=()``. It is ASCII, one case a line; lone surrogates are JSON escapes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tiktoken
import tokenizers

from compat_bpe.encodings.published import DEEPSEEK_NAMES, PUBLISHED
from tests.strategies import WHITE_SPACE
from tools.generated import write_or_check
from tools.reference_files import reference_file
from tools.tiktoken_files import write_tiktoken_files

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "fixtures" / "golden"

#: White space to ``str.isspace`` or once to Unicode, but not to the patterns.
NO_WHITE_SPACE = "\x1c\x1d\x1e\x1f\u180e\u200b\u2060\ufeff"

CONTRACTIONS = "s S ſ t T d D m M ll LL lL re RE Re ve VE vE l r v x".split()
LONG = [*"aA \n", "\r\n", *"\t-=7é中\u3000😀\u0301", "'s", "aB"]

PROSE = """\
hello world
Hello, World! It's 12:30; isn't it?
The naïve café's façade cost €1,234.56 (≈ £1,050) in 2024.
antidisestablishmentarianism supercalifragilisticexpialidocious
HTTPServer XMLHttpRequest iPhone McDonald eBay camelCaseString SCREAMING_SNAKE_CASE
“Quoted—text…” ‘single’ «guillemets» ‹x›
1 22 333 4444 55555 666666 7777777 1.5e-10 0xDEADBEEF
user.name+tag@example.org https://example.org/path?q=1&r=2#frag
e\u0301 vs é, n\u0303 vs ñ, \u0301 alone, a\u0301\u0327\u20dd\ufe0f
Ünïcödé ŁÓDŹ ßẞ İstanbul ıi ﬁ ﬂ ǅ ǈ ᾼ ʰ ˈ ª º ſ K Å
Привет, мир! Ёлка ЁЛКА ёлка'с
Γειά σου Κόσμε ΣΊΣΥΦΟΣ σίσυφος ᾳ ᾼ
שלום עולם שָׁלוֹם
مرحبا بالعالم ١٢٣٤٥٦ السَّلامُ عَلَيْكُمْ
नमस्ते दुनिया १२३४५ क्षत्रिय
স্বাগতম தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල
สวัสดีชาวโลก ๑๒๓๔๕ ພາສາລາວ
မြန်မာစာ ភាសាខ្មែរ བོད་ཡིག
你好，世界。中文分词：一二三四五。
こんにちは世界、カタカナ、ﾊﾝｶｸ、々〆〇
안녕하세요 세계 각각 ㄱㄴㄷ \u1112\u1161\u11ab
Ꭰꭰ ᏸ Აა ᲀ Ꙋꙋ \u1c89\u1c8a\ua7cb\ua7da
𐐀𐐨 𝐀𝐚𝟘𝟙 𝒜𝓑 𠀀𠮷 𖹀𖹠 \U000105c0\U00010d4a\U00010d65
\U0001e900\U0001e922\U0001e950\U0001e951\U0001e952\U0001e953
😀 😀😀 👍🏽 👩\u200d👩\u200d👧\u200d👦 🇩🇪🇫🇷 1️⃣ ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿
½ ² ① Ⅷ ↈ 〇 一 ㊀ 🄀 ৴ ௰ 1½2²3
$100 £5 ¥7 ₿ + − × ÷ = ≠ ∞ → ⇒ © ® ™ §¶†‡•
\x00\x01\x7f\x80\x9f\xad a\x00b \u200ba\u200c\u200d
\ue000\U000f0000\uffff\U0010ffff \u0378\U000dfffd \ua7ce\u088f\U00016ea0
/path/to/file.txt C:\\Windows\\System32 ../../x ~/.bashrc //\n/*\n*/
<div class="a">text</div> <br/>\n&nbsp;&#x27;
![alt](url) **bold** _it_ `code` ~~~ ### --- ***
{"key": [1, 2.5, null, true], "k2": {"n": -1e9}}
f(x)=x**2;if(a&&b||!c){return--i}!!!???...,,,;;;
aaa bbb   ccc\t\tddd \teee\xa0fff\u3000ggg"""

CODE = [
    "def f(x):\n    if x:\n        return [\n            1,\n        ]\n\n\nclass A:\n    pass\n",
    '\tfor (i = 0; i < n; i++) {\n\t\tputs("%d\\n", i);\n\t}\n',
    "\r\n    int a;\r\n\r\n\t\tint b;   \r\n",
    "if x:\n  y\n   z\n     w\n       v\n         u\n",
    'a = \'it\\\'s\'  # don\'t\nb = """x"""\n',
    "//\n//\r\n// x\n/* y */\n#!/bin/sh\n\n\n",
    "a  \n b \n\n  c\n   \n    \n",
]


def ordinary_texts() -> Iterator[str]:
    """Yield a few hundred texts, each for a reason; some come twice."""
    yield ""
    yield from PROSE.split("\n")
    yield from CODE
    # Contractions, with those that are none, in each case, at each place.
    for end in CONTRACTIONS:
        yield f"it'{end} a'{end}b '{end} 1'{end} !'{end}\n'{end}X'{end}'{end}’{end}"
    # White space of each kind, alone and in runs, around letters, digits, symbols and newlines.
    for space in WHITE_SPACE:
        yield f"a{space}b{space}{space}c {space}d{space} e{space}\n{space}1{space}!{space}{space}"
        yield f"{space}{space}\n{space}a\n{space}{space}{space}"
    for char in NO_WHITE_SPACE:
        yield f"a{char}b {char} c\n{char}\n1{char}{char}2 !{char}"
        yield f"a  {char}  b   {char} {char}\n\n{char}\n  {char}"
    for run in ("  ", "   ", " \n", "\n ", "\n\n", " \n ", "\r\n ", "\t \t", "\n \n", "\r\r\n\n"):
        yield f"{run}a{run}1{run}.{run}"
    # Digits, one to seven, of several scripts.
    for zero in (0x30, 0x660, 0x966, 0xE50, 0xFF10, 0x1D7D8):
        digits = "".join(map(chr, range(zero + 1, zero + 8)))
        yield " ".join(digits[:length] for length in range(1, 8)) + digits[::-1]
    yield "²²²² ½½½½ ⅧⅧⅧⅧ 1²3½5 a1b22c333d4444"
    # Changes of case, with letters that have none, and marks.
    for upper, lower in (("A", "a"), ("É", "é"), ("Я", "я"), ("Σ", "ς"), ("𐐀", "𐐨"), ("Ა", "ა")):
        for other in ("ǅ", "ʰ", "字", "\u0301", "ª"):
            yield "".join(
                (f"{upper}{lower}{upper}{upper}{lower}{lower} {other}{lower}{upper}{other}",
                 f"{lower}{other}{upper} {upper}{other}{lower}'s {other}{other}'LL{upper}'re")
            )  # fmt: skip
    # Runs, longer than any token.
    for unit in LONG:
        for times in (2, 5, 17, 100):
            yield unit * times
        yield f"x{unit * 40}y"
        yield f" {unit * 33}\n"
    # Surrogates: a pair, halves, halves in the wrong order.
    pair = "\ud83d\ude00"
    for part in (pair, "\ud83d", "\ude00", "\ude00\ud83d", f"\ud83d{pair}", "\udfff"):
        yield f"{part}"
        yield f"a{part} {part}b'{part}s\n{part}{part}"
    # Special tokens are plain text here.
    yield from special_texts()


def special_texts() -> list[str]:
    end = "<|endoftext|>"
    return [
        end,
        f"{end}{end}",
        f"a{end}b",
        f" {end} \n{end}\n",
        f"hello {end} world",
        f"<|{end}|>",
        "<|endoftext",
        "|endoftext|>",
        "<|endoftext|",
        "<|end<|endoftext|>oftext|>",
        "<|EndOfText|>",
        "<| endoftext |>",
        f"it{end}'s  {end}  x",
        f"\ud83d{end}\ude00",
        f"字{end}\U00010400{end}\u0301",
        "<|fim_prefix|>def f():<|fim_suffix|>\n<|fim_middle|>",
        "<|fim_prefix|<|fim_middle|>",
        f"text<|endofprompt|>{end}",
        "<|start|>user<|message|>Hi!<|end|><|start|>assistant<|channel|>final<|return|>",
        "<|startoftext|><|constrain|>json<|call|><|reserved_200000|><|reserved_201087|>",
        "<|reserved_200001|><|reserved_20|><|reserved_201088|>",
    ]


def deepseek_texts() -> list[str]:
    return [
        "<｜begin▁of▁sentence｜><｜User｜>Hi!<｜Assistant｜><think>\n\n</think>Hello",
        "a <｜User｜> b<｜Assistant｜>\n<|EOT|>\n",
        "<｜begin▁of▁sentence",
        "<｜｜User｜>｜>",
        "<｜fim▁begin｜>def f():<｜fim▁hole｜>\n<｜fim▁end｜>",
        "<｜place▁holder▁no▁0｜><｜place▁holder▁no▁797｜><｜place▁holder▁no▁799｜>1234",
        "<|place_holder_mm_span_0021|>字<|place_holder_mm_span_0435|>",
        "<dsml:x></dsml:x>｜DSML｜<｜image｜><｜table｜>",
        " <｜end▁of▁sentence｜> \n<｜▁pad▁｜>  x",
    ]


def build(name: str) -> str:
    """Return the content of the file of one of OpenAI's encodings."""
    encoding = tiktoken.get_encoding(name)
    texts = dict.fromkeys(ordinary_texts())
    ordinary = [(text, encoding.encode_ordinary(text)) for text in texts]
    special = []
    for text in special_texts():
        present = sorted(token for token in encoding.special_tokens_set if token in text)
        # All, none, and each alone; "hello" is a name that no special token has.
        for allowed in ("all", [], *([token, "hello"] for token in present if len(present) > 1)):
            chosen = allowed if isinstance(allowed, str) else set(allowed)
            ids = encoding.encode(text, allowed_special=chosen, disallowed_special=())  # type: ignore[arg-type]
            special.append((text, allowed, ids))
    return content(f'"tiktoken": "{tiktoken.__version__}"', name, ordinary, special)


def build_deepseek(name: str) -> str:
    """Return the content of the file of one of DeepSeek's encodings."""
    file = "deepseek_v4" if name == "deepseek_v4" else "deepseek_r1"
    tokenizer = tokenizers.Tokenizer.from_file(str(reference_file(file)))

    def encode(text: str, special: bool) -> list[int]:
        tokenizer.encode_special_tokens = not special
        repaired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return list(tokenizer.encode(repaired, add_special_tokens=False).ids)

    names = deepseek_texts()
    texts = dict.fromkeys([*ordinary_texts(), *names])
    ordinary = [(text, encode(text, False)) for text in texts]
    special = []
    for text in [*special_texts(), *names]:
        special += [(text, "all", encode(text, True)), (text, [], encode(text, False))]
    return content(f'"tokenizers": "{tokenizers.__version__}"', name, ordinary, special)


def content(version: str, name: str, ordinary: list[Any], special: list[Any]) -> str:
    """Return the content of a file, one case a line."""
    lines = ["{", f"{version},", f'"encoding": "{name}",']
    for key, cases in (("ordinary", ordinary), ("special", special)):
        rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        lines += [f'"{key}": [', rows, "]," if key == "ordinary" else "]"]
    return "\n".join([*lines, "}", ""])


def generate() -> dict[Path, str]:
    """Return the text of each file."""
    with tempfile.TemporaryDirectory() as folder:
        write_tiktoken_files(Path(folder))
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        files = {name: build(name) for name in PUBLISHED}
    files.update({name: build_deepseek(name) for name in DEEPSEEK_NAMES})
    return {GOLDEN / f"{name}.json": text for name, text in files.items()}


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
