// The text field. Browsers lay out all of a text field on every keystroke, which takes seconds for
// a megabyte. So of a long text it holds a part, which moves with the caret.
import { the } from './dom.js';
import { difference, lineFeeds } from './text.js';

const WHOLE = 40_000; // UTF-16 units up to which it holds the whole text
const PART = 24_000; // of a longer text
const EDGE = 4_000; // from the end of a part, where it moves on
/** Keys that move the caret or delete. */
const MOVES = /^(Arrow|Page|Home$|End$|Backspace$|Delete$)/;

export class Editor {
  /** @param {import('./text.js').Model} model */
  constructor(model) {
    this.model = model;
    this.field = the('text');
    this.from = 0;
    this.to = 0;
    this.isDragged = false; // the selection is all of the part, and a hand dragged it
    const { field } = this;
    field.addEventListener('input', () => this.typed());
    field.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => this.pressed(event));
    field.addEventListener('pointerdown', () => {
      this.isDragged = false;
      model.history.close();
    });
    field.addEventListener('pointerup', (/** @type {PointerEvent} */ event) => {
      this.isDragged = event.button === 0 && this.hasAll;
    });
    field.addEventListener('paste', (/** @type {ClipboardEvent} */ event) => this.pasted(event));
    for (const kind of ['copy', 'cut']) {
      field.addEventListener(kind, (/** @type {ClipboardEvent} */ event) => this.copied(event));
    }
    field.addEventListener('beforeinput', (/** @type {InputEvent} */ event) => this.willChange(event));
    the('part-before').onclick = () => this.turn(-1);
    the('part-after').onclick = () => this.turn(1);
    model.addEventListener('change', (/** @type {any} */ { detail }) => {
      if (detail.by !== this) this.follow(detail);
      this.tell();
    });
  }

  get isPart() { return this.model.text.length > WHOLE; }

  /** True if the field holds neither too much of the text nor too little. */
  get isWell() {
    const length = this.to - this.from;
    return this.isPart ? length >= PART / 2 && length <= 2 * PART : length === this.model.text.length;
  }

  /** True if all of a long text is selected: by a key, a menu or a long press. */
  get hasAll() {
    const { selectionStart, selectionEnd, value } = this.field;
    return this.isPart && !this.isDragged && selectionStart === 0 && selectionEnd === value.length;
  }

  /** Hold the text, or the part around a place, with the caret there. @param {number} caret */
  show(caret) {
    const { text } = this.model;
    const start = Math.max(0, Math.min(caret - PART / 2, text.length - PART));
    this.from = this.isPart ? edge(text, start) : 0;
    this.to = this.isPart ? edge(text, start + PART) : text.length;
    this.field.value = text.slice(this.from, this.to);
    this.select(caret, caret);
    this.tell();
    this.field.dispatchEvent(new Event('shown')); // another text may be scrolled as far as the last one
  }

  /** Take over a change that was not typed here. @param {import('./text.js').Replacement} change */
  follow({ start, end, text }) {
    const { field } = this, { scrollTop } = field;
    const caret = start + text.length;
    const isHere = start >= this.from && end <= this.to;
    this.to += text.length - (end - start);
    if (!isHere || !this.isWell) this.show(caret);
    else {
      field.value = this.model.text.slice(this.from, this.to);
      this.select(caret, caret);
      field.scrollTop = scrollTop; // where the caret is in sight, nothing moves
    }
    const distance = this.heightBefore(caret) - field.scrollTop;
    if (distance < 0 || distance > field.clientHeight) this.scrollTo(caret, field.clientHeight / 2);
  }

  /** Select a part of the text that the field holds. @param {number} start @param {number} end */
  select(start, end) {
    this.field.setSelectionRange(start - this.from, end - this.from);
  }

  /** Show a part of the text, and select it. @param {number} start @param {number} end */
  reveal(start, end) {
    if (start < this.from || end > this.to) this.show(start);
    this.select(start, end);
    this.scrollTo(start, this.field.clientHeight / 3);
  }

  typed() {
    const edit = difference(this.model.text.slice(this.from, this.to), this.field.value);
    if (!edit) return;
    this.to += edit.text.length - (edit.end - edit.start);
    this.model.replace(this.from + edit.start, this.from + edit.end, edit.text, this);
    if (!this.isWell) this.move();
  }

  /** Hold the part around the caret, which stays where it is on the screen. */
  move() {
    const { field } = this;
    const start = this.from + field.selectionStart, end = this.from + field.selectionEnd;
    const distance = this.heightBefore(start) - field.scrollTop;
    this.show(start);
    if (end <= this.to) this.select(start, end);
    this.scrollTo(start, distance);
  }

  /** Scroll so that a place is so many pixels below the top. */
  scrollTo(/** @type {number} */ place, /** @type {number} */ distance) {
    this.field.scrollTop = this.heightBefore(place) - distance;
  }

  /** Return the height in pixels of what the field holds before a place. @param {number} place */
  heightBefore(place) {
    const mirror = document.createElement('div');
    mirror.className = 'mirror';
    mirror.style.width = `${this.field.clientWidth}px`;
    mirror.textContent = `${this.field.value.slice(0, Math.max(place - this.from, 0))}\u200b`;
    this.field.after(mirror);
    const height = mirror.offsetHeight;
    mirror.remove();
    return height;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const { field, model } = this;
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (command && !event.altKey && (key === 'z' || key === 'y')) {
      event.preventDefault();
      if (key === 'y' || event.shiftKey) model.redo();
      else model.undo();
      return;
    }
    if (command && key === 'a') {
      this.isDragged = false;
      model.history.close();
      return;
    }
    if (!MOVES.test(event.key)) return;
    const deletes = /^(Backspace|Delete)$/.test(event.key);
    if (!deletes) model.history.close();
    if (!this.isPart || (this.hasAll && (deletes || event.shiftKey))) return; // see willChange
    if (this.hasAll || (command && /^(Home|End|ArrowUp|ArrowDown)$/.test(event.key))) {
      event.preventDefault();
      this.show(/(Home|Left|Up)$/.test(event.key) ? 0 : model.text.length);
      this.scrollTo(this.from + field.selectionStart, field.clientHeight / 2);
      return;
    }
    const isNear = (this.from && field.selectionStart < EDGE)
      || (this.to < model.text.length && field.selectionEnd > field.value.length - EDGE);
    if (isNear) this.move();
  }

  /** @param {InputEvent} event */
  willChange(event) {
    if (/^history/.test(event.inputType)) { // by a menu
      event.preventDefault();
      if (event.inputType === 'historyRedo') this.model.redo();
      else this.model.undo();
      return;
    }
    if (!this.hasAll || !event.cancelable) return;
    event.preventDefault();
    const text = event.data ?? event.dataTransfer?.getData('text/plain') ?? '';
    this.model.replace(0, this.model.text.length, event.inputType === 'insertLineBreak' ? '\n' : lineFeeds(text));
  }

  /** @param {ClipboardEvent} event */
  pasted(event) {
    this.model.history.close();
    const text = lineFeeds(event.clipboardData?.getData('text/plain') ?? '');
    if (!this.hasAll && text.length + this.field.value.length <= WHOLE) return; // the browser can
    event.preventDefault();
    const { field, model } = this;
    const start = this.hasAll ? 0 : this.from + field.selectionStart;
    const end = this.hasAll ? model.text.length : this.from + field.selectionEnd;
    model.replace(start, end, text);
  }

  /** @param {ClipboardEvent} event */
  copied(event) {
    if (!this.hasAll) return;
    event.preventDefault();
    event.clipboardData?.setData('text/plain', this.model.text);
    if (event.type === 'cut') this.model.set('');
  }

  /** Hold the part before or after this one. @param {number} direction */
  turn(direction) {
    const place = direction < 0 ? this.from : this.to;
    this.show(place);
    this.scrollTo(place, direction < 0 ? this.field.clientHeight : 0);
    this.field.dispatchEvent(new CustomEvent('turned', { detail: place }));
  }

  /** Say which part of a long text the field holds. */
  tell() {
    const { length } = this.model.text;
    the('parts').hidden = this.to - this.from === length;
    const [first, last] = [this.from, this.to].map(place => Math.round((place / length) * 100));
    the('parts-where').textContent = `Long text: ${first} to ${last} % is shown`;
    the('part-before').disabled = this.from === 0;
    the('part-after').disabled = this.to === length;
  }
}

/** Return a place near one at which a line begins, or at least a character. */
function edge(/** @type {string} */ text, /** @type {number} */ place) {
  if (place === 0 || place === text.length) return place;
  const line = text.lastIndexOf('\n', place - 1) + 1;
  if (line > place - 2_000) return line;
  return (text.charCodeAt(place) & 0xfc00) === 0xdc00 ? place - 1 : place;
}
