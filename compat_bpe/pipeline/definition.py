"""What a tokenizer is: the parts of the pipeline, each ready to work."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Union

    from ..pattern.splitter import Splitter
    from .added_tokens import AddedTokens
    from .models.base import Model
    from .pre_tokenizers import StepSplitter
    from .special import SpecialTokens

    #: Finds the added tokens in a text, and gives the spans between them.
    Added = Union[SpecialTokens, AddedTokens]


class Definition:
    """The parts of a tokenizer.

    Args:
        added: finds added tokens; what lies between two of them is a span.
        splitter: cuts a span into chunks.
        model: turns a chunk into ids.
        tokens: each token's bytes and its id.
        other_tokens: gives, when something is first decoded, the bytes of ids that are not in
            ``tokens``, or are decoded otherwise.
        others_count: True if ``other_tokens`` has the last word on an id that is in both.
        template: the ids before and after a text, for who asks for them.
        undecodable: the reason why ids cannot be decoded, if they cannot.
    """

    __slots__ = (
        *("added", "model", "other_tokens", "others_count", "splitter", "template", "tokens"),
        "undecodable",
    )

    def __init__(
        self,
        *,
        added: Added,
        splitter: Splitter | StepSplitter,
        model: Model,
        tokens: dict[bytes, int],
        other_tokens: Callable[[], Mapping[int, bytes]],
        others_count: bool = False,
        template: tuple[Sequence[int], Sequence[int]] = ((), ()),
        undecodable: str | None = None,
    ) -> None:
        self.added = added
        self.splitter = splitter
        self.model = model
        self.tokens = tokens
        self.other_tokens = other_tokens
        self.others_count = others_count
        self.template = template
        self.undecodable = undecodable
