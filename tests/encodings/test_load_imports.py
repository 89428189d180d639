"""Loading a file imports the kinds that the file has, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import compat_bpe
from tests.alone import run_alone
from tests.kinds import KINDS, kind_path

ROOT = Path(compat_bpe.__file__).parent.parent
#: The modules that a type of model has for itself.
MODULES: dict[str, set[str]] = {
    "BPE": {"formats.tokenizer_bpe"},
    "WordPiece": set(),  # one file has this and WordLevel
    "WordLevel": set(),
    "Unigram": {"pipeline.models.unigram"},
}
#: What takes milliseconds to import; a character map and files beside the one need some of it.
HEAVY = {"hashlib", "pathlib", "string", "tempfile", "urllib.parse", "zipfile"}


def imported(path: str) -> set[str]:
    """The modules of a process that has loaded a file and encoded a text."""
    script = f"import compat_bpe\ncompat_bpe.load({path!r}).encode('the cat')\nprint(*sys.modules)"
    return set(run_alone(script).split())


def test_only_the_kinds_of_the_file_are_imported() -> None:
    for model in MODULES:
        name = next(
            kind
            for kind in KINDS
            if json.loads(Path(kind_path(kind)).read_bytes())["model"]["type"] == model
            and "recompiled" not in Path(kind_path(kind)).read_text("utf-8")
        )
        found = imported(kind_path(name))
        assert not HEAVY & found
        for other, modules in MODULES.items():
            assert {f"compat_bpe.{one}" in found for one in modules} <= {other == model}
        for name in ("sentencepiece", "json_ranks", "vocab_txt", "gguf", "tokenizer_writing"):
            assert f"compat_bpe.formats.{name}" not in found
