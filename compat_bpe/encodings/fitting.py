"""Text that is to fit: the methods of ``Encoding`` that ``compat_bpe.fit`` carries out."""

from __future__ import annotations

from ..parallel.lazy import changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from ..fit.boundary import Boundary, TextEncoder
    from ..fit.truncate import Keep, Truncated
    from .core import EncodingCore


class Fitting:
    """Fits text to a limit; the base of ``Encoding`` that does."""

    core: EncodingCore

    @property
    def continued(self) -> Self:
        """The encoding of a text that goes on after a cut point (see ``Core.next_cut_point``).

        It puts nothing before a text, such as the ``▁`` of Llama. It is for the methods that encode
        and count. An encoding that never puts anything before a text is returned itself.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").continued
        <Encoding 'gpt2'>
        """
        core = self.core.continued
        if core is self.core:
            return self
        return changed(self, core=core)

    def fits(self: TextEncoder, text: str, limit: int) -> bool:
        """Return True if ``count(text)`` is at most ``limit``, without counting all of a long text.

        Raises:
            ValueError: the limit is negative.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").fits("hello world", 2)
        True
        """
        from ..fit.longest_part import fits

        return fits(self, text, limit)

    def truncate(
        self: TextEncoder,
        text: str,
        limit: int,
        *,
        keep: Keep = "head",
        boundary: Boundary = "char",
        marker: str | None = None,
    ) -> Truncated:
        """Return the most of a text that fits in ``limit`` tokens.

        The result has at most ``limit`` tokens when it is counted itself, and no character is cut
        in two. With the head or the tail kept it is the longest that fits and may be cut there;
        with both ends, the head has half of the room and the tail the rest. Where the boundary
        allows no cut that leaves some text, the next finer one is used. The time taken grows with
        what is kept, not with the text.

        Args:
            text: any string; names of special tokens are plain text, as in ``count``.
            limit: a number of tokens.
            keep: ``"head"``, ``"tail"`` or ``"ends"``.
            boundary: the places for cuts: ``"char"``, between any two characters;
                ``"word"``, not between two letters, marks, digits or underscores; ``"line"``, only
                after the end of a line. A line that does not fit is cut as with ``"word"``, and a
                word that does not fit as with ``"char"``; each end for itself.
            marker: put where something was cut, exactly as it is; it counts, too, and is left out
                if it alone does not fit. The default is ``"…"`` between two ends, a line of its
                own (``"…\\n"``) with the boundary ``"line"`` and whole lines after it; else
                nothing.

        Returns:
            The ``text``, its ``count``, the offsets ``kept``, and whether it ``was_cut``.

        Raises:
            ValueError: the limit is negative, or there is no such ``keep`` or ``boundary``.

        >>> from compat_bpe import get_encoding
        >>> get_encoding("gpt2").truncate("hello world, how are you", 3)
        Truncated(text='hello world,', count=3, kept=((0, 12),), was_cut=True)
        """
        from ..fit.truncate import truncate

        return truncate(self, text, limit, keep=keep, boundary=boundary, marker=marker)
