"""Loading an encoding from JSON with tokens, their ranks and a pattern."""

from __future__ import annotations

from .encoding import Encoding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..formats.checked_json import Json
    from ..formats.json_ranks import Ranked


def load_ranked(file: Json, name: str) -> Encoding | None:
    """Return the encoding of a file of such a format; None if it is of another.

    Raises:
        ValueError: the file is damaged.
    """
    content = _parsed(file)
    if content is None:
        return None
    from ..pattern.ast import PatternError

    try:
        return Encoding(
            name,
            pat_str=content.pattern.text(),
            mergeable_ranks=content.ranks,
            special_tokens=content.special_tokens,
        )
    except PatternError as error:
        return content.pattern.fail(str(error))


def _parsed(file: Json) -> Ranked | None:
    # A reader is imported once a file is of its format.
    members = file.mapping()
    if "config" in members and isinstance(members.get("vocab"), list):
        from ..formats.json_ranks import parse_tekken

        return parse_tekken(file)
    if "regular_tokens" in members:
        from ..formats.json_ranks import parse_grok

        return parse_grok(file)
    if "bpe_ranks" in members:
        from ..formats.json_ranks import parse_js_tiktoken

        return parse_js_tiktoken(file)
    return None
