"""Trees and states of patterns: what is told of them is so; what is made faster finds the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.published import PATTERNS
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import read_steps
from compat_bpe.pattern import states as states_module
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.prepared import PREPARED
from compat_bpe.pattern.splitter import Matcher, Splitter
from compat_bpe.pattern.states import NoTable, States, asked_after, is_bounded
from compat_bpe.pattern.translation import join_runs, relax, to_re
from compat_bpe.pattern.tree import (
    Alternatives,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    asked_of_next,
    can_be_empty,
    looks_back,
    project,
    stays_whole,
    surely_begins,
    walk,
)
from compat_bpe.pipeline.pre_tokenizers.splitter import make_splitter
from compat_bpe.pipeline.pypy.encoder import Table
from compat_bpe.unicode.properties import CodePoints
from tests.examples import scaled
from tests.pattern.random_trees import trees, words

JOINED = [
    "[A-Z]*[a-z]+|[A-Z]+[a-z]*",
    "[ .]?[A-Z]*[a-z]+(?:'s|'ll)?|[ .]?[A-Z]+[a-z]*(?:'s|'ll)?|[0-9]{1,3}| ?[^ A-Za-z0-9]+| +",
    "[0-9]|[ .]?[A-Z]*[a-z]+[!?]*|[ .]?[A-Z]+[a-z]*[!?]*|.",
]
LEFT_ALONE = [
    # A character of two classes: how many of them each run takes is not settled.
    *("[A-Za]*[a-z]+|[A-Za]+[a-z]*", "[ A]?[A-Z]*[a-z]+|[ A]?[A-Z]+[a-z]*"),
    *("[A-Z]*[a-z]+!|[A-Z]+[a-z]*!|.", " ?[A-Z]*[a-z]+|[A-Z]+[a-z]*|."),
    *("[A-Z]*[a-z]+!?|[A-Z]+[a-z]*|.", "[A-Z]*[a-z]+|[0-9]|[A-Z]+[a-z]*"),
    *("[A-Z]*?[a-z]+|[A-Z]+[a-z]*", "[A-Z]+[a-z]*|[A-Z]*[a-z]+", "[A-Z]+", ""),
]


@pytest.mark.hypothesis
@pytest.mark.parametrize("pattern", JOINED)
def test_joined_runs_match_as_before(pattern: str) -> None:
    tree = parse(pattern)
    joined = join_runs(tree)
    assert joined != tree
    before, after = re.compile(to_re(tree)), re.compile(to_re(joined))

    @given(st.text("abAB .'sl!?1", max_size=20))
    def run(text: str) -> None:
        assert after.findall(text) == before.findall(text)

    run()


@pytest.mark.parametrize("pattern", LEFT_ALONE)
def test_what_cannot_be_joined_is_left_alone(pattern: str) -> None:
    tree = parse(pattern)
    assert join_runs(tree) == tree


WORDS = words("ab")


def matches(tree: Node) -> list[tuple[int, int] | None]:
    """Return the match of a pattern at the beginning of each word."""
    compiled = re.compile(to_re(tree))
    return [found.span() if (found := compiled.match(word)) else None for word in WORDS]


@settings(max_examples=scaled(300))
@given(trees("ab"))
@example(parse("(?:a?+b)?+a"))
@example(parse("(?:(?>a|ab))?b"))
@example(parse("(?:a++b?){2}a"))
@example(parse("a?+(?:b|)a"))
@example(parse("a*+$"))
@example(parse("a*+(?=b)a"))
def test_relaxed_patterns_match_as_before(tree: Node) -> None:
    assert matches(relax(tree)) == matches(tree)


@settings(max_examples=scaled(300))
@given(trees("ab"))
def test_what_is_known_of_a_pattern_is_so(tree: Node) -> None:
    found = matches(tree)
    if not can_be_empty(tree):
        assert (0, 0) not in found
    for word, match in zip(WORDS, found):
        if word and ord(word[0]) in surely_begins(tree):
            assert match is not None, word


@settings(max_examples=scaled(300))
@given(trees("ab"))
@example(parse("(?!b)a|b?a"))
@example(parse("(?=b)a|a"))
@example(parse("b+a|b*a"))
@example(parse("(?>b)|(?>ab?)"))
@example(parse("b|b"))
def test_projected_patterns_match_words_of_the_alphabet_alike(tree: Node) -> None:
    projected = project(tree, lambda points: points & CodePoints.of("a"))
    expected, found = matches(tree), matches(projected)
    for number, word in enumerate(WORDS):
        if "b" not in word:
            assert found[number] == expected[number], word
        assert not any(
            ord("b") in node.points for node in walk(projected) if isinstance(node, Chars)
        )


@pytest.mark.parametrize(
    ("pattern", "relaxed"),
    [
        ("a++", "a+"),
        ("a++b", "a+b"),
        ("a?+b", "a?b"),
        ("a++b?", "a+b?"),
        ("a++b*c*", "a+b*c*"),
        ("a++(?:b|c)", "a+(?:b|c)"),
        ("(?>ab|a)", "ab|a"),
        ("(?:a++|b)c", "(?:a+|b)c"),
        ("a++$", r"a+\Z"),
        ("(?:a++b)?", "(?:a+b|)"),
        # These do not match the same without.
        ("a++a", "(?=(?P<a1>a+))(?P=a1)a"),
        ("a++[ab]", "(?=(?P<a1>a+))(?P=a1)[a-b]"),
        ("a++b?a", "(?=(?P<a1>a+))(?P=a1)b?a"),
        ("(?>a|ab)c", "(?=(?P<a1>a|ab))(?P=a1)c"),
        ("(?:ab)++a", "(?=(?P<a1>(?:ab)+))(?P=a1)a"),
    ],
)
def test_what_is_relaxed(pattern: str, relaxed: str) -> None:
    assert to_re(relax(parse(pattern))) == relaxed


@pytest.mark.parametrize(
    ("pattern", "points"),
    [
        ("a", "a"),
        ("a|b", "ab"),
        ("a+", "a"),
        ("a{2}", ""),
        ("a*", ""),
        ("a?b", "b"),
        ("a?[ab]c*", "b"),
        ("a?bc", ""),
        ("(?:a|b)?c", ""),
        ("a(?=b)", ""),
        ("(?=a)a", ""),
        ("(?>a)", ""),
    ],
)
def test_characters_at_which_a_pattern_surely_matches(pattern: str, points: str) -> None:
    assert surely_begins(parse(pattern)) == CodePoints.of(*points)


@pytest.mark.parametrize(
    ("pattern", "is_empty", "back"),
    [
        ("a", False, False),
        ("", True, False),
        ("a?b*", True, False),
        ("a?b", False, False),
        ("a|", True, False),
        ("(?:a?){2}", True, False),
        ("(?>a?)", True, False),
        ("(?>a)", False, False),
        ("$", True, False),
        ("^", True, True),
        ("(?=a)", True, False),
        ("(?<=a)", True, True),
        ("(?:a|(?=(?<!a)b)c)", False, True),
    ],
)
def test_what_may_be_empty_and_what_looks_back(pattern: str, is_empty: bool, back: bool) -> None:
    assert can_be_empty(parse(pattern)) is is_empty
    assert looks_back(parse(pattern)) is back


@pytest.mark.parametrize(
    ("pattern", "needed"), [("a+b", False), ("a++b", True), ("(?>a)b", True), ("(?=a++)b", True)]
)
def test_what_needs_groups(pattern: str, needed: bool) -> None:
    assert (re.compile(to_re(parse(pattern))).groups > 0) is needed


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("a{2,}b{2,3}c{2}", "a{2,}b{2,3}c{2,2}"),
        ("a+?b*?c??", "a+?b*?c??"),
        ("(?:ab)?c", "(?:ab|)c"),
        ("(?:ab)??c", "(?:|ab)c"),
        ("^a$", r"\Aa\Z"),
        ("(?=a)(?!a)(?<=a)(?<!a)", "(?=a)(?!a)(?<=a)(?<!a)"),
        ("(?>a)(?>b)", "(?=(?P<a1>a))(?P=a1)(?=(?P<a2>b))(?P=a2)"),
        ("(?:a|b)c", "(?:a|b)c"),
        ("a|b", "a|b"),
    ],
)
def test_what_is_written(pattern: str, written: str) -> None:
    assert to_re(parse(pattern)) == written


#: Patterns over few characters; the first eight must be taken for ones with the property.
WHOLE = [
    *(r"a+|b", r"a(?!b)|.", r"a++b|a|b|c", r"ab?(?!c)|[abc]|\s+$|\s", r"(?:ab)+?(?!a)|."),
    *(r"a+?$|a+b|.", r"(?:a|ab)(?!c)b?|.", r"(?>a)b|(?:aa|b)+|."),
]
SPLIT = [
    *(r"(?<=a)b+|.", r"(?<!a)b|..", r"\A.b|.", r"aa(?=b)|.", r"a(?!bc)b?|aab|."),
    *(r"(?>aaab|a)(?!c)|aa|.", r"(?:aaab|a)++(?!c)|aa|.", r"a(?!$)|.", r"\ba+|.b?"),
    r"a(?!(?!b))|ab|.",
]


def test_known_patterns_have_the_property() -> None:
    without = [name for name, pattern in PATTERNS.items() if not stays_whole(parse(pattern))]
    # "it's " before a digit ends in a space, which is a chunk of its own at the end of a text.
    assert without == ["superbpe"]


@pytest.mark.parametrize("pattern", WHOLE)
@given(text=st.text("aaab c", max_size=8))
def test_chunks_stay_whole(pattern: str, text: str) -> None:
    assert stays_whole(parse(pattern))
    chunks = Splitter(pattern).chunks
    for chunk in chunks(text):
        assert chunks(chunk) == [chunk]


@pytest.mark.parametrize("pattern", SPLIT)
def test_all_others_are_told_apart(pattern: str) -> None:
    assert not stays_whole(parse(pattern))


# States find what ``re`` finds, and ``re`` gets no pattern that it would try in too many ways


class TooManySteps(Exception):
    """More characters were tried than allowed."""


class Backtracking:
    """A matcher that tries the ways of a pattern one after another.

    Args:
        text: the text.
        most: the most characters that may be tried.

    Attributes:
        steps: the number of characters that were tried.
    """

    def __init__(self, text: str, most: int) -> None:
        self.text = text
        self.most = most
        self.steps = 0

    def end(self, node: Node, start: int) -> int:
        """Return the end of the match at a position; -1 if there is none."""
        return next(self.ends(node, start), -1)

    def ends(self, node: Node, at: int) -> Iterator[int]:
        """Yield the ends of a node's matches at a position, the preferred first."""
        if isinstance(node, Chars):
            self.steps += 1
            if self.steps > self.most:
                raise TooManySteps
            if at < len(self.text) and ord(self.text[at]) in node.points:
                yield at + 1
        elif isinstance(node, Sequence):
            if not node.items:
                yield at
                return
            for end in self.ends(node.items[0], at):
                yield from self.ends(Sequence(node.items[1:]), end)
        elif isinstance(node, Alternatives):
            for branch in node.branches:
                yield from self.ends(branch, at)
        elif isinstance(node, Repeat):
            if node.mode == "+":
                yield from self.ends(Atomic(node._replace(mode="")), at)
            else:
                yield from self.rounds(node, at, 0)
        elif isinstance(node, Atomic):
            end = self.end(node.item, at)
            if end >= 0:
                yield end
        elif isinstance(node, Anchor):
            if at == (0 if node.kind == "start" else len(self.text)):
                yield at
        elif self.looks(node, at) != node.negative:
            yield at

    def rounds(self, node: Repeat, at: int, done: int) -> Iterator[int]:
        if node.mode == "?" and done >= node.low:
            yield at
        if node.high is None or done < node.high:
            for end in self.ends(node.item, at):
                yield from self.rounds(node, end, done + 1)
        if node.mode != "?" and done >= node.low:
            yield at

    def looks(self, look: Look, at: int) -> bool:
        if look.ahead:
            return self.end(look.item, at) >= 0
        return any(at in self.ends(look.item, start) for start in range(at + 1))


WORDS_OF_ABC = words("abc", 4)
_chars_of_abc = st.sets(st.sampled_from("abc"), min_size=1).map(
    lambda some: Chars(CodePoints.of(*some))
)
_few = st.one_of(
    _chars_of_abc,
    st.builds(Repeat, _chars_of_abc, st.just(0), st.sampled_from([0, 1, None]), st.just("")),
    st.builds(
        Repeat, _chars_of_abc, st.just(1), st.sampled_from([1, 2, None]), st.sampled_from(["", "?"])
    ),
    st.just(Anchor("end")),
)
#: Patterns of which many are decided by two characters.
_short = st.lists(st.lists(_few, min_size=1, max_size=3).map(tuple).map(Sequence), max_size=3).map(
    lambda branches: Alternatives(tuple(branches)) if len(branches) > 1 else Sequence(())
)


@given(st.one_of(_short, trees("abc")), _chars_of_abc)
@example(parse("a?b|c+a*"), parse("[abc]"))
@example(parse("a?$"), parse("[ab]"))
@example(parse("ab{0}"), parse("[ab]"))
@example(parse("a{2}|ba*?"), parse("[ab]"))
@example(parse("a(?:b|$)"), parse("[ab]"))
@example(parse("b{0}a"), parse("[ab]"))
@example(parse(r"a[\s\S]"), parse("[ab]"))
@example(parse("b?+b"), parse("[ab]"))
def test_to_ask_after_is_the_same(item: Node, chars: Chars) -> None:
    look = Look(item, ahead=True, negative=True)
    try:
        found = asked_after(look, chars)
    except NoTable:
        event("no table")
        return
    event("a table")
    before, after = re.compile(to_re(Sequence((look, chars)))), re.compile(to_re(found))
    for word in WORDS_OF_ABC:
        assert bool(before.match(word)) == bool(after.match(word))


@given(_short, _chars_of_abc, st.text("abc", max_size=9))
@example(parse("a?b"), parse("[ac]"), "aacaba")
@example(parse("b?c|ab"), parse("[abc]"), "abacbcaab")
def test_gaps_in_a_table(matches: Node, chars: Chars, text: str) -> None:
    gap = Repeat(Sequence((Look(matches, ahead=True, negative=True), chars)), 1, None, "")
    tree = gap if can_be_empty(matches) else Alternatives((matches, gap))
    try:
        table = Table(tree)
    except NoTable:
        return
    bounds = table.bounds(text.encode())
    assert list(zip(bounds[::2], bounds[1::2])) == [
        match.span() for match in re.finditer(to_re(tree), text)
    ]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(?!a?b)[ab]", "a(?!b)"),
        ("(?!ab|c)[abc]", "b|a(?!b)"),
        ("(?!ab|[ac]$)[abc]", "b|a(?!b|\\Z)|c(?!\\Z)"),
        ("(?!ab|ac)[abc]", "[b-c]|a(?![b-c])"),
        ("(?!abc?)[ab]", "b|a(?!b)"),
        ("(?!b?+b)[ab]", None),
        ("(?!a*c|ab)[abx]", None),
        ("(?!a+b*)[ab]", "b"),
        ("(?!a|b)[ab]", "(?!)"),
        ("(?!)[ab]", "(?!)"),
    ],
)
def test_what_is_asked(pattern: str, expected: str | None) -> None:
    look, chars = parse(pattern).items  # type: ignore[union-attr]
    assert isinstance(look, Look)
    assert isinstance(chars, Chars)
    if expected is None:
        with pytest.raises(NoTable):
            asked_after(look, chars)
    else:
        assert set(to_re(asked_after(look, chars)).split("|")) == set(expected.split("|"))


@given(st.one_of(_short, trees("abc")))
def test_what_one_character_decides(node: Node) -> None:
    asked = asked_of_next(node)
    if asked is None:
        return
    points, end = asked
    pattern = re.compile(to_re(node))
    for word in WORDS_OF_ABC:
        assert bool(pattern.match(word)) == (ord(word[0]) in points if word else end)


LETTERS = "ab é𐐀"
_sets = st.sets(st.sampled_from(LETTERS), min_size=1).map(lambda some: CodePoints.of(*some))
_chars = st.one_of(_sets, _sets.map(CodePoints.__invert__)).map(Chars)
#: Conditions on the character before, or the start of the text.
_behind = st.builds(
    Look,
    st.one_of(_chars, st.builds(lambda one: Alternatives((one, Anchor("start"))), _chars)),
    st.just(False),
    st.booleans(),
)
_conditions = st.one_of(_behind, st.just(Anchor("start")), st.just(parse(r"\b")))
looking_back = st.lists(st.one_of(_conditions, trees(LETTERS)), min_size=1, max_size=4).map(
    lambda items: Sequence(tuple(items))
)


@settings(max_examples=scaled(200))
@given(st.one_of(trees(LETTERS), looking_back), st.text(LETTERS, max_size=10))
@example(parse("(?:a+)+b|."), "aaaa aab")
@example(parse(r"\ba+?|\Ba|^b"), "aa ba ab")
@example(parse("a++(?:b|a)"), "aab aaa")
@example(parse("[ab]{1,2}+b"), "abb ab bbb")
@example(parse("(?>a+|b)b"), "aab bb")
@example(parse("x?"), "axa")
@example(parse(r"(?<=a)b|(?<!a)b(?!\z)"), "abbb b")
def test_the_matches_are_those_of_re(tree: Node, text: str) -> None:
    tree = relax(tree)
    try:
        states = States(tree)
    except NoTable:
        return
    assert states.end(text, 0) == Backtracking(text, 10**6).end(tree, 0)
    with suppress(re.error):  # a lookbehind of variable width
        expected = Matcher(re.compile(to_re(tree)), can_be_empty(tree))
        assert list(states.spans(text)) == list(expected.find_spans(text))


@given(trees("ab"), st.text("ab", max_size=30))
def test_nothing_depends_on_what_was_forgotten(tree: Node, text: str) -> None:
    try:
        states = States(tree)
    except NoTable:
        return
    expected = list(states.spans(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states_module, "_MOST_KEPT", 0)
        patch.setattr(states_module, "_MOST_CHARACTERS", 1)
        assert list(States(tree).spans(text)) == expected


def test_there_are_never_many_states() -> None:
    # In advance, these were 2 to the power of 60.
    states = States(parse("(?:a|b)*a" + "(?:a|b)" * 60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states_module, "_MOST_KEPT", 5_000)
        text = "".join("ab"[number * number % 7 % 2] for number in range(3_000))
        states.end(text, 0)
        assert states.kept <= 5_000 + 200


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(?>a|a+b)+(?:a+)+c", "and it has an atomic group"),
        (r"(?:ab|a+)++(?:a+)+c", "and it has a possessive group"),
        (r"(?:a+)+b(?=cde)", "and it looks far ahead"),
        (r"(?<=ab)(?:a+)+b", "and it looks far back"),
        ("(?:a{1,2000}){1,50}b", "and it repeats a part in many rounds"),
        (
            "(?:(?:a+)+bcdefg){1,900}h",
            "and it has more than 1,000 parts if its repeats are written out",
        ),
    ],
)
def test_a_pattern_without_states_is_refused_at_load(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError, match=f"in too many ways to try them all, {reason}; write"):
        Splitter(pattern)


def test_a_splitter_by_states_does_all_that_others_do() -> None:
    splitter = Splitter(r"(?:a+)+b|\w")
    assert splitter.chunks("aab é! aa") == ["aab", "é", "a", "a"]
    assert splitter.replace("aab!", "-") == "-!"
    assert splitter.chunk_end("xaab")(1) == 4
    assert "".join(splitter.segments("aab " * 1000)) == "aab " * 1000


HOSTILE = [
    *("(?:a+)+b", "(?:a+)+b|.", "(?:a|a)*b", "(?:a|aa)+b", "(?:(?:a|b)+)+c", "(?:a*b*a+)*c"),
    *("a*a*b", "a*a*a*a*b", r"\s*\s*\s*x", r"(?:\w+\s?)+$", r'"(?:[^"\\]+|\\.)*"'),
    *("a?" * 30 + "a" * 30, "(?:a|a)" * 30 + "b", "(?:a{1,100}){1,100}b", "a{0,50}a{0,50}b"),
    *("(?:(?=a*b)a)*c", "a+(?=a+b)", "(?:(?!a*b)a)*c", "(?=(?:a+)+b)a", "(?=(?:(?=a+)a)*)x"),
    *("(?:(?:a+)+b)+", "(?:(?:a+)+b|a)*", "a|(?:a+)+b"),
]
HARMLESS = [
    *("a*b", "(?:a+)+", "(?:a+b)+c", "(?:a*b|a)+", r'"(?:[^"\\]++|\\.)*"', r'"(?:[^"\\]|\\.)*"'),
    *(r"\w+@\w+\.com", r"https?://\S+", "[^\n]*\n", "<[^>]*>|[^<]+", r"[A-Z]+(?=[A-Z][a-z]+)"),
    *(r"\d+(?=\.\d+)", r"\s+(?!\S)", r"\d{1,3}(?=(?:\d{3})*\b)", "a{1,1000}b"),
    *("|".join(f"w{number}x{7 * number}" for number in range(500)), "(?:(?:(?:a*)b)*c)*d"),
]


@pytest.mark.parametrize("pattern", HOSTILE, ids=lambda pattern: pattern[:20])
def test_many_ways_are_noticed(pattern: str) -> None:
    assert not is_bounded(relax(parse(pattern)))


@pytest.mark.parametrize("pattern", HARMLESS, ids=lambda pattern: pattern[:20])
def test_few_ways_are_left_to_re(pattern: str) -> None:
    assert is_bounded(relax(parse(pattern)))


@pytest.mark.parametrize("pattern", sorted({*PATTERNS.values(), *PREPARED}))
def test_patterns_that_ship_are_left_to_re(pattern: str) -> None:
    """``Translation`` takes this for granted."""
    is_steps = pattern.startswith("{")  # as Python writes those of a file
    assert is_bounded(_tree_of_steps(pattern) if is_steps else relax(parse(pattern)))


def _tree_of_steps(text: str) -> Node:
    splitter = make_splitter(read_steps(Json(ast.literal_eval(text), "pre_tokenizer"))[:-1])
    assert splitter.tree is not None
    return splitter.tree


@settings(max_examples=scaled(200))
@given(trees("ab"), st.text("ab", max_size=3), st.sampled_from(["a", "b", "ab", "aab"]))
def test_what_is_left_to_re_takes_few_steps(tree: Node, start: str, again: str) -> None:
    tree = relax(tree)
    if not is_bounded(tree):
        return
    size = sum(1 for _ in walk(tree))
    for times in (4, 8, 16, 32):
        text = start + again * times
        # Each character in at most so many ways, and what ends a round is tried once more.
        matcher = Backtracking(text, 4 * max(64, size) * (len(text) + 1) * size)
        matcher.end(tree, 0)


def test_a_hostile_pattern_ends() -> None:
    chunks = Splitter("(?:a+)+b|.").chunks
    assert chunks("a" * 40) == ["a"] * 40
    assert chunks("a" * 40 + "b") == ["a" * 40 + "b"]
