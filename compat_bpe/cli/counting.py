"""Counting the tokens of files in constant memory, large ones in several processes.

An interpreter counts with one processor. Worker processes are given names of files and parts of
large files, which are cut at cut points, and count them as this process would.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence, Set
from itertools import chain, repeat
from typing import TYPE_CHECKING, BinaryIO, Callable, NamedTuple

from .. import Encoding
from ..files.text import BinaryError, NotTextError, check_beginning, not_utf8, open_bytes
from ..unicode.text import StreamDecodeError, Utf8Decoder
from .input import Reading, announce_wait, reason_and_advice

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from ..corpus.count_cache import CountCache
    from ..files.walk import Found
    from ..parallel.pool import Pool, Tell
    from ..pipeline.cutter import TextEncoder
    from .progress import FileProgress

#: The number of bytes that are read at a time; a smaller file is read at once.
_BLOCK = 1 << 18

#: Bytes that a worker gets at a time, at least and at most: the last shares are small, so that all
#: workers end at about the same time; the first are large, since files beside each other have
#: chunks in common, which a worker then merges once.
_SHARE, _LARGEST_SHARE = 500_000, 8_000_000

#: Bytes that a worker counts before it reports them.
_TOLD = 1 << 16

#: The least size in bytes for workers: starting them takes as long as counting this.
WORTH_WORKERS = 3_000_000

#: Bytes of files that are read to see if a cache has most of them, and files looked for at a time.
_TRIED, _LOOKED_UP = 1_000_000, 256

#: The least size in bytes for a cache: opening it takes as long as counting a tenth of this.
_WORTH_CACHE = 1_000_000

#: The size of a part in bytes: small enough that all workers end at about the same time.
_PART = 1_000_000
#: Numbers of bytes in which a cut point is looked for, one after the other: mostly there is a cut
#: point every few words.
_WINDOWS = (1 << 10, 1 << 14)


class Counts(NamedTuple):
    """The counts of a text: of tokens by each of some encodings, in their order."""

    tokens: tuple[int, ...]
    bytes: int
    characters: int

    @classmethod
    def total(cls, counts: Iterable[Counts], encodings: int) -> Counts:
        """Return the sum of some counts by a number of encodings.

        >>> Counts.total([Counts((1, 4), 2, 3), Counts((10, 40), 20, 30)], 2)
        Counts(tokens=(11, 44), bytes=22, characters=33)
        """
        listed = list(counts)
        tokens = (sum(one.tokens[index] for one in listed) for index in range(encodings))
        size, characters = sum(one.bytes for one in listed), sum(one.characters for one in listed)
        return cls(tuple(tokens), size, characters)


class Outcome(NamedTuple):
    """The result of counting a file."""

    #: The counts; None if it was not counted.
    counts: Counts | None
    #: The reason why it was not counted, and what to do about it; this may be empty.
    reason: str = ""
    advice: str = ""
    #: True if it could be read; if it has no counts, it is binary or not UTF-8.
    was_read: bool = True
    #: True if it was not counted because it is binary.
    is_binary: bool = False
    #: A note for the user about the counts; empty if there is none.
    note: str = ""
    #: The hash of the bytes that were counted, for a cache; empty if none is wanted or can be used.
    digest: bytes = b""

    @property
    def message(self) -> str:
        """The reason, with the advice."""
        return f"{self.reason}; {self.advice}" if self.advice else self.reason


class Part(NamedTuple):
    """A file or a part of one, from ``start`` to ``end`` in bytes; None is the file's end.

    A part that does not begin at 0 goes on after a cut point.
    """

    path: str
    start: int = 0
    end: int | None = None

    def left_after(self, size: int) -> int | None:
        """Return the number of bytes that follow some of them; None to the file's end."""
        return None if self.end is None else self.end - self.start - size


#: Some files, or parts of files, each with its index.
Share = Sequence["tuple[int, Part]"]

#: Called with the number of bytes each time some are counted.
Advance = Callable[[int], None]


class _UnknownError(ValueError):
    """The vocabulary has no token for a part of a text."""


class FileCounter:
    """A counter of files, each of which is read once for all of its encodings.

    Args:
        *encodings: the encodings.
        allow_nul: take files with NUL bytes at their beginning as text, too.
        replace: count bytes that are not UTF-8 as U+FFFD.
        decompress: count the text in compressed files, told by their names.
        notebooks: count only the sources of notebooks, told by their names.
        encoding_of_file: the encoding of the text in files; None for UTF-8.
    """

    #: Returns a hash for the counted bytes, if a cache needs one.
    _new_hash: Callable[[bool], Hash] | None = None

    def __init__(
        self,
        *encodings: Encoding,
        allow_nul: bool = False,
        replace: bool = False,
        decompress: bool = False,
        notebooks: bool = False,
        encoding_of_file: str | None = None,
    ) -> None:
        self.encodings = encodings
        self._decompress = decompress
        self._notebooks = notebooks
        self._allow_nul = allow_nul
        self._reading = Reading("replace" if replace else "strict", encoding_of_file)

    def count(self, part: Part, advance: Advance = lambda size: None) -> Outcome:
        """Count a file, standard input for ``-``, or a part of a file between two cut points.

        Args:
            part: the file, or the part.
            advance: called with the number of bytes each time some are counted; of a compressed
                file, with that of compressed ones.
        """
        try:
            if self._decompresses(part.path):
                return self._count_decompressed(part, advance)
            with open_bytes(part.path) as file:
                if self._reading.encoding is None:
                    return self._count_opened(file, part, advance)
                from ..files.compressed import told  # few counts need it

                text = self._reading.recoded(told(file, advance))
                return self._count_opened(text, part, lambda size: None)
        except OSError as error:
            return Outcome(None, *reason_and_advice(error, part.path), was_read=False)
        except (ImportError, _UnknownError) as error:
            return Outcome(None, str(error), was_read=False)
        except NotTextError as error:
            is_binary = isinstance(error, BinaryError)
            return Outcome(None, error.reason, error.advice, is_binary=is_binary)
        except ValueError as error:
            return Outcome(None, str(error))

    def takes_parts(self, path: str) -> bool:
        """Return False if a file must be read from its start, since its bytes are not its text."""
        return self._reading.encoding is None and not (
            self._decompresses(path) or self._takes_source(path)
        )

    def digest(self, part: Part) -> bytes:
        """Return the hash of the bytes that ``count`` would count; empty if there is none."""
        hashed = self._hash(part)
        if hashed is None:
            return b""
        try:
            with open_bytes(part.path) as file:
                for number, block in enumerate(_blocks(file, part, hashed)):
                    if not (number or part.start):
                        self.check_beginning(block)
        except (OSError, ValueError):
            return b""
        return hashed.digest()

    def cache(self, files: Iterable[Found]) -> CountCache | None:
        """Return the user's cache for the counts of files; None if counting them is as quick."""
        is_quick = all(one.reference == "baseline" for one in self.encodings)
        if is_quick or _bytes_of(files) < _WORTH_CACHE:
            return None
        from ..corpus.count_cache import CountCache, cache_folder, new_hash  # few counts need it

        self._new_hash = new_hash
        return CountCache(cache_folder(), self.encodings, self._reading.errors.encode())

    def _hash(self, part: Part) -> Hash | None:
        if self._new_hash is None or not self.takes_parts(part.path):
            return None
        return self._new_hash(part.start > 0)

    def _decompresses(self, path: str) -> bool:
        """Return True if a file is decompressed."""
        if not self._decompress:
            return False
        from ..files.compressed import is_compressed  # also for few

        return is_compressed(path)

    def _takes_source(self, path: str) -> bool:
        if not self._notebooks:
            return False
        from ..files.documents import is_notebook  # few counts need it

        if self._decompresses(path):
            from ..files.compressed import uncompressed_name

            path = uncompressed_name(path)
        return is_notebook(path)

    def _count_opened(self, file: BinaryIO, part: Part, advance: Advance) -> Outcome:
        if self._takes_source(part.path):
            return self._count_source(file, part, advance)
        return self._count(file, part, advance)

    def _count_source(self, file: BinaryIO, part: Part, advance: Advance) -> Outcome:
        """Count the sources of a notebook; another file is counted as it is, with a note."""
        from ..files.documents import LARGEST_NOTEBOOK, NotebookError, notebook_source
        from ..files.whole import read_at_most

        data = read_at_most(file.read, LARGEST_NOTEBOOK + 1)
        self.check_beginning(data)
        if len(data) > LARGEST_NOTEBOOK:
            note = f"larger than {LARGEST_NOTEBOOK:,} bytes; counted as it is"
            blocks = chain([data], _blocks(file, part))
            return Outcome(self._count_blocks(blocks, part, advance), note=note)
        text = self._reading.decoded(data)
        try:
            source = notebook_source(text)
        except NotebookError as error:
            counts = Counts(self._tokens(self.encodings, text), len(data), len(text))
            outcome = Outcome(counts, note=f"not a notebook: {error}; counted as it is")
        else:
            tokens = self._tokens(self.encodings, source)
            outcome = Outcome(Counts(tokens, len(source.encode()), len(source)))
        advance(len(data))
        return outcome

    def count_text(self, text: str) -> Outcome:
        """Count a text that is not in a file."""
        try:
            tokens = self._tokens(self.encodings, text)
            return Outcome(Counts(tokens, len(text.encode()), len(text)))
        except _UnknownError as error:
            return Outcome(None, str(error), was_read=False)

    def _tokens(self, encoders: Sequence[TextEncoder], text: str) -> tuple[int, ...]:
        """Return the tokens of a text by an encoder of each encoding."""
        return tuple(map(self._tokens_by, self.encodings, encoders, repeat(text)))

    def _tokens_by(self, encoding: Encoding, encoder: TextEncoder, text: str) -> int:
        try:
            return encoder.count(text)
        except ValueError as error:
            raise _UnknownError(f"{encoding.name}: {error}") from None

    def _count(self, file: BinaryIO, part: Part, advance: Advance) -> Outcome:
        hashed = self._hash(part)
        blocks = _blocks(file, part, hashed)
        block = next(blocks)
        if part.start == 0:
            self.check_beginning(block)
        if len(block) < _BLOCK or len(block) == part.left_after(0):
            text = self._reading.decoded(block, part.start)
            counts = Counts(self._tokens(self._encodings_of(part), text), len(block), len(text))
            advance(len(block))
        else:
            counts = self._count_blocks(chain([block], blocks), part, advance)
        return Outcome(counts, digest=b"" if hashed is None else hashed.digest())

    def _count_decompressed(self, part: Part, advance: Advance) -> Outcome:
        from ..files.compressed import DamagedError, opened  # few counts need it

        try:
            with opened(part.path, advance) as file:
                return self._count_opened(self._reading.recoded(file), part, lambda size: None)
        except DamagedError as error:
            return Outcome(None, str(error), was_read=False)  # never passed over, as binary ones

    def _encodings_of(self, part: Part) -> Sequence[TextEncoder]:
        return [one.continued for one in self.encodings] if part.start else self.encodings

    def check_beginning(self, data: bytes) -> None:
        """Raise ``ValueError`` if a file with this beginning is not text."""
        check_beginning(
            data,
            allow_nul=self._allow_nul,
            any_bytes=self._reading.errors == "replace",
            advice="--text reads it as text",
        )

    def _count_blocks(self, blocks: Iterable[bytes], part: Part, advance: Advance) -> Counts:
        """Count a part in blocks, the last of which is empty."""
        from ..pipeline.cutter import Cutter, portions  # only large files need it

        cutters = [Cutter(encoding, frozenset()) for encoding in self._encodings_of(part)]
        decoder = Utf8Decoder(self._reading.handler)
        tokens = [0] * len(cutters)
        size = characters = 0
        counted = told = 0  # characters, once for each encoding, and bytes
        for block in blocks:
            try:
                text = decoder.feed(block) if block else decoder.finish()
            except StreamDecodeError as error:
                raise not_utf8(error, part.start + error.offset - error.start) from None
            size += len(block)
            characters += len(text)
            for portion in portions(text):
                for index, (encoding, cutter) in enumerate(zip(self.encodings, cutters)):
                    certain = cutter.feed(portion)
                    tokens[index] += self._tokens_by(encoding, cutter.encoding, certain)
                    counted += len(certain)
                # Estimated from the average size of a character: text held back is not done yet.
                done = size * counted // (characters * len(cutters))
                if done > told:
                    advance(done - told)
                    told = done
        for index, (encoding, cutter) in enumerate(zip(self.encodings, cutters)):
            rest = cutter.finish()
            tokens[index] += self._tokens_by(encoding, cutter.encoding, rest)
        advance(size - told)
        return Counts(tuple(tokens), size, characters)


def _blocks(file: BinaryIO, part: Part, hashed: Hash | None = None) -> Iterator[bytes]:
    """Yield the bytes of a part in blocks, the last of which is empty; add them to a hash."""
    if part.start:
        file.seek(part.start)
    size, block = 0, None
    while block != b"":
        left = part.left_after(size)
        block = file.read(_BLOCK if left is None else min(_BLOCK, left))
        if block is None:
            raise BlockingIOError("it is in non-blocking mode and has nothing to read yet")
        if hashed is not None:
            hashed.update(block)
        size += len(block)
        yield block


def parts_of(counter: FileCounter, path: str, size: int) -> list[tuple[Part, int]]:
    """Return the parts of a file, in order, each with its size in bytes; joined, they are the file.

    There is one part, the whole file, if it is compressed, a notebook whose sources are counted,
    binary, not UTF-8 or unreadable: counting it gives the error.

    Args:
        counter: the counter for the parts.
        path: the path of a regular file.
        size: its size in bytes.
    """
    if not counter.takes_parts(path):
        return [(Part(path), size)]
    if size >= 2 * _PART:
        try:
            with open(path, "rb") as file:
                counter.check_beginning(file.read(1 << 13))
        except (OSError, ValueError):
            return [(Part(path), size)]
    return cut_parts(counter.encodings, path, size, frozenset())


def cut_parts(
    encodings: Sequence[Encoding], path: str, size: int, names: Set[str]
) -> list[tuple[Part, int]]:
    """Return the parts of a file, in order, each with its size in bytes; joined, they are the file.

    Parts are cut at cut points of all encodings, so the tokens of the file are those of its parts.
    If none is found at once, a part is larger; in the worst case it is the whole file.

    Args:
        encodings: the encodings.
        path: the path of a regular file.
        size: its size in bytes.
        names: special tokens that may be tokens in the file.
    """
    places = [0]
    if size >= 2 * _PART:
        try:
            with open(path, "rb") as file:
                for start in range(_PART, size - _PART // 2, _PART):
                    place = cut_after(encodings, file, start, names)
                    if place is not None and places[-1] < place < size:
                        places.append(place)
        except OSError:
            places = [0]
    # The last part goes to the end of the file, even if that has grown since.
    ends: list[int | None] = [*places[1:], None]
    return [
        (Part(path, start, end), (size if end is None else end) - start)
        for start, end in zip(places, ends)
    ]


def cut_after(
    encodings: Sequence[Encoding], file: BinaryIO, start: int, names: Set[str]
) -> int | None:
    """Return the offset in bytes of a cut point of all encodings soon after ``start``, or None."""
    for window in _WINDOWS:
        file.seek(start)
        data = file.read(window)
        # A character begins at the first byte that does not continue one, whether or not the bytes
        # before it are UTF-8.
        skipped = next((index for index, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
        try:
            text = Utf8Decoder("strict").feed(data[skipped:])
        except UnicodeDecodeError:
            return None
        cut = _common_cut_point(encodings, text, names)
        if cut:
            return start + skipped + len(text[:cut].encode())
    return None


def _common_cut_point(encodings: Sequence[Encoding], text: str, names: Set[str]) -> int | None:
    """Return the first cut point that all encodings have; a fine one if there is no other."""
    first, *others = (encoding.core.next_cut_point for encoding in encodings)
    for fine in (False, True):
        cut = first(text, names=names, fine=fine)
        while cut is not None:
            # The two characters beside a position alone decide if it is a cut point.
            beside = text[cut - 1 : cut + 1]
            if all(other(beside, names=names, fine=True) for other in others):
                return cut
            cut = first(text, cut, names=names, fine=fine)
    return None


def most_workers(size: int, jobs: int | None) -> int:
    """Return the largest number of workers; 0 if they are not worth it or cannot be started.

    Args:
        size: the size of all files in bytes.
        jobs: the largest number of processes; None for as many as can run at the same time.
    """
    if jobs == 1 or size < WORTH_WORKERS:
        return 0
    from ..parallel.processes import may_start, processors  # small inputs do not need it

    most = jobs or processors()
    return most if most > 1 and may_start() else 0


def count_files(
    counter: FileCounter,
    files: Sequence[Found],
    jobs: int | None,
    progress: FileProgress,
    announce: Callable[[str], None] = announce_wait,
    cache: CountCache | None = None,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each file, in their order; large inputs are counted by workers.

    Args:
        counter: the counter of files.
        files: the files.
        jobs: the largest number of processes; None for as many as can run at the same time.
        progress: the progress bar.
        announce: called with each path that may make a read wait, before it is opened.
        cache: knows counts, and takes new ones.
    """
    size = _bytes_of(files)
    # Without workers, a large file is one part.
    is_cut = most_workers(size, jobs) > 0

    def parts_to_count(file: Found) -> list[tuple[Part, int]]:
        if is_cut:
            return parts_of(counter, file.path, file.size or 0)
        return [(Part(file.path), file.size or 0)]

    parts = [parts_to_count(file) if file.is_regular else [] for file in files]
    known: list[list[Outcome | None]] = [[None] * len(some) for some in parts]
    yield from _Outcomes(counter, files, parts, known, progress, announce, cache).outcomes(jobs)


def _bytes_of(files: Iterable[Found]) -> int:
    return sum(file.size or 0 for file in files if file.is_regular)


class _Outcomes(NamedTuple):
    """The outcomes of some files, which come from a cache, from workers, or from this process."""

    counter: FileCounter
    files: Sequence[Found]
    parts: Sequence[Sequence[tuple[Part, int]]]
    #: The outcome of each part of each file, once it is known.
    known: Sequence[list[Outcome | None]]
    progress: FileProgress
    announce: Callable[[str], None]
    cache: CountCache | None

    def outcomes(self, jobs: int | None) -> Iterator[Outcome]:
        """Yield the outcome of each file, in their order."""
        number = 0
        if self.cache is not None and not self.cache.is_empty:
            for _ in self._find(self.cache):
                while number < len(self.files) and self._is_known(number):
                    yield self._taken(number)
                    number += 1
        left = [
            (owner, slot)
            for owner in range(number, len(self.files))
            for slot, outcome in enumerate(self.known[owner])
            if outcome is None
        ]
        tasks = [self.parts[owner][slot] for owner, slot in left]
        most = most_workers(sum(size for _, size in tasks), jobs) if len(tasks) > 1 else 0
        if not most:
            for owner in range(number, len(self.files)):
                yield self._taken(owner)
            return
        from ..parallel.pool import Pool

        shares = _shares(tasks, most)
        with Pool(_FileWorker, (self.counter,), min(most, len(shares)), forks=True) as pool:
            arriving = _outcomes(pool, shares, self.progress.advance)
            for owner in range(number, len(self.files)):
                while None in self.known[owner]:
                    arrived = next(arriving, None)
                    if arrived is None:  # the worker that had it was killed
                        break
                    self._add(*left[arrived[0]], arrived[1])
                yield self._taken(owner)

    def _find(self, cache: CountCache) -> Iterator[None]:
        """Look for parts in the cache; yield each time some have been looked for.

        If most are missing, as in a new tree, the rest is left to the workers.
        """
        hashed = missing = pending = 0
        batch: list[tuple[int, int, bytes, int]] = []
        for owner, some in enumerate(self.parts):
            for slot, (part, size) in enumerate(some):
                digest = self.counter.digest(part)
                if digest:
                    batch.append((owner, slot, digest, size))
                    pending += size
                elif self.counter.takes_parts(part.path):  # no text: it is quick to say so
                    self._add(owner, slot, self.counter.count(part, self.progress.advance))
            is_last = owner + 1 == len(self.parts)
            if not is_last and len(batch) < _LOOKED_UP and pending < _TRIED:
                continue
            found = cache.find([digest for _, _, digest, _ in batch])
            for at, slot, digest, size in batch:
                rows = found.get(digest)
                if rows is None:
                    missing += size
                    continue
                tokens = tuple(row[0] for row in rows)
                self._add(at, slot, Outcome(Counts(tokens, *rows[0][1:])))
                self.progress.advance(size)
            hashed, pending = hashed + pending, 0
            batch.clear()
            yield
            if missing > max(_TRIED, hashed // 2):
                return

    def _is_known(self, number: int) -> bool:
        return bool(self.parts[number]) and None not in self.known[number]

    def _add(self, number: int, slot: int, outcome: Outcome) -> None:
        """Note the outcome of a part, and keep it in the cache."""
        outcomes = self.known[number]
        outcomes[slot] = outcome
        if None not in outcomes:
            self.progress.file_done()
        if self.cache is not None and outcome.counts is not None and outcome.digest:
            tokens, *sizes = outcome.counts
            self.cache.keep(outcome.digest, [(one, *sizes) for one in tokens])

    def _taken(self, number: int) -> Outcome:
        """Return the outcome of a file, which is counted here as far as it is not known."""
        file, outcomes = self.files[number], self.known[number]
        if file.problem or not file.is_regular:
            outcome = Outcome(None, file.problem, was_read=False)
            if not file.problem:
                self.progress.clear()
                self.announce(file.path)
                outcome = self.counter.count(Part(file.path), self.progress.advance)
            self.progress.file_done()
            return outcome
        for slot, (part, _) in enumerate(self.parts[number]):
            if outcomes[slot] is None:
                self._add(number, slot, self.counter.count(part, self.progress.advance))
        outcome = _joined([one for one in outcomes if one is not None])
        outcomes.clear()
        return outcome


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a file from those of its parts, in their order."""
    for outcome in outcomes:
        if outcome.counts is None:  # reading the file from its start would fail here first
            return outcome
    counts = [outcome.counts for outcome in outcomes if outcome.counts is not None]
    return outcomes[0]._replace(counts=Counts.total(counts, len(counts[0].tokens)))


def _outcomes(
    pool: Pool, shares: Sequence[Share], advance: Advance
) -> Iterator[tuple[int, Outcome]]:
    """Yield the index of each part and its outcome, as they come.

    A part is missing if the worker that had it was killed.

    Args:
        pool: the workers.
        shares: the shares for the workers.
        advance: called with the number of bytes each time some are counted.
    """
    from ..parallel.pool import WorkerKilled

    try:
        for size, outcomes in pool.run(shares):
            advance(size)
            yield from outcomes
    except WorkerKilled:
        return


def _shares(parts: Sequence[tuple[Part, int]], workers: int) -> list[Share]:
    """Return shares of the parts, in order, the first ones larger than the last.

    A share has half of what each worker would get of the rest, within ``_SHARE`` and
    ``_LARGEST_SHARE``.
    """
    shares: list[Share] = []
    share: list[tuple[int, Part]] = []
    total = 0
    left = sum(size for _, size in parts)
    for index, (part, size) in enumerate(parts):
        share.append((index, part))
        total += size
        if total >= max(_SHARE, min(_LARGEST_SHARE, left // (2 * workers))):
            shares.append(share)
            left -= total
            share, total = [], 0
    if share:
        shares.append(share)
    return shares


class _FileWorker:
    """A worker that counts files and parts of files."""

    def __init__(self, counter: FileCounter) -> None:
        self._counter = counter

    def do(self, task: Share, tell: Tell) -> None:
        """Tell how many bytes are counted, and with them the outcomes of parts, by index."""
        untold = 0
        outcomes: list[tuple[int, Outcome]] = []

        def advance(size: int) -> None:
            nonlocal untold
            untold += size
            if untold >= _TOLD:
                tell_all()

        def tell_all() -> None:
            nonlocal untold
            tell((untold, outcomes))
            outcomes.clear()
            untold = 0

        for index, part in task:
            outcomes.append((index, self._counter.count(part, advance)))
        tell_all()

    def finish(self, tell: Tell) -> None:
        pass
