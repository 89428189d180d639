// Where the characters of the text field are: a text field does not say, a copy of it laid out alike does.
import { make } from './dom.js';

export class FieldPlaces {
  /** @param {any} field */
  constructor(field) {
    this.field = field;
    this.mirror = make('div', { className: 'mirror', ariaHidden: 'true' });
    this.text = document.createTextNode('');
    this.mirror.append(this.text);
    field.after(this.mirror);
    this.range = document.createRange();
  }

  /** Lay the copy out, unless it is already. */
  follow() {
    const { field, mirror, text } = this;
    const width = `${field.clientWidth}px`;
    if (mirror.style.width !== width) mirror.style.width = width;
    const value = `${field.value}\u200b`; // so that an empty last line has a height
    if (text.data !== value) text.data = value;
  }

  /** Return the top of a character in pixels from that of the first line. @param {number} place */
  top(place) {
    const rect = this.rects(place, place + 1)[0];
    return rect ? rect.top - this.mirror.getBoundingClientRect().top : 0;
  }

  /** Return the first character of the line at a height. @param {number} height */
  at(height) {
    this.follow();
    let low = 0, high = this.field.value.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const rect = this.rects(middle, middle + 1)[0];
      const bottom = rect ? rect.bottom - this.mirror.getBoundingClientRect().top : 0;
      if (bottom <= height) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Return where a part is drawn, in pixels of the copy. @param {number} start @param {number} end */
  rects(start, end) {
    this.follow();
    const { length } = this.text.data;
    this.range.setStart(this.text, Math.min(start, length - 1));
    this.range.setEnd(this.text, Math.min(Math.max(end, start + 1), length));
    return [...this.range.getClientRects()];
  }
}
