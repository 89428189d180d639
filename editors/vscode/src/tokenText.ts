// Tokens as a text in which each can be seen: what is drawn as nothing has a sign.

export interface Given {
  id: number;
  text: string;
  /** Offsets in the source. */
  start: number;
  end: number;
}

/** A part of the view, and its tokens: several if they share what is drawn as one character. */
export interface Piece {
  /** The number of tokens before. */
  first: number;
  tokens: Given[];
  /** Offsets in the view. */
  start: number;
  end: number;
}

/** Return the text of a view, and where the tokens are in it. */
export function viewOf(source: string, tokens: readonly Given[]): { text: string; pieces: Piece[] } {
  const inside = placesInside(source.slice(0, tokens.at(-1)?.end ?? 0));
  /** Pieces with offsets in the source. */
  const found: Piece[] = [];
  tokens.forEach((token, first) => {
    const { start, end } = token;
    const last = found.at(-1);
    if (last !== undefined && (start < last.end || start === end || inside.has(start))) {
      last.tokens.push(token);
      last.end = Math.max(last.end, end);
    } else {
      found.push({ first, tokens: [token], start, end });
    }
  });
  let text = '';
  let drawn = 0;
  const pieces = found.map((piece) => {
    text += visible(source.slice(drawn, piece.start)); // what no token stands for
    drawn = piece.end;
    const start = text.length;
    text += visible(source.slice(piece.start, piece.end));
    return { ...piece, start, end: text.length };
  });
  return { text, pieces };
}

/** Return the offsets within what is drawn as one character, such as an emoji of several. */
function placesInside(text: string): Set<number> {
  const inside = new Set<number>();
  for (const { index, segment } of new Intl.Segmenter().segment(text)) {
    for (let at = index + 1; at < index + segment.length; at++) {
      inside.add(at);
    }
  }
  return inside;
}

/** What is drawn as nothing, or changes how other text is drawn. The page has the same (web/site/js/block-view.js). */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u2000-\u200a\u202f\u205f\u3000\u3164]/u;
/** What joins and styles the characters of emoji and of some scripts is drawn as part of them. */
const JOINERS = /[\u200c\u200d\u{e0020}-\u{e007f}]/u;

/** Return a token with signs for what cannot be seen in it; spaces beside other characters can be. */
function visible(text: string): string {
  const isBlank = !/\S/.test(text);
  const joins = /[\p{L}\p{So}\p{Extended_Pictographic}]/u.test(text);
  return Array.from(text, (char) => {
    if (char === '\n') {
      return '↵\n';
    }
    if (char === '\r') {
      return '␍'; // each line of a file may have it
    }
    if (char === '\t') {
      return '→\t';
    }
    if (char === ' ') {
      return isBlank ? '·' : ' ';
    }
    return HIDDEN.test(char) && !(joins && JOINERS.test(char)) ? codeOf(char) : char;
  }).join('');
}

function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
