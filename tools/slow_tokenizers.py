"""Write what Hugging Face transformers makes of vocabularies in its older formats.

``fixtures/slow_tokenizers.json`` has for each small folder its class, its files, and the
``tokenizer.json`` that the class makes of them. Only the last is written; to add a folder, add the
first two. The last sixty folders were made by ``random_folder``.

    pip install transformers==4.57.6 protobuf sacremoses
    python -m tools.slow_tokenizers

``random_folder`` makes more of them: a small vocabulary and, in the files beside it, settings and
special tokens as they may be found there: by role, by id, in the old files or in the new one, in
the vocabulary or not.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

FIXTURE = Path(__file__).parents[1] / "fixtures" / "slow_tokenizers.json"

BERT = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n##lo\nhel\n"
MPNET = "<s>\n<pad>\n</s>\n[UNK]\n<mask>\nhello\n"
FUNNEL = "<s>\n<pad>\n</s>\n<unk>\n<cls>\n<sep>\n<mask>\nhello\n"


def _pair(vocab: dict[str, int], merges: str) -> dict[str, str]:
    """Return the two files of a vocabulary."""
    return {"vocab.json": json.dumps(vocab), "merges.txt": f"#version: 0.2\n{merges}\n"}


def _listed_pair(tokens: str, merges: str) -> dict[str, str]:
    """Return the same for tokens that are numbered as listed."""
    return _pair({token: number for number, token in enumerate(tokens.split())}, merges)


_GPT = _listed_pair("h e j Ġ he Ġh <q> < > | q [X] <s> </s> <unk> <pad> <|endoftext|>", "h e\nĠ h")
_WORDS = _listed_pair(
    "h e h</w> e</w> he</w> < ></w> q <q> <s> </s> <pad> <unk> <mask> "
    "<|startoftext|> <|endoftext|>",
    "h e</w>",
)
_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
_FLAGS = ("lstrip", "normalized", "rstrip", "single_word")

#: The files of each vocabulary, and the classes that have it.
_CLASSES = (
    (
        {"vocab.txt": BERT},
        "Bert ConvBert DistilBert DPRContextEncoder DPRQuestionEncoder DPRReader Electra LayoutLM "
        "LayoutLMv2 Lxmert MobileBert SqueezeBert",
    ),
    ({"vocab.txt": MPNET}, "MPNet"),
    ({"vocab.txt": FUNNEL}, "Funnel"),
    (_GPT, "GPT2 CodeGen Qwen2 Roberta Bart LED Longformer Mvp"),
    (_WORDS, "OpenAIGPT Herbert CLIP"),
)
CLASSES = {f"{name}Tokenizer": files for files, names in _CLASSES for name in names.split()}
#: The classes whose vocabulary is in two files; most random folders are of one of them.
_PAIRS = [name for name, files in CLASSES.items() if "vocab.json" in files]


def random_folder(random: Random) -> tuple[str, dict[str, str]]:
    """Return the name of a class, and the files of a folder of it."""
    name = random.choice(_PAIRS if random.random() < 0.6 else list(CLASSES))
    vocabulary = CLASSES[name]
    made = _Maker(random, _tokens(vocabulary))
    config: dict[str, Any] = {"tokenizer_class": name}
    for flag in ("add_prefix_space", "trim_offsets", "do_lower_case", "strip_accents"):
        if random.random() < 0.2:
            config[flag] = random.random() < 0.5
    if random.random() < 0.1:
        config["add_bos_token"] = random.random() < 0.5
    if random.random() < 0.1:
        config["tokenize_chinese_chars"] = random.random() < 0.5
    config.update(made.roles(typed=True))
    files = dict(vocabulary)
    kind = random.random()
    if kind < 0.35:
        config["added_tokens_decoder"] = made.listed()
    if kind > 0.25 and random.random() < 0.6:
        files["added_tokens.json"] = json.dumps(made.by_name())
    if kind > 0.25 and random.random() < 0.6:
        files["special_tokens_map.json"] = json.dumps(made.roles(typed=False))
    files["tokenizer_config.json"] = json.dumps(config)
    return name, files


def _tokens(files: dict[str, str]) -> list[str]:
    if "vocab.txt" in files:
        return files["vocab.txt"].splitlines()
    return list(json.loads(files["vocab.json"]))


def _name_of(token: Any) -> str:
    return str(token["content"] if isinstance(token, dict) else token)


class _Maker:
    """A maker of random special tokens.

    Args:
        random: decides.
        known: the tokens of the vocabulary.
    """

    def __init__(self, random: Random, known: list[str]) -> None:
        self._random = random
        self._known = known
        self._names = ["<|endoftext|>", "<p>", "<q>", "<|u|>", "[X]", "<q>r", "ab", "h e", "<mask>"]

    def _name(self) -> str:
        return self._random.choice(self._known if self._random.random() < 0.3 else self._names)

    def _object(self, **more: Any) -> dict[str, Any]:
        flags = {flag: self._random.random() < 0.3 for flag in _FLAGS}
        return {"content": self._name(), **flags, **more}

    def _token(self, *, typed: bool) -> Any:
        kind = self._random.random()
        if kind < 0.5:
            return self._name()
        return self._object(**({"__type": "AddedToken"} if typed else {}))

    def roles(self, *, typed: bool) -> dict[str, Any]:
        """Return special tokens by their roles; ``typed`` is for ``tokenizer_config.json``."""
        found: dict[str, Any] = {}
        for role in _ROLES:
            if self._random.random() < 0.2:
                found[f"{role}_token"] = self._token(typed=typed)
            elif self._random.random() < 0.04:
                found[f"{role}_token"] = None
        if self._random.random() < 0.3:
            count = self._random.randrange(4)
            tokens = [self._token(typed=typed) for _ in range(count)]
            more = list({_name_of(token): token for token in tokens}.values())
            # transformers 4.57 mixes up a role that has the last of these.
            found["additional_special_tokens"] = [*more, "<last>"] if more else more
        return found

    def listed(self) -> dict[str, Any]:
        """Return ``added_tokens_decoder``."""
        tokens = [
            self._object(special=self._random.random() < 0.5)
            for _ in range(self._random.randrange(5))
        ]
        ids = {token["content"]: number for number, token in enumerate(tokens, len(self._known))}
        if self._random.random() < 0.2:
            ids = {name: number + 5 for name, number in ids.items()}
        ids.update((name, number) for number, name in enumerate(self._known) if name in ids)
        return {str(ids[token["content"]]): token for token in tokens}

    def by_name(self) -> dict[str, int]:
        """Return ``added_tokens.json``."""
        names = list(dict.fromkeys(self._name() for _ in range(self._random.randrange(1, 5))))
        first = len(self._known)
        ids = list(range(first, first + len(names)))
        if self._random.random() < 0.2:
            self._random.shuffle(ids)
        return dict(zip(names, ids))


def main() -> None:
    """Write into the fixture what the classes make of its folders."""
    classes: Any = importlib.import_module("transformers")
    folders = json.loads(FIXTURE.read_bytes())
    for made in folders:
        with tempfile.TemporaryDirectory() as folder:
            for file, text in made["files"].items():
                Path(folder, file).write_bytes(text.encode())
            tokenizer = getattr(classes, f"{made['class']}Fast").from_pretrained(folder)
        made["tokenizer"] = json.loads(tokenizer.backend_tokenizer.to_str())
    lines = [json.dumps(folder, ensure_ascii=False) for folder in folders]
    FIXTURE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
