"""``compat-bpe count`` by several models at once, by estimates, and what the tokens cost."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import zip_longest
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import encoding_for_model, get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.encodings.resolve import resolve
from compat_bpe.files.text import open_bytes
from tests.cli.running import cases, command, objects, printed, refused, write

THREE = "count -q -m gpt-4o -m deepseek-chat -m claude-sonnet-4-5 --estimate"
NAMES = ["gpt-4o", "deepseek-chat", "claude-sonnet-4-5"]
TEXTS = {"d/a": "Größe: 12345678 元", "d/b/c": "x = 1\n", "d/b/y": "word " * 70}


def numbers(text: str) -> list[int]:
    """The tokens of a text by each of the three; 3.5 characters are one of Claude's."""
    exact = [encoding_for_model(name).count(text) for name in NAMES[:2]]
    return [*exact, -(-len(text) * 2 // 7)]


@pytest.fixture(autouse=True)
def _files() -> None:
    """Three texts, and files of 7, 8 and 3500 characters, the second one of 16 bytes."""
    write({**TEXTS, "e/a": "a" * 7, "e/b": "é" * 8, "e/e/c": "word " * 700})


def table(line: str) -> dict[str, list[str]]:
    """The cells of each line, by its name; those of the first line by an empty one."""
    header, *lines = printed(line).splitlines()
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


def test_a_column_each() -> None:
    by_path = {path: numbers(text) for path, text in TEXTS.items()}
    sums = [sum(column) for column in zip(*by_path.values())]
    assert len(set(sums)) == 3
    found = table(f"{THREE} d")
    assert found.pop("") == NAMES
    assert found == {**{path: shown(by_path[path]) for path in TEXTS}, "total": shown(sums)}
    tree = table(f"{THREE} --tree d")
    assert tree["d/"] == found["total"]
    assert tree["└── b/"] == shown([x + y for x, y in zip(by_path["d/b/c"], by_path["d/b/y"])])
    assert "total" not in tree
    assert table(f"{THREE} --top 1 d") == {
        "": NAMES,
        "d/b/y": shown(by_path["d/b/y"]),
        "(2 more files)": shown([x + y for x, y in zip(by_path["d/a"], by_path["d/b/c"])]),
        "total": shown(sums),
    }
    assert command(f"{THREE} --total-only d").out.split() == shown(sums)


def test_the_first_one_decides_the_order() -> None:
    # The file with fewer tokens of bytes has more words.
    write({"few": "longerlongerlonger" * 2, "many": "a b c d e f"})
    for args, names in (
        ("-e bytes -e words", ["few", "many"]),
        ("-e words -e bytes", ["many", "few"]),
    ):
        lines = command(f"count {args} --sort tokens few many").out.splitlines()
        assert [line.split()[-1] for line in lines[1:]] == [*names, "total"]


def test_text_and_standard_input() -> None:
    text = TEXTS["d/a"]
    for args, stdin in ((["-c", text], ""), ([], text), (["-"], text)):
        lines = command(THREE, *args, stdin=stdin).out.splitlines()
        assert lines[0].split() == NAMES
        assert lines[1].split()[:3] == shown(numbers(text))


def test_json() -> None:
    made = json.loads(command(f"{THREE} --json --top 1 d").out)
    assert made == json.loads(command(f"{THREE} --format json --top 1 d").out)
    names = ["o200k_base", encoding_for_model("deepseek-chat").name, None]
    found = [(one["name"], one["encoding"], bool(one["estimate"])) for one in made["tokenizers"]]
    assert found == [*zip(NAMES, names, (False, False, True))]
    tokens = dict(zip(NAMES, numbers(TEXTS["d/b/y"])))
    assert made["files"] == [{"path": "d/b/y", "tokens": tokens, "bytes": 350, "characters": 350}]
    assert made["total"]["tokens"]["gpt-4o"] == sum(numbers(text)[0] for text in TEXTS.values())
    assert set(made["more"]["tokens"]) == set(NAMES)


@cases(
    r"""
csv → , → "say ""a, b""\\t\\n.txt"
tsv → \t → say "a, b"\\t\\n.txt
""",
    "layout separator quoted",
)
def test_tables_for_programs(layout: str, separator: str, quoted: str) -> None:
    lines = command(f"{THREE} --format {layout} d").out.splitlines()
    found = [line.split(separator) for line in lines]
    assert found.pop(0) == ["path", *NAMES[:2], f"≈{NAMES[2]}", "bytes", "characters"]
    for (path, *row), (name, text) in zip_longest(found, TEXTS.items()):
        assert (path, [*map(int, row)]) == (name, [*numbers(text), len(text.encode()), len(text)])
    name = 'say "a, b"\t\n.txt'
    write({name: "hi"})
    rows = [("path", "tokens", "bytes", "characters"), (quoted, "2", "2", "2")]
    expected = "".join(separator.join(row) + "\n" for row in rows)
    assert command(f"count -e bytes --format {layout}", name).out == expected


def test_models_and_encodings_in_the_order_they_are_given() -> None:
    found = table("count -e gpt2 -m gpt-4o -e bytes --model=gpt-4 -mgpt-4o d/a")
    assert found[""] == ["gpt2", "gpt-4o", "bytes", "gpt-4"]
    tokens = [get_encoding(name).count(TEXTS["d/a"]) for name in ("gpt2", "o200k_base", "bytes")]
    assert found["d/a"][:3] == list(map(str, tokens))
    # One alone is as ever.
    once = command("count -m gpt-4o --json d")
    assert command("count -m gpt-4o -m gpt-4o --json d") == once
    assert json.loads(once.out)["encoding"] == "o200k_base"


def test_limits() -> None:
    most = max(sum(column) for column in zip(*map(numbers, TEXTS.values())))
    assert command(f"{THREE} --max {most} d").status == 0
    status, _, err = command(f"{THREE} --max 0 d/b/c")
    by = ["by gpt-4o", "by deepseek-chat", "by the estimate for claude-sonnet-4-5"]
    over = (f"{n} tokens {who}, over" for n, who in zip(shown(numbers(TEXTS["d/b/c"])), by))
    said = [f"compat-bpe: total: {reason} the limit of 0" for reason in over]
    assert (status, err.splitlines()) == (1, said)
    # By one of them, one file is over.
    status, out, err = command("count -e gpt2 -e bytes --per-file --max 100 --json d")
    assert (status, err) == (1, "compat-bpe: d/b/y: 350 tokens by bytes, over the limit of 100\n")
    made = json.loads(out)
    statuses = {one["path"]: (one["limit"], one["status"]) for one in made["files"]}
    assert statuses == {"d/a": (100, "ok"), "d/b/c": (100, "ok"), "d/b/y": (100, "over")}
    assert "limit" not in made["total"]
    total = json.loads(command("count -e bytes --max 9 --json d").out)["total"]
    assert (total["limit"], total["status"]) == (9, "over")


def test_the_share_of_each_context() -> None:
    args = "count -m gpt-4o -m gpt-4 --context d/b/c"
    assert command(args).out.splitlines()[-2:] == [
        "0.0% of the context of gpt-4o, 128,000 tokens",
        "0.1% of the context of gpt-4, 8,192 tokens",
    ]
    shares = json.loads(command(f"{args} --json").out)["context"]
    assert [one["model"] for one in shares] == ["gpt-4o", "gpt-4"]


def test_the_cost() -> None:
    args = "count -e bytes --price 2.50"
    assert command(f"{args} d/b/c d/b/y").out.splitlines() == [
        "tokens        cost",
        "     6  0.00001500  d/b/c",
        "   350  0.00087500  d/b/y",
        "   356  0.00089000  total",
    ]
    made = json.loads(command(f"{args} --json d/b/c").out)
    assert (made["price"], made["total"]["cost"]) == ("2.50", "0.00001500")
    assert made["files"][0]["cost"] == "0.00001500"
    assert command(f"{args} --total-only d/b/c").out == "6 0.00001500\n"
    csv = "path,tokens,cost,bytes,characters\nd/b/c,6,0.00001500,6,6\n"
    assert command(f"{args} --format csv d/b/c").out == csv
    tree = command(f"{args} --tree d").out.splitlines()
    assert tree[1].split()[:2] == ["377", "0.00094250"]
    estimate = command(f"count -q -m {NAMES[2]} --estimate --price 3 -c {'x' * 7}")
    assert estimate.out.split()[2:] == ["≈2", "≈0.000006"]


def test_prices_of_several() -> None:
    prices = ["2.5", "0.27", "15"]
    args = f"{THREE} --price {' --price '.join(prices)}"
    tokens = numbers(TEXTS["d/a"])
    costs = [Decimal(cell.strip("≈")) for cell in table(f"{args} d/a")["d/a"][1::2]]
    assert costs == [n * Decimal(price) / 1_000_000 for n, price in zip(tokens, prices)]
    made = json.loads(command(f"{args} --json d/a").out)
    assert list(map(Decimal, made["total"]["cost"].values())) == costs
    assert [one["price"] for one in made["tokenizers"]] == prices
    for_all = json.loads(command(f"{THREE} --price 1 --json d/a").out)["total"]["cost"]
    assert list(map(Decimal, for_all.values())) == [Decimal(n) / 1_000_000 for n in tokens]


@given(st.integers(0, 10**15), st.decimals(0, 10**6 - 1, places=6))
def test_a_cost_is_exact(tokens: int, price: Decimal) -> None:
    from compat_bpe.cli.count_view import Column

    cost = Decimal(Column(price=price).cost(tokens))
    assert int(cost * 10**12) == tokens * int(price * 10**6)
    assert cost * 10**12 == int(cost * 10**12)


def test_requests() -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    exact = count_messages(messages, model="gpt-4o")
    estimate = count_messages(messages, model="claude-sonnet-4-5", estimate=True)
    args = "count -m gpt-4o -m claude-sonnet-4-5 --estimate --messages -"
    one = json.dumps({"messages": messages}) + "\n"
    status, out, err = command(args, stdin=one)
    assert (status, err) == (0, f"compat-bpe: an estimate: claude-sonnet-4-5: {estimate.note}\n")
    assert out.split()[2:] == [str(exact), f"≈{estimate}"]
    lines = command(args, stdin=one * 2).out.splitlines()
    rows = [line.split(maxsplit=2) for line in lines[1:]]
    assert rows[0] == [str(exact), f"≈{estimate}", "line 1"]
    assert rows[1:] == [[*rows[0][:2], "line 2"], [str(2 * exact), f"≈{2 * estimate}", "total"]]
    only = command(f"{args} --total-only", stdin=one * 2).out
    assert only.split() == lines[-1].split()[:2]
    assert json.loads(command(f"{args} --json --max {exact}", stdin=one).out) == {
        "tokens": {"gpt-4o": exact, "claude-sonnet-4-5": estimate},
        "estimate": {"gpt-4o": None, "claude-sonnet-4-5": estimate.note},
        "limit": exact,
        "status": "ok",
    }
    status, _, err = command(f"{args} -q --max {exact}", stdin=one * 2)
    over = f"compat-bpe: {2 * exact} tokens by gpt-4o, over the limit of {exact}\n"
    assert (status, err) == (1, over)
    priced = "count -m gpt-4o --messages - --price 2.50"
    assert command(priced, stdin=one).out.split() == ["tokens", "cost", "9", "0.00002250"]
    assert json.loads(command(f"{priced} --json", stdin=one).out)["cost"] == "0.00002250"


def test_a_file_is_opened_once() -> None:
    with mock.patch("compat_bpe.cli.counting.open_bytes", side_effect=open_bytes) as opened:
        assert command(f"{THREE} d/a d/b/c").status == 0
    assert [call.args for call in opened.call_args_list] == [("d/a",), ("d/b/c",)]


CLAUDE = "count -m claude-sonnet-4-5"
ESTIMATE = f"{CLAUDE} --estimate"
REASON = resolve("claude-sonnet-4-5", "model", estimate=True).note
NOTE = f"compat-bpe: an estimate: {REASON}\n"


@cases(
    r"""
-c hello → ≈2\n
-c '' → ≈0\n
e/a e/b →  ≈2 e/a\n ≈3 e/b\n ≈5 total\n
e --sort tokens --top 1 → ≈1000 e/e/c\n   ≈5 (2 more files)\n≈1005 total\n
--tree e → ≈1005 e/\n   ≈2 ├── a\n   ≈3 ├── b\n≈1000 └── e/\n≈1000     └── c\n
--percent e/a e/b → ≈2  40.0% e/a\n≈3  60.0% e/b\n≈5 100.0% total\n
--total-only e → ≈1005\n
--context e/e/c → ≈1000 e/e/c\n0.5% of the context of claude-sonnet-4-5, 200,000 tokens\n
--max 1005 --total-only e → ≈1005\n
--max 1004 --total-only e → ≈1005\n → total: ≈1,005 → 1,004\n
--max 2 --per-file e/a e/b →  ≈2 e/a\n ≈3 e/b\n ≈5 total\n → e/b: ≈3 → 2\n
""",
    "args out over limit",
)
def test_every_estimate_has_the_mark(args: str, out: str, over: str, limit: str) -> None:
    said = f"compat-bpe: {over} tokens by the estimate, over the limit of {limit}"
    note = NOTE + said if over else NOTE
    assert command(f"{ESTIMATE} {args}") == (int(bool(over)), out, note)


def test_estimates_elsewhere() -> None:
    assert command(ESTIMATE, stdin="hello!!!").out == "≈3\n"
    assert command(f"{ESTIMATE} -q e/e/c", terminal=True) == (0, "≈1,000 e/e/c\n", "")
    assert command(f"{ESTIMATE} -q -c hello", charset="ascii") == (0, "~2\n", "")
    write({"e/z": b"\xff"})
    status, out, err = command(f"{ESTIMATE} e/a e/z gone")
    assert (status, out) == (2, "≈2 e/a\n≈2 total\n")
    assert "e/z: not UTF-8" in err
    assert "gone: " in err
    assert command(f"{ESTIMATE} -q --errors replace e/z").out == "≈1 e/z\n"


def test_json_of_an_estimate() -> None:
    total = {"tokens": 3, "bytes": 16, "characters": 8}
    counted = {"encoding": None, "estimate": REASON, "files": [{"path": "e/b", **total}]}
    none: dict[str, Any] = {"errors": [], "skipped": []}
    assert objects(f"{ESTIMATE} --json e/b") == [{**counted, "total": total, **none}]
    for part in ("3.5", "https://platform.claude.com/", "2026-11-23"):
        assert part in REASON
    exact = json.loads(command("count -m gpt-4o --estimate --json e/b").out)
    assert (exact["encoding"], exact["estimate"]) == ("o200k_base", None)
    assert "estimate" not in json.loads(command("count -m gpt-4o --json e/b").out)


def test_a_model_with_an_encoding_is_counted_exactly() -> None:
    for options in ("-m gpt-4o", "-e o200k_base", ""):
        assert command(f"count {options} --estimate e") == command(f"count {options} e")
    tokens = get_encoding("o200k_base").count("word " * 700)
    assert command("count -m gpt-4o --estimate e/e/c").out == f"{tokens} e/e/c\n"
    body = '[{"role": "user", "content": "Hello!"}]'
    args = "count -m gpt-4o --messages -"
    assert command(f"{args} --estimate", stdin=body) == command(args, stdin=body) == (0, "9\n", "")


def test_a_factor_of_ones_own() -> None:
    tokens = get_encoding("o200k_base").count("word " * 700)
    factor = "count -e o200k_base --factor 1.18"
    reason = "your factor of 1.18 times the tokens of o200k_base"
    expected = -(-tokens * 118 // 100)
    out = f"≈{expected} e/e/c\n"
    assert command(f"{factor} e/e/c") == (0, out, f"compat-bpe: an estimate: {reason}\n")
    found = json.loads(command(f"{factor} --json e/e/c").out)
    assert (found["encoding"], found["estimate"]) == (None, reason)
    assert found["total"] == {"tokens": expected, "bytes": 3500, "characters": 3500}
    # Also of the default encoding, and of a model's.
    for args in ("--factor 1.18", "-m gpt-4o --factor 1.18"):
        assert command(f"count {args} -q e/e/c") == (0, out, "")
    status, out, err = command(f"{factor} -q --total-only --max {expected - 1} e/e/c")
    assert (status, out) == (1, f"≈{expected}\n")
    assert f"≈{expected} tokens by the estimate, over the limit of {expected - 1}" in err


def test_a_factor_of_the_makers_estimate() -> None:
    # 3,500 characters are 1,000 tokens; --estimate is implied.
    reason = (
        "your factor of 1.3 times this estimate: Anthropic says a token is "
        "approximately 3.5 English characters "
        "(https://platform.claude.com/docs/en/about-claude/glossary, 2026-11-23)"
    )
    note = f"compat-bpe: an estimate: {reason}\n"
    for args in (CLAUDE, ESTIMATE):
        assert command(f"{args} --factor 1.3 e/e/c") == (0, "≈1300 e/e/c\n", note)
    # Rounded once: 7 characters are 2 tokens, and 2.6.
    rounded = command(f"{CLAUDE} --factor 1.3 -q e/a e/b")
    assert rounded == (0, " ≈3 e/a\n ≈3 e/b\n ≈6 total\n", "")


def test_a_factor_is_exact_and_columns_are_wide_enough() -> None:
    write({"a": "x" * 10, "b": "x" * 10})
    # In binary fractions, 10 times 1.1 is more than 11.
    assert command("count -q -e bytes --factor 1.1 a").out == "≈11 a\n"
    wide = command("count -q -e bytes --factor 9999.999999 a b")
    assert wide.out == "≈100000 a\n≈100000 b\n≈200000 total\n"


def test_an_estimate_of_a_request() -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    write({"chat.json": json.dumps({"model": "claude-opus-4-5", "messages": messages})})
    expected = count_messages(messages, model="claude-opus-4-5", estimate=True)
    assert expected == 3  # 10 characters
    assert refused("count --messages chat.json").endswith("; --estimate estimates it\n")
    counted = command("count --messages chat.json --estimate")
    assert counted == (0, "≈3\n", f"compat-bpe: an estimate: {expected.note}\n")
    status, out, err = command("count --messages chat.json --estimate --json --max 2")
    counted_by = {"model": "claude-opus-4-5", "tokens": 3, "estimate": expected.note}
    assert json.loads(out) == {**counted_by, "limit": 2, "status": "over"}
    assert (status, err) == (1, "compat-bpe: ≈3 tokens by the estimate, over the limit of 2\n")


def test_the_system_prompt_of_a_request_is_in_the_estimate() -> None:
    def estimate(**members: Any) -> str:
        body = {"messages": [{"role": "user", "content": "Hello!"}], **members}
        return command(f"{ESTIMATE} -q --messages -", stdin=json.dumps(body)).out

    assert estimate() == estimate(system=None) == "≈3\n"
    # 10 characters, and 6 and 12 more.
    parts = [{"type": "text", "text": "Be brief now", "cache_control": {"type": "ephemeral"}}]
    assert estimate(system="Be brief now") == estimate(system=parts) == "≈8\n"


def test_what_cannot_be_counted_is_named() -> None:
    content = [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]
    body = json.dumps({"messages": [{"role": "user", "content": content}]})
    status, out, err = command(f"{ESTIMATE} --messages -", stdin=body)
    assert (status, out) == (0, "≈2\n")
    assert "not counted: messages[0].content[1] (image)" in err
    err = refused(f"{ESTIMATE} --messages - --strict", stdin=body)
    assert "messages[0].content[1]: a part of type 'image' cannot be counted" in err
