"""``--notebooks source``: the same source by each command that reads files."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from compat_bpe.files import documents
from tests.cli.running import Result, run

GPT2 = get_encoding("gpt2")
SOURCE = "# Café\n\nprint(1)\nprint(2)"
CONTENT = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Café"]},
        {
            "cell_type": "code",
            "source": ["print(1)\n", "print(2)"],
            "outputs": [{"data": {"image/png": "iVBORw0KGgo" * 500}}],
        },
    ],
    "nbformat": 4,
}
WHOLE = json.dumps(CONTENT)
DAMAGED = WHOLE[:-9]
TOKENS = GPT2.count(SOURCE)
REASON = "not a notebook: not JSON: "


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    Path("d/a.ipynb").write_text(WHOLE)
    Path("d/b.py").write_text("x = 1\n")


def count(*args: str) -> Result:
    return run("count", "-e", "gpt2", *args)


def test_count_takes_the_source_only_when_asked() -> None:
    assert count("d/a.ipynb").out == b"%d d/a.ipynb\n" % GPT2.count(WHOLE)
    assert count("--notebooks", "whole", "d") == count("d")
    status, out, err = count("--notebooks", "source", "--json", "d")
    assert (status, err) == (0, "")
    assert json.loads(out)["files"] == [
        {
            "path": "d/a.ipynb",
            "tokens": TOKENS,
            "bytes": len(SOURCE.encode()),
            "characters": len(SOURCE),
        },
        {"path": "d/b.py", "tokens": GPT2.count("x = 1\n"), "bytes": 6, "characters": 6},
    ]


def test_a_damaged_notebook_is_named_and_counted_as_it_is() -> None:
    Path("d/c.ipynb").write_text(DAMAGED)
    status, out, err = count("--notebooks", "source", "d/a.ipynb", "d/c.ipynb")
    damaged = GPT2.count(DAMAGED)
    assert status == 0
    assert [line.split() for line in out.decode().splitlines()] == [
        [str(TOKENS), "d/a.ipynb"],
        [str(damaged), "d/c.ipynb"],
        [str(TOKENS + damaged), "total"],
    ]
    assert err.startswith(f"compat-bpe: d/c.ipynb: {REASON}")
    assert err.endswith("; counted as it is\n")
    assert count("-q", "--notebooks", "source", "d/c.ipynb").err == ""
    Path("d/c.ipynb").write_bytes(b"caf\xe9")
    assert "not UTF-8: byte 0xe9 at offset 3" in count("--notebooks", "source", "d/c.ipynb").err
    (found,) = json.loads(
        count("--notebooks", "source", "--errors", "replace", "--json", "d/c.ipynb").out
    )["files"]
    assert (found["bytes"], found["characters"]) == (4, 4)
    Path("d/c.ipynb").write_bytes(b"\0")
    assert "binary: NUL byte" in count("--notebooks", "source", "d/c.ipynb").err


def test_a_compressed_notebook() -> None:
    Path("d/a.ipynb.gz").write_bytes(gzip.compress(WHOLE.encode()))
    assert count("-z", "--notebooks", "source", "d/a.ipynb.gz").out == b"%d d/a.ipynb.gz\n" % TOKENS
    assert "binary" in count("--notebooks", "source", "d/a.ipynb.gz").err
    Path("d/a.ipynb.gz").write_bytes(gzip.compress(WHOLE.encode())[:-4])
    status, _, err = count("-z", "--notebooks", "source", "d")
    assert (status, "d/a.ipynb.gz: " in err) == (2, True)


def test_a_very_large_notebook_is_counted_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST_NOTEBOOK", 100)
    assert count("--notebooks", "source", "d/a.ipynb") == (
        0,
        b"%d d/a.ipynb\n" % GPT2.count(WHOLE),
        "compat-bpe: d/a.ipynb: larger than 100 bytes; counted as it is\n",
    )


def test_workers_count_the_source_and_send_the_note() -> None:
    text = " word" * 400_000
    for name in ("p", "q"):
        Path(f"d/{name}.ipynb").write_text(json.dumps({"cells": [{"source": text}]}))
    Path("d/r.ipynb").write_text(text)
    options = ("-q", "--notebooks", "source", "--json", "d")
    assert count("-j", "2", *options) == count("-j", "1", *options)
    files = json.loads(count("-j", "2", *options).out)["files"]
    assert [one["characters"] for one in files[2:]] == [len(text)] * 3
    assert "d/r.ipynb: not a notebook" in count("-j", "2", "--notebooks", "source", "d").err


def test_split_packs_the_source() -> None:
    Path("d/c.ipynb").write_text(DAMAGED)
    options = ("--files", "--notebooks", "source", "--separator", "")
    status, out, err = run("split", "-e", "gpt2", "-n", "1M", *options, "d")
    assert status == 0
    assert out.decode() == (
        f"==> d/a.ipynb <==\n{SOURCE}\n==> d/b.py <==\nx = 1\n==> d/c.ipynb <==\n{DAMAGED}"
    )
    assert err.startswith(f"compat-bpe: d/c.ipynb: {REASON}")
    assert err.endswith("; taken as it is\n")
    status, out, err = run("split", "-n", "9", "--notebooks", "source", "--json", "d/a.ipynb")
    assert (status, out) == (2, b"")
    assert "need --files" in err


def test_report_reads_the_source() -> None:
    Path("d/a2.ipynb.gz").write_bytes(gzip.compress(WHOLE.encode()))
    Path("d/c.ipynb").write_text(DAMAGED)

    def sizes(*args: str) -> dict[str, int]:
        out = run("report", "-e", "gpt2", "--by", "file", "--json", *args).out
        return {name: one["characters"] for name, one in json.loads(out)["groups"].items()}

    assert sizes("--notebooks", "source", "d") == {
        "d/a.ipynb": len(SOURCE),
        "d/a2.ipynb.gz": len(SOURCE),
        "d/b.py": 6,
        "d/c.ipynb": len(DAMAGED),
    }
    assert sizes("d")["d/a.ipynb"] == len(WHOLE)
    err = run("report", "-e", "gpt2", "--notebooks", "source", "d").err
    assert err.startswith(f"compat-bpe: d/c.ipynb: {REASON}")
    assert err.endswith("; read as it is\n")


def test_report_reads_a_very_large_notebook_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("files.documents", "corpus.documents"):
        monkeypatch.setattr(f"compat_bpe.{module}.LARGEST_NOTEBOOK", 100)
    done = run("report", "-e", "gpt2", "--notebooks", "source", "--json", "d/a.ipynb")
    assert json.loads(done.out)["total"]["characters"] == len(WHOLE)
    assert "d/a.ipynb: not a notebook: larger than 100 bytes; read as it is" in done.err


def git(*args: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *args], check=True, capture_output=True)


def test_check_limits_the_source_and_compares_it() -> None:
    configuration = '[check]\nencoding = "gpt2"\n[[check.rules]]\nfiles = ["*.ipynb", "*.json"]\n'
    Path(".compat-bpe.toml").write_text(configuration + "max = 20\nbody = 30\ngrowth = 0\n")
    source = ("check", "--notebooks", "source", "--json")
    assert run("check", "--json").status == 1
    status, out, err = run(*source)
    assert (status, err) == (0, "")
    assert [one["tokens"] for one in json.loads(out)["results"]] == [TOKENS, TOKENS]
    # The same content by another name is no notebook.
    Path("d/a.json").write_text(WHOLE)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "a")
    # New outputs are no growth, and a new cell is.
    changed = json.loads(WHOLE)
    changed["cells"][1]["outputs"] = ["a" * 999]
    Path("d/a.ipynb").write_text(json.dumps(changed))
    assert json.loads(run(*source, "--base", "HEAD").out)["changes"] == []
    changed["cells"].append({"cell_type": "code", "source": "x"})
    Path("d/a.ipynb").write_text(json.dumps(changed))
    Path("d/a.json").write_text(WHOLE + " ")
    after = GPT2.count(f"{SOURCE}\n\nx")
    changes = {
        one["path"]: (one["before"], one["after"])
        for one in json.loads(run(*source, "--base", "HEAD").out)["changes"]
    }
    assert changes == {
        "d/a.ipynb": (TOKENS, after),
        "d/a.json": (GPT2.count(WHOLE), GPT2.count(WHOLE + " ")),
    }
    Path("d/a.ipynb").write_text(DAMAGED)
    status, _, err = run(*source)
    assert status == 1
    assert err.startswith(f"compat-bpe: d/a.ipynb: {REASON}")
    assert err.endswith("; counted as it is\n")
