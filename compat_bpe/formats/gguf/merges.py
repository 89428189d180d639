"""Vocabularies with merges, and how text is split before these.

The merges are over bytes, as GPT-2's, or over text with ``▁``, as Gemma's.

``tokenizer.ggml.pre`` has only a name for the way to split text. Here the name stands for the steps
of the models' own ``tokenizer.json`` if they are known, or else for llama.cpp's, in which text
between matches stays, as in a ``Split``. llama.cpp writes some steps in another way, since its
engine for patterns has no Unicode classes, flags or normalizers.

Sources: ``src/llama-vocab.cpp`` of llama.cpp as vendored in llama_cpp_python 0.3.36, with the
patterns of the models in its comments; the classes of transformers 5.23; published files.
"""

from __future__ import annotations

from itertools import repeat
from operator import add
from typing import Any, NamedTuple

from ...pattern import DEEPSEEK, GPT2, KIMI, LLAMA3, O200K, QWEN
from ...pipeline.models.bpe.by_merges import UnknownPolicy
from .. import missing_byte
from ..tokenizer_bpe import ListedModel, RankedModel
from ..tokenizer_json import TokenizerDefinition
from ..tokenizer_writing import (
    byte_level_part,
    file_parts,
    pattern_part,
    pre_tokenizers_part,
    split_part,
)
from .container import NORMAL, Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tokenizer_models import ModelPart


Part = dict[str, Any]


class Pre(NamedTuple):
    """The steps before merges, with the settings of a tokenizer that go with them.

    Args:
        steps: the pre-tokenizers.
        ignore_merges: True if a chunk that is a token is that token, without merging.
        normalizes: True if text is normalized to NFC first.
        adds_bos: True if a text begins with a special token, unless the file says otherwise.
        is_spelled: True if tokens are text in which spaces are ``▁``, not bytes in an alphabet.
    """

    steps: tuple[Part, ...] = ()
    ignore_merges: bool = False
    normalizes: bool = False
    adds_bos: bool = False
    is_spelled: bool = False


#: Text as bytes, without a pattern and after GPT-2's pattern.
_BYTES, _GPT2_BYTES = byte_level_part(use_regex=False), byte_level_part()
_DIGIT = {"type": "Digits", "individual_digits": True}


def _splits(*patterns: str) -> tuple[Part, ...]:
    """Return a step for each pattern, and the step from text to bytes."""
    return (*map(split_part, patterns), _BYTES)


#: Parts of the published patterns, from which some models differ.
_ENGLISH = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
_LINE_ENDS, _SPACES = r"|\s*[\r\n]+", r"|\s+(?!\S)|\s+"
_N1, _N3 = r"\p{N}", r"\p{N}{1,3}"
#: The pattern of GPT-4o, but each digit is a chunk.
_ONE_DIGIT = O200K.replace(_N3, _N1)
_, _IDEOGRAPHS, _DEEPSEEK = DEEPSEEK
_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
#: The letters of scripts with case, in older models of DeepSeek.
_CASED = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-"
    "\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-"
    "\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-"
    "\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc"
    "\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-"
    "\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-"
    "\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-"
    "\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-"
    "\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-"
    "\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-"
    "\U000118df\U0001e900-\U0001e943"
)
_ASIAN = (
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf"
    "\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af"
    "\u1100-\u11ff]+"
)
_BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
#: A place before digits, a multiple of three of them.
_THIRDS = r"(?=(\p{N}{3})+(?!\p{N}))"


def _runs_of_spaces() -> str:
    """Return the alternatives for white space in Jais 2, whose runs are powers of two."""
    return "".join(rf"|\s{{{2**n}}}(?!\S)" for n in range(9, 1, -1)) + r"|\s{1,2}(?!\S)|\s{1}"


_QWEN2 = Pre(_splits(QWEN), normalizes=True)
_PLAIN_QWEN = Pre(_splits(QWEN))
_PLAIN_LLAMA3 = Pre(_splits(LLAMA3))
_PLAIN_GPT2 = Pre((_GPT2_BYTES,))
_DIGITS_GPT2 = Pre((_DIGIT, _GPT2_BYTES))

#: The steps by name; names with the same steps are one text, with spaces between.
_GROUPS = {
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 midm-2.0 lfm2 jina-v5-nano": Pre(
        _splits(LLAMA3), ignore_merges=True, adds_bos=True
    ),
    "dbrx smaug-bpe chatglm-bpe": _PLAIN_LLAMA3,
    "glm4 glm5": _PLAIN_LLAMA3._replace(ignore_merges=True),
    "jais-2": Pre(_splits(LLAMA3.replace(_SPACES, _runs_of_spaces()))),
    "qwen2 deepseek-r1-qwen f2llmv2 hunyuan stablelm2": _QWEN2,
    "kormo megrez solar-open grok-2": _PLAIN_QWEN,
    "qwen35": Pre(
        _splits(
            _ENGLISH + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
            r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + _LINE_ENDS + _SPACES
        ),
        normalizes=True,
    ),
    "ufakzeka": Pre(_splits(QWEN.replace(f"{_ENGLISH}|", ""))),
    "laguna": Pre(_splits("[^\\n]+|[\\n]+", QWEN)),
    "minicpm5": Pre(_splits(_N3, LLAMA3.replace(_N3, r"\p{N}+")), ignore_merges=True),
    "bailingmoe bailingmoe2 llada-moe": Pre(
        _splits(QWEN.replace(_ENGLISH, "'(?i:[sdmt]|ll|ve|re)").replace(_LINE_ENDS, r"|\s*[\r\n]"))
    ),
    "seed-coder": Pre(_splits(QWEN.replace(_SIGNS, r"| ?[^\s\p{L}\p{N}\r\n]+"))),
    "gpt-2 phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe gigachat"
    " a.x-4.0 mellum modern-bert exaone4 jais trillion granite-docling": _PLAIN_GPT2,
    "mpt olmo": _PLAIN_GPT2._replace(normalizes=True),
    "starcoder refact smollm codeshell exaone minerva-7b mellum2": _DIGITS_GPT2,
    "command-r": _DIGITS_GPT2._replace(normalizes=True),
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": Pre(_splits(*DEEPSEEK)),
    "spark2_5": Pre(
        _splits(*DEEPSEEK[:2], _DEEPSEEK.replace("[\r\n]*|\\s*[\r\n]+", "|[\r\n]"), _N1)
    ),
    "afmoe": Pre(_splits(r"\p{N}+", _THIRDS, _ASIAN, _DEEPSEEK)),
    # The file of Pixtral 12B that was converted has Llama 3's pattern by mistake.
    "tekken pixtral": Pre(
        _splits(_ONE_DIGIT.replace(f"{_ENGLISH}?", "")), ignore_merges=True, adds_bos=True
    ),
    "gpt-4o llama4 kanana2 talkie minimax-m2": Pre(_splits(O200K)),
    "granite-embed-multi-97m": Pre(_splits(O200K), ignore_merges=True),
    "tiny_aya cohere2moe": Pre(_splits(r"\d{1,3}(?=(?:\d{3})*\b)", O200K), normalizes=True),
    "youtu": Pre(
        _splits(
            "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" + _IDEOGRAPHS,
            _ONE_DIGIT,
        ),
        ignore_merges=True,
    ),
    "kimi-k2": Pre(_splits(KIMI), ignore_merges=True),
    "superbpe": Pre(_splits(r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
    "exaone-moe": Pre(
        _splits(
            _ENGLISH + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
        )
    ),
    "poro-chat bloom gpt3-finnish": Pre(_splits(_BLOOM)),
    "viking": Pre((split_part(_BLOOM), _DIGIT, _BYTES)),
    "falcon": Pre(
        (
            {"type": "Punctuation", "behavior": "Contiguous"},
            _GPT2_BYTES,
            {"type": "Digits", "individual_digits": False},
            split_part("[0-9][0-9][0-9]"),
        )
    ),
    "default": Pre(
        _splits(
            r"[\p{P}\$\+<=>\^~\|]+",
            GPT2.removesuffix(r"|\s+"),
            r"\p{N}+",
            "[0-9][0-9][0-9]",
        )
    ),
    "deepseek-coder": Pre(
        (*map(split_part, ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK)), _DIGIT, _BYTES)
    ),
    "deepseek-llm": Pre(
        (
            split_part("[\r\n]"),
            split_part(rf"\s?[{_CASED}]+"),
            split_part("\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+"),
            split_part(r"\s+$"),
            split_part(_CJK),
            _DIGIT,
            _BYTES,
        )
    ),
    "chameleon": Pre(
        (
            split_part("<sentinel:[0-9]+>"),
            split_part("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
            split_part(r"([\t\n]|    |  )"),
            _DIGIT,
            {"type": "Punctuation", "behavior": "Isolated"},
            _GPT2_BYTES,
        ),
        adds_bos=True,
    ),
    # Line ends are apart only because llama.cpp's engine needs that.
    "gemma4 granite-embed-multi-311m sarvam-moe": Pre(is_spelled=True),
}

#: The steps of each name.
PRE: dict[str, Pre] = {name: pre for names, pre in _GROUPS.items() for name in names.split()}

#: Known names whose steps are not known, and why.
REFUSED = {
    "whitespace": "it belongs to the model 'whitespace', whose normalizer GGUF files lack",
}


#: The advice about a file that does not say how text is split.
_ADVICE = "load the model's own tokenizer.json, or give the pattern (pattern=, --pattern)"
#: The decoder of tokens with ``▁``.
_SPELLED_DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ],
}


def read_byte_level(vocabulary: Vocabulary, pattern: str | None) -> TokenizerDefinition:
    """Return the tokenizer of a file of the model ``gpt2``.

    Args:
        vocabulary: its tokens.
        pattern: the pattern to use in place of the file's steps, in tiktoken's syntax.

    Raises:
        ValueError: the file is damaged, or the way to split text is not known.
    """
    name = vocabulary.metadata.text("pre")
    if pattern is not None:
        steps = (pattern_part(pattern), byte_level_part(use_regex=False))
        return _definition(vocabulary, Pre(steps), _model(vocabulary, Pre()))
    if name is None:
        vocabulary.metadata.fail(
            "pre",
            f"is missing, as in files from before May 2024, so the pattern is not known: {_ADVICE}",
        )
    if name in REFUSED:
        vocabulary.metadata.fail("pre", f"{name!r} is not supported: {REFUSED[name]}")
    if name not in PRE:
        vocabulary.metadata.fail("pre", f"{name!r} is not known: {_ADVICE}")
    pre = PRE[name]
    if pre.is_spelled:
        return read_spelled(vocabulary)
    if name == "kimi-k2" and vocabulary.metadata.texts("merges") is None:
        # Its ids are ranks, which define the merges.
        return _definition(vocabulary, pre, _ranked(vocabulary))
    return _definition(vocabulary, pre, _model(vocabulary, pre))


def read_spelled(vocabulary: Vocabulary) -> TokenizerDefinition:
    """Return the tokenizer of a file of the model ``gemma4``, whose tokens are text.

    Raises:
        ValueError: the file is damaged.
    """
    model = _model(vocabulary, Pre())
    number = vocabulary.id_of_role("unk_token")
    policy = UnknownPolicy(
        None if number is None else vocabulary.tokens[number],
        fuse=True,
        byte_fallback=model.vocabulary.keys() >= {f"<0x{byte:02X}>" for byte in range(256)},
    )
    parts = file_parts(
        None,
        vocabulary.template(adds_bos=True),
        _SPELLED_DECODER,
        normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    )
    source = vocabulary.metadata.source
    return TokenizerDefinition(
        model._replace(unknown=policy), vocabulary.added_tokens(), parts, source
    )


def _definition(vocabulary: Vocabulary, pre: Pre, model: ModelPart) -> TokenizerDefinition:
    metadata = vocabulary.metadata
    kinds = ["NFC"] if pre.normalizes else []
    kinds += ["Lowercase"] if metadata.truth("normalizer.lowercase") else []
    kinds += ["StripAccents"] if metadata.truth("normalizer.strip_accents") else []
    normalizers = [{"type": kind} for kind in kinds]
    parts = file_parts(
        pre_tokenizers_part(*pre.steps),
        vocabulary.template(adds_bos=pre.adds_bos),
        byte_level_part(add_prefix_space=True),
        normalizer={"type": "Sequence", "normalizers": normalizers} if normalizers else None,
    )
    mask = "[MASK]" if metadata.text("pre") == "modern-bert" else "<mask>"
    return TokenizerDefinition(model, vocabulary.added_tokens(mask), parts, metadata.source)


def _model(vocabulary: Vocabulary, pre: Pre) -> ListedModel:
    metadata = vocabulary.metadata
    merges = metadata.texts("merges")
    if merges is None:
        metadata.fail("merges", "there are no merges")
    ids = vocabulary.ids()
    names: list[str] = []
    if set(map(str.count, merges, repeat(" "))) == {1}:
        names = " ".join(merges).split(" ")
    if not names or "" in names:
        names = []
        for number, merge in enumerate(merges):
            at = merge.find(" ", 1)
            if at < 0 or at + 1 == len(merge):
                metadata.fail_item("merges", number, f"{merge!r} does not have two parts")
            names += (merge[:at], merge[at + 1 :])
    lefts, rights = names[::2], names[1::2]
    # Most names occur several times, so the set is made in half the time.
    if not ids.keys() >= set(names):
        for number, pair in enumerate(zip(lefts, rights)):
            for name in pair:
                if name not in ids:
                    metadata.fail_item("merges", number, f"{name!r} is not a token")
    if not all(map(ids.__contains__, map(add, lefts, rights))):
        for number, token in enumerate(map(add, lefts, rights)):
            if token not in ids:
                metadata.fail_item("merges", number, f"{token!r} is not a token")
    return ListedModel(ids, (lefts, rights), ignore_merges=pre.ignore_merges, spelled=merges)


def _ranked(vocabulary: Vocabulary) -> RankedModel:
    from ...pipeline.byte_level import decode_all

    numbers = list(vocabulary.of_types(NORMAL))
    written = decode_all([vocabulary.tokens[number] for number in numbers])
    ranks = {token: number for token, number in zip(written, numbers) if token is not None}
    byte = missing_byte(ranks)
    if byte is not None:
        vocabulary.metadata.fail("tokens", f"there is no token for the single byte 0x{byte:02X}")
    return RankedModel(ranks)
