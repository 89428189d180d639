"""The folder in which the examples of the documentation run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import compat_bpe
from compat_bpe.formats.sentencepiece import SentencePieceModel
from compat_bpe.pipeline.models.sentencepiece.base import CONTROL, NORMAL, UNKNOWN
from compat_bpe.save import save_sentencepiece, save_tokenizer_json
from compat_bpe.tokenizer import SentencePiece
from compat_bpe.train import train_bpe
from tests.docs_pages import ROOT


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ``tokenizer.json`` for the examples."""
    path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    text = (ROOT / "fixtures/docs/texts/en/rights.txt").read_text("utf-8")
    save_tokenizer_json(train_bpe([text], 300, special_tokens=["<|endoftext|>"]), path)
    return path


#: The pieces of a Unigram model, each with its score.
PIECES = """
    ▁ -3.0  ▁the -3.2  ▁cat -5.1  ▁s -4.6  at -4.4  ▁sat -7.0  ▁on -4.1  ▁m -5.0  ▁mat -9.6
    s -4.0  . -3.5  c -6.0  a -5.5  t -5.7  m -6.5  o -6.0  n -6.1  h -6.3  e -5.2
"""

#: The chat template for the examples.
CHAT_TEMPLATE = """\
{% for message in messages %}
<|{{ message.role }}|>
{{ message.content }}{% if not loop.last or add_generation_prompt %}<|end|>{% endif %}

{% endfor %}
{% if add_generation_prompt %}
<|assistant|>
{% endif %}
"""


def unigram_model() -> SentencePieceModel:
    """A model of SentencePiece for the examples, with the special pieces of T5."""
    pieces = PIECES.split()
    texts = ["<pad>", "</s>", "<unk>", *pieces[::2]]
    scores = [0.0, 0.0, 0.0, *map(float, pieces[1::2])]
    types = [CONTROL, CONTROL, UNKNOWN, *[NORMAL] * (len(texts) - 3)]
    return SentencePieceModel(texts, scores, bytes(types))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables by which ``compat-bpe`` is the package under test, without the user's settings."""
    command = tmp_path / "bin" / "compat-bpe"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compat_bpe "$@"\n')
    command.chmod(0o755)
    return {
        **{name: value for name, value in os.environ.items() if name != "CI"},
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(compat_bpe.__file__).parent.parent),
        "PYTHONIOENCODING": "utf-8",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }


@pytest.fixture
def folder(tmp_path: Path, vocabulary: Path, environment: Mapping[str, str]) -> Path:
    """The files that the examples name, in a git repository with a change in it."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "fixtures/docs", folder)
    (folder / "my-model").mkdir()
    shutil.copy(vocabulary, folder / "my-model")
    (folder / "my-t5").mkdir()
    save_sentencepiece(SentencePiece("t5", unigram_model()), folder / "my-t5/spiece.model")
    (folder / "my-chat-model").mkdir()
    shutil.copy(vocabulary, folder / "my-chat-model")
    (folder / "my-chat-model/chat_template.jinja").write_text(CHAT_TEMPLATE)
    (folder / "src/icon.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "debug.log").write_text("started\n" * 100)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "All"]):
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)
    with open(folder / "notes.md", "a") as file:
        file.write("- A change that is not committed.\n")
    return folder
