"""``compat-bpe report``: which groups are shown, and the summary."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import COMMAND, TIMEOUT, Result, Terminal, environment, posix, run

TEXTS = {"en": "The cat sat.\nA dog, too.\r\n", "notes": "naïve", "zh": "你好，世界。\n"}
#: A small vocabulary, of which less has to be looked at than of the shipped ones.
SMALL = Path(__file__).parents[3] / "fixtures" / "gpt2_small"


@pytest.fixture(autouse=True)
def _corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of three groups, each a file."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SMALL, "small")
    Path("corpus").mkdir()
    for name, text in TEXTS.items():
        Path(f"corpus/{name}.txt").write_bytes(text.encode())


def report(*args: str) -> Result:
    return run("report", *args)


def lines(*args: str) -> list[str]:
    status, out, err = report(*args)
    assert (status, err) == (0, "")
    return out.decode().splitlines()


def as_object(*args: str) -> Any:
    [line] = lines(*args, "--json")
    return json.loads(line)


def test_ten_groups_unless_asked_for_more() -> None:
    for number in range(12):
        Path(f"corpus/g{number:02}.txt").write_text("x" * number + "ab cd")
    found = lines("-e", "gpt2", "-e", "small", "corpus")
    assert found[:2] == [
        "10 of 15 groups, those in which the encodings differ most; --groups 15 shows all",
        "",
    ]
    whole = lines("-e", "gpt2", "-e", "small", "--groups", "15", "corpus")
    assert whole[0] == "tokens"
    for shown, rows in ((found[2:], 10), (whole, 15)):
        tables = "\n".join(shown).split("\n\n")[:5]
        for table in tables[:4]:
            assert len(table.splitlines()) == 2 + rows + 1
    # The total is that of all groups, and those that are shown are the first of all.
    total = next(line for line in found if line.endswith("  total"))
    assert total in whole
    assert found[4:14] == whole[2:12]
    ratios = [int(row.split()[1]) / int(row.split()[0]) for row in whole[2:17]]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > ratios[-1]
    # Of one encoding, those with the most tokens per character are the first.
    alone = lines("-e", "small", "corpus")
    assert alone[0].startswith("10 of 15 groups, those with the most tokens per character;")
    assert alone[4].endswith("zh")
    # An object has all of them, in the order of the corpus.
    names = list(as_object("-e", "gpt2", "-e", "small", "corpus")["groups"])
    assert names == sorted(names)
    assert len(names) == 15


def test_summary() -> None:
    assert lines("--summary", "-e", "gpt2", "-e", "small", "corpus") == [
        "3 documents in 3 groups, 51 bytes, 38 characters, 8 words",
        "",
        "all text",
        "tokens  to the first  bytes per token  per word  used  worst to best",
        "    27         +0.0%             1.89      3.38  0.0%           4.64  gpt2",
        "    42        +55.6%             1.21      5.25  8.9%           3.92  small",
        "",
        "groups in which the encodings differ most",
        "most to least  gpt2  small",
        "         2.50     2      5  notes",
        "         1.50    12     18  en",
        "         1.46    13     19  zh",
    ]
    found = lines("--summary", "-e", "small", "corpus/notes.txt")
    assert found[:3] == ["1 document, 6 bytes, 5 characters, 1 word", "", "all text"]
    assert found[3].split("  ") == ["tokens", "bytes per token", "per word", "used"]
    assert found[4].split() == ["5", "1.20", "5.00", "1.3%", "small"]
    assert len(found) == 5
    status, out, err = report("--summary", "--json", "corpus")
    assert (status, out) == (2, b"")
    assert "--summary and --json exclude each other" in err


def test_summary_of_long_names() -> None:
    name = "a very long name of a vocabulary that is new"
    shutil.copytree("small", name)
    path = os.path.join(name, "")
    found = lines("--summary", "-e", path, "-e", "small", "-e", "./small", "corpus")
    assert found[4].endswith(f"  [1] {path}")
    assert found[9].split() == ["most", "to", "least", "[1]", "[2]", "[3]"]


def on_a_terminal(columns: int, *args: str) -> list[str]:
    terminal = Terminal(columns)
    subprocess.run(
        [*COMMAND, "report", *args],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=terminal.fd,
        stderr=terminal.fd,
        timeout=TIMEOUT,
        check=True,
    )
    return terminal.text().decode().splitlines()


@posix
def test_summary_on_a_narrow_terminal() -> None:
    shown = on_a_terminal(50, "--summary", "-e", "gpt2", "-e", "small", "corpus")
    assert all(len(line) <= 50 for line in shown)
    assert shown[2:7] == [
        "",
        "all text",
        " gpt2   small",
        "   27      42  tokens",
        "+0.0%  +55.6%  to the first",
    ]
    shutil.copytree("small", "another_vocabulary_that_is_small")
    name = os.path.join("another_vocabulary_that_is_small", "")
    shown = on_a_terminal(50, "--summary", "-e", name, "-e", "small", "corpus")
    assert shown[2:8] == [
        "",
        f"[1] {name}",
        "[2] small",
        "",
        "all text",
        "  [1]    [2]",
    ]
    assert "most to least  [1]  [2]" in shown


def test_summary_of_one_vocabulary() -> None:
    assert lines("--summary", "-e", "gpt2", "corpus")[-5:] == [
        "groups with the most tokens per character",
        "per character  gpt2",
        "         1.86    13  zh",
        "         0.46    12  en",
        "         0.40     2  notes",
    ]


def test_a_group_without_tokens() -> None:
    Path("corpus/blank.txt").write_bytes(b"   \n")
    found = lines("--summary", "-e", "words", "-e", "small", "corpus")
    assert found[9].split()[0] == "-"
    assert found[9].endswith("blank")
