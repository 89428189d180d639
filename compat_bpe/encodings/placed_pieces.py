"""The pieces of SentencePiece with their places in a text."""

from __future__ import annotations

from collections.abc import Set

from ..pipeline.added_tokens import AddedTokens
from ..pipeline.models.sentencepiece.base import PlacedPiece, SentencePieceBase


def placed_pieces(
    added: AddedTokens, model: SentencePieceBase, text: str, allowed: Set[str]
) -> list[PlacedPiece]:
    """Return the pieces of a text with their places; see ``encode_as_placed_pieces``.

    Args:
        added: finds added tokens, and normalizes what is between them.
        model: cuts that into pieces.
        text: without surrogates.
        allowed: the names of special tokens that are tokens.
    """
    pieces = model.pieces
    placed: list[PlacedPiece] = []
    for aligned, token in added.align(text, allowed):
        if token is not None:
            begin, end = aligned.places[0][0], aligned.places[-1][1]
            name = pieces.texts[token]
            placed.append(PlacedPiece(token, name, text[begin:end], begin, end))
            continue
        at, first = 0, len(placed)
        for piece, number in model.quick_split(aligned.text):
            begin = aligned.places[at][0]
            at += len(piece)
            end = aligned.places[at - 1][1]
            if number != pieces.unk_id:
                placed.append(PlacedPiece(number, piece, text[begin:end], begin, end))
            elif pieces.byte_fallback:
                numbers = [pieces.byte_ids[byte] for byte in piece.encode()]
                placed += [PlacedPiece(one, pieces.texts[one], "", begin, begin) for one in numbers]
                placed[-1] = placed[-1]._replace(surface=text[begin:end], end=end)
            elif len(placed) > first and placed[-1].id == number:
                last = placed[-1]
                surface = last.surface + text[begin:end]
                placed[-1] = PlacedPiece(number, last.piece + piece, surface, last.begin, end)
            else:
                placed.append(PlacedPiece(number, piece, text[begin:end], begin, end))
    return placed
