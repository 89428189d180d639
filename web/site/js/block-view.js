// One block of the text, drawn as cells: the parts that cannot be split, each with its tokens.
import { visible } from './visible.js';

/**
 * The tokens of a block in one encoding, as counting_page/edited.py gives them.
 * @typedef {[number, number, number, number[], number[]]} Cell start, end, number, ids, special ids
 * @typedef {{ first: number, cells: Cell[] }} Side
 */

/**
 * Return the elements of a block, one for each encoding.
 * @param {string} text the text of the block
 * @param {Side[]} sides
 * @param {(number | null)[]} cuts where the text is cut, from the beginning of the block
 * @param {boolean} everySpace
 */
export function drawSides(text, sides, cuts, everySpace) {
  const places = sides.map(({ cells }) => new Set(cells.map(([start, end]) => `${start} ${end}`)));
  return sides.map(({ cells }, column) => {
    const other = sides.length > 1 ? places[1 - column] : null;
    return drawSide(text, cells, cuts[column], everySpace, other);
  });
}

/**
 * @param {string} text
 * @param {Cell[]} cells
 * @param {number | null} cut
 * @param {boolean} everySpace
 * @param {Set<string> | null} other the places of the other encoding's cells
 */
function drawSide(text, cells, cut, everySpace, other) {
  const side = document.createElement('div');
  side.className = 'side';
  if (cut !== null && cut <= 0) side.classList.add('beyond');
  let at = 0;
  cells.forEach(([start, end, , ids, special], index) => {
    if (at < start) side.append(gap(text.slice(at, start), everySpace));
    const cell = document.createElement('span');
    cell.className = `t c${index % 4}`;
    cell.dataset.index = String(index);
    if (special.length) cell.classList.add('special');
    if (ids.length > 1) cell.classList.add('several');
    if (other && !other.has(`${start} ${end}`)) cell.classList.add('differs');
    const cutHere = cut !== null && cut >= start && cut < end && cut > 0;
    if (cut !== null && start >= cut) cell.classList.add('beyond');
    if (cutHere) {
      cell.append(...visible(text.slice(start, cut), everySpace), cutMark());
      const rest = document.createElement('span');
      rest.className = 'beyond';
      rest.append(...visible(text.slice(cut, end), everySpace));
      cell.append(rest);
    } else if (start === end) cell.append(empty());
    else cell.append(...visible(text.slice(start, end), everySpace));
    side.append(cell);
    at = Math.max(at, end);
  });
  if (at < text.length) side.append(gap(text.slice(at), everySpace));
  return side;
}

/** A part of the text that no token stands for. @param {string} text @param {boolean} everySpace */
function gap(text, everySpace) {
  const element = document.createElement('span');
  element.className = 'gap';
  element.append(...visible(text, everySpace));
  return element;
}

function cutMark() {
  const mark = document.createElement('b');
  mark.className = 'cut';
  mark.textContent = '✂';
  mark.title = 'The limit is reached here';
  return mark;
}

/** A token that stands for no text. */
function empty() {
  const mark = document.createElement('i');
  mark.className = 'code';
  mark.textContent = '∅';
  return mark;
}
