"""``compat-bpe report``; what is measured is tested in tests/report."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import threading
from datetime import datetime, timezone
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import __version__, get_encoding, load
from compat_bpe.encodings.resolve import resolve
from compat_bpe.report.figures import by_difference
from compat_bpe.report.html import page
from compat_bpe.report.measure import report as library_report
from compat_bpe.save import save_tiktoken
from tests.cli.running import (
    FIXTURES,
    TextResult,
    command,
    objects,
    on_terminal,
    posix,
    printed,
    refused,
    write,
)

TEXTS = {"en": ["The cat sat.\n", "A dog, too.\r\n"], "notes": ["naïve"], "zh": ["你好，世界。\n"]}
FILES = ["corpus/en/0.txt", "corpus/en/1.txt", "corpus/notes.txt", "corpus/zh/a.jsonl.gz"]
#: A small vocabulary, of which less has to be looked at than of the shipped ones.
SMALL, GPT2 = load(FIXTURES / "gpt2_small"), get_encoding("gpt2")


@pytest.fixture(autouse=True)
def _corpus() -> None:
    """A corpus of three groups: a folder with two files, one with JSON lines, and a file."""
    shutil.copytree(FIXTURES / "gpt2_small", "small")
    line = json.dumps({"text": TEXTS["zh"][0], "lang": "Chinese"})
    write(dict(zip(FILES, (*TEXTS["en"], *TEXTS["notes"], gzip.compress(line.encode())))))


def report(line: str, *more: str, stdin: str = "") -> TextResult:
    return command(f"report {line}", *more, stdin=stdin)


def lines(line: str, *more: str) -> list[str]:
    return printed(f"report {line}", *more).splitlines()


def as_object(line: str, stdin: str = "") -> Any:
    [found] = objects(f"report {line} --json", stdin=stdin)
    return found


def test_tables() -> None:
    found = lines("-e gpt2 -e small --top 2 corpus")
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
    # One group has no total.
    found = lines("-e small corpus/notes.txt")
    assert found[:4] == ["tokens", "small  char  byte  word", "    5     5     6     1  notes", ""]
    assert "total" not in " ".join(found)


def test_names_that_are_too_long_for_the_width_have_numbers() -> None:
    path = "a very long name of a vocabulary that is new/"
    shutil.copytree("small", path)
    args = ("-e", path, "-e", "small", "-e", "./small", "corpus")
    found = lines("--top 1", *args)
    assert found[:4] == [f"[1] {path}", "[2] small", "[3] ./small", ""]
    assert found[4:6] == ["tokens", "[1]  [2]  [3]  char  byte  word"]
    assert f"most frequent tokens of {path}" in found
    found = lines("--summary", *args)
    assert found[4].endswith(f"  [1] {path}")
    assert found[9].split() == ["most", "to", "least", "[1]", "[2]", "[3]"]


def test_json_has_the_figures_of_the_library() -> None:
    found = as_object("-e small -m gpt2 --top 3 corpus")
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
        vocabulary = one["vocabulary"]
        assert (vocabulary["used"], vocabulary["unused"]) == (expected.used, expected.unused)
        assert len(vocabulary["unreachable"]) == 13
        for shown, use in zip_longest(one["most_frequent"], expected.uses[:3]):
            token = {"text": use.token.decode("utf-8", "replace"), "bytes": use.token.hex()}
            assert shown == {"id": use.id, **token, "times": use.times}
        assert sum(one["tokens_by_bytes"].values()) == expected.total.tokens
    char, byte, word = found["baselines"]
    assert (char["total"]["tokens"], byte["total"]["bytes_per_token"]) == (38, 1)
    assert (word["groups"]["zh"]["tokens"], word["total"]["whole_chunk_share"]) == (1, None)


def test_groups_are_files_and_fields_if_asked() -> None:
    assert list(as_object("-e small --by file corpus")["groups"]) == FILES
    assert list(as_object(f"-e small --group-field lang {FILES[-1]}")["groups"]) == ["Chinese"]


def test_standard_input() -> None:
    found = as_object("-e small", "hello world")
    assert found["encodings"][0]["total"]["tokens"] == SMALL.count("hello world")
    found = as_object("-e small --jsonl -", '{"text": "hello world"}\n{"text": ""}\n')
    assert found["total"]["documents"] == 1
    assert report("-e small --terms - corpus", stdin="dog").status == 0


def test_terms() -> None:
    write({"terms.txt": "naïve\r\n\n  \na|b\n dog"})
    found = lines("-e gpt2 -e small --terms terms.txt corpus")
    at = found.index("terms: tokens, alone and after a space")
    assert found[at + 1 : at + 7] == [
        "    2  gpt2   na|ïve",
        "    1  gpt2    naïve",
        "    5  small  n|a|\\xc3|\\xaf|ve",
        "    5  small   n|a|\\xc3|\\xaf|ve",
        "",
        r"    3  gpt2   a|\||b",
    ]
    [one] = as_object("-e gpt2 --terms terms.txt corpus")["encodings"]
    first, _, last = one["terms"]
    assert first == {"term": "naïve", "alone": ["na", "ïve"], "after_space": [" naïve"]}
    assert last["term"] == " dog"


def test_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert printed("report -e small --html page.html --top 4 corpus").startswith("tokens\n")
    made = by_difference(library_report({"small": SMALL}, TEXTS))
    made_at = datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)
    expected = page(made, 4, corpus=["corpus"], version=__version__, made_at=made_at)
    assert Path("page.html").read_text("utf-8") == expected
    assert sorted(os.listdir()) == ["corpus", "page.html", "small"]
    # Through a link, and into a pipe.
    write({"target.html": "old"})
    os.symlink("target.html", "link.html")
    assert report("-e small --html link.html --force --top 4 corpus").status == 0
    assert Path("link.html").is_symlink()
    assert Path("target.html").read_text("utf-8") == expected
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text("utf-8")))
    reader.start()
    assert report("-e small --html pipe --top 4 corpus").status == 0
    reader.join()
    assert read == [expected]
    assert Path("pipe").is_fifo()


def test_page_of_standard_input_and_of_a_name_that_is_no_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert report("-e small --html page.html", stdin="dog").status == 0
    assert "<title>Tokenizer report: standard input</title>" in Path("page.html").read_text("utf-8")
    write({"\udcff.txt": "a"})
    printed("report -e small --by file --html page.html", "\udcff.txt")
    assert "\\udcff.txt" in Path("page.html").read_text("utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    err = refused("report -e small --html none.html", stdin="dog")
    assert not os.path.exists("none.html")
    assert err.startswith("compat-bpe: SOURCE_DATE_EPOCH is 'yesterday': set it to a whole number")
    assert err.count("\n") == 1


def test_what_is_skipped_is_neither_a_document_nor_a_group() -> None:
    pictures = [f"corpus/picture{number}.png" for number in range(3)]
    write({"bad.txt": b"a\n\xff", **dict.fromkeys(pictures, b"PNG\0")})
    args = "--errors skip -e small bad.txt corpus"
    status, out, err = report(f"--json {args}")
    said = f"compat-bpe: 3 binary files skipped: {', '.join(pictures)}\n"
    assert (status, err) == (0, f"{said}compat-bpe: 1 file that is not UTF-8 skipped: bad.txt\n")
    found = json.loads(out)
    assert list(found["groups"]) == list(TEXTS)
    assert found["total"]["documents"] == 4
    assert [one["path"] for one in found["skipped"]] == ["bad.txt", *pictures]
    assert found["errors"] == []
    by_file = report(f"-v --json --by file {args}")
    assert list(json.loads(by_file.out)["groups"]) == FILES
    assert by_file.err.splitlines()[1:] == [
        f"compat-bpe: {name}: skipped: binary: NUL byte at offset 3" for name in pictures
    ]


def test_what_cannot_be_read_is_named_and_the_rest_reported() -> None:
    status, out, err = report("-e small --json missing.txt corpus")
    assert (status, err) == (2, "compat-bpe: missing.txt: No such file or directory\n")
    found = json.loads(out)
    assert list(found["groups"]) == list(TEXTS)
    assert found["errors"] == [{"path": "missing.txt", "error": "No such file or directory"}]


def test_no_file_is_overwritten_unasked() -> None:
    text = 'How a page begins: <meta name="generator" content="compat_bpe 1.0">\n'
    write({"a.md": text, "b.md": "text"})
    # The slip: FILE of --html was forgotten.
    exists = "compat-bpe: a.md: the file exists; --force overwrites it\n"
    assert report("-e small --html a.md b.md") == (2, "", exists)
    assert Path("a.md").read_text() == text
    assert report("-e small --html a.md --force b.md").status == 0
    page = Path("a.md").read_bytes()
    assert page.startswith(b"<!doctype html>")
    # An earlier page is replaced.
    write({"b.md": "other text, and longer"})
    assert report("-e small --html a.md b.md").status == 0
    assert Path("a.md").read_bytes() != page
    # But not one among the corpus.
    args = "-e small --html corpus/page.html corpus"
    assert report(args).status == 0
    assert "corpus/page.html: the file is one of the inputs" in report(args).err
    assert report(f"{args} --exclude page.html").status == 0


def test_which_encodings() -> None:
    save_tiktoken(SMALL, "own.bpe")
    # A pattern is for the files, and the same encoding is reported once.
    found = as_object("-e own.bpe -e gpt2 -m gpt2 --pattern cl100k_base corpus")
    assert [one["name"] for one in found["encodings"]] == ["own.bpe", "gpt2"]
    by_pattern, shipped = (one["total"]["chunks"] for one in found["encodings"])
    assert by_pattern != shipped


# Which groups are shown, and the summary.


def test_ten_groups_unless_asked_for_more() -> None:
    write({f"corpus/g{number:02}.txt": "x" * number + "ab cd" for number in range(12)})
    found = lines("-e gpt2 -e small corpus")
    shown = "10 of 15 groups, those in which the encodings differ most; --groups 15 shows all"
    assert found[:2] == [shown, ""]
    whole = lines("-e gpt2 -e small --groups 15 corpus")
    assert whole[0] == "tokens"
    for some, rows in ((found[2:], 10), (whole, 15)):
        for table in "\n".join(some).split("\n\n")[:4]:
            assert len(table.splitlines()) == 2 + rows + 1
    # The total is that of all groups, and those that are shown are the first of all.
    assert next(line for line in found if line.endswith("  total")) in whole
    assert found[4:14] == whole[2:12]
    ratios = [int(row.split()[1]) / int(row.split()[0]) for row in whole[2:17]]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > ratios[-1]
    # Of one encoding, those with the most tokens per character are the first.
    alone = lines("-e small corpus")
    assert alone[0].startswith("10 of 15 groups, those with the most tokens per character;")
    assert alone[4].endswith("zh")
    # An object has all of them, in the order of the corpus.
    names = list(as_object("-e small corpus")["groups"])
    assert names == sorted(names)
    assert len(names) == 15


def test_summary() -> None:
    assert lines("--summary -e gpt2 -e small corpus") == [
        "4 documents in 3 groups, 51 bytes, 38 characters, 8 words",
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
    found = lines("--summary -e small corpus/notes.txt")
    assert found[:3] == ["1 document, 6 bytes, 5 characters, 1 word", "", "all text"]
    assert found[3].split("  ") == ["tokens", "bytes per token", "per word", "used"]
    assert found[4].split() == ["5", "1.20", "5.00", "1.3%", "small"]
    assert len(found) == 5
    assert lines("--summary -e gpt2 corpus")[-5:] == [
        "groups with the most tokens per character",
        "per character  gpt2",
        "         1.86    13  zh",
        "         0.46    12  en",
        "         0.40     2  notes",
    ]
    write({"corpus/blank.txt": "   \n"})  # a group without tokens
    found = lines("--summary -e words -e small corpus")
    assert found[9].split()[0] == "-"
    assert found[9].endswith("blank")


@posix
def test_summary_on_a_narrow_terminal() -> None:
    name = "another_vocabulary_that_is_small/"
    shutil.copytree("small", name)
    args = ("report", "--summary", "-e", name, "-e", "small", "corpus")
    shown = on_terminal(*args, columns=50).splitlines()
    assert all(len(line) <= 50 for line in shown)
    assert shown[2:10] == [
        "",
        f"[1] {name}",
        "[2] small",
        "",
        "all text",
        "  [1]    [2]",
        "   42     42  tokens",
        "+0.0%  +0.0%  to the first",
    ]
    assert "most to least  [1]  [2]" in shown


# An estimate

CLAUDE = "-m claude-sonnet-4-5 --estimate"
REASON = resolve("claude-sonnet-4-5", "model", estimate=True).note
LACKS = f"claude-sonnet-4-5 is an estimate without chunks, ids or balance: {REASON}"


TOKENS = """\
tokens
claude-sonnet-4-5  char  byte  word
               ≈8    26    26     6  en
               ≈2     7    19     1  zh
               ≈2     5     6     1  notes
              ≈11    38    51     8  total"""
ALL = """\
all text
tokens  to the first  bytes per token  per word  used  worst to best
    42         +0.0%             1.21      5.25  8.9%           3.92  small
   ≈11       ≈-73.8%            ≈4.64     ≈1.38     -              -  claude-sonnet-4-5"""


def test_an_estimate_is_a_column() -> None:
    for options, titles, expected in (("", 4, TOKENS), ("-e small --summary", 2, ALL)):
        done = report(f"{CLAUDE} {options} corpus")
        found = done.out.split("\n\n")
        assert done[::2] == (0, f"compat-bpe: {LACKS}\n")
        assert expected in found
        assert sum("claude-sonnet-4-5" in block for block in found) == titles


def test_a_page_says_what_an_estimate_lacks() -> None:
    assert report(f"{CLAUDE} -e small --html page.html corpus").status == 0
    written = Path("page.html").read_text(encoding="utf-8")
    assert LACKS in written.replace("&#x27;", "'")
    assert "<td>≈11</td>" in written
    done = report(f"{CLAUDE} --html alone.html corpus")
    assert done.status == 2
    assert "--html needs an encoding (-e): an estimate has no tokens to draw." in done.err
