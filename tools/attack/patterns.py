"""Random patterns on repetitive texts: each ends in time, or is refused when it is loaded.

Where tiktoken or tokenizers is installed, the chunks of short texts are also theirs.
"""

from __future__ import annotations

from random import Random

from compat_bpe.pattern.oniguruma import parse_oniguruma
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.tree import PatternError, can_be_empty
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import make_splitter

try:
    import tiktoken
except ImportError:
    tiktoken = None  # type: ignore[assignment]
try:
    import tokenizers
except ImportError:
    tokenizers = None  # type: ignore[assignment]

#: The seconds for loading a pattern and splitting a few texts by it, a thousand characters each.
SECONDS = 30

_ATOMS = (
    *("a", "b", "c", "ab", ".", r"\w", r"\s", "[ab]", "[^a]", r"[\w\s]", r"\p{L}", r"\S", "(?:)"),
    *("^", "$", r"\b", r"\B", r"\z", "(?i:k)", "é", "字", "x", r"\d", r"[a-c]", "[^b]"),
    *("ss", "ß", "(?i:s)", r"\R", "[[:alpha:]]", r"\p{Emoji}", r"\X", r"\p{Lu}", r"\P{L}", r"\pN"),
    *(r"\W", r"[\s\p{N}]", r"[^\s\p{L}]", r"[\p{L}&&[^a]]", "[a-zA-Z--b]", r"[\w--\d]", "[a~~b]"),
    *("[^[^a]]", r"(?i:[s\d])", r"(?i:\P{Lu})", r"\p{^L}", r"[^\r\n\p{L}\p{N}]", r"[a\]-]", "[]a]"),
    *("[^]a]", "[-a]", "[[:alpha:]b]", r"\x41", r"\x{1F600}", r"\u0041", r"[\x61-c]", r"\h", "𐐀"),
    *(r"\p{Greek}", "a{", "]", "}", "(?m:$)", "(?m:^)", r"\s+(?!\S)", " ", r"\n", r"\Z"),
)
_SIGNS = ("*", "+", "?", "{2}", "{1,3}", "{,2}", "{1,}", "{0,20}", "{3,}", "{40}", "{1,300}")
_MODES = ("", "", "", "?", "+")
_OPENINGS = tuple("(?: (?: (?: ( (?= (?! (?> (?<= (?<! (?i: (?s: ((?i) (?P<n>".split())
_TEXTS = (
    *("a", "ab", "aab", " ", "a ", "aa b", "\n", " \n", "é", "字a", "aaac", "k\u212a", "1a"),
    *("sß", "👍🏽", "ſkK", "B-'", "α\u0301", "𐐀𐐨😀", "\x1c\x85", "\r\n\t"),
)


def random_pattern(random: Random, size: int) -> str:
    """Return a random pattern of about so many parts."""
    if size <= 1:
        atom = random.choice(_ATOMS)
        return atom if random.random() < 0.4 else f"(?:{atom})" + _repeat(random)
    way = random.randrange(5)
    left = random.randrange(1, size)
    if way == 0:
        return f"{random_pattern(random, left)}|{random_pattern(random, size - left)}"
    if way < 3:
        return random_pattern(random, left) + random_pattern(random, size - left)
    inner = f"{random.choice(_OPENINGS)}{random_pattern(random, size - 1)})"
    return inner + _repeat(random) if way == 3 else inner


def _repeat(random: Random) -> str:
    return random.choice(_SIGNS) + random.choice(_MODES)


def _is_theirs(pattern: str, text: str, chunks: list[str]) -> bool:
    """Return True if tiktoken splits alike, or does not take the pattern."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    # Every chunk is a token, and so are two together: another split gives other ids.
    for chunk in (*chunks, *map("".join, zip(chunks, chunks[1:]))):
        ranks.setdefault(chunk.encode(), len(ranks))
    try:
        there = tiktoken.Encoding(
            "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        ).encode_ordinary(text)
    except BaseException as error:
        if isinstance(error, ValueError) or type(error).__name__ == "PanicException":
            return True
        raise
    return [ranks[chunk.encode()] for chunk in chunks] == there


def attack(random: Random) -> None:
    """Split a few texts by a random pattern, which may be refused for the time that it takes."""
    try:
        _attack(random)
    except PatternError as error:
        # The bound of a pattern that only ``regex`` understands is found while it splits.
        if "takes more than" not in str(error):
            raise


def _attack(random: Random) -> None:
    pattern = random_pattern(random, random.randrange(1, 9))
    word = "".join(random.choice(_TEXTS) for _ in range(random.randrange(1, 3)))
    long = word * (1000 // len(word)) + random.choice(("", "x", "b", "é"))
    short = word * random.randrange(1, 4) + random.choice(("", "b", " "))
    try:
        splitter = Splitter(pattern)
    except PatternError:
        pass
    else:
        assert all(splitter.chunks(long)), pattern
        assert "".join(splitter.segments(long, 10, 50)) == long
        if tiktoken is not None and splitter.tree is not None:
            assert _is_theirs(pattern, short, splitter.chunks(short)), (pattern, short)
    try:
        tree = parse_oniguruma(pattern)
        Splitter.of_tree(tree, pattern)
        steps = make_splitter([Split(tree)])
    except PatternError:
        return
    assert "".join(steps.chunks(long)) == long, pattern
    if tokenizers is not None and not can_be_empty(tree):
        try:
            expression = tokenizers.Regex(pattern)
        except Exception:  # it does not take the pattern
            return
        there = tokenizers.pre_tokenizers.Split(expression, "isolated")
        try:
            pieces = there.pre_tokenize_str(short)
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # it gives up after so many ways
                return
            raise
        expected = [short[start:end] for _, (start, end) in pieces]
        assert steps.chunks(short) == expected, (pattern, short)
