// Keeps the text and its tokens at the same place: they scroll together, and what is pointed at or selected in
// one is marked in the other. A text field does not say where its characters are: a copy laid out alike does.
import { later, make, many, nextFrame, the } from './dom.js';

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

/** The longest part that is marked, in UTF-16 units. */
const MARKED = 2_000;
/** How often the place is found again: heights that are guessed anew might move it for ever. */
const TRIES = 100;

export class SamePlace {
  /**
   * @param {import('./editor.js').Editor} editor
   * @param {import('./token-view.js').TokenView} view
   * @param {(start: number, end: number) => Promise<string[]>} count counts a part by itself, for people
   */
  constructor(editor, view, count) {
    this.editor = editor;
    this.view = view;
    this.count = count;
    this.places = new FieldPlaces(editor.field);
    this.mark = make('div', { className: 'same', ariaHidden: 'true' });
    editor.field.after(this.mark);
    // The pane that a hand is on leads; scrolling the other one must not lead back.
    /** @type {any} */ this.leader = editor.field;
    for (const pane of [editor.field, view.element]) {
      for (const kind of ['pointerenter', 'pointerdown', 'wheel', 'touchstart', 'keydown', 'focus', 'paste']) {
        pane.addEventListener(kind, () => { this.leader = pane; }, { passive: true });
      }
    }
    for (const kind of ['scroll', 'shown']) {
      editor.field.addEventListener(kind, () => {
        this.place();
        if (this.leader === editor.field) this.follow(TRIES);
      });
    }
    view.element.addEventListener('scroll', () => {
      if (this.leader === view.element) this.follow(TRIES);
    });
    // What is drawn late has another height than was guessed: then the place is found again.
    view.element.addEventListener('drawn', () => this.tries && this.follow(this.tries - 1));
    new ResizeObserver(() => {
      this.place();
      this.follow(TRIES); // in lines of another length, each pane has other text at its place
    }).observe(editor.field);
    this.tries = 0;
    this.isTouched = false;
    for (const kind of ['pointerdown', 'keydown']) editor.field.addEventListener(kind, () => { this.isTouched = true; });
    document.addEventListener('selectionchange', () => this.selected());
    this.countSoon = later(() => this.countSelected(), 80);
  }

  /** Bring the other pane to the place of the leader, until all that is in sight there is drawn. @param {number} tries */
  follow(tries) {
    this.tries = tries;
    if (this.frame) return;
    this.frame = nextFrame(() => {
      this.frame = 0;
      const { view, leader } = this;
      const before = view.element.scrollTop;
      if (leader === view.element) this.followTokens();
      else this.followText();
      if (view.isDrawn && view.element.scrollTop === before) this.tries = 0;
    });
  }

  followText() {
    const { field, from } = this.editor;
    const place = from + this.places.at(field.scrollTop + this.padding);
    this.view.scrollTo(field.scrollTop <= 0 && from === 0 ? 0 : place);
  }

  followTokens() {
    const { editor, view } = this;
    const place = view.placeAtTop();
    if (place === null) return;
    if (place < editor.from || place > editor.to) editor.show(place);
    editor.field.scrollTop = this.places.top(place - editor.from) - this.padding;
  }

  get padding() { return parseFloat(getComputedStyle(this.editor.field).paddingTop); }

  /** Mark a part of the text in the field; nothing if there is none. @param {{ start: number, end: number } | null} part */
  point(part) {
    this.part = part;
    this.place();
  }

  /** Put the marks where the part is in sight. */
  place() {
    const { editor, part, mark, places } = this;
    const { field, from, to } = editor;
    mark.replaceChildren();
    mark.hidden = !part;
    if (!part || part.start < from || part.end > to || part.end - part.start > MARKED) return;
    const origin = places.mirror.getBoundingClientRect();
    mark.style.width = `${field.clientWidth}px`;
    mark.style.height = `${field.clientHeight}px`;
    mark.style.top = `${field.offsetTop}px`;
    for (const rect of places.rects(part.start - from, part.end - from)) {
      const box = make('i');
      Object.assign(box.style, {
        left: `${rect.left - origin.left}px`, top: `${rect.top - origin.top - field.scrollTop}px`,
        width: `${Math.max(rect.width, 2)}px`, height: `${rect.height}px`,
      });
      mark.append(box);
    }
  }

  /** What is selected in the field. @returns {[number, number]} */
  get selection() {
    const { field, from, hasAll, model } = this.editor;
    return hasAll ? [0, model.text.length] : [from + field.selectionStart, from + field.selectionEnd];
  }

  selected() {
    if (document.activeElement !== this.editor.field) return;
    const [start, end] = this.selection;
    this.isTouched ||= start !== end;
    if (!this.isTouched) return; // nothing was clicked yet: no token is marked
    this.view.part = [start, end];
    this.view.markSoon(); // a keystroke does not wait for it
    this.countSoon();
  }

  async countSelected() {
    const [start, end] = this.selection;
    const { text } = this.editor.model;
    const asked = text.slice(start, end);
    if (start === end) {
      the('selected').textContent = '';
      return;
    }
    const counts = await this.count(start, end).catch(() => []);
    const [first, last] = this.selection;
    if (this.editor.model.text.slice(first, last) !== asked || !counts.length) return;
    the('selected').textContent = `Selected: ${counts.join(' and ')}, ${many([...asked].length, 'character')}`;
  }
}
