// The facts about the token that is pointed at, or that the arrow keys have come to.
import { figure, later, make, the } from './dom.js';

/** The most tokens of one cell that are shown. */
const MOST = 6;

export class Card {
  /**
   * @param {import('./token-view.js').TokenView} view
   * @param {import('./engine.js').Engine} engine
   * @param {() => string[]} keys the keys of the encodings shown
   * @param {(start: number, end: number) => void} select selects a part of the text
   */
  constructor(view, engine, keys, select) {
    this.view = view;
    this.engine = engine;
    this.keys = keys;
    /** @type {Map<string, any>} */
    this.known = new Map();
    /** @type {any} */ this.current = null;
    /** Called with the token that is pointed at, or null. @type {(found: any) => void} */
    this.pointed = () => {};
    const { element } = view;
    element.addEventListener('pointerover', (/** @type {any} */ event) => this.show(event.target));
    element.addEventListener('click', (/** @type {any} */ event) => {
      const found = view.cellOf(event.target);
      this.show(event.target);
      if (found && String(getSelection()) === '') select(found.start, found.end);
    });
    element.addEventListener('keydown', (/** @type {any} */ event) => this.pressed(event, select));
    // The facts stay while the pointer is on the token or on them, and until another key is pressed.
    this.hideSoon = later(() => {
      if (!element.matches(':hover, :focus') && !the('card').matches(':hover')) this.hide();
    }, 300, false);
    for (const one of [element, the('card')]) one.addEventListener('pointerleave', () => this.hideSoon());
    element.addEventListener('blur', () => this.hideSoon());
    for (const kind of ['scroll', 'resize']) addEventListener(kind, () => this.place(), { capture: true, passive: true });
    document.addEventListener('keydown', event => {
      if (event.key === 'Escape') this.hide();
    });
  }

  /** @param {any} element */
  async show(element) {
    const found = this.view.cellOf(element);
    if (!found || found.cell === this.current) return;
    this.current?.classList.remove('current');
    this.current = found.cell;
    found.cell.classList.add('current');
    this.pointed(found);
    const key = this.keys()[found.column];
    const ids = found.ids.slice(0, MOST);
    const missing = ids.filter(id => !this.known.has(`${key} ${id}`));
    if (missing.length) {
      the('card').hidden = true; // no facts of another token
      const facts = await this.engine.ask('facts', { key, ids: missing }).catch(() => []);
      for (const one of facts) this.known.set(`${key} ${one.id}`, one);
    }
    if (this.current !== found.cell) return; // another one meanwhile
    const items = ids.map((id, index) => item(this.known.get(`${key} ${id}`), found.number + index));
    if (found.ids.length > MOST) items.push(make('span', {}, `and ${figure(found.ids.length - MOST)} more`));
    the('card').replaceChildren(...items);
    the('card').hidden = false;
    this.place();
  }

  /** Put the facts below the token, or above it where there is no room; away if it is not in sight. */
  place() {
    const card = the('card');
    if (card.hidden) return;
    const pane = this.view.element.getBoundingClientRect();
    const cell = this.current?.isConnected ? this.current.getClientRects()[0] : null;
    if (!cell || cell.bottom < pane.top || cell.top > pane.bottom) {
      this.hide();
      return;
    }
    card.style.left = '0'; // else what is left of the line bounds its width
    const { width, height } = card.getBoundingClientRect();
    const bottom = Math.min(innerHeight, visualViewport?.height ?? innerHeight);
    const isAbove = cell.bottom + 6 + height > bottom && cell.top - 6 - height >= 0;
    card.style.left = `${Math.max(4, Math.min(cell.left, document.documentElement.clientWidth - width - 4))}px`;
    card.style.top = `${isAbove ? cell.top - 6 - height : Math.max(4, Math.min(cell.bottom + 6, bottom - height - 4))}px`;
  }

  hide() {
    the('card').hidden = true;
    this.current?.classList.remove('current');
    this.current = null;
    this.pointed(null);
  }

  /** Forget the facts about encodings of before. */
  forget() {
    this.known.clear();
    this.hide();
  }

  /** @param {KeyboardEvent} event @param {(start: number, end: number) => void} select */
  pressed(event, select) {
    const { element } = this.view;
    if (event.key === 'Enter' && this.current?.isConnected) {
      event.preventDefault(); // else the text field, which has the focus then, gets a line end
      const found = this.view.cellOf(this.current);
      if (found) select(found.start, found.end);
      the('text').focus();
      return;
    }
    const move = /^(Arrow(Left|Right|Up|Down)|Page(Up|Down)|Home|End)$/.exec(event.key)?.[0].replace('Arrow', '');
    if (!move) return;
    event.preventDefault();
    this.move(move, event.ctrlKey || event.metaKey);
  }

  /** Go to another token. @param {string} move a key without "Arrow" @param {boolean} isFar with Ctrl held */
  async move(move, isFar) {
    const { element } = this.view;
    const pane = element.getBoundingClientRect(), line = parseFloat(getComputedStyle(element).lineHeight);
    const from = this.current?.isConnected ? this.current.getClientRects()[0] : null;
    const isUp = /Up|Home|Left/.test(move);
    const isScrolled = move.startsWith('Page') || (isFar && /Home|End/.test(move));
    if (isScrolled) {
      element.scrollTop += (isUp ? -1 : 1) * (isFar ? element.scrollHeight : pane.height - 2 * line);
      await this.view.drawn();
    }
    const cells = [...element.querySelectorAll('.block > .side:first-child > .t')];
    const step = { Left: -1, Right: 1 }[move];
    let next = step && from ? cells[cells.indexOf(this.current) + step] : null;
    if (!next && !(step && from)) {
      const x = move === 'Home' || !from ? pane.left : move === 'End' ? pane.right : from.left;
      let y = from ? from.top + from.height / 2 : pane.top + line;
      if (move === 'Up' || move === 'Down') y += isUp ? -line : line;
      if (isFar && isScrolled) y = isUp ? pane.top : pane.bottom;
      // The line counts before the place in it.
      const distance = (/** @type {DOMRect} */ box) =>
        Math.round(Math.abs(box.top + box.height / 2 - y) / 4) * 10_000 + Math.abs(box.left - x);
      let least = Infinity;
      for (const cell of cells) {
        for (const box of cell.getClientRects()) {
          if (distance(box) < least) [least, next] = [distance(box), cell];
        }
      }
    }
    if (!next) return;
    next.scrollIntoView({ block: 'nearest' });
    this.show(next);
  }
}

/** @param {any} facts @param {number} number */
function item(facts, number) {
  if (!facts) return make('span', {}, '');
  const bytes = (facts.bytes.match(/../g) ?? []).join(' ');
  /** @type {[string, string][]} */
  const pairs = [
    ['id', String(facts.id)],
    ['text', facts.text],
    ['bytes', bytes.length > 96 ? `${bytes.slice(0, 96)}…` : bytes],
  ];
  if (facts.rank) pairs.push([facts.rank.startsWith('#') ? 'merge' : 'rank', facts.rank]);
  if (facts.kind) pairs.push(['kind', facts.kind]);
  return make('span', { className: 'facts', data: { id: String(facts.id) } },
    make('span', { className: 'number' }, `Token ${figure(number + 1)}`),
    ...pairs.map(([name, value]) => make('span', {}, `${name} `, make('code', { className: name }, value))));
}
