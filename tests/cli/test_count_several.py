"""``compat-bpe count`` by several models at once, and what the tokens cost."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import encoding_for_model, get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.cli import counting
from compat_bpe.cli.counting import Counts, FileCounter, Part
from compat_bpe.files.text import open_bytes
from tests.cli.running import run
from tests.examples import shared_fixture
from tests.fit.hard_encodings import encoding_of
from tests.strategies import texts

THREE = (
    "count",
    "-q",
    "-m",
    "gpt-4o",
    "-m",
    "deepseek-chat",
    "-m",
    "claude-sonnet-4-5",
    "--estimate",
)
TEXTS = {"d/a": "Größe: 12345678 元", "d/b/c": "x = 1\n", "d/b/y": "word " * 70}
TITLES = "gpt-4o  deepseek-chat  claude-sonnet-4-5"


def numbers(text: str) -> list[int]:
    """The tokens of a text by each of the three; 3.5 characters are one of Claude's."""
    exact = [encoding_for_model(name).count(text) for name in ("gpt-4o", "deepseek-chat")]
    return [*exact, -(-len(text) * 2 // 7)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(*args: str) -> dict[str, list[str]]:
    """The cells of each line, by its name; those of the first line by an empty one."""
    status, out, err = run(*args)
    assert (status, err) == (0, "")
    header, *lines = out.decode().splitlines()
    titles = header.split()
    by_name = {"": titles}
    for line in lines:
        *cells, name = line.split(maxsplit=len(titles))
        assert line.index(name) == len(line) - len(name)
        by_name[name] = cells
    # Numbers end below the ends of their titles.
    for line in lines:
        assert all(line[header.index(title) + len(title) - 1].isdigit() for title in titles[:1])
    return by_name


def shown(tokens: list[int]) -> list[str]:
    return [str(tokens[0]), str(tokens[1]), f"≈{tokens[2]}"]


@pytest.mark.usefixtures("folder")
def test_a_column_each() -> None:
    by_path = {path: numbers(text) for path, text in TEXTS.items()}
    sums = [sum(column) for column in zip(*by_path.values())]
    assert len(set(sums)) == 3
    found = table(*THREE, "d")
    assert found.pop("") == TITLES.split()
    assert found == {**{path: shown(by_path[path]) for path in TEXTS}, "total": shown(sums)}
    tree = table(*THREE, "--tree", "d")
    assert tree["d/"] == found["total"]
    below = [x + y for x, y in zip(by_path["d/b/c"], by_path["d/b/y"])]
    assert tree["└── b/"] == shown(below)
    assert "total" not in tree
    assert table(*THREE, "--top", "1", "d") == {
        "": TITLES.split(),
        "d/b/y": shown(by_path["d/b/y"]),
        "(2 more files)": shown([x + y for x, y in zip(by_path["d/a"], by_path["d/b/c"])]),
        "total": shown(sums),
    }
    assert run(*THREE, "--total-only", "d").out.decode().split() == shown(sums)


@pytest.mark.usefixtures("folder")
def test_the_first_one_decides_the_order() -> None:
    # 140 tokens of bytes are more than 70 of words; of the words, the file has fewer.
    Path("few").write_text("longerlongerlonger" * 2)
    Path("many").write_text("a b c d e f")
    for first, names in (("bytes", ["few", "many"]), ("words", ["many", "few"])):
        other = "words" if first == "bytes" else "bytes"
        args = ("count", "-e", first, "-e", other, "--sort", "tokens", "few", "many")
        assert [line.split()[-1] for line in run(*args).out.decode().splitlines()[1:]] == [
            *names,
            "total",
        ]


@pytest.mark.usefixtures("folder")
def test_text_and_standard_input() -> None:
    text = TEXTS["d/a"]
    for args, stdin in ((["-c", text], b""), ([], text.encode()), (["-"], text.encode())):
        lines = run(*THREE, *args, stdin=stdin).out.decode().splitlines()
        assert lines[0].split() == TITLES.split()
        assert lines[1].split()[:3] == shown(numbers(text))


@pytest.mark.usefixtures("folder")
def test_json() -> None:
    made = json.loads(run(*THREE, "--json", "--top", "1", "d").out)
    assert made == json.loads(run(*THREE, "--format", "json", "--top", "1", "d").out)
    assert [
        (one["name"], one["encoding"], bool(one["estimate"])) for one in made["tokenizers"]
    ] == [
        ("gpt-4o", "o200k_base", False),
        ("deepseek-chat", encoding_for_model("deepseek-chat").name, False),
        ("claude-sonnet-4-5", None, True),
    ]
    names = TITLES.split()
    ((path, tokens, size, characters),) = (one.values() for one in made["files"])
    assert (path, size, characters) == ("d/b/y", 350, 350)
    assert tokens == dict(zip(names, numbers(TEXTS["d/b/y"])))
    assert made["total"]["tokens"]["gpt-4o"] == sum(numbers(text)[0] for text in TEXTS.values())
    assert set(made["more"]["tokens"]) == set(names)


@pytest.mark.parametrize(("layout", "separator"), [("csv", ","), ("tsv", "\t")])
def test_tables_for_programs(folder: Path, layout: str, separator: str) -> None:
    lines = run(*THREE, "--format", layout, "d").out.decode().splitlines()
    rows = [line.split(separator) for line in lines]
    assert rows[0] == [
        "path",
        "gpt-4o",
        "deepseek-chat",
        "≈claude-sonnet-4-5",
        "bytes",
        "characters",
    ]
    assert rows[1:] == [
        [path, *map(str, numbers(text)), str(len(text.encode())), str(len(text))]
        for path, text in TEXTS.items()
    ]
    name = 'say "a, b"\t\n.txt'
    (folder / name).write_text("hi")
    quoted = 'say ""a, b""\\t\\n.txt'
    quoted = f'"{quoted}"' if layout == "csv" else 'say "a, b"\\t\\n.txt'
    expected = f"path{separator}tokens{separator}bytes{separator}characters\n"
    expected += separator.join([quoted, "2", "2", "2"]) + "\n"
    assert run("count", "-e", "bytes", "--format", layout, name).out.decode() == expected


@pytest.mark.usefixtures("folder")
def test_models_and_encodings_in_the_order_they_are_given() -> None:
    args = ("-e", "gpt2", "-m", "gpt-4o", "-e", "bytes", "--model=gpt-4", "-mgpt-4o", "d/a")
    assert table("count", *args)[""] == ["gpt2", "gpt-4o", "bytes", "gpt-4"]
    tokens = [get_encoding(name).count(TEXTS["d/a"]) for name in ("gpt2", "o200k_base", "bytes")]
    assert table("count", *args)["d/a"][:3] == list(map(str, tokens))


@pytest.mark.usefixtures("folder")
def test_one_alone_is_as_ever() -> None:
    once = run("count", "-m", "gpt-4o", "--json", "d")
    assert run("count", "-m", "gpt-4o", "-m", "gpt-4o", "--json", "d") == once
    assert json.loads(once.out)["encoding"] == "o200k_base"


@pytest.mark.usefixtures("folder")
def test_limits() -> None:
    most = max(sum(column) for column in zip(*map(numbers, TEXTS.values())))
    assert run(*THREE, "--max", str(most), "d").status == 0
    status, _, err = run(*THREE, "--max", "0", "d/b/c")
    assert (status, err.splitlines()) == (
        1,
        [
            f"compat-bpe: total: {n} tokens {by}, over the limit of 0"
            for n, by in zip(
                shown(numbers(TEXTS["d/b/c"])),
                ["by gpt-4o", "by deepseek-chat", "by the estimate for claude-sonnet-4-5"],
            )
        ],
    )
    # By one of them, one file is over.
    by_bytes = ("count", "-e", "gpt2", "-e", "bytes", "--per-file", "--max", "100", "--json", "d")
    status, out, err = run(*by_bytes)
    assert (status, err) == (1, "compat-bpe: d/b/y: 350 tokens by bytes, over the limit of 100\n")
    made = json.loads(out)
    statuses = {one["path"]: (one["limit"], one["status"]) for one in made["files"]}
    assert statuses == {"d/a": (100, "ok"), "d/b/c": (100, "ok"), "d/b/y": (100, "over")}
    assert "limit" not in made["total"]
    total = json.loads(run("count", "-e", "bytes", "--max", "9", "--json", "d").out)["total"]
    assert (total["limit"], total["status"]) == (9, "over")


@pytest.mark.usefixtures("folder")
def test_the_share_of_each_context() -> None:
    args = ("count", "-m", "gpt-4o", "-m", "gpt-4", "--context", "d/b/c")
    assert run(*args).out.decode().splitlines()[-2:] == [
        "0.0% of the context of gpt-4o, 128,000 tokens",
        "0.1% of the context of gpt-4, 8,192 tokens",
    ]
    shares = json.loads(run(*args, "--json").out)["context"]
    assert [one["model"] for one in shares] == ["gpt-4o", "gpt-4"]


@pytest.mark.usefixtures("folder")
def test_the_cost() -> None:
    args = ("count", "-e", "bytes", "--price", "2.50")
    assert run(*args, "d/b/c", "d/b/y").out.decode().splitlines() == [
        "tokens        cost",
        "     6  0.00001500  d/b/c",
        "   350  0.00087500  d/b/y",
        "   356  0.00089000  total",
    ]
    made = json.loads(run(*args, "--json", "d/b/c").out)
    assert (made["price"], made["total"]["cost"]) == ("2.50", "0.00001500")
    assert made["files"][0]["cost"] == "0.00001500"
    assert run(*args, "--total-only", "d/b/c").out == b"6 0.00001500\n"
    assert run(*args, "--format", "csv", "d/b/c").out.decode().splitlines() == [
        "path,tokens,cost,bytes,characters",
        "d/b/c,6,0.00001500,6,6",
    ]
    tree = run(*args, "--tree", "d").out.decode().splitlines()
    assert tree[1].split()[:2] == ["377", "0.00094250"]
    estimate = ("count", "-q", "-m", "claude-sonnet-4-5", "--estimate", "--price", "3")
    assert run(*estimate, "-c", "x" * 7).out.decode().split()[2:] == ["≈2", "≈0.000006"]


@pytest.mark.usefixtures("folder")
def test_prices_of_several() -> None:
    prices = ("--price", "2.5", "--price", "0.27", "--price", "15")
    tokens = numbers(TEXTS["d/a"])
    cells = table(*THREE, *prices, "d/a")["d/a"]
    costs = [Decimal(cell.strip("≈")) for cell in cells[1::2]]
    per_million = map(Decimal, prices[1::2])
    assert costs == [n * price / 1_000_000 for n, price in zip(tokens, per_million)]
    made = json.loads(run(*THREE, *prices, "--json", "d/a").out)
    assert list(map(Decimal, made["total"]["cost"].values())) == costs
    assert [one["price"] for one in made["tokenizers"]] == ["2.5", "0.27", "15"]
    for_all = json.loads(run(*THREE, "--price", "1", "--json", "d/a").out)["total"]["cost"]
    assert list(map(Decimal, for_all.values())) == [Decimal(n) / 1_000_000 for n in tokens]


def test_the_cost_of_a_request() -> None:
    body = b'[{"role": "user", "content": "Hello!"}]'
    args = ("count", "-m", "gpt-4o", "--messages", "-", "--price", "2.50")
    assert run(*args, stdin=body).out.split() == [b"tokens", b"cost", b"9", b"0.00002250"]
    assert json.loads(run(*args, "--json", stdin=body).out)["cost"] == "0.00002250"


def test_requests(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    exact = count_messages(messages, model="gpt-4o")
    estimate = count_messages(messages, model="claude-sonnet-4-5", estimate=True)
    args = ("count", "-m", "gpt-4o", "-m", "claude-sonnet-4-5", "--estimate", "--messages", "-")
    one = json.dumps({"messages": messages}).encode() + b"\n"
    two = one * 2
    status, out, err = run(*args, stdin=one)
    assert (status, err) == (0, f"compat-bpe: an estimate: claude-sonnet-4-5: {estimate.note}\n")
    assert out.decode().split()[2:] == [str(exact), f"≈{estimate}"]
    lines = run(*args, stdin=two).out.decode().splitlines()
    assert [line.split(maxsplit=2) for line in lines[1:]] == [
        [str(exact), f"≈{estimate}", "line 1"],
        [str(exact), f"≈{estimate}", "line 2"],
        [str(2 * exact), f"≈{2 * estimate}", "total"],
    ]
    assert run(*args, "--total-only", stdin=two).out.decode().split() == lines[-1].split()[:2]
    made = json.loads(run(*args, "--json", "--max", str(exact), stdin=one).out)
    assert made == {
        "tokens": {"gpt-4o": exact, "claude-sonnet-4-5": estimate},
        "estimate": {"gpt-4o": None, "claude-sonnet-4-5": estimate.note},
        "limit": exact,
        "status": "ok",
    }
    status, _, err = run(*args, "-q", "--max", str(exact), stdin=two)
    assert (status, err) == (
        1,
        f"compat-bpe: {2 * exact} tokens by gpt-4o, over the limit of {exact}\n",
    )


@given(st.integers(0, 10**15), st.decimals(0, 10**6 - 1, places=6))
def test_a_cost_is_exact(tokens: int, price: Decimal) -> None:
    from compat_bpe.cli.count_view import Column

    cost = Decimal(Column(price=price).cost(tokens))
    assert int(cost * 10**12) == tokens * int(price * 10**6)
    assert cost * 10**12 == int(cost * 10**12)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (
            ["-m", "gpt-4o", "-m", "claude-sonnet-4-5", "d"],
            "--estimate estimates it",
        ),
        (["-m", "gpt-4o", "-m", "gpt9", "d"], "unknown model 'gpt9'"),
        (["-m", "gpt-4o", "-e", "gpt2", "--factor", "2", "d"], "--factor and several --model"),
        (["-m", "a", "-m", "b", "--messages", "d/a", "--parts"], "--parts and several --model"),
        (["-m", "gpt2", "-e", "gpt2", "d"], "--model gpt2 and --encoding gpt2 exclude each other"),
        (["-m", "gpt-4o", "-e", "gpt2", "--context", "d"], "--context needs --model"),
        (["--price", "1", "--price", "2", "d"], "--price is given 2 times, and --model"),
        (["-m", "gpt-4o", "-e", "gpt2", "--pattern", "llama3", "d"], "--pattern is for"),
        (["--format", "csv", "--tree", "d"], "--format and --tree exclude each other"),
        (["--format", "csv", "--json", "d"], "--format and --json exclude each other"),
        (["--format", "table", "--json", "d"], "--format and --json exclude each other"),
        (["--format", "json", "--total-only", "d"], "--total-only and --json exclude each other"),
        *(
            ([f"--price={price}", "d"], "is not a number from 0 to 999999.999999")
            for price in ("-1", "1e3", "$2", "", "1.", "1,5", "nan", "\u0661", "1234567")
        ),
    ],
)
def test_what_is_refused(args: list[str], reason: str) -> None:
    status, out, err = run("count", *args)
    assert (status, out) == (2, b"")
    assert reason in err


ENCODINGS = tuple(map(get_encoding, ("gpt2", "deepseek_v3", "characters"))) + tuple(
    map(encoding_of, ("llama", "unigram, first"))
)


@shared_fixture()
@given(
    text=st.lists(texts | st.sampled_from(["\r\n", " ", "é", "中文字", "a" * 30]), max_size=30).map(
        "".join
    ),
    size=st.integers(1, 40),
    block=st.sampled_from([counting._BLOCK, 7]),
    seed=st.integers(),
)
def test_together_as_alone_at_once_by_blocks_and_in_parts(
    tmp_path: Path, text: str, size: int, block: int, seed: int
) -> None:
    encodings = random.Random(seed).sample(ENCODINGS, 3)
    path = tmp_path / "text"
    path.write_bytes(text.encode("utf-8", "replace"))
    alone = [FileCounter(one, allow_nul=True).count(Part(str(path))).counts for one in encodings]
    counter = FileCounter(*encodings, allow_nul=True)
    with (
        mock.patch.multiple(counting, _BLOCK=block, _PART=size, _WINDOWS=(4, 16)),
    ):
        told: list[int] = []
        together = counter.count(Part(str(path)), told.append).counts
        cut = counting.parts_of(counter, str(path), path.stat().st_size)
        in_parts = [counter.count(part).counts for part, _ in cut]
    assert together is not None
    for index, counts in enumerate(alone):
        assert counts is not None
        assert (together.tokens[index], *together[1:]) == (*counts.tokens, *counts[1:])
    assert sum(told) == together.bytes
    assert Counts.total(filter(None, in_parts), 3) == together


@pytest.mark.usefixtures("folder")
def test_a_file_is_opened_once() -> None:
    with mock.patch("compat_bpe.cli.counting.open_bytes", side_effect=open_bytes) as opened:
        assert run(*THREE, "d/a", "d/b/c").status == 0
    assert [call.args for call in opened.call_args_list] == [("d/a",), ("d/b/c",)]
