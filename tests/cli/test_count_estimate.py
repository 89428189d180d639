"""``compat-bpe count --estimate``: models without a public tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.encodings.resolve import resolve
from tests.cli.running import run

CLAUDE = ("count", "-m", "claude-sonnet-4-5")
ESTIMATE = (*CLAUDE, "--estimate")
REASON = resolve("claude-sonnet-4-5", "model", estimate=True).note
NOTE = f"compat-bpe: an estimate: {REASON}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of 7, 8 and 3500 characters, the second one of 16 bytes."""
    for name, text in {"d/a": "a" * 7, "d/b": "é" * 8, "d/e/c": "word " * 700}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(*args: str, **options: bool) -> list[str]:
    status, out, err = run(*args, **options)  # type: ignore[arg-type]
    assert (status, err) == (0, NOTE)
    return out.decode().splitlines()


def test_only_when_asked() -> None:
    status, out, err = run(*CLAUDE, "-c", "hello")
    assert (status, out) == (2, b"")
    assert "no public tokenizer is known" in err
    assert err.endswith("; --estimate estimates it\n")
    assert run(*ESTIMATE, "-c", "hello") == (0, "≈2\n".encode(), NOTE)
    assert run(*ESTIMATE, stdin=b"hello!!!").out == "≈3\n".encode()
    assert run(*ESTIMATE, "-c", "").out == "≈0\n".encode()


@pytest.mark.usefixtures("folder")
def test_every_number_has_the_mark() -> None:
    assert lines(*ESTIMATE, "d/a", "d/b") == [" ≈2 d/a", " ≈3 d/b", " ≈5 total"]
    assert lines(*ESTIMATE, "d", "--sort", "tokens", "--top", "1") == [
        "≈1000 d/e/c",
        "   ≈5 (2 more files)",
        "≈1005 total",
    ]
    assert lines(*ESTIMATE, "--tree", "d") == [
        "≈1005 d/",
        "   ≈2 ├── a",
        "   ≈3 ├── b",
        "≈1000 └── e/",
        "≈1000     └── c",
    ]
    assert lines(*ESTIMATE, "--percent", "d/a", "d/b") == [
        "≈2  40.0% d/a",
        "≈3  60.0% d/b",
        "≈5 100.0% total",
    ]
    assert lines(*ESTIMATE, "--total-only", "d") == ["≈1005"]


@pytest.mark.usefixtures("folder")
def test_the_share_of_the_context() -> None:
    share = "0.5% of the context of claude-sonnet-4-5, 200,000 tokens"
    assert lines(*ESTIMATE, "--context", "d/e/c") == ["≈1000 d/e/c", share]


@pytest.mark.usefixtures("folder")
def test_on_a_terminal() -> None:
    assert run(*ESTIMATE, "-q", "d/e/c", terminal=True) == (0, "≈1,000 d/e/c\n".encode(), "")


def test_a_charset_without_the_mark() -> None:
    assert run(*ESTIMATE, "-q", "-c", "hello", charset="ascii") == (0, b"~2\n", "")


@pytest.mark.usefixtures("folder")
def test_json() -> None:
    status, out, err = run(*ESTIMATE, "--json", "d/b")
    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "encoding": None,
        "estimate": REASON,
        "files": [{"path": "d/b", "tokens": 3, "bytes": 16, "characters": 8}],
        "total": {"tokens": 3, "bytes": 16, "characters": 8},
        "errors": [],
        "skipped": [],
    }
    for part in ("3.5", "https://platform.claude.com/", "2026-11-23"):
        assert part in REASON
    exact = json.loads(run("count", "-m", "gpt-4o", "--estimate", "--json", "d/b").out)
    assert (exact["encoding"], exact["estimate"]) == ("o200k_base", None)
    assert "estimate" not in json.loads(run("count", "-m", "gpt-4o", "--json", "d/b").out)


@pytest.mark.usefixtures("folder")
def test_a_limit() -> None:
    assert run(*ESTIMATE, "--max", "1005", "d").status == 0
    status, out, err = run(*ESTIMATE, "-q", "--max", "1004", "--total-only", "d")
    assert (status, out) == (1, "≈1005\n".encode())
    assert err == "compat-bpe: total: ≈1,005 tokens by the estimate, over the limit of 1,004\n"
    status, _, err = run(*ESTIMATE, "-q", "--max", "2", "--per-file", "d/a", "d/b")
    assert status == 1
    assert err == "compat-bpe: d/b: ≈3 tokens by the estimate, over the limit of 2\n"


@pytest.mark.usefixtures("folder")
def test_a_model_with_an_encoding_is_counted_exactly() -> None:
    for options in (["-m", "gpt-4o"], ["-e", "o200k_base"], []):
        assert run("count", *options, "--estimate", "d") == run("count", *options, "d")
    tokens = get_encoding("o200k_base").count("word " * 700)
    assert run("count", "-m", "gpt-4o", "--estimate", "d/e/c").out == b"%d d/e/c\n" % tokens


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["-m", "grok-4"], "it cannot be estimated"),
        (["-m", "qwen3:8b"], "has the tokenizer of Qwen 3, which does not ship"),
        (["-m", "gpt9"], "unknown model 'gpt9'"),
        (["-m", "claude-3-opus", "--pattern", "llama3"], "--pattern is for a vocabulary file"),
        (["-m", "claude-2", "--context"], "the limits of model 'claude-2' are not known"),
    ],
)
def test_no_estimate(options: list[str], reason: str) -> None:
    status, out, err = run("count", "--estimate", *options, "-c", "x")
    assert (status, out) == (2, b"")
    assert reason in err


def test_errors_are_as_in_an_exact_count(folder: Path) -> None:
    (folder / "d" / "z").write_bytes(b"\xff")
    status, out, err = run(*ESTIMATE, "d/a", "d/z", "gone")
    assert (status, out.decode().splitlines()) == (2, ["≈2 d/a", "≈2 total"])
    assert "d/z: not UTF-8" in err
    assert "gone: " in err
    assert run(*ESTIMATE, "-q", "--errors", "replace", "d/z").out == "≈1 d/z\n".encode()


@pytest.mark.usefixtures("folder")
def test_a_factor_of_ones_own() -> None:
    tokens = get_encoding("o200k_base").count("word " * 700)
    factor = ("count", "-e", "o200k_base", "--factor", "1.18")
    reason = "your factor of 1.18 times the tokens of o200k_base"
    expected = -(-tokens * 118 // 100)
    assert run(*factor, "d/e/c") == (
        0,
        f"≈{expected} d/e/c\n".encode(),
        f"compat-bpe: an estimate: {reason}\n",
    )
    found = json.loads(run(*factor, "--json", "d/e/c").out)
    assert (found["encoding"], found["estimate"]) == (None, reason)
    assert found["total"] == {"tokens": expected, "bytes": 3500, "characters": 3500}
    # Also of the default encoding, and of a model's.
    assert run("count", "--factor", "1.18", "-q", "d/e/c") == run(*factor, "-q", "d/e/c")
    assert run("count", "-m", "gpt-4o", "--factor", "1.18", "-q", "d/e/c") == run(
        *factor, "-q", "d/e/c"
    )
    status, out, err = run(*factor, "-q", "--total-only", "--max", str(expected - 1), "d/e/c")
    assert (status, out) == (1, f"≈{expected}\n".encode())
    assert f"≈{expected} tokens by the estimate, over the limit of {expected - 1}" in err


@pytest.mark.usefixtures("folder")
def test_a_factor_of_the_makers_estimate() -> None:
    # 3,500 characters are 1,000 tokens; --estimate is implied.
    reason = (
        "your factor of 1.3 times the number that follows from this: Anthropic says a token is "
        "approximately 3.5 English characters "
        "(https://platform.claude.com/docs/en/about-claude/glossary, 2026-11-23)"
    )
    for options in ([], ["--estimate"]):
        assert run(*CLAUDE, *options, "--factor", "1.3", "d/e/c") == (
            0,
            "≈1300 d/e/c\n".encode(),
            f"compat-bpe: an estimate: {reason}\n",
        )
    # Rounded once: 7 characters are 2 tokens, and 2.6.
    assert run(*CLAUDE, "--factor", "1.3", "-q", "d/a", "d/b").out.decode().splitlines() == [
        " ≈3 d/a",
        " ≈3 d/b",
        " ≈6 total",
    ]
    status, out, err = run("count", "-m", "grok-4", "--factor", "1.2", "d/a")
    assert (status, out) == (2, b"")
    assert "it cannot be estimated" in err


def test_a_factor_is_exact_and_columns_are_wide_enough(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("x" * 10, encoding="ascii")
    factor = ("count", "-q", "-e", "bytes", "--factor")
    names = [str(tmp_path / "a"), str(tmp_path / "b")]
    # In binary fractions, 10 times 1.1 is more than 11.
    assert run(*factor, "1.1", names[0]).out == f"≈11 {names[0]}\n".encode()
    assert run(*factor, "9999.999999", *names).out.decode().splitlines() == [
        f"≈100000 {names[0]}",
        f"≈100000 {names[1]}",
        "≈200000 total",
    ]


@pytest.mark.parametrize(
    "factor",
    ["0", "0.0000001", "-1", "1e999999", "nan", "inf", "1,18", "", "1.", "99999", "\u0661"],
)
def test_what_is_no_factor(factor: str) -> None:
    status, out, err = run("count", f"--factor={factor}", "-c", "x")
    assert (status, out) == (2, b"")
    assert "is not a number from 0.000001 to" in err


def test_a_request(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"model": "claude-opus-4-5", "messages": messages}))
    expected = count_messages(messages, model="claude-opus-4-5", estimate=True)
    assert expected == 3  # 10 characters
    refused = run("count", "--messages", str(path))
    assert (refused.status, refused.out) == (2, b"")
    assert refused.err.endswith("; --estimate estimates it\n")
    message = f"compat-bpe: an estimate: {expected.note}\n"
    counted = run("count", "--messages", str(path), "--estimate")
    assert counted == (0, "≈3\n".encode(), message)
    status, out, err = run("count", "--messages", str(path), "--estimate", "--json", "--max", "2")
    counted_by = {"model": "claude-opus-4-5", "tokens": 3, "estimate": expected.note}
    assert json.loads(out) == {**counted_by, "limit": 2, "status": "over"}
    assert (status, err) == (1, "compat-bpe: ≈3 tokens by the estimate, over the limit of 2\n")


def test_the_system_prompt_of_a_request_is_in_the_estimate() -> None:
    def estimate(**members: object) -> bytes:
        body = {"messages": [{"role": "user", "content": "Hello!"}], **members}
        return run(*ESTIMATE, "-q", "--messages", "-", stdin=json.dumps(body).encode()).out

    assert estimate() == estimate(system=None) == "≈3\n".encode()
    # 10 characters, and 6 and 12 more.
    assert estimate(system="Be brief now") == "≈8\n".encode()
    parts = [{"type": "text", "text": "Be brief now", "cache_control": {"type": "ephemeral"}}]
    assert estimate(system=parts) == "≈8\n".encode()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"messages": [], "system": "x"}, "messages is empty"),
        ({"messages": {}, "system": "x"}, "messages: must be a list"),
        ({"messages": [{"role": "user", "content": 3}], "system": "x"}, "messages[0].content: "),
    ],
)
def test_damaged_requests(body: object, reason: str) -> None:
    status, out, err = run(*ESTIMATE, "--messages", "-", stdin=json.dumps(body).encode())
    assert (status, out) == (2, b"")
    assert reason in err


def test_what_cannot_be_counted_is_named() -> None:
    content = [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]
    body = json.dumps({"messages": [{"role": "user", "content": content}]}).encode()
    status, out, err = run(*ESTIMATE, "--messages", "-", stdin=body)
    assert (status, out.decode()) == (0, "≈2\n")
    assert "not counted: messages[0].content[1] (image)" in err
    status, out, err = run(*ESTIMATE, "--messages", "-", "--strict", stdin=body)
    assert (status, out) == (2, b"")
    assert "messages[0].content[1]: a part of type 'image' cannot be counted" in err


def test_a_request_to_a_model_with_a_format_is_counted_as_ever() -> None:
    body = b'[{"role": "user", "content": "Hello!"}]'
    args = ("count", "-m", "gpt-4o", "--messages", "-")
    assert run(*args, "--estimate", stdin=body) == run(*args, stdin=body) == (0, b"9\n", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--overlap 6", "overlap is 6; it must be 0 or more and less than the limit, 5\n"),
        (
            "--files a-long-name.txt",
            "limit is 5, but ==> a-long-name.txt <== and the character 'x' alone have 8 tokens; "
            "raise the limit\n",
        ),
    ],
)
def test_split_by_an_estimate_names_tokens(folder: Path, options: str, message: str) -> None:
    (folder / "a-long-name.txt").write_text("x")
    args = ("split", "-m", "claude-sonnet-4-5", "--estimate", "-n", "5", "--json")
    status, _, err = run(*args, *options.split(), stdin=b"some words")
    assert (status, err.removeprefix("compat-bpe: ")) == (2, message)
