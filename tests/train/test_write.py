"""Files of a vocabulary: all or none; what is for byte-level BPE alone says so for others."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.files.write import locked
from compat_bpe.report.unreachable import unreachable_tokens
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import (
    CharacterBpeSettings,
    SentencePieceSettings,
    Trained,
    TrainingSettings,
    train,
)
from compat_bpe.train import write as output_module
from compat_bpe.train.bpe.growing import GrowingVocabulary
from compat_bpe.train.extend import Extender, changes, extend
from compat_bpe.train.write import (
    FORMATS,
    MANIFEST,
    ROLES,
    check_name,
    readable,
    touched_files,
    write_vocabulary,
)
from tests.files.systems import failing, windows_newlines
from tests.kinds import KINDS, of_kind
from tests.train import plain

ALL = {
    "mine.tiktoken",
    "encoder.json",
    "vocab.bpe",
    "vocab.json",
    "merges.txt",
    "tokenizer_config.json",
    "tokenizer.json",
    "token_map.tsv",
}


def trained_on(text: str, settings: TrainingSettings) -> Trained:
    found = plain.trained(settings, [text], name="mine")
    assert isinstance(found, Trained)
    return found


@pytest.fixture(scope="module")
def trained() -> Trained:
    return trained_on("hug hug pug\n pug", TrainingSettings(262, special_tokens=["<|a\tb|>"]))


def write(folder: Path, trained: Trained, **options: Any) -> list[str]:
    options = {"pattern": "gpt2", "merges": trained.merges, **options}
    return write_vocabulary(folder, trained.encoding, **options)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_all_formats_and_the_manifest(tmp_path: Path, trained: Trained) -> None:
    folder = tmp_path / "out"
    written = write(folder, trained, manifest={"settings": {"a": 1}})
    assert names(folder) == {*ALL, MANIFEST} == set(written)
    assert written[-1] == MANIFEST
    manifest = json.loads((folder / MANIFEST).read_bytes())
    assert manifest["files"] == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ALL
    }
    assert manifest["settings"] == {"a": 1}
    assert (manifest["name"], manifest["pattern"]) == ("mine", "gpt2")
    assert manifest["special_tokens"] == {"<|a\tb|>": 261}
    assert names(tmp_path) == {"out"}


def test_the_token_map_is_for_reading(tmp_path: Path, trained: Trained) -> None:
    write(tmp_path / "out", trained, formats=["token-map"])
    lines = (tmp_path / "out" / "token_map.tsv").read_text("utf-8").splitlines()
    assert lines[0].split("\t") == ["id", "token", "left", "right", "frequency"]
    assert lines[1] == "0\t!\t\t\t"
    assert "198\t\\n\t\t\t" in lines
    assert "220\t \t\t\t" in lines
    assert lines[257:] == [
        "256\tug\tu\tg\t4",
        "257\thug\th\tug\t2",
        "258\tpug\tp\tug\t2",
        "259\t pug\t \tpug\t2",
        "260\t hug\t \thug\t1",
        "261\t<|a\\tb|>\t\t\t",
    ]


@pytest.mark.parametrize(
    ("token", "cell"),
    [("=1+1", "\\x3d1+1"), ("+1", "\\x2b1"), ("--", "\\x2d-"), ("@a", "\\x40a"), ("\t=", "\\t="),
     ('"=1"', '\\x22=1"'), ("＝1", "\\uff1d1"), ("a=1", "a=1"), (" =1", " =1"), ("\\=", "\\\\=")],
)  # fmt: skip
def test_no_cell_of_the_token_map_is_a_formula(tmp_path: Path, token: str, cell: str) -> None:
    trained = trained_on("hug hug pug", TrainingSettings(262, special_tokens=[token]))
    write(tmp_path / "out", trained, formats=["token-map"])
    lines = (tmp_path / "out" / "token_map.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    assert rows[-1][1] == cell
    assert cell.encode().decode("unicode_escape") == token
    assert [one for row in rows for one in row if one[:1] in tuple('=+-@"\t')] == []


@pytest.mark.parametrize(
    ("token", "text"),
    [(b"a b", "a b"), (b"\\n", "\\\\n"), (b"\n\t", "\\n\\t"), ("é\u200b".encode(), "é\\u200b"),
     (b"\xc3(", "\\xc3("), ("😀\x85".encode(), "😀\\x85")],
)  # fmt: skip
def test_readable(token: bytes, text: str) -> None:
    assert readable(token) == text


@pytest.mark.parametrize("kind", FORMATS)
def test_one_format(tmp_path: Path, trained: Trained, kind: str) -> None:
    written = write(tmp_path, trained, formats=[kind])
    assert set(written) == {file.format(name="mine") for file in FORMATS[kind]} | {MANIFEST}


def test_what_transformers_has_to_know(tmp_path: Path, trained: Trained) -> None:
    write(tmp_path / "a", trained, formats=["vocab-merges"])
    config = json.loads((tmp_path / "a" / "tokenizer_config.json").read_bytes())
    assert config["tokenizer_class"] == "GPT2Tokenizer"
    assert config["added_tokens_decoder"]["261"]["content"] == "<|a\tb|>"
    assert load(tmp_path / "a").encode("hug<|a\tb|>", allowed_special="all") == [257, 261]
    # Not named, these would be <|endoftext|> in GPT-2's class, as a token more than there are.
    assert {config[f"{role}_token"] for role in ROLES} == {None}
    write(tmp_path / "b", trained, pattern="o200k_base", formats=["vocab-merges"])
    config = json.loads((tmp_path / "b" / "tokenizer_config.json").read_bytes())
    # Its own class would split by GPT-2's pattern.
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"


def test_the_class_that_reads_tokenizer_json(tmp_path: Path, trained: Trained) -> None:
    for formats, expected in (
        (["tokenizer-json"], "PreTrainedTokenizerFast"),
        (["tokenizer-json", "vocab-merges"], "GPT2Tokenizer"),
    ):
        write(tmp_path, trained, formats=formats, force=True)
        config = json.loads((tmp_path / "tokenizer_config.json").read_bytes())
        assert config["tokenizer_class"] == expected


def test_roles_of_special_tokens(tmp_path: Path, trained: Trained) -> None:
    name = "<|a\tb|>"
    write(tmp_path / "out", trained, roles={"eos": name, "pad": name})
    config = json.loads((tmp_path / "out" / "tokenizer_config.json").read_bytes())
    found = {role: config[f"{role}_token"] for role in ROLES}
    assert found == {"bos": None, "eos": name, "unk": None, "pad": name}
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_bytes())
    assert manifest["roles"] == {"eos": name, "pad": name}
    with pytest.raises(ValueError, match="'hug', named as eos, is not a special token"):
        write(tmp_path / "x", trained, roles={"eos": "hug"})
    with pytest.raises(ValueError, match="unknown role 'sep'; the roles are bos, eos, unk, pad"):
        write(tmp_path / "x", trained, roles={"sep": name})
    assert names(tmp_path) == {"out"}


def test_a_file_that_was_changed_is_not_removed(tmp_path: Path, trained: Trained) -> None:
    write(tmp_path, trained)
    (tmp_path / "vocab.json").write_text("my own")
    (tmp_path / "token_map.tsv").unlink()
    write(tmp_path, trained, formats=["gpt2"], force=True)
    assert names(tmp_path) == {"encoder.json", "vocab.bpe", MANIFEST, "vocab.json"}
    assert (tmp_path / "vocab.json").read_text() == "my own"


def test_the_files_that_are_touched(tmp_path: Path, trained: Trained) -> None:
    assert touched_files(tmp_path, "mine", FORMATS) == []
    (tmp_path / "vocab.bpe").write_text("of another")
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "x.jsonl").write_text("of another")
    found = touched_files(tmp_path, "mine", ["gpt2"], ["x.jsonl"])
    assert found == [tmp_path / "vocab.bpe", tmp_path / "x.jsonl"]
    assert touched_files(tmp_path, "mine", ["tiktoken"]) == []
    write(tmp_path, trained, force=True)
    found = touched_files(tmp_path, "other", ["tiktoken"])
    assert {path.name for path in found} == {*ALL, MANIFEST}


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path, trained: Trained) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="the folder is not empty; --force writes"):
        write(tmp_path, trained)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="not a folder"):
        write(tmp_path / "file", trained, force=True)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write(tmp_path / "a" / "b", trained)
    assert names(tmp_path) == {"mine.txt", "file"}


def test_force_replaces_what_was_written_before_and_nothing_else(
    tmp_path: Path, trained: Trained
) -> None:
    folder = tmp_path / "out"
    write(folder, trained)
    (folder / "mine.txt").write_text("mine")
    write(folder, trained, formats=["gpt2"], force=True)
    assert names(folder) == {"encoder.json", "vocab.bpe", MANIFEST, "mine.txt"}
    (folder / MANIFEST).write_text('{"files": {"../x": "", "mine.txt": 1}, "a": [')
    write(folder, trained, formats=["tokenizer-json"], force=True)
    assert names(folder) >= {"mine.txt", "tokenizer.json"}


def test_a_manifest_names_no_file_elsewhere(tmp_path: Path, trained: Trained) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "precious").write_text("mine")
    (folder / MANIFEST).write_text('{"files": {"../precious": ""}}')
    write(folder, trained, force=True)
    assert (tmp_path / "precious").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("exists", [False, True])
def test_nothing_is_half_written(
    tmp_path: Path,
    trained: Trained,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    exists: bool,
) -> None:
    folder = tmp_path / "out"
    if exists:
        write(folder, trained)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fail(encoding: object, path: Path) -> None:
        path.write_text("half")
        raise error

    monkeypatch.setattr(output_module, "save_tokenizer_json", fail)
    with pytest.raises(type(error)):
        write(folder, trained, force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert exists or not folder.exists()


def test_other_files(tmp_path: Path, trained: Trained) -> None:
    write(tmp_path / "out", trained, extra={"x.jsonl": io.BytesIO(b"{}\n")})
    assert (tmp_path / "out" / "x.jsonl").read_bytes() == b"{}\n"
    assert "x.jsonl" in json.loads((tmp_path / "out" / MANIFEST).read_bytes())["files"]


def test_what_is_wrong_is_said(tmp_path: Path, trained: Trained) -> None:
    with pytest.raises(ValueError, match="unknown format 'x', 'y'; the formats are tiktoken, gpt2"):
        write(tmp_path / "out", trained, formats=["x", "y"])
    trained.encoding.name, name = "a/b", trained.encoding.name
    try:
        with pytest.raises(ValueError, match="'a/b' cannot be the name of a file"):
            write(tmp_path / "out", trained)
    finally:
        trained.encoding.name = name
    assert names(tmp_path) == set()


def test_the_same_files_each_time(tmp_path: Path, trained: Trained) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, trained)
    with windows_newlines():
        write(tmp_path / "c", trained)
    found = [contents(tmp_path / name) for name in ("a", "b", "c")]
    assert found == [found[0]] * 3


def test_without_merges_a_token_has_no_parts(tmp_path: Path, trained: Trained) -> None:
    write(tmp_path / "out", trained, formats=["token-map"], merges=[])
    assert "256\tug\t\t\t" in (tmp_path / "out" / "token_map.tsv").read_text("utf-8").splitlines()


def test_at_whatever_call_it_fails_the_folder_is_old_or_new(
    tmp_path: Path, trained: Trained
) -> None:
    folder = tmp_path / "out"
    write(folder, trained, formats=["tiktoken", "token-map"])
    old = contents(folder)
    number = 0
    while True:
        number += 1
        called: list[str] = []
        try:
            with failing(number, OSError(5, "broken")) as called:
                write(folder, trained, formats=["token-map"], force=True)
        except OSError:
            assert contents(folder) == old, called
        if len(called) < number:
            break
        if names(folder) < old.keys():  # it had failed where that does no harm
            write(folder, trained, formats=["tiktoken", "token-map"], force=True)
        for path in folder.glob("*.*.*"):  # what could not be removed in the end
            assert called[-1] == "remove" or "open" in called[-2:], called
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert names(folder) == {"token_map.tsv", MANIFEST}


def test_what_a_killed_process_has_left_is_removed(tmp_path: Path, trained: Trained) -> None:
    left, held, empty, other = (
        tmp_path / f"{name}.tmp"
        for name in ("out.0123abcd", "out.11111111", "out.22222222", "out2.33333333")
    )
    for folder in (left, held, empty, other):
        folder.mkdir()
    for folder in (left, held, other):
        (folder / "new").mkdir()
    with locked([str(held)]):  # as its process does that writes into it
        write(tmp_path / "out", trained)
    assert names(tmp_path) == {"out", held.name, empty.name, other.name}


def test_what_is_left_and_cannot_be_read_is_no_hindrance(
    tmp_path: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(folder: str) -> bool:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr("compat_bpe.train.write.is_abandoned", fails)
    (tmp_path / "out.0123abcd.tmp/new").mkdir(parents=True)
    write(tmp_path / "out", trained)
    assert names(tmp_path) == {"out", "out.0123abcd.tmp"}


def test_a_folder_in_the_place_of_a_file_leaves_all_as_it_was(
    tmp_path: Path, trained: Trained
) -> None:
    folder = tmp_path / "out"
    write(folder, trained)
    (folder / "merges.txt").unlink()
    (folder / "merges.txt").mkdir()
    (folder / "vocab.json").write_text("old")
    with pytest.raises(IsADirectoryError) as raised:
        write(folder, trained, force=True)
    assert raised.value.filename == str(folder / "merges.txt")
    assert (folder / "vocab.json").read_text() == "old"
    assert names(folder) == {*ALL, MANIFEST}


def test_a_manifest_that_is_nested_deeply_is_none(tmp_path: Path, trained: Trained) -> None:
    (tmp_path / MANIFEST).write_text('{"files": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert touched_files(tmp_path, "mine", ["gpt2"]) == [tmp_path / MANIFEST]
    write(tmp_path, trained, force=True)
    assert names(tmp_path) == {*ALL, MANIFEST}


@pytest.mark.skipif(os.name == "nt", reason="modes as on POSIX")
def test_modes_are_kept(tmp_path: Path, trained: Trained) -> None:
    folder = tmp_path / "out"
    write(folder, trained)
    for path in folder.iterdir():
        path.chmod(0o600)
    write(folder, trained, force=True)
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_a_folder_that_another_has_made_meanwhile(
    tmp_path: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    real = Path.rename

    def rename(path: Path, target: Path) -> Path:
        monkeypatch.undo()
        write(folder, trained, formats=["tiktoken"])
        return real(path, target)

    for force in (True, False):
        shutil.rmtree(folder, ignore_errors=True)
        monkeypatch.setattr(Path, "rename", rename)
        if force:
            write(folder, trained, force=True)
            assert names(folder) == {*ALL, MANIFEST}
        else:
            with pytest.raises(FileExistsError):
                write(folder, trained)
            assert names(folder) == {"mine.tiktoken", MANIFEST}
    assert names(tmp_path) == {"out"}


def test_a_name_of_a_device_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    check_name("nul")
    monkeypatch.setattr(output_module, "_ON_WINDOWS", True)
    check_name("mine")
    with pytest.raises(ValueError, match="'nul' cannot be the name of a file"):
        check_name("nul")


OTHERS = [*KINDS, "words", "characters"]


def encoding_of(name: str) -> Encoding:
    return of_kind(name) if name in KINDS else get_encoding(name)


REFUSED = {
    "unigram": "is a Unigram model, which cannot be extended: the scores of all pieces would",
    "unigram_bytes": "is a Unigram model, which cannot be extended: the scores of all pieces would",
    "words": "is a baseline, which cannot be extended: it has no vocabulary",
    "characters": "is a baseline, which cannot be extended: it has no vocabulary",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_extended(name: str) -> None:
    encoding = encoding_of(name)
    for call in (extend, Extender):
        with pytest.raises(ValueError, match=REFUSED[name]):
            call(encoding)


def test_models_of_sentencepiece_are_not_extended() -> None:
    encoding = train(["hug pug"], SentencePieceSettings(10))
    with pytest.raises(ValueError, match="is a model of SentencePiece, which cannot be extended"):
        extend(encoding, ["hug"], 1)


def test_bytes_with_marks_are_not_extended() -> None:
    encoding = train(["hug pug"], CharacterBpeSettings(300, suffix="$", pre_tokenizer="byte-level"))
    with pytest.raises(ValueError, match="is BPE over bytes with marks, which cannot be extended"):
        extend(encoding, ["hug"], 1)


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_extended_by_bytes_or_compared(name: str) -> None:
    encoding = encoding_of(name)
    with pytest.raises(ValueError, match="is not byte-level BPE and cannot be extended"):
        GrowingVocabulary(encoding)
    for pair in ((encoding, get_encoding("gpt2")), (get_encoding("gpt2"), encoding)):
        with pytest.raises(ValueError, match="is not byte-level BPE and cannot be compared"):
            changes(*pair, ["hugs"])
    with pytest.raises(ValueError, match="is not byte-level BPE; unreachable tokens are not known"):
        list(unreachable_tokens(encoding))


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_saved_as_ranks(name: str, tmp_path: Path) -> None:
    encoding = encoding_of(name)
    with pytest.raises(ValueError, match="is not byte-level BPE: it has no ranks"):
        save_tiktoken(encoding, tmp_path / "a.tiktoken")
    with pytest.raises(ValueError, match="is not byte-level BPE: it has no ranks"):
        save_gpt2(encoding, tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    for kind in ("tiktoken", "gpt2", "vocab-merges"):
        with pytest.raises(ValueError, match="is not byte-level BPE: it has no ranks"):
            write_vocabulary(tmp_path / "new", encoding, pattern="gpt2", formats=[kind])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["words", "characters"])
def test_a_baseline_is_no_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is not byte-level BPE|cannot hold"):
        save_tokenizer_json(get_encoding(name), tmp_path / "tokenizer.json")


def test_files_of_one_training_give_the_same_ids(tmp_path: Path) -> None:
    """The line of the merge of "#version" and "s" would be skipped as a heading by readers."""
    lines = "#version\n#versions\n#versioned\n"
    settings = TrainingSettings(280, pattern="cl100k_base", special_tokens=["<|end|>", "[PAD]"])
    trained = trained_on(lines * 200, settings)
    with pytest.raises(ValueError, match=r"vocab\.bpe: the format cannot hold .*'#version'"):
        write(tmp_path / "out", trained, pattern="cl100k_base")
    assert list(tmp_path.iterdir()) == []
    reasons: dict[str, str] = {}
    own: Any = {"pattern": "cl100k_base", "left_out": reasons.__setitem__}
    written = write(tmp_path / "out", trained, **own)
    assert reasons.keys() == {"gpt2", "vocab-merges"}
    for name in ("mine.tiktoken", "tokenizer.json"):
        assert load(tmp_path / "out" / name).encode(lines) == trained.encoding.encode(lines)
    assert {*written} == {
        "mine.tiktoken", "tokenizer.json", "tokenizer_config.json", "token_map.tsv", "manifest.json"
    }  # fmt: skip
    formats = ["gpt2", "vocab-merges", "token-map"]
    with pytest.raises(ValueError, match="the format cannot hold"):  # nothing would be left
        write(tmp_path / "none", trained, formats=formats, **own)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(("name", "id_"), [("<s>", 65), ("\ud800", 261)])
def test_what_the_token_map_cannot_hold(tmp_path: Path, name: str, id_: int) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    enc = Encoding("mine", pat_str=".", mergeable_ranks=ranks, special_tokens={name: id_})
    with pytest.raises(ValueError, match=r"the special token .* has (the id|a lone)"):
        write_vocabulary(tmp_path / "out", enc, pattern=".", formats=["token-map"])
