"""Vocabularies on this machine: the kinds of their files, and the stores of other programs.

``recognise`` tells the kind of a file by its name and its beginning. ``newest`` chooses between
versions of a file.

``find_stored`` finds models in the folders of Hugging Face, Ollama and LM Studio. A name cannot
lead out of its program's folder: its parts are letters, digits and a few signs, and a link to a
file outside is refused. Nothing is fetched.

- ``hf:OWNER/NAME`` and ``hf:OWNER/NAME@REVISION``: the cache of ``huggingface_hub``, in the layout
  of https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
- ``ollama:NAME``, ``ollama:NAME:TAG``, ``ollama:OWNER/NAME``, ``ollama:hf.co/OWNER/NAME:TAG``:
  the models of Ollama, each a manifest in JSON and files by their SHA-256.
- ``lmstudio:OWNER/NAME``, ``lmstudio:OWNER/NAME/FILE``: the folders of LM Studio.
"""

from __future__ import annotations

import errno
import os
import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


#: The prefixes of names that stand for files of other programs.
STORES = ("hf:", "ollama:", "lmstudio:")


def recognise(path: str | os.PathLike[str], beginning: bytes) -> str:
    """Return the kind of a file: one of ``_KINDS``.

    Args:
        path: the file.
        beginning: its first bytes, some thousands.

    Raises:
        ValueError: the file is of none of these kinds.
    """
    for kind, fits in _KINDS.items():
        if fits(os.path.basename(path), beginning):
            return kind
    reason = "not a recognized vocabulary file"
    if _is_pointer(beginning):
        reason = "a Git LFS pointer, not the file itself; fetch the file (git lfs pull)"
    raise ValueError(f"{os.fspath(path)}: {reason}")


def _is_json(_: str, beginning: bytes) -> bool:
    return beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _is_ranks(name: str, beginning: bytes) -> bool:
    # One of that name that is damaged: its reader says in which line.
    return name.endswith(".tiktoken") or bool(
        re.fullmatch(rb"[A-Za-z0-9+/=]+[ \t]+[0-9]+[ \t]*", _first_line(beginning))
    )


def _is_merges(name: str, beginning: bytes) -> bool:
    return name in ("merges.txt", "vocab.bpe") or _first_line(beginning).startswith(b"#version")


def _is_vocab_txt(name: str, beginning: bytes) -> bool:
    return name.endswith("vocab.txt") or {b"[UNK]", b"[CLS]"} <= set(beginning.splitlines())


def _is_rwkv(name: str, beginning: bytes) -> bool:
    is_list = re.match(rb"1 b?(['\"]).{1,9}\1 [0-9]+\r?(\n|$)", beginning)
    return is_list is not None or re.fullmatch(r"rwkv_vocab_v[0-9]+\.txt", name) is not None


def _is_clip_merges(name: str, beginning: bytes) -> bool:
    is_packed = name.endswith("bpe_simple_vocab_16e6.txt.gz") and beginning[:2] == b"\x1f\x8b"
    return is_packed or beginning.startswith(b'"bpe_simple_vocab_16e6.txt#version')


def _is_sentencepiece(name: str, beginning: bytes) -> bool:
    if _is_pointer(beginning):
        return False
    # The first field is usually a piece: its text, then its score.
    text = beginning[3] if len(beginning) > 3 else 0
    is_piece = beginning[:3:2] == b"\n\n" and beginning[4 + text : 5 + text] == b"\x15"
    return is_piece or name.endswith(".model") or is_versioned(name)


def _is_gguf(name: str, beginning: bytes) -> bool:
    # One of that name that is damaged: its reader says where.
    return beginning.startswith(b"GGUF") or (name.endswith(".gguf") and not _is_pointer(beginning))


def _is_pointer(beginning: bytes) -> bool:
    return beginning.startswith(b"version https://git-lfs")


def _first_line(beginning: bytes) -> bytes:
    """Return the first line that is not empty."""
    return next(filter(None, beginning.splitlines()), b"")


#: Each kind, with the test for it by the name of a file and its first bytes. The first kind that
#: fits is taken.
_KINDS: dict[str, Callable[[str, bytes], bool]] = {
    "gguf": _is_gguf,
    "json": _is_json,
    "rwkv": _is_rwkv,
    "vocab.txt": _is_vocab_txt,
    "ranks": _is_ranks,
    "merges": _is_merges,
    "clip": _is_clip_merges,
    "sentencepiece": _is_sentencepiece,
}


#: The name of a SentencePiece model with the version of its message format and, if messages may
#: have images, of its image format (``is_sentencepiece`` in mistral-common 1.13.1).
_VERSIONED = r"(?s)(.*\.model)\.v([0-9]{1,3})(?:m([0-9]{1,3}))?"


def is_versioned(name: str) -> bool:
    """Return True if a file has the name of a model with a version.

    >>> is_versioned("tokenizer.model.v7m1"), is_versioned("tokenizer.model")
    (True, False)
    """
    return re.fullmatch(_VERSIONED, name) is not None


def newest(names: list[str]) -> list[str]:
    """Return the name with the highest version if all are versions of one model; else all names.

    mistral-common 1.13.1 takes the last name in alphabetical order. For all published names, that
    is the same one.

    >>> newest(["tokenizer.model.v3", "tokenizer.model.v7m1", "tokenizer.model.v7"])
    ['tokenizer.model.v7m1']
    >>> newest(["a.model.v3", "b.model.v7"])
    ['a.model.v3', 'b.model.v7']
    """
    versions = {}
    models = set()
    for name in names:
        match = re.fullmatch(_VERSIONED, name)
        models.add(match and match[1])
        if match:
            versions[name] = (int(match[2]), int(match[3] or 0))
    if len(models) != 1 or not versions:
        return names
    return [max(names, key=versions.__getitem__)]


class Stored(NamedTuple):
    """A vocabulary in a store.

    Args:
        path: its file or folder.
        name: the name of the model, without owner and version.
    """

    path: str
    name: str


# Patterns are compiled when a name is looked up, since most files are given by their paths.

#: A part of a name: no separator, no "..", nothing before a colon that Windows takes for a drive.
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.|$|[/:@]))*"
_HF = rf"(?P<repository>(?:{_PART}/)?(?P<name>{_PART}))(?:@(?P<revision>.+))?"
_REVISION = rf"{_PART}(?:/{_PART})*"
_OLLAMA = rf"(?:(?:(?P<host>{_PART})/)?(?P<owner>{_PART})/)?(?P<name>{_PART})(?::(?P<tag>{_PART}))?"
_LM_STUDIO = rf"(?P<owner>{_PART})/(?P<name>{_PART})(?:/(?P<file>{_PART}))?"

_COMMIT = r"[0-9a-f]{40}"
#: The files of a repository that are a vocabulary or a part of one.
_VOCABULARY = (
    r"tokenizer\.(json|model|tok\.json)|.*(vocab|merges|encoder|spiece|sentencepiece|tekken).*|"
    r".*\.(tiktoken|model|gguf)|bpe_simple_vocab.*"
)
#: The largest Ollama manifest to read, in bytes; most have some hundreds.
_MANIFEST_LIMIT = 1 << 20
_MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = r"sha256:([0-9a-f]{64})"


def find_stored(name: str) -> Stored:
    """Return the vocabulary that a name of a store stands for.

    Args:
        name: a name as the module describes it.

    Raises:
        OSError: the model is missing, and the message gives the command that fetches it; or it
            cannot be read.
        ValueError: the name is not of this form, or a file of the store is damaged or a link that
            leads out of it.

    >>> find_stored("hf:../secret")
    Traceback (most recent call last):
    ValueError: hf:../secret: the name must be hf:OWNER/NAME or hf:OWNER/NAME@REVISION
    """
    store = next((one for one in STORES if name.startswith(one)), "")
    return _FINDERS[store](name, name[len(store) :]) if store else Stored(name, "")


def in_hugging_face(model: str) -> str | None:
    """Return ``hf:MODEL`` if the cache of Hugging Face has a vocabulary of that name, else None.

    >>> in_hugging_face("no-owner")
    """
    if model.count("/") != 1 or not re.fullmatch(_HF, model):
        return None
    try:
        find_stored(f"hf:{model}")
    except (OSError, ValueError):
        return None
    return f"hf:{model}"


def _find_in_hugging_face(name: str, rest: str) -> Stored:
    parts = re.fullmatch(_HF, rest)
    revision = parts["revision"] if parts else None
    wrong = parts is None or "--" in parts["repository"] or len(rest) > 256
    if parts is None or wrong or (revision and not re.fullmatch(_REVISION, revision)):
        raise _wrong(name, "hf:OWNER/NAME or hf:OWNER/NAME@REVISION")
    cache = _hugging_face_cache()
    repository = os.path.join(cache, "--".join(["models", *parts["repository"].split("/")]))
    folder = _snapshot(repository, revision)
    if folder is None or not any(map(re.compile(_VOCABULARY).fullmatch, os.listdir(folder))):
        wanted = f"{parts['repository']}{f' --revision {revision}' if revision else ''}"
        hint = f"`hf download {wanted} {_files_of(parts['repository'])}`"
        raise _missing(name, f"not in Hugging Face's cache, {cache}; {hint} fetches it")
    _check_all_inside(folder, repository, cache)
    return Stored(folder, parts["name"])


def _hugging_face_cache() -> str:
    """Return the folder that ``huggingface_hub`` uses; it reads the same variables in order."""
    variables = os.environ
    path = variables.get("HF_HUB_CACHE") or variables.get("HUGGINGFACE_HUB_CACHE")
    if not path:
        home = variables.get("HF_HOME")
        if not home:
            above = variables.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
            home = os.path.join(above, "huggingface")
        path = os.path.join(home, "hub")
    return os.path.expandvars(os.path.expanduser(path))


def _snapshot(repository: str, revision: str | None) -> str | None:
    """Return the folder with the files of a revision; None if there is none.

    Without a revision, it is the folder of ``main``, or else the newest one.
    """
    snapshots = os.path.join(repository, "snapshots")
    commit = revision or ""
    if not re.fullmatch(_COMMIT, commit):
        commit = _commit(os.path.join(repository, "refs", *(revision or "main").split("/")))
    if commit and os.path.isdir(os.path.join(snapshots, commit)):
        return os.path.join(snapshots, commit)
    if revision is not None or not os.path.isdir(snapshots):
        return None
    folders = [
        entry
        for entry in os.scandir(snapshots)
        if re.fullmatch(_COMMIT, entry.name) and entry.is_dir()
    ]
    newest = max(folders, key=lambda entry: (entry.stat().st_mtime, entry.name), default=None)
    return newest.path if newest is not None else None


def _commit(path: str) -> str:
    """Return the commit in a file in ``refs``; empty if there is none."""
    from ..files.whole import read_whole

    try:
        commit = read_whole(path, 200).decode("ascii", "replace").strip()
    except (OSError, ValueError):
        return ""
    return commit if re.fullmatch(_COMMIT, commit) else ""


def _files_of(repository: str) -> str:
    """Return the files to fetch, from the table of families."""
    from .families import NeedsFile
    from .model_names import resolve_model

    family = resolve_model(repository)
    if isinstance(family, NeedsFile) and family.files:
        return family.files
    return "tokenizer.json tokenizer_config.json"


def _find_in_ollama(name: str, rest: str) -> Stored:
    parts = re.fullmatch(_OLLAMA, rest)
    if parts is None or len(rest) > 256:
        raise _wrong(name, "ollama:NAME, ollama:NAME:TAG or ollama:OWNER/NAME:TAG")
    from ..files.whole import read_whole
    from ..formats.checked_json import parse_json

    root = os.path.expanduser(
        os.environ.get("OLLAMA_MODELS") or os.path.join("~", ".ollama", "models")
    )
    folders = (parts["host"] or "registry.ollama.ai", parts["owner"] or "library", parts["name"])
    path = os.path.join(root, "manifests", *folders, parts["tag"] or "latest")
    _check_inside(path, root)
    try:
        manifest = parse_json(read_whole(path, _MANIFEST_LIMIT), path)
    except (FileNotFoundError, NotADirectoryError):
        hint = f"`ollama pull {rest}` fetches it"
        raise _missing(name, f"not among Ollama's models, {root}; {hint}") from None
    for layer in manifest["layers"].items():
        if layer["mediaType"].text() == _MODEL_LAYER:
            digest = re.fullmatch(_DIGEST, layer["digest"].text())
            if digest is None:
                layer["digest"].fail("must be sha256: and 64 digits")
            blob = os.path.join(root, "blobs", f"sha256-{digest[1]}")
            _check_inside(blob, root)
            if not os.path.isfile(blob):
                raise _missing(name, f"{blob}, which {path} names, is missing")
            return Stored(blob, parts["name"])
    return manifest["layers"].fail(f"no layer is a model ({_MODEL_LAYER})")


def _find_in_lm_studio(name: str, rest: str) -> Stored:
    parts = re.fullmatch(_LM_STUDIO, rest)
    if parts is None or len(rest) > 256:
        raise _wrong(name, "lmstudio:OWNER/NAME or lmstudio:OWNER/NAME/FILE")
    roots = [
        os.path.expanduser(os.path.join("~", *folders))
        for folders in ((".lmstudio", "models"), (".cache", "lm-studio", "models"))
    ]
    for root in roots:
        folder = os.path.join(root, parts["owner"], parts["name"])
        path = os.path.join(folder, parts["file"]) if parts["file"] else folder
        if os.path.exists(path):
            if os.path.isdir(path):
                path = _gguf_in(path, name)
            _check_inside(path, root)
            _check_all_inside(path, root)
            return Stored(path, parts["name"])
    hint = f"`lms get {parts['owner']}/{parts['name']}` fetches it"
    raise _missing(name, f"not among LM Studio's models, {' and '.join(roots)}; {hint}")


def _gguf_in(folder: str, name: str) -> str:
    """Return the GGUF file in a folder; the folder itself if there is none.

    Raises:
        ValueError: there are several models.
    """
    files = [
        entry
        for entry in sorted(os.listdir(folder))
        # The projector for images has no vocabulary. If a file is in parts, the first has it.
        if entry.endswith(".gguf") and not entry.startswith("mmproj")
        if not re.search(r"-(?!00001-)\d{5}-of-\d{5}\.gguf$", entry)
    ]
    if len(files) > 1:
        raise ValueError(
            f"{folder}: the folder has several models ({', '.join(files)}); choose one: {name}/FILE"
        )
    return os.path.join(folder, files[0]) if files else folder


def _check_inside(path: str, *folders: str) -> None:
    """Raise ``ValueError`` if a path, with all links followed, is not inside all given folders."""
    real = os.path.realpath(path)
    for folder in folders:
        root = os.path.realpath(folder)
        if not real.startswith(os.path.join(root, "")):
            raise ValueError(f"{path}: a link to {real}, which is not in {folder}")


def _check_all_inside(path: str, *folders: str) -> None:
    """Check every path in a folder as ``_check_inside`` does; a file has no paths in it."""
    for place, below, files in os.walk(path):
        for entry in (*below, *files):
            _check_inside(os.path.join(place, entry), *folders)


def _wrong(name: str, forms: str) -> ValueError:
    return ValueError(f"{name}: the name must be {forms}")


def _missing(name: str, reason: str) -> OSError:
    return FileNotFoundError(errno.ENOENT, reason, name)


#: The finder of each store, in the order of ``STORES``.
_FINDERS = dict(zip(STORES, (_find_in_hugging_face, _find_in_ollama, _find_in_lm_studio)))
