// The text in blocks of some hundred characters, of which the page draws those in sight.

const LEAST = 500; // UTF-16 units, before a block ends with its line
const MOST = 1500; // at which a block ends within a line
/** Characters that may not begin a block: they belong to the one before. */
const JOINED = /[\p{M}\p{Emoji_Modifier}\p{Regional_Indicator}\u200c\u200d\u{e0020}-\u{e007f}\udc00-\udfff]/u;

/**
 * @typedef {object} Block
 * @property {number} length in UTF-16 units
 * @property {number} version changes with the text of the block
 * @property {number} height in pixels; 0 if it is not known
 */

/** @returns {Block} */
const block = (/** @type {number} */ length) => ({ length, version: 0, height: 0 });

export class Blocks {
  constructor() {
    /** @type {Block[]} */
    this.list = [block(0)];
  }

  /**
   * Follow a replacement.
   * @param {number} start where it begins
   * @param {number} end where what was replaced ended
   * @param {number} added the length of what is there now
   * @param {string} text the whole text after it
   */
  replace(start, end, added, text) {
    const { list } = this;
    let first = 0, at = 0;
    // The block that the replacement begins in, or the one that ends there.
    while (first < list.length - 1 && at + list[first].length < start) at += list[first++].length;
    let last = first, stop = at + list[first].length;
    while (last < list.length - 1 && stop <= end) stop += list[++last].length;
    const more = added - (end - start);
    // What is left of a block goes with the next one, so that there are never many small ones.
    while (last < list.length - 1 && stop + more - at < LEAST) stop += list[++last].length;
    const lengths = cut(text, at, stop + more);
    // Blocks stay the objects that they are as far as can be, so that they are not drawn anew.
    const made = lengths.map((length, number) => {
      if (first + number > last) return block(length);
      const old = list[first + number];
      old.length = length;
      old.version++;
      return old;
    });
    this.list = [...list.slice(0, first), ...made, ...list.slice(last + 1)];
  }

  /**
   * Return the place at which a block begins.
   * @param {Block} block
   */
  start(block) {
    let at = 0;
    for (const one of this.list) {
      if (one === block) return at;
      at += one.length;
    }
    return -1;
  }

  /** Forget the heights, which are others in another width. */
  forgetHeights() {
    for (const one of this.list) one.height = 0;
  }
}

/**
 * Return the lengths of the blocks of a part of a text.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 */
export function cut(text, start, end) {
  const lengths = [];
  let at = start;
  while (end - at > LEAST) {
    let stop = text.indexOf('\n', at + LEAST) + 1;
    // Empty lines go with the line before: their line ends may be one token.
    while (stop && stop < end && text[stop] === '\n' && stop - at < MOST) stop++;
    if (!stop || stop - at > MOST) stop = within(text, at + MOST);
    if (stop >= end) break;
    lengths.push(stop - at);
    at = stop;
  }
  lengths.push(end - at);
  return lengths;
}

/**
 * Return a place at or a little before one in a long line: after a space, or between characters.
 * @param {string} text
 * @param {number} place
 */
function within(text, place) {
  const space = text.lastIndexOf(' ', place - 1) + 1;
  if (space > place - 100) return space;
  let stop = place;
  while (stop > place - 100 && joins(text, stop)) stop--;
  return stop;
}

/**
 * Return true if the character at a place is drawn with the one before.
 * @param {string} text
 * @param {number} place
 */
function joins(text, place) {
  const unit = text.charCodeAt(place);
  if ((unit & 0xfc00) === 0xdc00) return true;
  return JOINED.test(String.fromCodePoint(text.codePointAt(place) ?? 0))
    || text.charCodeAt(place - 1) === 0x200d;
}
