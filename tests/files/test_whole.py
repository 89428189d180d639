"""What is read whole has a limit; a message about damaged JSON can be printed on every Python."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from compat_bpe import load, load_gpt2, load_tiktoken
from compat_bpe.chat import load_chat_template
from compat_bpe.files.git import read_settings
from compat_bpe.files.ignore import Scope
from compat_bpe.files.walk import Walk
from compat_bpe.files.whole import GITS_LIMIT, json_message, read_at_most, read_whole
from compat_bpe.formats.sentencepiece import read_sentencepiece

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices with names")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without settings, in which one is at work."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345678")
    assert read_whole(tmp_path / "a", 8) == b"12345678"
    with pytest.raises(ValueError, match=r"a: larger than 7 bytes$"):
        read_whole(tmp_path / "a", 7)
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)


def test_no_buffer_of_the_size_of_the_limit_is_asked_for() -> None:
    for size in (0, 1 << 16, 300_000):
        file, asked = io.BytesIO(bytes(size)), [0]

        def read(most: int, file: io.BytesIO = file, asked: list[int] = asked) -> bytes:
            asked.append(most)
            return file.read(most)

        assert read_at_most(read, 1 << 28) == bytes(size)
        assert max(asked) <= 2 * size + (1 << 16)


@posix
@pytest.mark.parametrize("special", ["fifo", "/dev/zero"])
@pytest.mark.parametrize("name", ["a.tiktoken", "tokenizer.json", "a.model", "vocab.txt", "x.gz"])
def test_a_vocabulary_is_a_regular_file(tmp_path: Path, special: str, name: str) -> None:
    # A folder is hostile, too: reading it must neither wait nor go on for ever.
    path = tmp_path / name
    if special == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(special)
    with pytest.raises(OSError, match="Not a regular file"):
        load(path)
    with pytest.raises(OSError, match="Not a regular file"):
        load_tiktoken(path, pattern="gpt2")
    with pytest.raises(OSError, match="Not a regular file"):
        load_gpt2(path, path)
    with pytest.raises(OSError, match="Not a regular file"):
        read_sentencepiece(path)


@posix
@pytest.mark.parametrize("name", ["chat_template.jinja", "tokenizer_config.json"])
def test_what_is_beside_a_vocabulary_is_a_regular_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises((OSError, ValueError), match=r"Not a regular file|no chat template"):
        load_chat_template(tmp_path)


@posix
@pytest.mark.parametrize("place", [".gitignore", ".git", ".git/config", ".git/info/exclude"])
@pytest.mark.parametrize("special", ["fifo", "/dev/zero"])
def test_a_repository_with_a_pipe_or_a_device_is_searched(
    home: Path, place: str, special: str
) -> None:
    path = home / "top" / place
    path.parent.mkdir(parents=True)
    if special == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(special)
    (home / "top" / "a").touch()
    found = list(Walk().find([str(home / "top")]))
    assert [(os.path.basename(one.path), one.problem) for one in found] == [("a", "")]


@posix
def test_a_users_ignore_file_may_be_a_device(home: Path) -> None:
    (home / ".git").mkdir()
    for path in ("/dev/null", "/dev/zero"):
        (home / ".gitconfig").write_text(f"[core] excludesFile = {path}\n")
        assert Scope().inside(str(home)).git == ()


def test_an_ignore_file_has_a_limit(home: Path) -> None:
    (home / "top").mkdir()
    (home / "top" / "a").touch()
    path = home / "top" / ".gitignore"
    path.write_bytes(b"#" * GITS_LIMIT)
    assert [os.path.basename(one.path) for one in Walk().find([str(home / "top")])] == ["a"]
    path.write_bytes(b"#" * (GITS_LIMIT + 1))
    (found,) = Walk().find([str(home / "top")])
    assert (found.path, found.problem) == (str(path), "Larger than 1,048,576 bytes")


def test_configuration_may_not_branch_without_end(home: Path) -> None:
    (home / ".git").mkdir()
    for depth in range(9):
        lines = [f"[include] path = {depth + 1}.config"] * 10
        (home / f"{depth}.config").write_text("\n".join(lines))
    (home / ".gitconfig").write_text("[include] path = 0.config\n")
    with pytest.raises(OSError, match="Includes more than 100 files"):
        read_settings(str(home / ".git"), str(home))


@pytest.mark.parametrize("text", ["\x80", '{"a": é}', "[1 中", '"\\é"', "[😀", "[", '{"a" 1}'])
def test_messages_can_be_printed(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    for message in (str(raised.value), raised.value.msg):
        shown = f"not JSON: {json_message(message)}"
        assert ascii(shown).isprintable()
        assert len(shown) > len("not JSON: ")


@pytest.mark.parametrize(
    "message", ["", "Expecting value: line 1 column 1 (char 0)", "'é'", "\ud800"]
)
def test_other_messages_stay(message: str) -> None:
    kept = message.replace("\ud800", "\\ud800")
    assert json_message(message) == kept
