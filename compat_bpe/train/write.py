"""A trained vocabulary in files, in every format that other programs read."""

from __future__ import annotations

import errno
import filecmp
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, Callable

from ..encodings.encoding import Encoding
from ..encodings.save import save_gpt2, save_tiktoken, save_tokenizer_json
from ..encodings.sentencepiece import SentencePiece
from ..encodings.tokenizer import Tokenizer
from ..files.text import is_name_on_windows
from ..files.whole import NotRegularError, read_whole
from ..files.write import is_abandoned, locked, put_in_place, sync_file, sync_folder
from ..formats.checked_json import is_unicode
from ..formats.settings_beside import ALL_FORMATS as ALL_FORMATS
from ..formats.settings_beside import FORMATS as FORMATS
from ..formats.settings_beside import MANIFEST as MANIFEST
from ..formats.settings_beside import SENTENCEPIECE
from ..pipeline.added_tokens import AddedToken
from ..pipeline.cutter import check_encoding
from .kind import LearnedMerge
from .sentencepiece.trainer import save_trained_sentencepiece

_ON_WINDOWS = os.name == "nt"

#: The roles that transformers gives to special tokens.
ROLES = ("bos", "eos", "unk", "pad")

_NO_PARTS = "\t\t"

#: The ending of the names of temporary folders.
_LEFT = ".tmp"

#: The characters that may begin a formula in a spreadsheet (OWASP, "CSV Injection"), those of East
#: Asian width included, and the quotation mark, within which others follow; and their escapes.
_FORMULA = {
    **{character: f"\\x{ord(character):02x}" for character in '=+-@"'},
    **{character: f"\\u{ord(character):04x}" for character in "＝＋－＠"},
}

#: The class of transformers that reads tokenizer.json.
_READS_JSON = "PreTrainedTokenizerFast"
#: The patterns that split like transformers' class for GPT-2.
_GPT2_PATTERNS = ("gpt2", "r50k_base", "p50k_base", "p50k_edit")


def write_vocabulary(
    folder: str | os.PathLike[str],
    encoding: Encoding,
    *,
    pattern: str,
    formats: Iterable[str] = tuple(FORMATS),
    merges: Sequence[LearnedMerge] = (),
    manifest: Mapping[str, Any] | None = None,
    roles: Mapping[str, str] | None = None,
    force: bool = False,
    extra: Mapping[str, BinaryIO] | None = None,
    left_out: Callable[[str, str], None] | None = None,
) -> list[str]:
    """Write a vocabulary into a folder, all of its files or none.

    The files are written into a temporary folder first. A new folder is then put in place in one
    step. In an existing one, the files are put in place under a lock, the manifest last. If two
    programs write at once, all files are those of one of them, where the disk has locks. A reader
    may see old and new files for some milliseconds, each of them whole. Then, and after a process
    is killed in that time, the SHA-256 in the manifest do not fit all files.

    Args:
        folder: the folder. It is created if it does not exist; its parent must exist.
        encoding: the vocabulary. Files named after it are named ``encoding.name``.
        pattern: the pattern for the manifest, or its name.
        formats: the formats to write, some of ``ALL_FORMATS``.
        merges: the learned merges, in order, for ``token_map.tsv``.
        manifest: the content of ``manifest.json`` besides the files and their SHA-256.
        roles: the special token of some of ``ROLES``, for transformers; the others have none.
        force: True to write into a folder that is not empty. Files of the same names are
            overwritten. Files that an earlier manifest lists and that are not written again are
            removed if they still have the SHA-256 listed there.
        extra: other files by name, and an open file with the content of each.
        left_out: called with each format that cannot hold the vocabulary, and the reason. Without
            it, such a format is an error; with it, only if no other format can be read, which
            ``token-map`` cannot.

    Returns:
        The names of the files, the manifest last.

    Raises:
        FileExistsError: the folder has other files, and ``force`` is False.
        OSError: a file cannot be written, or is a directory or write-protected; nothing is changed.
        ValueError: a format or role is unknown, the token of a role is not special, the name
            cannot name a file, or a format cannot hold the vocabulary.
    """
    check_encoding(encoding)
    target = Path(folder)
    check_folder(target, force=force or (target / MANIFEST).is_file())
    name = encoding.name
    check_name(name)
    wanted = set(formats)
    if wanted - ALL_FORMATS.keys():
        unknown = ", ".join(map(repr, sorted(wanted - ALL_FORMATS.keys())))
        raise ValueError(f"unknown format {unknown}; the formats are {', '.join(ALL_FORMATS)}")
    roles = roles or {}
    for role, token in roles.items():
        if role not in ROLES:
            raise ValueError(f"unknown role {role!r}; the roles are {', '.join(ROLES)}")
        if token not in encoding.special_tokens:
            raise ValueError(f"{token!r}, named as {role}, is not a special token")
    # Renaming needs the same disk, so an existing folder, which may be a mount or ".", holds it.
    beside = target if target.is_dir() else target.absolute().parent
    _remove_left(beside, target.name)
    around = beside / f"{target.name}.{os.urandom(4).hex()}{_LEFT}"
    with ExitStack() as held:
        held.callback(shutil.rmtree, around, ignore_errors=True)
        # Files that replace private ones are private from the beginning.
        mode = 0o700 if target.is_dir() else 0o777
        around.mkdir(mode)
        held.enter_context(locked([os.fspath(around)]))
        temporary = around / "new"
        temporary.mkdir(mode)
        readable_kinds = wanted - {"token-map"}
        for kind in ALL_FORMATS:
            if kind in wanted:
                files = [temporary / file.format(name=name) for file in ALL_FORMATS[kind]]
                try:
                    _write_format(kind, files, encoding, pattern, merges, roles)
                except ValueError as error:
                    readable_kinds.discard(kind)
                    # Without any file that can be read, the vocabulary would be lost.
                    if left_out is None or not readable_kinds:
                        raise
                    left_out(kind, str(error))
        for name_of_other, source in (extra or {}).items():
            source.seek(0)
            with open(temporary / name_of_other, "wb") as other:
                shutil.copyfileobj(source, other)
        written = sorted(file.name for file in temporary.iterdir())
        described = {
            **(manifest or {}),
            "name": name,
            "pattern": pattern,
            "special_tokens": encoding.special_tokens,
            "roles": dict(roles),
            "files": {file: _sha256(temporary / file) for file in written},
        }
        _write_json(temporary / MANIFEST, described, indent=1)
        _put_in_place(temporary, target, force=force)
    return [*written, MANIFEST]


def check_name(name: str) -> None:
    """Raise ``ValueError`` if a vocabulary's name cannot name files.

    What Windows cannot have is refused there alone.
    """
    is_name = not _ON_WINDOWS or is_name_on_windows(name)
    if not name or Path(name).name != name or name in (".", "..") or not is_name:
        raise ValueError(f"{name!r} cannot be the name of a file")


def check_folder(folder: Path, *, force: bool) -> None:
    """Raise an error if a vocabulary cannot be written into a folder.

    Raises:
        FileExistsError: the folder is not empty and ``force`` is False, or it is not a folder.
        FileNotFoundError: its parent does not exist.
        PermissionError: nothing can be written there.
    """
    if folder.is_dir():
        if not force and any(folder.iterdir()):
            raise FileExistsError(f"{folder}: the folder is not empty; --force writes into it")
    elif folder.exists() or folder.is_symlink():
        raise FileExistsError(f"{folder}: not a folder")
    elif not folder.absolute().parent.is_dir():
        raise FileNotFoundError(f"{folder}: there is no folder {folder.absolute().parent}")
    if not os.access(folder if folder.is_dir() else folder.absolute().parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(folder))


def touched_files(
    folder: Path, name: str, formats: Iterable[str], extra: Iterable[str] = ()
) -> list[Path]:
    """Return the files that ``write_vocabulary`` would overwrite or remove in a folder.

    Args:
        folder, formats: as in ``write_vocabulary``.
        name: the name of the vocabulary.
        extra: the names of other files.
    """
    named = [file.format(name=name) for kind in formats for file in ALL_FORMATS.get(kind, ())]
    names = {MANIFEST, *named, *extra, *_files_of(folder / MANIFEST)}
    return [folder / name for name in sorted(names) if (folder / name).exists()]


def _put_in_place(temporary: Path, target: Path, *, force: bool) -> None:
    if not target.exists():
        for file in temporary.iterdir():
            sync_file(os.fspath(file))
        sync_folder(os.fspath(temporary))
        try:
            temporary.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            check_folder(target, force=force)  # another writer has made it meanwhile
        else:
            sync_folder(os.fspath(target.absolute().parent))
            return
    if not force and (target / MANIFEST).is_file():
        if all(_is_same(file, target / file.name) for file in temporary.iterdir()):
            return
        check_folder(target, force=force)
    with locked([os.fspath(target)]):
        parts = [
            (os.fspath(file), os.fspath(target / file.name))
            for file in sorted(temporary.iterdir(), key=lambda file: file.name == MANIFEST)
        ]
        earlier = _files_of(target / MANIFEST)
        removed = [
            os.fspath(target / name)
            for name, digest in earlier.items()
            # A file that was changed since is kept.
            if not (temporary / name).exists()
            and (target / name).is_file()
            and _sha256(target / name) == digest
        ]
        put_in_place(parts, removed, is_new=not force)


def _is_same(file: Path, other: Path) -> bool:
    return other.is_file() and filecmp.cmp(file, other, shallow=False)


def _remove_left(folder: Path, name: str) -> None:
    """Remove the temporary folders that killed processes left behind in a folder.

    An empty one stays: it may have been made just now, and not be locked yet. One that cannot be
    read stays, too.
    """
    pattern = re.compile(re.escape(name) + r"\.[0-9a-f]{8}" + re.escape(_LEFT))
    with suppress(OSError):
        for path in filter(lambda path: pattern.fullmatch(path.name), folder.iterdir()):
            with suppress(OSError):
                is_folder = path.is_dir() and not path.is_symlink()
                if is_folder and any(path.iterdir()) and is_abandoned(os.fspath(path)):
                    shutil.rmtree(path)


def _files_of(manifest: Path) -> dict[str, str]:
    """Return the files that a manifest lists, and their SHA-256; none if it is not a manifest."""
    try:
        listed = json.loads(read_whole(manifest))["files"]
        return {name: digest for name, digest in listed.items() if Path(name).name == name}
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, NotRegularError):
        return {}
    except (AttributeError, ValueError, LookupError, TypeError, RecursionError):
        return {}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_json(path: Path, content: Mapping[str, Any], indent: int | None = None) -> None:
    # Bytes, since Windows would translate the ends of lines, and the hashes would be others.
    path.write_bytes(f"{json.dumps(content, indent=indent, ensure_ascii=True)}\n".encode())


def _write_format(
    kind: str,
    files: Sequence[Path],
    encoding: Encoding,
    pattern: str,
    merges: Sequence[LearnedMerge],
    roles: Mapping[str, str],
) -> None:
    if kind == "tiktoken":
        save_tiktoken(encoding, files[0])
    elif kind == "gpt2":
        save_gpt2(encoding, files[0], files[1])
    elif kind == "vocab-merges":
        save_gpt2(encoding, files[0], files[1])
        # GPT-2's class splits by its own pattern; for others, the class that reads tokenizer.json.
        kind_of = "GPT2Tokenizer" if pattern in _GPT2_PATTERNS else _READS_JSON
        _write_json(files[2], _tokenizer_config(encoding, kind_of, roles), indent=1)
    elif kind == "tokenizer-json":
        save_tokenizer_json(encoding, files[0])
        if not files[1].exists():
            _write_json(files[1], _tokenizer_config(encoding, _READS_JSON, roles), indent=1)
    elif kind == SENTENCEPIECE:
        if not isinstance(encoding, SentencePiece):
            raise ValueError(f"{encoding!r} is not a model of SentencePiece")
        save_trained_sentencepiece(encoding, files[0].with_suffix(""))
    else:
        files[0].write_bytes("".join(_token_map(encoding, merges)).encode())


def _tokenizer_config(
    encoding: Encoding, tokenizer_class: str, roles: Mapping[str, str]
) -> dict[str, Any]:
    """Return the settings of a vocabulary for transformers and ``compat_bpe.load``."""
    return {
        "tokenizer_class": tokenizer_class,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        # Without a role, GPT-2's class takes <|endoftext|> for it and adds it to the vocabulary.
        **{f"{role}_token": roles.get(role) for role in ROLES},
        "added_tokens_decoder": {
            f"{token.id}": {key: value for key, value in token._asdict().items() if key != "id"}
            for token in _added_tokens(encoding)
        },
    }


def _added_tokens(encoding: Encoding) -> Sequence[AddedToken]:
    if isinstance(encoding, Tokenizer):
        return encoding.added_tokens
    specials = encoding.special_tokens.items()
    return [AddedToken(name, number, special=True) for name, number in specials]


def _token_map(encoding: Encoding, merges: Sequence[LearnedMerge]) -> Iterator[str]:
    """Yield a line for each token, by id: the token, its two parts and their frequency."""
    parts = {
        merge.id: f"{_cell(merge.left)}\t{_cell(merge.right)}\t{merge.frequency}"
        for merge in merges
    }
    tokens = {number: token for token, number in encoding.core.encoder.items()}
    for name, number in encoding.special_tokens.items():
        if not is_unicode(name):
            raise ValueError(f"{encoding!r}: the special token {name!r} has a lone surrogate")
        if tokens.setdefault(number, name.encode()) != name.encode():
            raise ValueError(
                f"{encoding!r}: the special token {name!r} has the id of another token"
            )
    if isinstance(encoding, SentencePiece):
        # Control pieces never occur in a text.
        tokens = {number: text.encode() for number, text in enumerate(encoding.definition.texts)}
    yield "id\ttoken\tleft\tright\tfrequency\n"
    for number, token in sorted(tokens.items()):
        yield f"{number}\t{_cell(token)}\t{parts.get(number, _NO_PARTS)}\n"


def _cell(token: bytes) -> str:
    r"""Return a token as ``readable`` does, and so that no spreadsheet takes it for a formula.

    The first character is escaped if it begins a formula, or a quoted cell that may hold one.

    >>> print(_cell(b"=1+1"), _cell(b"a=b"))
    \x3d1+1 a=b
    """
    text = readable(token)
    return _FORMULA.get(text[:1], text[:1]) + text[1:]


def readable(token: bytes) -> str:
    r"""Return a token as text on one line, from which its bytes can be read back.

    A backslash is doubled. Invisible characters and parts of characters are escaped as in Python;
    a space stays a space.

    >>> print(readable(" é\n\\".encode() + b"\xc3"))
     é\n\\\xc3
    """
    text = token.replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
