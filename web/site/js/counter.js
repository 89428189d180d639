// Keeps the worker's text the same as the page's: it is sent what has changed, not the text.
import { prepared } from './models.js';
import { difference } from './text.js';

export class Counter extends EventTarget {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {import('./text.js').Model} model
   */
  constructor(engine, model) {
    super();
    this.engine = engine;
    this.model = model;
    this.sent = '';
    this.took = 0; // milliseconds of the last edit
    /** @type {string[]} the encodings of the figures */
    this.keys = [];
    this.isReady = false;
    this.isSending = false;
    /** @type {any} */ this.figures = null; // of the text that was sent last
    model.addEventListener('change', () => this.count());
  }

  /** Count by these encodings from now on. @param {string[]} keys @param {boolean} special */
  async choose(keys, special) {
    await prepared(this.engine, keys);
    const figures = await this.engine.ask('choose', { keys, special });
    this.isReady = true;
    this.keys = keys;
    this.figures = figures;
    await this.count();
  }

  /** Count the text as it is now; what changes meanwhile is counted after it. */
  async count() {
    if (!this.isReady || this.isCounting) return;
    this.isCounting = true;
    try {
      // After a failure the text may be again as it was: then its figures are known.
      if (this.isCurrent) this.tell(this.figures);
      while (!this.isCurrent) {
        const { text } = this.model;
        const edit = /** @type {any} */ (difference(this.sent, text)); // there is one: see isCurrent
        const began = performance.now();
        this.isSending = true;
        const figures = await this.engine.ask('edit', edit).finally(() => { this.isSending = false; });
        this.took = performance.now() - began;
        this.sent = text;
        this.tell(figures);
      }
    } catch (error) {
      // The worker has the text of before: the next edit is sent with this one.
      this.dispatchEvent(new CustomEvent('failure', { detail: error }));
    } finally {
      this.isCounting = false;
    }
  }

  /** @param {any} figures */
  tell(figures) {
    this.figures = figures;
    this.dispatchEvent(new CustomEvent('counted', { detail: { ...figures, keys: this.keys } }));
  }

  /**
   * True if the worker has the text of the page. While an edit is on its way it has another one, also
   * if that edit is undone meanwhile.
   */
  get isCurrent() { return this.isReady && !this.isSending && this.sent === this.model.text; }
}
