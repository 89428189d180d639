// Tokens as a text in which each can be seen: spaces and ends of lines have signs.

/** The text of a token from `start` to `end` of the view, with its number in the document. */
export interface Piece {
  id: number;
  bytes: string;
  start: number;
  end: number;
}

export interface Given {
  id: number;
  text: string;
  /** Offsets in the source. */
  start: number;
  end: number;
}

/** Return the text of a view, and where each token is in it. */
export function viewOf(source: string, tokens: readonly Given[]): { text: string; pieces: Piece[] } {
  const parts: string[] = [];
  const pieces: Piece[] = [];
  let length = 0;
  let covered = 0;
  for (const token of tokens) {
    const own = source.slice(Math.max(token.start, covered), token.end);
    covered = Math.max(covered, token.end);
    // A character of several tokens is in the first one; the others have a sign.
    const shown = own === '' ? '�' : visible(own);
    parts.push(shown);
    pieces.push({ id: token.id, bytes: token.text, start: length, end: length + shown.length });
    length += shown.length;
  }
  return { text: parts.join(''), pieces };
}

function visible(text: string): string {
  return text
    .replace(/ /g, '·')
    .replace(/\t/g, '→')
    .replace(/\r\n|\r|\n/g, (end) => `${end === '\n' ? '⏎' : end === '\r' ? '␍' : '␍⏎'}\n`);
}
