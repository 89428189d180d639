// The text of the page: its line ends are line feeds, as in every text field. With the blocks of some hundred
// characters, of which the page draws those in sight; what was done, to be undone and done again; and
// the difference of two texts.

/** @param {number} unit */
const isHigh = unit => (unit & 0xfc00) === 0xd800;
/** @param {number} unit */
const isLow = unit => (unit & 0xfc00) === 0xdc00;

/**
 * Return the replacement that makes one text of another; no surrogate pair is cut in two.
 * @param {string} before
 * @param {string} after
 * @returns {{ start: number, end: number, text: string } | null} null if they are equal
 */
export function difference(before, after) {
  if (before === after) return null;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let end = before.length, stop = after.length;
  while (end > start && stop > start && before.charCodeAt(end - 1) === after.charCodeAt(stop - 1)) {
    end--;
    stop--;
  }
  // Halves of pairs go with their other halves, on both sides and in both texts.
  if (start && isHigh(before.charCodeAt(start - 1))) start--;
  if (end < before.length && isLow(before.charCodeAt(end))) {
    end++;
    stop++;
  }
  return { start, end, text: after.slice(start, stop) };
}

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

/**
 * One step: at a place a text was removed, and another one put there.
 * @typedef {{ start: number, removed: string, text: string }} Step
 */

const MOST_KEPT = 40_000_000; // UTF-16 units in all steps; older ones are forgotten

export class History {
  constructor() {
    /** @type {Step[]} */ this.done = [];
    /** @type {Step[]} */ this.undone = [];
    this.units = 0;
    this.isOpen = false; // what is typed next may belong to the last step
  }

  /**
   * Remember a step.
   * @param {Step} step
   * @param {boolean} isTyped true if it may be one with the step typed before
   */
  add(step, isTyped) {
    for (const one of this.undone) this.units -= size(one);
    this.undone = [];
    const last = this.done[this.done.length - 1];
    const joined = isTyped && this.isOpen && last ? join(last, step) : null;
    if (joined) {
      this.done.pop();
      this.units -= size(last);
    }
    // A slice would keep all of the text that it is from in memory; its copy does not.
    const made = joined ?? { ...step, removed: structuredClone(step.removed) };
    this.isOpen = isTyped && size(made) > 0; // a letter that was typed and deleted is no step
    if (size(made)) this.done.push(made);
    this.units += size(made);
    while (this.units > MOST_KEPT && this.done.length > 1) this.units -= size(/** @type {Step} */ (this.done.shift()));
  }

  /** End a step: what is typed next is another one. */
  close() { this.isOpen = false; }

  /** Return what undoes the last step; null if there is none. @returns {Step | null} */
  undo() {
    const step = this.done.pop();
    if (!step) return null;
    this.undone.push(step);
    this.close();
    return { start: step.start, removed: step.text, text: step.removed };
  }

  /** Return the step that was undone last; null if there is none. @returns {Step | null} */
  redo() {
    const step = this.undone.pop();
    if (!step) return null;
    this.done.push(step);
    this.close();
    return step;
  }
}

/** @param {Step} step */
const size = step => step.removed.length + step.text.length;

/**
 * Return two steps as one, or null: a step is a word that was typed, or a run of deletions.
 * @param {Step} last
 * @param {Step} step
 * @returns {Step | null}
 */
function join(last, step) {
  const end = step.start + step.removed.length;
  if (!last.text && !step.text) {
    if (step.removed.length > 2) return null; // more than a character
    if (end === last.start) return { ...last, start: step.start, removed: step.removed + last.removed };
    return step.start === last.start ? { ...last, removed: last.removed + step.removed } : null;
  }
  // What changes in a word that is still typed, as with a keyboard that suggests words.
  if (step.start < last.start || end > last.start + last.text.length) return null;
  const isNew = !step.removed && (step.text.length > 2 || (/\s$/.test(last.text) && !/^\s/.test(step.text)));
  if (isNew) return null;
  const from = step.start - last.start;
  return { ...last, text: last.text.slice(0, from) + step.text + last.text.slice(from + step.removed.length) };
}

/** @typedef {{ start: number, end: number, text: string }} Replacement */

export class Model extends EventTarget {
  constructor() {
    super();
    this.text = '';
    this.blocks = new Blocks();
    this.history = new History();
  }

  /**
   * Replace a part of the text.
   * @param {number} start
   * @param {number} end
   * @param {string} text
   * @param {any} [by] the text field if it is typed there, which need not be told
   */
  replace(start, end, text, by = null) {
    this.history.add({ start, removed: this.text.slice(start, end), text }, by !== null);
    this.change(start, end, text, by);
  }

  /** Forget the text, and what it was before. */
  forget() {
    this.set('');
    this.history = new History();
  }

  /** Undo the last step, if there is one. */
  undo() { this.repeat(this.history.undo()); }

  /** Do again what was undone last. */
  redo() { this.repeat(this.history.redo()); }

  /** @param {Step | null} step */
  repeat(step) {
    if (step) this.change(step.start, step.start + step.removed.length, step.text, null);
  }

  /** @param {number} start @param {number} end @param {string} text @param {any} by */
  change(start, end, text, by) {
    this.text = this.text.slice(0, start) + text + this.text.slice(end);
    this.blocks.replace(start, end, text.length, this.text);
    this.dispatchEvent(new CustomEvent('change', { detail: { start, end, text, by } }));
  }

  /**
   * Put another text in its place; return true if line ends had to be changed.
   * @param {string} text
   */
  set(text) {
    const plain = lineFeeds(text);
    this.replace(0, this.text.length, plain);
    return plain !== text;
  }
}

/**
 * Return a text with line feeds as its only line ends.
 * @param {string} text
 */
export const lineFeeds = text => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);
