"""A corpus is normalized, masked, freed of duplicates, and a share is held out."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.corpus import documents as corpus
from compat_bpe.corpus.documents import DocumentPart, parts_of
from compat_bpe.corpus.prepare import CorpusCounts, Preparation, prepare, read_rules, rule
from compat_bpe.pipeline.normalizers.forms import Form, UnicodeForm
from compat_bpe.unicode.surrogates import repair
from tests.examples import check_refused, shared_fixture
from tests.strategies import texts

FORMS: list[Form] = ["NFC", "NFD", "NFKC", "NFKD"]

#: What is composed, ordered, or decomposed into something that is: Latin, Hangul, a vowel of two
#: parts (Sinhala), half-width Katakana and Hangul, and what is new in Unicode 16.
composing = st.text(
    "ae\u0301\u0323\u0344각\u1100\u1161\u11a8\u0dd9\u0dcf\u0dcaﾊﾞ\uffa1\uffc2ﬁ½\u3099は"
    "\U00016d63\U00016d67\n",
    max_size=40,
)
#: Texts of few lines, so that some are equal.
lines = st.lists(st.sampled_from(["a", "b", " ", "", "a\r", "long line", "日本"])).map("\n".join)
sizes = st.integers(1, 12)


def cut(documents: Iterable[str], size: int) -> list[DocumentPart]:
    """The parts of some documents, each of at most so many characters."""
    with patch.object(corpus, "PART", size):
        return [
            part
            for number, text in enumerate(documents)
            for part in parts_of([text], "g", str(number))
        ]


def joined(parts: Iterable[DocumentPart]) -> list[str]:
    """The texts of documents; each is that of one source."""
    found, text, source = [], "", ""
    for part in parts:
        assert part.text
        assert not text or part.source == source
        text, source = text + part.text, part.source
        if part.is_last:
            found.append(text)
            text = ""
    assert not text, "the last document has no end"
    return found


def after(documents: Iterable[str], size: int, **options: Any) -> list[str]:
    """What is left of some documents."""
    return joined(prepare(cut(documents, size), Preparation(**options)))


@given(st.lists(texts.map(repair), max_size=4), sizes)
def test_without_preparation_parts_are_as_they_were(documents: list[str], size: int) -> None:
    parts = cut(documents, size)
    counts = CorpusCounts()
    assert list(prepare(parts, Preparation(), counts=counts)) == parts
    assert counts.read == counts.kept
    assert counts.kept.documents == sum(map(bool, documents))
    assert counts.kept.bytes == len("".join(documents).encode())
    stream = b"".join(text.encode() + b"\xff" for text in documents if text)
    assert counts.sha256 == hashlib.sha256(stream).hexdigest()


@given(st.lists(composing | texts.map(repair), max_size=3), sizes, st.sampled_from(FORMS))
def test_parts_are_normalized_as_the_whole(documents: list[str], size: int, form: Form) -> None:
    expected = [UnicodeForm(form)(text) for text in documents if text]
    assert after(documents, size, normalization=form) == expected


def test_normalization_lets_little_wait() -> None:
    text = "日本語のテキスト" * 100_000
    parts = list(prepare(cut([text], 1000), Preparation(normalization="NFC")))
    assert joined(parts) == [text]
    assert max(len(part.text) for part in parts) <= 1001


@given(st.lists(lines, max_size=6), sizes)
def test_of_equal_lines_the_first_stays(documents: list[str], size: int) -> None:
    seen: set[str] = set()
    dropped = 0
    expected = []
    for text in documents:
        kept = []
        for line in re.findall("[^\n]*\n|[^\n]+", text):
            content = line.removesuffix("\n")
            if len(line) > size or not content.strip():
                kept.append(line)
            elif content in seen:
                dropped += 1
            else:
                kept.append(line)
                seen.add(content)
        expected.append("".join(kept))
    counts = CorpusCounts()
    parts = prepare(cut(documents, size), Preparation(drop_duplicates="lines"), counts=counts)
    assert joined(parts) == [text for text in expected if text]
    assert counts.dropped_lines == dropped


@given(st.lists(lines, max_size=8), sizes, st.integers(0, 20))
def test_of_equal_documents_the_first_stays(
    documents: list[str], size: int, in_memory: int
) -> None:
    counts = CorpusCounts()
    with patch.object(corpus, "_IN_MEMORY", in_memory):
        parts = list(
            prepare(cut(documents, size), Preparation(drop_duplicates="documents"), counts=counts)
        )
    different = [text for text in dict.fromkeys(documents) if text]
    assert joined(parts) == different
    # Spool back or not, they are the same parts.
    with patch.object(corpus, "PART", size):
        assert [part.text for part in parts] == [
            part.text for text in different for part in parts_of([text], "", "")
        ]
    assert counts.dropped_documents == sum(map(bool, documents)) - len(different)


def test_documents_are_compared_after_they_are_masked() -> None:
    documents = ["Le\u0301a, 12", "L\u00e9a, 34\n", "L\u00e9a, 5"]
    found = after(
        documents,
        100,
        normalization="NFC",
        rules=[rule(r"\d+", "0")],
        drop_duplicates="documents",
    )
    assert found == ["L\u00e9a, 0", "L\u00e9a, 0\n"]


@given(st.lists(lines, max_size=6), sizes)
def test_rules_see_one_part_each_and_are_counted(documents: list[str], size: int) -> None:
    rules = [rule("[a-l]+", ""), rule("(o)(n)", r"\2\1"), rule(r"\s+\Z", "")]
    expected: dict[str, str] = {}
    replacements = [0, 0, 0]
    for part in cut(documents, size):
        text = part.text
        for number, (pattern, replacement) in enumerate(rules):
            text, found = re.subn(pattern, replacement, text)
            replacements[number] += found
        expected[part.source] = expected.get(part.source, "") + text
    counts = CorpusCounts()
    parts = prepare(cut(documents, size), Preparation(rules=rules), counts=counts)
    assert joined(parts) == [text for text in expected.values() if text]
    assert counts.masked == replacements


def is_held_out(text: str, share: float) -> bool:
    return int(hashlib.blake2b(text.encode(), digest_size=8).hexdigest(), 16) / 2**64 < share


@given(st.lists(lines | texts.map(repair), max_size=6), sizes, st.floats(0, 1, exclude_max=True))
def test_what_is_held_out_divides_its_document(
    documents: list[str], size: int, share: float
) -> None:
    parts = cut(documents, size)
    chosen = [is_held_out(part.text, share) for part in parts]
    expected: tuple[list[DocumentPart], list[DocumentPart]] = ([], [])
    for number, (part, out) in enumerate(zip(parts, chosen)):
        is_last = part.is_last or chosen[number + 1] != out
        expected[out].append(part._replace(is_last=is_last))
    held_out: list[DocumentPart] = []
    counts = CorpusCounts()
    found = list(prepare(parts, Preparation(validation=share), held_out.append, counts))
    assert (found, held_out) == expected
    joined(found)
    assert counts.kept.parts == len(found)
    assert counts.held_out.documents == len(joined(held_out))
    assert counts.kept.characters + counts.held_out.characters == counts.read.characters


def test_the_share_held_out_is_near_what_was_asked_and_goes_by_the_text() -> None:
    documents = [f"document {number}" for number in range(20_000)]

    def held_out(share: float, documents: Sequence[str]) -> list[str]:
        found: list[DocumentPart] = []
        kept = list(prepare(cut(documents, 100), Preparation(validation=share), found.append))
        assert len(kept) + len(found) == len(documents)
        return joined(found)

    tenth = held_out(0.1, documents)
    assert 1850 < len(tenth) < 2150  # 3.5 standard deviations
    shuffled = random.Random(1).sample(documents, len(documents))
    assert sorted(held_out(0.1, shuffled)) == sorted(tenth)
    # What a smaller share holds out is part of it.
    assert set(held_out(0.01, documents)) < set(tenth)


def test_the_result_is_the_same_everywhere() -> None:
    # These were put down once; another Python, machine or process has to give the same.
    documents = [f"Straße {number % 7}\n" * 3 + f"½ e\u0301 {number}\n" for number in range(40)]
    preparation = Preparation("NFKC", [rule("0", "o")], "lines", 0.2)
    counts = CorpusCounts()
    held_out: list[DocumentPart] = []
    list(prepare(cut(documents, 30), preparation, held_out.append, counts))
    assert json.loads(json.dumps(counts.as_dict())) == {
        "read": {"documents": 40, "parts": 80, "characters": 1390, "bytes": 1590},
        "kept": {"documents": 33, "parts": 39, "characters": 341, "bytes": 446},
        "held_out": {"documents": 8, "parts": 8, "characters": 72, "bytes": 94},
        "masked": [22],
        "dropped_lines": 113,
        "dropped_documents": 0,
        "sha256": "cf6465954871ce7280330378974cba9ef7e122e38e2846581799cd5c39926070",
    }


class FullDisk(io.RawIOBase):
    """A file on a disk without room."""

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0

    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("size", [200, 60_000])
def test_the_folder_of_a_full_disk_is_named_whenever_it_is_written_to(size: int) -> None:
    file = io.BufferedRandom(FullDisk())  # holds back some thousand bytes
    with patch.object(corpus, "_IN_MEMORY", 100), patch.object(tempfile, "TemporaryFile") as made:
        made.return_value = file
        with pytest.raises(OSError, match="No space left on device") as caught:
            after(["x" * size], size, drop_duplicates="documents")
    assert caught.value.filename == tempfile.gettempdir()
    assert file.closed


def test_memory_for_a_long_document_is_bounded() -> None:
    text = "some line of a text\n" * 10_000
    with patch.object(corpus, "_IN_MEMORY", 100), patch.object(tempfile, "TemporaryFile") as made:
        made.side_effect = OSError(28, "No space left on device")
        with pytest.raises(OSError, match="No space left on device") as caught:
            after([text], 50, drop_duplicates="documents")
    assert caught.value.filename == tempfile.gettempdir()
    # Shorter ones need no file.
    assert after(["a", "b", "a"], 50, drop_duplicates="documents") == ["a", "b"]


def test_wrong_values_are_refused() -> None:
    table = """
Preparation(normalization="NFX") → normalization is 'NFX'; it must be one of NFC, NFD, NFKC, NFKD
Preparation(drop_duplicates="words") →
    drop_duplicates is 'words'; it must be one of lines, documents
Preparation(validation=1.0) → validation is 1.0; it must be at least 0 and below 1…
Preparation(validation=float("nan")) → validation is nan…
Preparation(validation=-0.1) → validation is -0.1…
"""
    check_refused(table, globals())


def rules(path: Path, content: str | bytes) -> list[tuple[str, str]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [(rule.pattern.pattern, rule.replacement) for rule in read_rules(str(path))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rules.txt"


def test_a_file_of_rules(path: Path) -> None:
    content = (
        "\ufeff# comment → no rule\n\n"
        "\\d+ → 0\n"
        " (a) (b)\t=>  \\2 \\1 \r\n"  # blanks around an arrow do not count
        "   \n"
        " +\t \n"  # with a tab they do
        "gone→\n"
        "=[>] → → => \t x\n"  # the first separator is the one
        "\\# =>#"
    )
    assert rules(path, content) == [
        (r"\d+", "0"),
        ("(a) (b)", r"\2 \1"),
        (" +", " "),
        ("gone", ""),
        ("=[>]", "→ => \t x"),
        (r"\#", "#"),
    ]
    assert rules(path, "") == []


@shared_fixture()
@given(
    st.lists(
        st.tuples(
            st.text("ab \\*é😀|", min_size=1).map(
                lambda text: re.escape(text).replace("\\ ", "[ ]")
            ),
            st.sampled_from(["→", " => ", "\t"]),
        )
    ),
    st.text("ab é"),
)
def test_rules_replace_as_re_sub_does(path: Path, lines: list[tuple[str, str]], text: str) -> None:
    path.write_text(
        "".join(f"{pattern}{separator}<\\g<0>>\n" for pattern, separator in lines), "utf-8"
    )
    read = read_rules(str(path))
    assert [one.pattern.pattern for one in read] == [pattern for pattern, _ in lines]
    for one in read:
        assert one.apply(text) == re.subn(one.pattern.pattern, r"<\g<0>>", text)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a → b\nc", "2: no separator: pattern and replacement must be separated by →, => or a"),
        ("→ b", "1: the pattern is missing"),
        ("(a → b", r"1: the pattern '(a': missing ), unterminated subpattern at position 0"),
        (r"(a) → \2", r"1: the replacement '\\2': invalid group reference 2 at position 1"),
        (r"a → \g<x>", r"1: the replacement '\\g<x>': unknown group name 'x'"),
        (r"a → \q", r"1: the replacement '\\q': bad escape \q at position 0"),
        ("[[a] → b", "1: the pattern '[[a]': Possible nested set at position 1"),
        ("a(?i) → b", "1: the pattern 'a(?i)': "),
        ("a{99999999999999999999} → b", "1: the pattern 'a{99999999999999999999}': "),
        (b"a \xff b", " not UTF-8: byte 0xff at offset 2; convert it to UTF-8"),
        ("a → b".encode("utf-16"), " not UTF-8: UTF-16 byte-order mark"),
    ],
)
def test_what_is_wrong_is_named(path: Path, content: str | bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        rules(path, content)
    assert str(caught.value).startswith(f"{path}:{reason}")


def test_a_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_rules(str(path))
