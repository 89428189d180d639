// The text of the page, and its blocks. Line ends are line feeds, as in every text field.
import { Blocks } from './blocks.js';
import { History } from './history.js';

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

  /** @param {import('./history.js').Step | null} step */
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
