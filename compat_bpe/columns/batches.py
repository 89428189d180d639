"""Functions on texts of columns and on batches of rows, and encodings that workers are sent.

The order: encodings, the texts of columns, functions of a text, functions of a row.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Callable, Literal, Union, get_args

from ..caches import Cache
from ..encodings.encoding import Encoding
from ..encodings.load import load
from ..encodings.registry import encoding_of, get_encoding
from ..encodings.resolve import Terms, UnresolvedError, resolve
from ..fit.boundary import Boundary
from ..fit.split import split_text
from ..fit.truncate import Keep
from ..unicode.surrogates import repair

#: An encoding, its name, or the path of its file or folder, as ``load`` takes it.
AnyEncoding = Union[Encoding, str, "os.PathLike[str]"]

#: The advice in errors for users of columns and SQL, which have one argument for all encodings.
TERMS = Terms("", "use {!r}", "use {!r}")

#: The advice in errors of SQL, where other encodings have the names that ``register`` gives them.
SQL_TERMS = Terms(
    "",
    "use {!r}",
    "add it with register(…, {{'NAME': {!r}}})",
    adding="register(…, {'NAME': PATH}) adds others",
)

#: The most encodings given by value that a worker keeps.
_MOST_KNOWN = 8

#: The encodings that a worker has been given by value, the latest last.
_known: dict[bytes, Encoding] = {}


class Carried:
    """An encoding that can be pickled cheaply with every task.

    A built-in encoding is sent by its name. Another is sent by value: as bytes, which Spark sends
    to each executor once, since it broadcasts functions of more than a megabyte. A worker process
    makes the encoding from them once, and later tasks find it by its digest.

    Args:
        encoding: the encoding, its name, or the path of its file or folder, which is read here,
            as ``load`` does: ``hf:OWNER/NAME`` is a model in the cache of the driver's machine.

    Raises:
        ValueError: there is no encoding and no file of this name, or the file is damaged.
        OSError: the file cannot be read.
        TypeError: it is none of these.

    >>> Carried("gpt2").get().encode("hello world")
    [31373, 995]
    >>> Carried("gpt3")
    Traceback (most recent call last):
    ValueError: unknown encoding 'gpt3' (did you mean 'gpt2'?); no file has this name either
    """

    def __init__(self, encoding: AnyEncoding) -> None:
        if isinstance(encoding, str):
            try:
                answer = resolve(encoding)
            except UnresolvedError as error:
                raise ValueError(error.message(TERMS)) from None
            if answer.path is None:
                self.name = encoding
                self._data = b""
                self._digest = b""
                return
        if isinstance(encoding, (str, os.PathLike)):
            encoding = load(encoding)
        if not isinstance(encoding, Encoding):
            raise TypeError(
                f"encoding must be an Encoding, its name or its path, not {type(encoding).__name__}"
            )
        self.name = encoding.name
        self._data = pickle.dumps(encoding, protocol=4)
        self._digest = sha256(self._data).digest()

    def get(self) -> Encoding:
        """Return the encoding: the same object as long as the process keeps it."""
        if not self._data:
            return get_encoding(self.name)
        encoding = _known.get(self._digest)
        if encoding is None:
            encoding = pickle.loads(self._data)
            # Threads that ask together may each make one; all get the one that is kept.
            encoding = _known.setdefault(self._digest, encoding)
        else:
            _known.pop(self._digest, None)
            _known[self._digest] = encoding  # the last to be given up
        for oldest in list(_known)[:-_MOST_KNOWN]:
            _known.pop(oldest, None)
        return encoding


def encoding_named(name: str, own: Mapping[str, Carried]) -> Encoding:
    """Return an encoding by its name: one of the caller's own, or a built-in one.

    Raises:
        ValueError: there is none of that name.
    """
    if name in own:
        return own[name].get()
    try:
        return encoding_of(resolve(name, files=False))
    except UnresolvedError as error:
        raise ValueError(error.message(SQL_TERMS)) from None


def check_fixed_ids(encoding: Encoding) -> None:
    """Raise ``ValueError`` if the ids of an encoding are not the same in every process.

    Baselines such as words number each new word, in the order in which they come.

    >>> check_fixed_ids(get_encoding("words"))
    Traceback (most recent call last):
    ValueError: 'words' numbers words in their order, so ids differ between workers; it can only ...
    """
    if encoding.reference == "baseline" and not encoding.core.model.is_text:
        raise ValueError(
            f"{encoding.name!r} numbers words in their order, so ids differ between workers; it "
            "can only count"
        )


#: The treatment of bytes that are not UTF-8; see ``texts_of``.
Errors = Literal["strict", "replace", "skip"]

#: The most bytes of a damaged text that a message shows.
_SHOWN = 40


def check_errors(errors: str) -> None:
    """Raise ``ValueError`` if there is no such treatment of errors.

    >>> check_errors("ignore")
    Traceback (most recent call last):
    ValueError: errors is 'ignore'; it must be one of strict, replace, skip
    """
    if errors not in get_args(Errors):
        raise ValueError(f"errors is {errors!r}; it must be one of {', '.join(get_args(Errors))}")


def text_of(value: Any, errors: Errors, column: str) -> str | None:
    """Return the text of a str, of bytes or of None.

    Raises:
        ValueError: bytes are not UTF-8, and ``errors`` is ``"strict"``.
        TypeError: it is a value of another type.

    >>> text_of(b"caf\\xc3\\xa9", "strict", "'text'"), text_of(None, "strict", "'text'")
    ('café', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return decoded(bytes(value), errors, column)
    raise TypeError(
        f"column {column}: a value is of type {type(value).__name__}; texts are strings or bytes"
    )


def texts_of(array: Any, errors: Errors, column: str) -> list[str | None]:
    """Return the texts of an Arrow array of strings or bytes.

    A string of Spark may hold any bytes, for instance those of a text file in Latin-1, so strings
    are treated as bytes are.

    Args:
        array: the array.
        errors: the treatment of bytes that are not UTF-8. ``"strict"`` raises ``ValueError``,
            ``"replace"`` replaces them by U+FFFD, and ``"skip"`` makes the text None.
        column: the name of the column, for messages.

    Raises:
        ValueError: a text is not UTF-8, and ``errors`` is ``"strict"``.
    """
    values = _values(array)
    if any(isinstance(value, bytes) for value in values):
        return [None if value is None else decoded(value, errors, column) for value in values]
    return values


def _values(array: Any) -> list[Any]:
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        values = array.cast("large_binary" if "large" in str(array.type) else "binary").to_pylist()
    return values


def decoded(value: bytes, errors: Errors, column: str) -> str | None:
    """Return the text of bytes; the arguments are as in ``texts_of``."""
    try:
        return value.decode("utf-8", "replace" if errors == "replace" else "strict")
    except UnicodeDecodeError as error:
        if errors == "skip":
            return None
        shown = value[max(error.start - _SHOWN // 2, 0) :][:_SHOWN]
        raise ValueError(
            f"column {column}: a text is not UTF-8: byte 0x{value[error.start]:02x} at offset "
            f"{error.start}, in {shown!r}; errors='replace' or 'skip' accepts it"
        ) from None


#: A function of a text, and what makes one on a worker, to which it can be sent.
TextFunction = Callable[[str], Any]
Maker = Callable[[], TextFunction]

#: A function of an encoding, a text, and perhaps a limit.
RowFunction = Callable[..., Any]


def count(encoding: Encoding, text: str) -> Any:
    """Return the number of tokens of a text."""
    return encoding.count(text)


def truncated(
    encoding: Encoding,
    text: str,
    limit: int,
    keep: Keep = "head",
    boundary: Boundary = "char",
    marker: str | None = None,
) -> Any:
    """Return as much of a text as fits in ``limit`` tokens."""
    text = repair(text)
    return encoding.truncate(text, limit, keep=keep, boundary=boundary, marker=marker).text


def split(
    encoding: Encoding, text: str, limit: int, overlap: int = 0, boundary: Boundary = "char"
) -> Any:
    """Return the parts of a text that each fit in ``limit`` tokens."""
    return [part.text for part in split_text(encoding, repair(text), limit, overlap, boundary)]


def making(function: RowFunction, encoding: AnyEncoding, *arguments: Any) -> Maker:
    """Return what makes a function of a text, by an encoding and the other arguments.

    Raises:
        ValueError, TypeError, OSError: as in ``Carried``, and as the function for these arguments.
    """
    carried = Carried(encoding)
    function(get_encoding("bytes"), "", *arguments)  # an encoding that takes no time to load

    def make() -> TextFunction:
        own = carried.get()
        return lambda text: function(own, text, *arguments)

    return make


def making_ids(encoding: AnyEncoding, allowed_special: Collection[str]) -> Maker:
    """Return what makes a function from a text to its ids; other special names are plain text.

    Raises:
        ValueError, OSError: as in ``Carried`` and ``check_fixed_ids``.
        TypeError: as in ``Carried``; ``allowed_special`` is a single str.
    """
    if isinstance(allowed_special, str):
        raise TypeError(f"allowed_special is the str {allowed_special!r}; pass a set of names")
    carried = Carried(encoding)
    check_fixed_ids(carried.get())
    allowed = frozenset(allowed_special)
    if not allowed:
        return lambda: carried.get().encode_ordinary
    return lambda: partial(carried.get().encode, allowed_special=allowed, disallowed_special=())


def each_once(function: Callable[[Any], Any], texts: Iterable[Any]) -> list[Any]:
    """Return the results of a function for the texts of a batch, called once for equal texts.

    None stays None. No result is kept for the next batch.

    >>> each_once(len, ["ab", None, "ab", ""])
    [2, None, 2, 0]
    """
    known: dict[Any, Any] = {None: None}
    values = []
    for text in texts:
        if text not in known:
            known[text] = function(text)
        values.append(known[text])
    return values


def apply_to_values(
    function: TextFunction, values: Iterable[Any], errors: Errors, column: str
) -> list[Any]:
    """Return the results of a function for values; None gives None.

    Raises:
        ValueError, TypeError: as in ``text_of``.
    """
    return each_once(function, [text_of(value, errors, column) for value in values])


#: The most texts cached with the same other arguments, the length of the longest of these, and the
#: most such caches. A cache is 16 MiB of ASCII, or 64 MiB of the widest characters, and as much
#: again for results that are texts.
_KEPT, _LONGEST = 1 << 14, 1024
_MEMOS = 4


class Batches:
    """A function on batches of rows; a null anywhere in a row gives None.

    The encodings of a batch are looked up before its first text is read, and its texts before the
    first call. The function is called once for equal rows of a batch. Results for short texts are
    kept from batch to batch. Threads may share it.

    Args:
        function: the function.
        own: encodings of the caller's own, by their names.
        errors: as in ``texts_of``.
    """

    def __init__(self, function: RowFunction, own: Mapping[str, Carried], errors: Errors) -> None:
        self._function = function
        self._own = own
        self._errors = errors
        #: The results for texts, by the other arguments.
        self._memos: dict[Any, Cache[Any]] = {}

    def apply(self, texts: Any, names: Any, *others: Any) -> list[Any]:
        """Return the results of the function for the rows of Arrow arrays.

        Raises:
            ValueError: there is no such encoding; or as in ``texts_of``.
        """
        named = names.to_pylist()
        encodings = {name: encoding_named(name, self._own) for name in {*named} - {None}}

        def make(row: Any) -> Any:
            if None in row:
                return None
            text, name, *more = row
            return self._memo(encodings[name], *more)[text]

        rows = zip(
            texts_of(texts, self._errors, "'text'"), named, *(one.to_pylist() for one in others)
        )
        return each_once(make, rows)

    def _memo(self, encoding: Encoding, *more: Any) -> Cache[Any]:
        key = (encoding, more)
        memo = self._memos.get(key)
        if memo is None:
            memo = Cache(lambda text: self._function(encoding, text, *more), _KEPT, _LONGEST)
            if len(self._memos) < _MEMOS:  # else it is for this row alone
                self._memos[key] = memo
        return memo
