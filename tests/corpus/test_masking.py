"""Rules are read as they are written, and what is wrong is named with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.corpus.masking import read_rules
from tests.examples import shared_fixture


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
    assert [rule.pattern.pattern for rule in read] == [pattern for pattern, _ in lines]
    for rule in read:
        assert rule.apply(text) == re.subn(rule.pattern.pattern, r"<\g<0>>", text)


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
