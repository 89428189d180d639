// The tokens of the text, of which only those in sight are drawn.
import { drawSides } from './block-view.js';
import { later, make, nextFrame } from './dom.js';

/** Pixels above and below what is in sight that are drawn, too. */
const MARGIN = 300;
/** Pixels of height for each UTF-16 unit, while nothing better is known. */
const GUESS = 0.4;

/**
 * @typedef {import('./text.js').Block} Block
 * @typedef {import('./block-view.js').Side} Side
 * @typedef {{ element: any, version: number, sides: Side[], drawn: string }} Row
 */

export class TokenView {
  /**
   * @param {any} element
   * @param {import('./text.js').Model} model
   * @param {(ranges: [number, number][]) => Promise<Side[][]>} ask returns the cells of parts
   */
  constructor(element, model, ask) {
    this.element = element;
    this.model = model;
    this.ask = ask;
    this.above = make('div');
    this.below = make('div');
    element.replaceChildren(this.above, this.below);
    /** @type {Map<Block, Row>} */
    this.rows = new Map();
    /** @type {(number | null)[]} where the text is cut in each encoding */
    this.cuts = [null, null];
    /** @type {import('./block-view.js').Look} */
    this.look = { spaces: false, ids: false };
    /** Tells if the worker has the text of the page: else its answers would be of another one. */
    this.mayAsk = () => false;
    /** @type {{ text: string, sides: Side[] } | null} a block whose tokens need not be asked for */
    this.known = null;
    this.width = 0;
    this.unit = GUESS; // as it was drawn last
    /** @type {number | undefined} */
    this.frame = undefined;
    this.isStale = false; // there are answers from before the last edit
    this.askAllSoon = later(() => {
      if (!this.mayAsk()) return;
      if (this.asking) {
        this.askAllSoon();
        return;
      }
      this.isStale = false;
      this.askFor([...this.rows]);
    }, 100);
    /** @type {[number, number] | null} */ this.part = null; // that is marked
    this.markSoon = later(() => this.part && this.markPart(...this.part), 30);
    element.addEventListener('scroll', () => this.drawSoon());
    new ResizeObserver(() => {
      if (this.width !== element.clientWidth) model.blocks.forgetHeights();
      this.width = element.clientWidth;
      this.drawSoon();
    }).observe(element);
  }

  /** True if the tokens of all that is in sight are drawn, and nothing is to be drawn anew. */
  get isDrawn() {
    return this.frame === undefined && this.rows.size > 0 && [...this.rows].every(([block, row]) => row.version === block.version);
  }

  /** Wait until it is so, or a second of pictures. */
  async drawn() {
    for (let frames = 0; frames < 60 && (!frames || !this.isDrawn); frames++) {
      await new Promise(done => nextFrame(() => done(null)));
    }
  }

  drawSoon() {
    this.frame ??= nextFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  /** Return the height of a block, guessed if it was not drawn. @param {Block} block */
  heightOf(block) {
    return block.height || Math.max(block.length * this.unit, 24);
  }

  /** Put the blocks in sight in place, and ask for the cells of those that have none. */
  draw() {
    const { list } = this.model.blocks;
    const top = this.element.scrollTop - MARGIN;
    const bottom = top + this.element.clientHeight + 2 * MARGIN;
    /** @type {Map<Block, Row>} */ const rows = new Map();
    let y = 0, above = 0, below = 0, at = 0;
    let pixels = 0, units = 0; // of all that was drawn: by what is in sight alone, each place would move all others
    /** @type {any} */ let before = this.above;
    for (const block of list) {
      const height = this.heightOf(block);
      if (y + height <= top) above += height;
      else if (y >= bottom) below += height;
      else {
        const row = this.rows.get(block) ?? this.newRow(block, at);
        rows.set(block, row);
        if (before.nextSibling !== row.element) before.after(row.element);
        before = row.element;
      }
      y += height;
      at += block.length;
      if (block.height) {
        pixels += height;
        units += block.length;
      }
    }
    if (units > 200) this.unit = pixels / units;
    for (const [block, { element }] of this.rows) if (!rows.has(block)) element.remove();
    this.rows = rows;
    this.above.style.height = `${above}px`;
    this.below.style.height = `${below}px`;
    this.measure();
    this.askChanged();
  }

  /** A row that shows the plain text until its tokens are known. */
  newRow(/** @type {Block} */ block, /** @type {number} */ at) {
    const text = this.model.text.slice(at, at + block.length);
    const element = make('div', { className: 'block' }, make('div', { className: 'side' }, text));
    /** @type {Row} */ const row = { element, version: -1, sides: [], drawn: '' };
    if (text === this.known?.text) {
      Object.assign(row, { sides: this.known.sides, version: block.version });
      this.drawRow(row, text, at);
    }
    return row;
  }

  measure() {
    let changed = false;
    for (const [block, { element }] of this.rows) {
      const height = element.offsetHeight;
      if (Math.abs(height - block.height) > 1) changed = true;
      block.height = height;
    }
    if (changed) this.drawSoon();
    this.element.dispatchEvent(new CustomEvent('drawn'));
  }

  /**
   * Ask for the cells of the blocks in sight, after an edit or another choice of encodings.
   *
   * First those of the blocks that have changed; those of the others a little later, when nothing
   * is typed: an edit seldom changes the tokens of other blocks, but it moves their numbers.
   */
  refresh() {
    this.isStale = true;
    this.element.setAttribute('aria-busy', 'true');
    this.askChanged();
    this.askAllSoon();
  }

  /** Ask for the cells of the blocks of which the text is another one. */
  askChanged() {
    return this.askFor([...this.rows].filter(([block, row]) => row.version !== block.version));
  }

  /** @param {[Block, Row][]} rows */
  async askFor(rows) {
    if (!this.mayAsk()) return;
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    if (!rows.length) return this.tellIfDone();
    this.asking = true;
    this.element.setAttribute('aria-busy', 'true');
    try {
      const wanted = rows.map(([block, row]) => {
        const start = this.model.blocks.start(block);
        const text = this.model.text.slice(start, start + block.length);
        return { block, row, start, text, version: block.version };
      });
      const found = await this.ask(wanted.map(({ start, text }) => [start, start + text.length]));
      wanted.forEach(({ block, row, start, text, version }, number) => {
        if (block.version !== version || this.rows.get(block) !== row) return;
        row.sides = found[number];
        row.version = version;
        this.drawRow(row, text, start);
      });
      this.measure();
    } finally {
      this.asking = false;
      if (this.askAgain) {
        this.askAgain = false;
        this.askChanged();
      } else this.tellIfDone();
    }
  }

  tellIfDone() {
    this.element.setAttribute('aria-busy', String(Boolean(this.isStale)));
  }

  /** @param {Row} row @param {string} text @param {number} start */
  drawRow(row, text, start) {
    const cuts = row.sides.map((_, column) => {
      const cut = this.cuts[column] ?? null; // that of a second encoding may not be known yet
      return cut === null || cut >= start + text.length ? null : Math.max(cut - start, -1);
    });
    const drawn = JSON.stringify([text, row.sides.map(({ cells }) => cells), cuts, this.look]);
    if (drawn === row.drawn) return; // what has not changed is not drawn anew
    row.drawn = drawn;
    row.element.replaceChildren(...drawSides(text, row.sides, cuts, this.look));
    if (this.part) this.markSoon();
  }

  /** Draw the rows in sight again, with what is known of them. */
  redraw() {
    for (const [block, row] of this.rows) {
      if (row.version !== block.version) continue;
      const start = this.model.blocks.start(block);
      this.drawRow(row, this.model.text.slice(start, start + block.length), start);
    }
    this.measure();
  }

  /** Scroll to a place of the text. @param {number} place */
  reveal(place) {
    let at = 0, y = 0;
    for (const block of this.model.blocks.list) {
      const height = this.heightOf(block);
      if (place < at + block.length) {
        y += height * ((place - at) / block.length);
        break;
      }
      at += block.length;
      y += height;
    }
    const { scrollTop, clientHeight } = this.element;
    if (y < scrollTop || y > scrollTop + clientHeight - 40) this.element.scrollTop = y - clientHeight / 3;
  }

  /** Scroll so that a place is at the top. @param {number} place */
  scrollTo(place) {
    const { element } = this;
    let at = 0, y = 0;
    for (const block of this.model.blocks.list) {
      if (place < at + block.length || block === this.model.blocks.list[this.model.blocks.list.length - 1]) {
        const cell = place > at ? this.cellAt(block, place - at) : null;
        // A block that is not drawn has no lines yet: about where the place will be.
        if (cell) y = cell.getBoundingClientRect().top - element.getBoundingClientRect().top + element.scrollTop - 11;
        else if (place > at) y += this.heightOf(block) * ((place - at) / block.length);
        break;
      }
      at += block.length;
      y += this.heightOf(block);
    }
    element.scrollTop = y;
  }

  /** The place of the first token in sight; null while none is drawn. */
  placeAtTop() {
    const top = this.element.getBoundingClientRect().top + 11;
    if (this.element.scrollTop <= 0) return 0;
    for (const [block, row] of this.rows) {
      if (row.element.getBoundingClientRect().bottom <= top) continue;
      const start = this.model.blocks.start(block);
      for (const cell of row.element.querySelectorAll('.side:first-child > .t')) {
        if (cell.getBoundingClientRect().bottom > top) {
          return start + (row.sides[0]?.cells[Number(cell.dataset.index)]?.[0] ?? 0);
        }
      }
      return start;
    }
    return null;
  }

  /** The drawn cell of a place in a block. @param {Block} block @param {number} place */
  cellAt(block, place) {
    const row = this.rows.get(block);
    if (!row || row.version !== block.version) return null;
    const index = row.sides[0]?.cells.findIndex(([, end]) => end > place) ?? -1;
    return index < 0 ? null : row.element.querySelector(`.side:first-child > .t[data-index="${index}"]`);
  }

  /** Mark the tokens of a part of the text, or that at a place. @param {number} start @param {number} end */
  markPart(start, end) {
    this.part = [start, end];
    let at = 0;
    const starts = new Map(this.model.blocks.list.map(block => {
      at += block.length;
      return [block, at - block.length];
    }));
    for (const [block, row] of this.rows) {
      if (row.version !== block.version) continue;
      const from = starts.get(block) ?? 0;
      row.sides.forEach(({ cells }, column) => {
        for (const cell of row.element.children[column]?.querySelectorAll('.t') ?? []) {
          const [first, last] = cells[Number(cell.dataset.index)] ?? [0, 0];
          const isIn = start === end ? from + first <= start && start < from + last
            : from + first < end && from + last > start;
          cell.classList.toggle('chosen', isIn);
        }
      });
    }
  }

  /**
   * Return the token cell of an element in the view.
   * @param {any} element
   * @returns {{ column: number, start: number, end: number, number: number, ids: number[], cell: any } | null}
   */
  cellOf(element) {
    const cell = element?.closest?.('.t');
    if (!cell) return null;
    for (const [block, { element: row, sides }] of this.rows) {
      if (!row.contains(cell)) continue;
      const column = [...row.children].indexOf(cell.parentElement);
      const side = sides[column];
      const found = side?.cells[Number(cell.dataset.index)];
      if (!found) return null;
      const start = this.model.blocks.start(block);
      const [from, to, number, ids] = found;
      return { column, start: start + from, end: start + to, number: side.first + number, ids, cell };
    }
    return null;
  }
}
