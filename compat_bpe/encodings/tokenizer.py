"""``Tokenizer``: an encoding of several steps, as a ``tokenizer.json`` describes it.

``Rwkv`` is an encoding by an RWKV list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Union

from ..caches import cached_property
from ..pipeline.added_tokens import AddedToken
from ..pipeline.processors import keeps_text, process, process_ids
from ..pipeline.special_tokens import NOTHING, AllowedSpecial, DisallowedSpecial, allowed_names
from ..pipeline.tokenized import Tokenized
from .core import EncodingCore
from .encoding import Encoding
from .published import find

if TYPE_CHECKING:
    from ..formats.rwkv import RwkvVocabulary
    from ..formats.tokenizer_json import TokenizerDefinition
    from ..pipeline.tokenized import Padding, Truncation


#: A text, or its words if it is already split into words.
Text = Union[str, list[str], tuple[str, ...]]


class Tokenizer(Encoding):
    """An encoding with exactly the ids of Hugging Face ``tokenizers``.

    Use it like any ``Encoding``. *Special* added tokens are treated as in tiktoken: they are tokens
    only if ``allowed_special`` allows them, and otherwise plain text. Other added tokens are
    always tokens, also in ``count`` and ``encode_ordinary``. So
    ``encode(text, allowed_special="all")`` gives the ids of ``tokenizers``'
    ``encode(text, add_special_tokens=False)``. Only ``encode`` and ``encode_with_offsets`` use the
    post-processor, which may omit or repeat a text. ``count``, ``encode_ordinary`` and the methods
    that cut text do not use it.

    Args:
        name: the name that ``repr`` shows.
        definition: the content of the ``tokenizer.json``.

    Raises:
        ValueError: a part of the definition is not supported, or is wrong.

    >>> from compat_bpe import get_encoding
    >>> enc = get_encoding("deepseek_v3")
    >>> enc.encode("<｜User｜>hello")
    [128803, 33310]
    """

    reference = "tokenizers"

    def __init__(self, name: str, definition: TokenizerDefinition) -> None:
        parts = definition.assemble()
        core = EncodingCore(parts)
        self.name = name
        self.definition = definition
        self.max_token_value = parts.highest
        special = [token for token in definition.added_tokens if token.special]
        self._special_tokens = {token.content: token.id for token in special}
        self._special_token_values = {token.id for token in special}
        self._special_names = frozenset(self._special_tokens)
        self.core = core
        #: The tokenizers that ``with_special`` has made, by the added names.
        self._variants: dict[frozenset[str], Tokenizer] = {}

    @classmethod
    def shipped(cls, name: str) -> Tokenizer:
        from . import deepseek

        tokenizer = cls(name, deepseek.definition(name))
        tokenizer._ships = True
        return tokenizer

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens, special or not."""
        return self.definition.added_tokens

    @property
    def truncation(self) -> Truncation | None:
        """The file's truncation; pass it to ``encode_with_offsets`` to use it."""
        return self.definition.truncation

    @property
    def padding(self) -> Padding | None:
        """The file's padding; pass it to ``encode_with_offsets`` to use it."""
        return self.definition.padding

    # Text to ids

    def encode(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
        add_special_tokens: bool = False,
        is_pretokenized: bool = False,
    ) -> list[int]:
        """Return the ids of a text or a pair of texts, which may contain names of special tokens.

        Args:
            text, allowed_special, disallowed_special: as in ``Encoding.encode``.
            pair: the second text of a pair.
            add_special_tokens: add the tokenizer's own ids for the beginning and the end of a text,
                if it has any.
            is_pretokenized: True if each text is a list or a tuple of words. Each word is encoded
                as a text of its own. ``add_special_tokens`` treats all words as one text.

        Raises:
            ValueError, TypeError: as in ``Encoding.encode``.
            ValueError: the tokenizer's post-processor does not accept a text, or a pair.

        >>> from compat_bpe import get_encoding
        >>> enc = get_encoding("deepseek_v3")
        >>> enc.encode("<｜begin▁of▁sentence｜>hello", allowed_special="all")
        [0, 33310]
        """
        if pair is None and not is_pretokenized and isinstance(text, str):
            parts = [
                super().encode(
                    text, allowed_special=allowed_special, disallowed_special=disallowed_special
                )
            ]
        else:
            encode = partial(
                super().encode,
                allowed_special=allowed_special,
                disallowed_special=disallowed_special,
            )
            parts = [
                list(chain.from_iterable(map(encode, words_of(one, is_pretokenized))))
                for one in ((text,) if pair is None else (text, pair))
            ]
        processor = self.core.definition.processor
        if processor is None and pair is None:
            return parts[0]
        return process_ids(processor, parts, add_special_tokens)

    def encode_batch(
        self,
        text: Sequence[Text | Sequence[Text]],
        *,
        num_threads: int = 8,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
        add_special_tokens: bool = False,
        is_pretokenized: bool = False,
    ) -> list[list[int]]:
        """Return the ids of each text, as ``encode`` does; see ``Encoding.encode_batch``.

        Args:
            text: the texts. A tuple or list of two texts is a pair. With ``is_pretokenized``, a
                tuple or list of words is one text.
            num_threads: as in ``Encoding.encode_batch``. Words are encoded by this process alone.
            allowed_special, disallowed_special, add_special_tokens, is_pretokenized: as in
                ``encode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("deepseek_v3").encode_batch(["hello", "world"])
        [[33310], [29616]]
        """
        processor = self.core.definition.processor
        if not add_special_tokens:
            processor = None  # ``encode`` applies it
        texts = list(text)
        plain = [one for one in texts if isinstance(one, str)]
        is_other = is_pretokenized or len(plain) < len(texts)
        if is_other or (processor is not None and not keeps_text(processor)):
            from .batch import map_in_order

            # Words, pairs, or a post-processor that omits or repeats a text.
            encode = partial(
                self.encode,
                allowed_special=allowed_special,
                disallowed_special=disallowed_special,
                add_special_tokens=add_special_tokens,
                is_pretokenized=is_pretokenized,
            )
            return map_in_order(
                lambda one: encode(*_texts(one, is_pretokenized)), texts, num_threads
            )
        encoded = super().encode_batch(
            plain,
            num_threads=num_threads,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
        )
        if processor is None:
            return encoded
        return [process_ids(processor, [ids], True) for ids in encoded]

    def encode_with_offsets(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
        add_special_tokens: bool = False,
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        is_pretokenized: bool = False,
    ) -> Tokenized:
        """Return the tokens of a text or a pair of texts, with their places in the text.

        With ``allowed_special="all"``, the fields equal those of the result of ``encode`` in
        ``tokenizers``.

        Args:
            text, pair, allowed_special, disallowed_special, add_special_tokens: as in ``encode``.
            truncation: cut the text to a number of tokens; ``self.truncation`` has the file's
                settings.
            padding: pad the tokens; ``self.padding`` has the file's settings.
            is_pretokenized: as in ``encode``.

        Returns:
            The ids, tokens, offsets and so on. Offsets are in characters of the original text, even
            if surrogates in it are repaired. With ``is_pretokenized``, ``word_ids`` has the number
            of each token's word, and offsets are in characters of that word.

        Raises:
            ValueError, TypeError: as in ``encode``, and as in ``Truncation.applied``.

        >>> from compat_bpe import get_encoding
        >>> found = get_encoding("deepseek_v3").encode_with_offsets("hello world")
        >>> found.ids, found.tokens, found.offsets
        ([33310, 2058], ['hello', 'Ġworld'], [(0, 5), (5, 11)])
        """
        from ..pipeline.offsets import locate

        definition = self.core.definition
        parts = []
        for one in (text,) if pair is None else (text, pair):
            tokens = []
            for number, word in enumerate(words_of(one, is_pretokenized)):
                allowed = allowed_names(
                    word, self._special_names, allowed_special, disallowed_special
                )
                located = locate(definition, word, allowed)
                if is_pretokenized:
                    located = [token._replace(word=number) for token in located]
                tokens += located
            parts.append(
                Tokenized(
                    [token.id for token in tokens],
                    [token.text for token in tokens],
                    [(token.start, token.end) for token in tokens],
                    [token.word for token in tokens],
                )
            )
        first, second = parts[0], None if pair is None else parts[1]
        processor = definition.processor
        if truncation is not None:
            added = 0
            if add_special_tokens and processor is not None:
                added = processor.added(pair is not None)
            first, second = truncation.applied(first, second, added)
        whole = process(processor, first, second, add_special_tokens=add_special_tokens)
        return whole if padding is None else padding.applied([whole])[0]

    # Ids to text

    def decode(
        self, tokens: Sequence[int], errors: str = "replace", *, skip_special_tokens: bool = False
    ) -> str:
        """Return the text of some ids, as the tokenizer's decoder makes it.

        Args:
            tokens, errors: as in ``Encoding.decode``.
            skip_special_tokens: leave out the special tokens. As in ``tokenizers``, a special token
                stays if it is searched in normalized text and its name changes when normalized.

        Raises:
            KeyError, OverflowError, UnicodeDecodeError: as in ``Encoding.decode``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("deepseek_v3").decode([0, 33310, 1], skip_special_tokens=True)
        'hello'
        """
        if skip_special_tokens:
            skipped = self._skipped
            tokens = [token for token in tokens if token not in skipped]
        return super().decode(tokens, errors)

    def decode_batch(
        self,
        batch: Sequence[Sequence[int]],
        *,
        errors: str = "replace",
        num_threads: int = 8,
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Return the text of each list of ids, as ``decode`` does."""
        from .batch import map_in_order

        def decode(tokens: Sequence[int]) -> str:
            return self.decode(tokens, errors, skip_special_tokens=skip_special_tokens)

        return map_in_order(decode, batch, num_threads)

    # The vocabulary

    def id_to_token(self, token: int) -> str | None:
        """Return the token of an id, written as in the vocabulary; None if there is none.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("deepseek_v3").id_to_token(2058)
        'Ġworld'
        """
        return self._pieces.get(token)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, written as in the vocabulary; None if there is none.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("deepseek_v3").token_to_id("Ġworld")
        2058
        """
        return self._ids.get(token)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the tokens, written as in the vocabulary, and their ids; a copy.

        Args:
            with_added_tokens: False to leave out the added tokens that the model does not have.

        >>> from compat_bpe import get_encoding
        >>> vocab = get_encoding("deepseek_v3").get_vocab()
        >>> len(vocab), vocab["Ġworld"]
        (128815, 2058)
        """
        return dict(self._ids if with_added_tokens else self.definition.vocabulary)

    def add_tokens(self, tokens: Sequence[str | AddedToken]) -> int:
        """Add tokens to this tokenizer; return how many are new or have new flags.

        As in ``tokenizers``, a token that the vocabulary has keeps its id, and other tokens get the
        next ids. A token that was added before gets the new flags, but a special token stays
        special. Caches are cleared. Objects made from the tokenizer before, such as a ``Document``
        or a stream, must be made again.

        Args:
            tokens: the tokens. A ``str`` is an ``AddedToken`` with ``normalized=True``.

        Raises:
            ValueError: the tokenizer ships, so all callers share it; it cannot have more tokens; or
                a token is empty after normalization.

        >>> from compat_bpe import get_encoding
        >>> shared = get_encoding("deepseek_v3")
        >>> own = Tokenizer("own", shared.definition)
        >>> own.add_tokens(["<tool>", AddedToken("<end>", special=True), "hello"])
        3
        >>> own.encode("hello<tool>"), shared.token_to_id("<tool>")
        ([33310, 128815], None)
        """
        from ..formats.tokenizer_json import TokenizerDefinition

        definition = self.definition
        if not isinstance(definition, TokenizerDefinition):
            raise ValueError(
                f"tokens cannot be added to {self!r}: only a tokenizer.json, or a file read as "
                "one, has added tokens"
            )
        if self._ships:
            raise ValueError(
                f"{self!r} is shared by all callers, so it cannot be changed: add the tokens to a "
                "copy, Tokenizer(name, encoding.definition)"
            )
        if isinstance(tokens, str):
            raise TypeError("tokens must be a list of tokens, not a str")
        added, count = definition.with_tokens(
            [AddedToken(one, normalized=True) if isinstance(one, str) else one for one in tokens]
        )
        if count:
            new = Tokenizer(self.name, added)
            new.cache_limit = self.cache_limit
            # In one step, for other threads. The caches of the old definition go with it.
            self.__dict__ = new.__dict__
        return count

    def add_special_tokens(self, tokens: Sequence[str | AddedToken]) -> int:
        """Add special tokens as ``add_tokens`` does; a ``str`` is found before normalization."""
        if isinstance(tokens, str):
            raise TypeError("tokens must be a list of tokens, not a str")
        return self.add_tokens(
            [
                (AddedToken(one) if isinstance(one, str) else one)._replace(special=True)
                for one in tokens
            ]
        )

    @cached_property
    def _pieces(self) -> Mapping[int, str]:
        pieces = self.core.definition.pieces
        assert pieces is not None, "a tokenizer's tokens have names"
        return pieces()

    @cached_property
    def _ids(self) -> dict[str, int]:
        added = {token.content: token.id for token in self.added_tokens}
        return {**self.definition.vocabulary, **added}

    @cached_property
    def _skipped(self) -> frozenset[int]:
        """The ids that decoding skips with ``skip_special_tokens``; their names decide."""
        names = self._special_names
        return frozenset(id_ for id_, name in self._pieces.items() if name in names)

    def ordinary_tokens(self) -> dict[bytes, int]:
        added = {token.id for token in self.added_tokens}
        return {token: id_ for token, id_ in self.core.encoder.items() if id_ not in added}

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> Tokenizer:
        return Tokenizer(name, self.definition.extended(name, tokens, merges))

    def with_special(self, names: Set[str]) -> Tokenizer:
        """Return a tokenizer in which the added tokens of these names are special, too.

        It is the same object for the same names, so its cache is used again.

        >>> from compat_bpe import get_encoding
        >>> enc = get_encoding("deepseek_v3")
        >>> name = "<｜User｜>"
        >>> enc.count(name), enc.with_special({name}).count(name)
        (1, 5)
        """
        added = frozenset(names) - self._special_names
        if not added:
            return self
        if added not in self._variants:
            self._variants[added] = Tokenizer(self.name, self.definition.with_special(added))
        return self._variants[added]

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        raise AttributeError(
            f"{self!r} has no ranks: it has a list of merges, and splits text in several steps; "
            "save_tiktoken writes ranks if merging by rank gives the same ids"
        )

    @property
    def _pat_str(self) -> str:  # type: ignore[override]
        raise AttributeError(f"{self!r} has no single pattern: it splits text in several steps")

    def _by_value(self) -> dict[str, Any]:
        return {"name": self.name, "definition": self.definition}

    def recipe(self) -> tuple[Callable[..., Encoding], dict[str, Any]]:
        return Tokenizer, self._by_value()

    def __setstate__(self, value: object) -> None:
        if isinstance(value, str):
            self.__dict__ = find(value, type(self).shipped).__dict__
        elif isinstance(value, dict):
            Tokenizer.__init__(self, **value)
        else:
            raise ValueError(f"the state of a pickled Tokenizer is a {type(value).__name__}")


def words_of(text: Text, is_pretokenized: bool) -> Sequence[str]:
    """Return the words of a text; the text itself if it is not split into words.

    Raises:
        TypeError: the text is not words with ``is_pretokenized``, or not a ``str`` without it.
    """
    if is_pretokenized and isinstance(text, (list, tuple)):
        return text
    if not is_pretokenized and isinstance(text, str):
        return (text,)
    kind = type(text).__name__
    if is_pretokenized:
        raise TypeError(f"with is_pretokenized, text must be a list or tuple of words, not {kind}")
    raise TypeError(
        f"text must be a str, not {kind}; words need is_pretokenized=True"
        if isinstance(text, (list, tuple))
        else f"text must be a str, not {kind}"
    )


def _texts(item: Any, is_pretokenized: bool) -> Sequence[Text]:
    """Return the one text of an item of a batch, or the two texts of a pair."""
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        return (item,)
    kinds = (list, tuple) if is_pretokenized else str
    return item if all(isinstance(one, kinds) for one in item) else (item,)


class Rwkv(Tokenizer):
    """An encoding with exactly the ids of the package ``rwkv`` 0.8.32.

    Use it like any ``Encoding``. The id 0 means the end of a text, and no text encodes to it. Here,
    it is the special token ``<|endoftext|>``.

    Args:
        name: the name that ``repr`` shows.
        definition: the content of the list.
    """

    reference = "rwkv"
    definition: RwkvVocabulary  # type: ignore[assignment]

    def __init__(self, name: str, definition: RwkvVocabulary) -> None:
        super().__init__(name, definition)  # type: ignore[arg-type]

    def recipe(self) -> tuple[Callable[..., Encoding], dict[str, Any]]:
        return Rwkv, self._by_value()
