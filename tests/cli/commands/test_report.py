"""``compat-bpe report``; what is measured is tested in tests/train/test_report.py."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import threading
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import __version__, get_encoding, load
from compat_bpe.encodings.resolve import resolve
from compat_bpe.report.figures import by_difference
from compat_bpe.report.html import page
from compat_bpe.report.measure import report as library_report
from compat_bpe.save import save_tiktoken
from tests.cli.running import Result, run

TEXTS = {"en": ["The cat sat.\n", "A dog, too.\r\n"], "notes": ["naïve"], "zh": ["你好，世界。\n"]}
#: A small vocabulary, of which less has to be looked at than of the shipped ones.
FOLDER = Path(__file__).parents[3] / "fixtures" / "gpt2_small"
SMALL, GPT2 = load(FOLDER), get_encoding("gpt2")


@pytest.fixture(autouse=True)
def _corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of three groups: a folder with two files, one with JSON lines, and a file."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(FOLDER, "small")
    for folder in ("corpus/en", "corpus/zh"):
        Path(folder).mkdir(parents=True)
    for number, text in enumerate(TEXTS["en"]):
        Path(f"corpus/en/{number}.txt").write_bytes(text.encode())
    line = json.dumps({"text": TEXTS["zh"][0], "lang": "Chinese"})
    Path("corpus/zh/a.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    Path("corpus/notes.txt").write_bytes(TEXTS["notes"][0].encode())


def report(*args: str, stdin: bytes = b"") -> Result:
    return run("report", *args, stdin=stdin)


def lines(*args: str, stdin: bytes = b"") -> list[str]:
    status, out, err = report(*args, stdin=stdin)
    assert (status, err) == (0, "")
    return out.decode().splitlines()


def as_object(*args: str, stdin: bytes = b"") -> Any:
    [line] = lines(*args, "--json", stdin=stdin)
    assert line.isascii()
    return json.loads(line)


def test_tables() -> None:
    found = lines("-e", "gpt2", "-e", "small", "--top", "2", "corpus")
    assert found[:6] == [
        "tokens",
        "gpt2  small  char  byte  word",
        "   2      5     5     6     1  notes",
        "  12     18    26    26     6  en",
        "  13     19     7    19     1  zh",
        "  27     42    38    51     8  total",
    ]
    assert found[-1]
    # Blocks of aligned columns with a blank line between them.
    blocks = "\n".join(found).split("\n\n")
    assert len(blocks) == 1 + 4 + 1 + 1 + 2 * 2
    assert all(len(line) <= 80 for line in found)
    for block in blocks:
        title, head, *rows = block.splitlines()
        assert title
        assert rows
        assert all(len(row) > len(head) and row[len(head)] == " " for row in rows)


def test_one_group_has_no_total() -> None:
    found = lines("-e", "small", "corpus/notes.txt")
    assert found[:4] == ["tokens", "small  char  byte  word", "    5     5     6     1  notes", ""]
    assert "total" not in " ".join(found)


def test_names_that_are_too_long_for_the_width_have_numbers() -> None:
    shutil.copytree("small", "a rather long name of a vocabulary")
    path = os.path.join("a rather long name of a vocabulary", "")
    found = lines("-e", path, "-e", "small", "-e", "./small", "--top", "1", "corpus")
    assert found[:6] == [f"[1] {path}", "[2] small", "[3] ./small", ""] + [
        "tokens",
        "[1]  [2]  [3]  char  byte  word",
    ]
    assert f"most frequent tokens of {path}" in found


def test_json_has_the_figures_of_the_library() -> None:
    found = as_object("-e", "small", "-m", "gpt2", "--top", "3", "corpus")
    made = library_report({"small": SMALL, "gpt2": GPT2}, TEXTS)
    assert list(found["groups"]) == list(TEXTS)
    assert found["groups"]["en"] == made.groups["en"]._asdict()
    assert found["total"] == made.total._asdict()
    for one, (name, expected) in zip(found["encodings"], made.encodings.items()):
        assert one["name"] == name
        for group, counts in [*expected.groups.items(), ("total", expected.total)]:
            figures = one["total"] if group == "total" else one["groups"][group]
            size = made.total if group == "total" else made.groups[group]
            assert figures.items() >= counts._asdict().items()
            assert figures["bytes_per_token"] == size.bytes / counts.tokens
            assert figures["whole_chunk_share"] == counts.whole_chunks / counts.chunks
        assert one["vocabulary"]["used"] == expected.used
        assert one["vocabulary"]["unused"] == expected.unused
        assert len(one["vocabulary"]["unreachable"]) == 13
        assert one["most_frequent"] == [
            {
                "id": use.id,
                "text": use.token.decode("utf-8", "replace"),
                "bytes": use.token.hex(),
                "times": use.times,
            }
            for use in expected.uses[:3]
        ]
        assert sum(one["tokens_by_bytes"].values()) == expected.total.tokens
    char, byte, word = found["baselines"]
    assert (char["total"]["tokens"], byte["total"]["bytes_per_token"]) == (38, 1)
    assert (word["groups"]["zh"]["tokens"], word["total"]["whole_chunk_share"]) == (1, None)


CLAUDE = ("-m", "claude-sonnet-4-5", "--estimate")
REASON = resolve("claude-sonnet-4-5", "model", estimate=True).note
LACKS = f"claude-sonnet-4-5 is an estimate without chunks, ids or balance: {REASON}"


@pytest.mark.parametrize(
    ("args", "titles", "expected"),
    [
        (
            CLAUDE,
            4,
            [
                "tokens",
                "claude-sonnet-4-5  char  byte  word",
                "               ≈8    26    26     6  en",
                "               ≈2     7    19     1  zh",
                "               ≈2     5     6     1  notes",
                "              ≈11    38    51     8  total",
            ],
        ),
        (
            (*CLAUDE, "-e", "small", "--summary"),
            1,
            [
                "all text",
                "tokens  to the first  bytes per token  per word  used  worst to best",
                "    42         +0.0%             1.21      5.25  8.9%           3.92  small",
                "   ≈11       ≈-73.8%            ≈4.64     ≈1.38     -              -  "
                "claude-sonnet-4-5",
            ],
        ),
    ],
)
def test_an_estimate_is_a_column(args: tuple[str, ...], titles: int, expected: list[str]) -> None:
    status, out, err = report(*args, "corpus")
    found = out.decode().split("\n\n")
    assert (status, err) == (0, f"compat-bpe: {LACKS}\n")
    assert expected in [block.splitlines() for block in found]
    assert sum("claude-sonnet-4-5" in block for block in found) == titles + ("small" in args)


def test_a_page_says_what_an_estimate_lacks() -> None:
    assert report(*CLAUDE, "-e", "small", "--html", "page.html", "corpus").status == 0
    written = Path("page.html").read_text(encoding="utf-8")
    assert LACKS in written.replace("&#x27;", "'")
    assert "<td>≈11</td>" in written
    status, _, err = report(*CLAUDE, "--html", "alone.html", "corpus")
    assert status == 2
    assert "--html needs an encoding (-e): an estimate has no tokens to draw.\n" in err


def test_by_file() -> None:
    found = as_object("-e", "small", "--by", "file", "corpus")
    assert list(found["groups"]) == [
        os.path.join("corpus", *parts)
        for parts in (("en", "0.txt"), ("en", "1.txt"), ("notes.txt",), ("zh", "a.jsonl.gz"))
    ]


def test_groups_of_json_lines() -> None:
    path = os.path.join("corpus", "zh", "a.jsonl.gz")
    assert list(as_object("-e", "small", "--group-field", "lang", path)["groups"]) == ["Chinese"]
    result = report("--group-field", "lang", "--by", "file", "corpus")
    assert result.status == 2
    assert "--by file and --group-field exclude each other" in result.err


def test_standard_input() -> None:
    assert as_object("-e", "gpt2", stdin=b"hello world")["encodings"][0]["total"]["tokens"] == 2
    found = as_object(
        "-e", "gpt2", "--jsonl", "-", stdin=b'{"text": "hello world"}\n{"text": ""}\n'
    )
    assert found["total"]["documents"] == 1


def test_terms() -> None:
    Path("terms.txt").write_bytes("naïve\r\n\n  \na|b\n dog".encode())
    found = lines("-e", "gpt2", "-e", "small", "--terms", "terms.txt", "corpus")
    at = found.index("terms: tokens, alone and after a space")
    assert found[at + 1 : at + 6] == [
        "    2  gpt2   na|ïve",
        "    1  gpt2    naïve",
        "    5  small  n|a|\\xc3|\\xaf|ve",
        "    5  small   n|a|\\xc3|\\xaf|ve",
        "",
    ]
    assert found[at + 6] == r"    3  gpt2   a|\||b"
    [one] = as_object("-e", "gpt2", "--terms", "terms.txt", "corpus")["encodings"]
    first, _, last = one["terms"]
    assert first == {"term": "naïve", "alone": ["na", "ïve"], "after_space": [" naïve"]}
    assert last["term"] == " dog"


def test_terms_and_corpus_from_standard_input() -> None:
    result = report("--terms", "-", stdin=b"dog")
    assert result.status == 2
    assert "exclude each other" in result.err
    assert report("-e", "small", "--terms", "-", "corpus", stdin=b"dog").status == 0


def test_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    status, out, err = report("-e", "small", "--html", "page.html", "--top", "4", "corpus")
    assert (status, err) == (0, "")
    assert out.startswith(b"tokens\n")
    made = by_difference(library_report({"small": SMALL}, TEXTS))
    made_at = datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)
    written = Path("page.html").read_text("utf-8")
    assert written == page(made, 4, corpus=["corpus"], version=__version__, made_at=made_at)
    assert sorted(os.listdir()) == ["corpus", "page.html", "small"]


def test_page_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    assert report("-e", "small", "--html", "page.html", stdin=b"dog").status == 0
    assert "<title>Tokenizer report: standard input</title>" in Path("page.html").read_text("utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    status, out, err = report("-e", "small", "--html", "none.html", stdin=b"dog")
    assert (status, out, os.path.exists("none.html")) == (2, b"", False)
    assert err.startswith("compat-bpe: SOURCE_DATE_EPOCH is 'yesterday': set it to a whole number")
    assert err.count("\n") == 1


def test_page_of_a_file_name_that_is_no_text() -> None:
    Path(os.fsdecode(b"\xff.txt")).write_bytes(b"a")
    status, _, err = report(
        "-e", "small", "--by", "file", "--html", "page.html", os.fsdecode(b"\xff.txt")
    )
    assert (status, err) == (0, "")
    assert "\\udcff.txt" in Path("page.html").read_text("utf-8")


def test_page_through_a_link_and_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    Path("target.html").write_bytes(b"old")
    os.symlink("target.html", "link.html")
    assert report("-e", "small", "--html", "link.html", "--force", "corpus").status == 0
    assert Path("link.html").is_symlink()
    expected = Path("target.html").read_bytes()
    os.mkfifo("pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    assert report("-e", "small", "--html", "pipe", "corpus").status == 0
    reader.join()
    assert read == [expected]
    assert Path("pipe").is_fifo()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-e", "no_such_encoding", "corpus"), "unknown encoding 'no_such_encoding'"),
        (("-e", "gpt2", "-e", "./none.tiktoken", "corpus"), "./none.tiktoken: No such file"),
        (("-m", "no-such-model", "corpus"), "unknown model 'no-such-model'"),
        (("--pattern", "gpt2", "corpus"), "--pattern is for a vocabulary file"),
        (("--terms", "none.txt", "corpus"), "none.txt: No such file"),
        (("--html", "none/page.html", "corpus"), "none/page.html: there is no directory"),
        (("--html", "corpus", "corpus"), "corpus: it is a directory"),
        (("no such path",), "no such path: No such file"),
        (("bad.txt",), "bad.txt: not UTF-8: byte 0xff at offset 2"),
        (("-e", "small", "empty.txt"), "there is no text in empty.txt"),
        (("-e", "small", "-"), "there is no text in standard input"),
    ],
)
def test_errors(args: tuple[str, ...], message: str) -> None:
    Path("bad.txt").write_bytes(b"a\n\xff")
    Path("empty.txt").write_bytes(b"")
    status, out, err = report(*args)
    assert (status, out) == (2, b"")
    assert message in err


def test_what_is_skipped_is_neither_a_document_nor_a_group() -> None:
    Path("bad.txt").write_bytes(b"a\n\xff")
    for number in range(3):
        Path(f"corpus/picture{number}.png").write_bytes(b"PNG\0")
    args = ("--errors", "skip", "-e", "small", "bad.txt", "corpus")
    status, out, err = report("--json", *args)
    assert (status, err.splitlines()) == (
        0,
        [
            "compat-bpe: 3 binary files skipped: "
            + ", ".join(f"corpus/picture{number}.png" for number in range(3)),
            "compat-bpe: 1 file that is not UTF-8 skipped: bad.txt",
        ],
    )
    found = json.loads(out)
    assert list(found["groups"]) == list(TEXTS)
    assert found["total"]["documents"] == 4
    assert [one["path"] for one in found["skipped"]] == ["bad.txt"] + [
        os.path.join("corpus", f"picture{number}.png") for number in range(3)
    ]
    assert found["errors"] == []
    files = as_object_by_file("-v", *args)
    assert list(files) == [
        os.path.join("corpus", *parts)
        for parts in (("en", "0.txt"), ("en", "1.txt"), ("notes.txt",), ("zh", "a.jsonl.gz"))
    ]
    assert report("-v", *args).err.splitlines()[1:] == [
        f"compat-bpe: {os.path.join('corpus', f'picture{number}.png')}: skipped: binary: NUL byte "
        "at offset 3"
        for number in range(3)
    ]


def as_object_by_file(*args: str) -> Any:
    status, out, _ = report("--json", "--by", "file", *args)
    assert status == 0
    return json.loads(out)["groups"]


def test_what_cannot_be_read_is_named_and_the_rest_reported() -> None:
    status, out, err = report("-e", "small", "--json", "missing.txt", "corpus")
    assert (status, err) == (2, "compat-bpe: missing.txt: No such file or directory\n")
    found = json.loads(out)
    assert list(found["groups"]) == list(TEXTS)
    assert found["errors"] == [{"path": "missing.txt", "error": "No such file or directory"}]


def test_no_file_is_overwritten_unasked() -> None:
    text = b'How a page begins: <meta name="generator" content="compat_bpe 1.0">\n'
    Path("a.md").write_bytes(text)
    Path("b.md").write_bytes(b"text")
    # The slip: FILE of --html was forgotten.
    status, out, err = report("-e", "small", "--html", "a.md", "b.md")
    assert (status, out) == (2, b"")
    assert err == "compat-bpe: a.md: it exists; --force overwrites it\n"
    assert Path("a.md").read_bytes() == text
    assert report("-e", "small", "--html", "a.md", "--force", "b.md").status == 0
    page = Path("a.md").read_bytes()
    assert page.startswith(b"<!doctype html>")
    # An earlier page is replaced.
    Path("b.md").write_bytes(b"other text, and longer")
    assert report("-e", "small", "--html", "a.md", "b.md").status == 0
    assert Path("a.md").read_bytes() != page


@pytest.mark.parametrize("page_is_input", ["corpus", "terms", "encoding"])
def test_an_input_is_not_overwritten_even_if_forced(page_is_input: str) -> None:
    os.link("corpus/notes.txt", "corpus/same.txt")
    target, *args = {
        "corpus": ("corpus/same.txt", "-e", "small", "corpus/notes.txt"),
        "terms": ("terms.txt", "-e", "small", "--terms", "terms.txt", "corpus"),
        "encoding": (os.path.join("small", "vocab.bpe"), "-e", "small", "corpus"),
    }[page_is_input]
    Path("terms.txt").write_bytes(b"term")
    before = Path(target).read_bytes()
    status, out, err = report("--force", "--html", target, *args)
    assert (status, out) == (2, b"")
    assert f"{target}: it is one of the inputs" in err
    assert Path(target).read_bytes() == before


def test_a_page_among_the_corpus_is_an_input() -> None:
    args = ("-e", "small", "--html", "corpus/page.html", "corpus")
    assert report(*args).status == 0
    assert "corpus/page.html: it is one of the inputs" in report(*args).err
    assert report(*args, "--exclude", "page.html").status == 0


def test_a_filter_that_matches_nothing() -> None:
    status, _, err = report("--include", "*.nope", "corpus")
    expected = "compat-bpe: no files to read in corpus: nothing matches --include '*.nope'\n"
    assert (status, err) == (2, expected)


def test_a_pattern_is_for_the_files() -> None:
    save_tiktoken(SMALL, "own.bpe")
    found = as_object("-e", "own.bpe", "-e", "gpt2", "--pattern", "cl100k_base", "corpus")
    assert [one["name"] for one in found["encodings"]] == ["own.bpe", "gpt2"]
    by_pattern, shipped = (one["total"]["chunks"] for one in found["encodings"])
    assert by_pattern != shipped


def test_the_same_encoding_is_reported_once() -> None:
    found = as_object("-e", "gpt2", "-e", "gpt2", "-m", "gpt2", "corpus")
    assert [one["name"] for one in found["encodings"]] == ["gpt2"]
