"""The definition of a tokenizer: the parts of the pipeline, each ready to work."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Union

    from ..pattern.splitter import Splitter
    from .added_tokens import AddedTokens
    from .decoders.base import IdDecoder
    from .models.base import Model
    from .models.splitters import WholeSplitter
    from .pre_tokenizers.base import PreTokenizerStep
    from .pre_tokenizers.splitter import StepSplitter
    from .processors import Processor
    from .special_tokens import SpecialTokens

    #: A finder of the added tokens in a text, and of the spans between them.
    Added = Union[SpecialTokens, AddedTokens]


class Definition:
    """The parts of a tokenizer.

    Args:
        added: finds added tokens; the text between two of them is a span.
        splitter: cuts a span into chunks.
        model: turns a chunk into ids.
        tokens: returns each token's bytes and its id. Called lazily: a model over characters never
            needs it to encode.
        highest: the greatest id; -1 if there is none.
        other_tokens: returns the bytes of ids that are not in ``tokens``, or are decoded otherwise.
            It is called when something is first decoded.
        others_win: if both map an id, ``other_tokens`` wins.
        make_decoder: returns the decoder; None for the one that joins the tokens' bytes.
        processor: puts special tokens around a text, for callers that ask for them; or None.
        pieces: returns each id's token, written as in the vocabulary; None if the tokens are bytes.
        cuts_at_joints: True if a span may be cut at each exact joint of the model, too; False if
            only the splitter says where.
        words: cuts a span into the chunks of the pre-tokenizer, if ``splitter`` cuts these further.
        steps: the steps that ``splitter`` is made of; none if it leaves a span whole, or cuts it
            only where the model has joints. None if it is no splitter by steps.
    """

    def __init__(
        self,
        *,
        added: Added,
        splitter: Splitter | StepSplitter | WholeSplitter,
        model: Model,
        tokens: Callable[[], dict[bytes, int]],
        other_tokens: Callable[[], Mapping[int, bytes]],
        others_win: bool = False,
        make_decoder: Callable[[], IdDecoder] | None = None,
        processor: Processor | None = None,
        pieces: Callable[[], Mapping[int, str]] | None = None,
        cuts_at_joints: bool = False,
        words: StepSplitter | None = None,
        steps: Sequence[PreTokenizerStep] | None = None,
        highest: int = -1,
    ) -> None:
        self.added = added
        self.splitter = splitter
        self.model = model
        self.tokens = tokens
        self.other_tokens = other_tokens
        self.others_win = others_win
        self.make_decoder = make_decoder
        self.processor = processor
        self.pieces = pieces
        self.cuts_at_joints = cuts_at_joints
        self.words = words
        self.steps = steps
        self.highest = highest
