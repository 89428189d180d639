// One block of the text, drawn as cells: the parts that cannot be split, each with its tokens. What
// cannot be seen is shown.
import { make } from './dom.js';

/** What is drawn as nothing, or changes how other text is drawn. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u2000-\u200a\u202f\u205f\u3000\u3164]/u;
/** What joins and styles the characters of emoji and of some scripts is drawn as part of them. */
const JOINERS = /[\u200c\u200d\u{e0020}-\u{e007f}]/u;

/**
 * Return a part of the text as nodes in which everything can be seen.
 * @param {string} text
 * @param {boolean} everySpace show the spaces that stand with other characters, too
 * @returns {Node[]}
 */
export function visible(text, everySpace) {
  const isBlank = !/\S/.test(text);
  /** @type {Node[]} */ const nodes = [];
  let plain = '';
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = '';
  };
  const show = (/** @type {string} */ shown, /** @type {string} */ kind) => {
    flush();
    const mark = document.createElement('i');
    mark.className = kind;
    mark.textContent = shown;
    nodes.push(mark);
  };
  const joins = /[\p{L}\p{So}\p{Extended_Pictographic}]/u.test(text);
  for (const char of text) {
    if (char === '\n') {
      show('↵', 'mark');
      plain = '\n';
    } else if (char === '\t') {
      show('→', 'mark');
      plain = '\t';
    } else if (char === ' ') {
      if (isBlank || everySpace) show('·', 'mark');
      else plain += char;
    } else if (HIDDEN.test(char) && !(joins && JOINERS.test(char))) {
      show(name(char), 'code');
    } else plain += char;
  }
  flush();
  return nodes;
}

/** @param {string} char */
const name = char => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * The tokens of a block in one encoding, as counting_page/text.py gives them.
 * @typedef {[number, number, number, number[], number[]]} Cell start, end, number, ids, special ids
 * @typedef {{ first: number, cells: Cell[] }} Side
 */

/**
 * How tokens are shown.
 * @typedef {object} Look
 * @property {boolean} spaces show every space, also those that stand with other characters
 * @property {boolean} ids show the ids in place of the text
 */

/**
 * Return the elements of a block, one for each encoding.
 * @param {string} text the text of the block
 * @param {Side[]} sides
 * @param {(number | null)[]} cuts where the text is cut, from the beginning of the block
 * @param {Look} look
 */
export function drawSides(text, sides, cuts, look) {
  const places = sides.map(({ cells }) => new Set(cells.map(([start, end]) => `${start} ${end}`)));
  return sides.map(({ cells }, column) => {
    const other = sides[1 - column]?.cells.length ? places[1 - column] : null; // an estimate has none
    return drawSide(text, cells, cuts[column], look, other);
  });
}

/**
 * @param {string} text
 * @param {Cell[]} cells
 * @param {number | null} cut before the block if it is negative
 * @param {Look} look
 * @param {Set<string> | null} other the places of the other encoding's cells
 */
function drawSide(text, cells, cut, look, other) {
  const side = make('div', { className: 'side' });
  if (cut !== null && cut < 0) side.classList.add('beyond');
  let at = 0;
  /** Draw what no token stands for, up to a place. @param {number} end */
  const drawGap = end => {
    if (at < end) side.append(fill(make('span', { className: 'gap' }), text, at, end, cut, look.spaces));
  };
  cells.forEach(([start, end, , ids, special], index) => {
    drawGap(start);
    const cell = make('span', { className: `t c${index % 4}`, data: { index: String(index) } });
    cell.classList.toggle('special', special.length > 0);
    cell.classList.toggle('several', ids.length > 1);
    cell.classList.toggle('differs', other !== null && !other.has(`${start} ${end}`));
    side.append(look.ids ? fillIds(cell, ids, start, end, cut)
      : start === end ? fillEmpty(cell) : fill(cell, text, start, end, cut, look.spaces));
    if (look.ids) side.append(text.slice(start, end).endsWith('\n') ? '\n' : ' ');
    at = Math.max(at, end);
  });
  drawGap(text.length);
  return side;
}

/**
 * Put a part of the text into an element; what is behind the cut is dimmed.
 * @param {any} element
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {number | null} cut
 * @param {boolean} everySpace
 */
function fill(element, text, start, end, cut, everySpace) {
  const show = (/** @type {number} */ from, /** @type {number} */ to) => visible(text.slice(from, to), everySpace);
  if (cut !== null && cut > start && cut < end) {
    element.append(...show(start, cut), cutMark(), make('span', { className: 'beyond' }, ...show(cut, end)));
  } else {
    markCut(element, start, cut);
    element.append(...show(start, end));
  }
  return element;
}

/**
 * Put the ids of a cell into its element.
 * @param {any} element
 * @param {number[]} ids
 * @param {number} start
 * @param {number} end
 * @param {number | null} cut
 */
function fillIds(element, ids, start, end, cut) {
  // Ids are not cut: those of a character of which some tokens are left out are left out, too.
  markCut(element, start, cut !== null && cut < end ? Math.min(cut, start) : null);
  element.classList.add('ids');
  element.append(ids.join(' '));
  return element;
}

/** Dim what begins behind the cut, and mark the cut before it. @param {any} element @param {number} start @param {number | null} cut */
function markCut(element, start, cut) {
  if (cut === null || cut > start) return;
  element.classList.add('beyond');
  if (cut === start) element.append(cutMark());
}

/** A token that stands for no text. @param {any} element */
function fillEmpty(element) {
  element.append(make('i', { className: 'code' }, '∅'));
  return element;
}

/** The place of the cut. */
function cutMark() {
  return make('b', { className: 'cut', title: 'The limit is reached here' }, '✂');
}
