"""The families of models whose vocabulary is a rank file, with the parts that the file lacks.

A family is recognised by the class that ``tokenizer_config.json`` names, else by the SHA-256 of the
rank file. No code beside a file is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Callable, NamedTuple

from ..formats.settings_beside import Settings, settings_beside


class RankFamily(NamedTuple):
    """A family of models whose vocabulary is a rank file.

    Args:
        name: the name of the family, and of its pattern in ``PATTERNS``.
        names: the special tokens, whose ids follow the ranks.
        tokens_of: returns the special tokens and their ids in place of ``names``, given the number
            of ranks and the settings beside the file; None if these do not matter.
        classes: the names of its class in ``tokenizer_config.json``.
        sha256: the hash of a published file that no other family has.
        fits: returns True if the settings are of this family, if other models use the same class
            name.
        is_nfc: True if text is normalized to NFC first.
        by_line: True if a token's rank is its place in the file, not the number beside it.
    """

    name: str
    names: Sequence[str] = ()
    tokens_of: Callable[[int, Settings], Mapping[str, int]] | None = None
    classes: tuple[str, ...] = ()
    sha256: str = ""
    fits: Callable[[Settings], bool] = lambda settings: True
    is_nfc: bool = False
    by_line: bool = False

    def special_tokens(self, count: int, settings: Settings) -> Mapping[str, int]:
        """Return the special tokens and their ids.

        Args:
            count: the number of ranks.
            settings: the settings beside the file.

        Raises:
            ValueError: the settings are damaged, or the model's special tokens are not known.
        """
        return self.numbered(count) if self.tokens_of is None else self.tokens_of(count, settings)

    def numbered(self, count: int) -> dict[str, int]:
        """Return ``names`` with the ids that follow the ranks."""
        return {name: id_ for id_, name in enumerate(self.names, count)}


def _listed(settings: Settings) -> dict[int, str]:
    """Return the names in ``added_tokens_decoder`` by their ids; empty if there is no such list."""
    return {token["id"]: token["content"] for token in settings.listed()}


def _numbered(text: str, start: int, end: int) -> list[str]:
    """Return names that contain consecutive numbers.

    >>> _numbered("<|extra_%d|>", 0, 2)
    ['<|extra_0|>', '<|extra_1|>']
    """
    return [text % number for number in range(start, end)]


#: GLM-4-9B, whose ``tokenizer.model`` is a rank file; later models have a ``tokenizer.json``. The
#: names are for a file without ``tokenizer_config.json``.
_GLM4: RankFamily = RankFamily(
    "glm4",
    """
        <|endoftext|> [MASK] [gMASK] [sMASK] <sop> <eop> <|system|> <|user|> <|assistant|>
        <|observation|> <|begin_of_image|> <|end_of_image|> <|begin_of_video|> <|end_of_video|>
    """.split(),
    lambda count, settings: (
        {name: id_ for id_, name in _listed(settings).items()} or _GLM4.numbered(count)
    ),
    classes=("ChatGLM4Tokenizer",),
    sha256="5a493598071550244b2ee7f26118f3edec2150b9dfa967929a99052ac83fe716",
)

#: Hunyuan's mixtures of experts (A13B, 7B), whose file is ``hy.tiktoken``. A token's rank is its
#: place in the file. Some tokens come twice; the first line counts.
_HUNYUAN = RankFamily(
    "hunyuan",
    [
        *"<|endoftext|> <|startoftext|> <|bos|> <|eos|> <|pad|>".split(),
        *_numbered("<|extra_%d|>", 0, 205),
    ],
    classes=("HYTokenizer",),
    is_nfc=True,
    by_line=True,
)

#: The number of Kimi's ids for special tokens, by the module that reads the file: the older one has
#: two more.
_KIMI_RESERVED = {"tokenization_kimi": 256, "tokenization_moonshot": 258}


def _kimi_module(settings: Settings) -> str:
    """Return the name of the module that reads the file; empty if there is none."""
    named = settings.config.value.get("auto_map")
    if isinstance(named, dict):
        named = named.get("AutoTokenizer")
    if isinstance(named, list):
        named = next(iter(named), None)
    # It may be in another repository: "OWNER/NAME--MODULE.CLASS".
    return named.rpartition("--")[2].partition(".")[0] if isinstance(named, str) else ""


def _kimi_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    names = _listed(settings)
    end = count + _KIMI_RESERVED.get(_kimi_module(settings), 256)
    return {names.get(id_, f"<|reserved_token_{id_}|>"): id_ for id_ in range(count, end)}


#: Kimi K2 and K3, Moonlight, Kimi-Linear and Kimi-VL, whose file is ``tiktoken.model``. The names
#: of the special tokens are in ``tokenizer_config.json``, and differ between the models.
_KIMI = RankFamily(
    "kimi",
    tokens_of=_kimi_tokens,
    classes=("TikTokenTokenizer",),
    sha256="b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103",
    fits=lambda settings: _kimi_module(settings) in _KIMI_RESERVED,  # other models have the class
)

#: Llama 3.1 to 3.3 as Meta publishes them: ``original/tokenizer.model``. The special tokens are
#: those of models/llama3/tokenizer.py in meta-llama/llama-models (0.3.0). Some of Hugging Face's
#: files give ids 128005 and 128011 other names.
_LLAMA3 = RankFamily(
    "llama3",
    [
        *("<|begin_of_text|>", "<|end_of_text|>"),
        *_numbered("<|reserved_special_token_%d|>", 0, 2),
        *("<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>"),
        *("<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>"),
        *_numbered("<|reserved_special_token_%d|>", 2, 246),
    ],
    sha256="82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
)

_TEXT_RESERVED = "<|text_post_train_reserved_special_token_%d|>"
_VISION_RESERVED = "<|vision_reserved_special_token_%d|>"

#: Llama 4 as Meta publishes it: ``tokenizer.model``. The special tokens are those of
#: models/llama4/tokenizer.py in meta-llama/llama-models (0.3.0).
_LLAMA4 = RankFamily(
    "llama4",
    [
        *("<|begin_of_text|>", "<|end_of_text|>"),
        *("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
        *("<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"),
        *_numbered(_TEXT_RESERVED, 0, 6),
        *("<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"),
        *_numbered(_TEXT_RESERVED, 8, 69),
        *("<|image_start|>", "<|image_end|>"),
        *_numbered(_VISION_RESERVED, 0, 2),
        *("<|tile_x_separator|>", "<|tile_y_separator|>"),
        *_numbered(_VISION_RESERVED, 2, 6),
        "<|image|>",
        *_numbered(_VISION_RESERVED, 6, 7),
        "<|patch|>",
        *_numbered(_VISION_RESERVED, 7, 1048),
        *_numbered("<|reasoning_reserved_special_token_%d|>", 0, 8),
        *("<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"),
        *_numbered("<|reserved_special_token_%d|>", 0, 904),
    ],
    sha256="d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
)

#: Phi-3-small: the ranks and the pattern of ``cl100k_base``, with other special tokens. Its file is
#: OpenAI's, so only ``tokenizer_config.json`` tells the two apart. The ids are those of its
#: ``tokenization_phi3_small.py``: each id without a token is a dummy.
_PHI3_SMALL = RankFamily(
    "phi3_small",
    [
        *("<|dummy_id_2|>", "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
        *("<|system|>", "<|user|>", "<|assistant|>"),
        *_numbered("<|dummy_id_%d|>", 0, 2),
        "<|end|>",
        *_numbered("<|dummy_id_%d|>", 3, 12),
        "<|endofprompt|>",
        *_numbered("<|dummy_id_%d|>", 12, 87),
    ],
    classes=("Phi3SmallTokenizer",),
)


def _qwen_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    visual = settings.model.get("visual")
    if visual is not None:
        visual.fail(
            "this model reads images; its special tokens are not known: pass special_tokens"
        )
    return _QWEN.numbered(count)


#: Qwen 1, from its ``tokenization_qwen.py`` (Qwen/Qwen-7B). Its file is ``qwen.tiktoken``.
#: Models that read images have more special tokens, which are not known here.
_QWEN: RankFamily = RankFamily(
    "qwen",
    ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *_numbered("<|extra_%d|>", 0, 205)],
    _qwen_tokens,
    classes=("QWenTokenizer",),
    sha256="b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    is_nfc=True,
)

_WHISPER_LANGUAGES = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th "
    "ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr "
    "pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt "
    "haw ln ha ba jw su"
)

#: Whisper's models of many languages: ``multilingual.tiktoken``, with the tokens of 99 languages.
#: The special tokens are those of ``get_encoding`` in whisper/tokenizer.py (openai-whisper
#: 20250625). The models from ``large-v3`` on have one language more, ``<|yue|>``, and all later ids
#: are higher by one. They need ``special_tokens`` of their own.
_WHISPER = RankFamily(
    "whisper",
    [
        *("<|endoftext|>", "<|startoftranscript|>"),
        *(f"<|{name}|>" for name in _WHISPER_LANGUAGES.split()),
        *("<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>"),
        *("<|nospeech|>", "<|notimestamps|>"),
        # Times are a fiftieth of a second apart, from 0 to 30 seconds.
        *(f"<|{number * 0.02:.2f}|>" for number in range(1501)),
    ],
    sha256="b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
)

#: All families. Their classes and their hashes differ, so the order does not matter.
FAMILIES = (_GLM4, _HUNYUAN, _KIMI, _LLAMA3, _LLAMA4, _PHI3_SMALL, _QWEN, _WHISPER)


def family_of(path: Path, data: bytes) -> tuple[RankFamily, Settings] | None:
    """Return the family of a rank file, and the settings beside it; None if no family fits.

    Args:
        path: the file.
        data: its content.

    Raises:
        OSError: a file beside it cannot be read.
        ValueError: a file beside it is damaged.
    """
    settings = settings_beside(path)
    classes = {name for family in FAMILIES for name in family.classes}
    named = settings.class_name(classes)
    if named is not None and named.value in classes:
        for family in FAMILIES:
            if named.value in family.classes and family.fits(settings):
                return family, settings
    digest = sha256(data).hexdigest()
    for family in FAMILIES:
        if family.sha256 == digest:
            return family, settings
    return None
