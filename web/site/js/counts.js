// The figures of the text: tokens by each tokenizer, the share of its context, the limit, the sizes; and what
// can be done beside counting.
import { figure, later, make, many, save, setUpCopying, the } from './dom.js';
import { isEstimate, names, prepared, ships } from './models.js';

/**
 * Show the figures of the text.
 * @param {{ keys: string[], counts: number[], notes: string[], characters: number, bytes: number, lines: number }} figures
 * @param {import('./settings.js').Settings} settings
 */
export function showCounts(figures, settings) {
  const { keys, counts, notes } = figures;
  const { chosen: { limit, special }, first, other } = settings;
  const entries = [first, other];
  const cards = the('counts').querySelectorAll('.card');
  for (const [column, card] of cards.entries()) {
    const entry = entries[column];
    card.hidden = !entry;
    // Two models of one encoding have one column.
    const at = Math.min(column, keys.length - 1), count = counts[at], key = keys[at] ?? '';
    if (entry && count !== undefined) Object.assign(card.dataset, { key, count: String(count) });
    else for (const name of ['key', 'count']) delete card.dataset[name];
    if (!entry || count === undefined) continue;
    const sign = isEstimate(key) ? '≈ ' : '';
    card.querySelector('.count').textContent = sign + figure(count);
    card.querySelector('.unit').textContent = count === 1 ? 'token' : 'tokens';
    const most = limit ?? entry.context;
    const bar = card.querySelector('.bar-of');
    bar.hidden = !most;
    bar.firstElementChild.hidden = !count;
    bar.classList.toggle('over', Boolean(most) && count > /** @type {number} */ (most));
    if (most) bar.firstElementChild.style.width = `${Math.min((count / most) * 100, 100)}%`;
    const said = [
      entry.name === key || isEstimate(key) || key.startsWith('file:') ? '' : key + (entry.rule ? ` (${entry.rule})` : ''),
      column ? compared(counts[0], count) : '',
      entry.context === null ? '' : shareOf(count, entry.context),
      special && !column ? 'with special tokens' : '',
      notes[at] ? `an estimate: ${notes[at]}` : '',
    ];
    card.querySelector('.said').replaceChildren(...said.filter(Boolean).map(one => make('span', {}, one)),
      ...(limit === null ? [] : [limited(count, limit)]));
  }
  const { characters, bytes, lines } = figures;
  const sizes = [many(characters, 'character'), many(bytes, 'byte'), many(lines, 'line')];
  if (characters && counts.length && !isEstimate(keys[0])) sizes.push(`${(bytes / Math.max(counts[0], 1)).toFixed(2)} bytes per token`);
  the('sizes').replaceChildren(...sizes.map(one => make('span', {}, one)));
  spoken = keys.map((key, column) => tokensOf(key, counts[column], entries[column]?.name)).join(', ');
  speak();
}

/** Return a number of tokens of a tokenizer, marked if it is an estimate. */
export const tokensOf = (/** @type {string} */ key, /** @type {number} */ count, /** @type {string | undefined} */ name = '') =>
  `${isEstimate(key) ? '≈ ' : ''}${many(count, 'token')}${name ? ` in ${name}` : ''}`;

let spoken = '';
// Screen readers are told when the visitor pauses, not on every keystroke.
const speak = later(() => { the('spoken').textContent = spoken; }, 800, false);

/** @param {number} first @param {number} second */
function compared(first, second) {
  if (first === second) return 'the same number';
  const more = second - first;
  const share = first ? ` (${more > 0 ? '+' : '−'}${Math.abs((more / first) * 100).toFixed(1)} %)` : '';
  return `${figure(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'}${share}`;
}

/** @param {number} count @param {number} context */
function shareOf(count, context) {
  const share = (count / context) * 100;
  return `${share && share < 0.1 ? 'less than 0.1' : share.toFixed(1)} % of ${figure(context)}`;
}

/** @param {number} count @param {number} limit */
function limited(count, limit) {
  const isOver = count > limit;
  return make('span', { className: isOver ? 'limit over' : 'limit' },
    isOver ? `${figure(count - limit)} over the limit` : `${figure(limit - count)} left`);
}

/** The longest text that is counted by every encoding whenever it changes. */
const LONGEST = 100_000;

/** The bar below the text, when it is over the limit. */
export class Fitting {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {import('./text.js').Model} model
   * @param {() => number | null} limit
   */
  constructor(engine, model, limit) {
    this.end = 0;
    /** @type {string[]} */ this.parts = [];
    setUpCopying('copy-fits', () => model.text.slice(0, this.end));
    setUpCopying('copy-part', () => this.parts[the('part').value] ?? '');
    the('save-parts').onclick = () => save('parts.json', JSON.stringify(this.parts), 'application/json');
    the('split').onclick = async () => {
      try {
        const found = await engine.ask('split', { limit: limit() });
        this.parts = found.map((/** @type {[number, number]} */ [start, end]) => model.text.slice(start, end));
        the('part').replaceChildren(...this.parts.map((_, at) => make('option', { value: String(at) }, `${figure(at + 1)} of ${figure(this.parts.length)}`)));
        the('split-parts').hidden = false;
        the('split').hidden = true;
        the('split-said').textContent = many(this.parts.length, 'part');
      } catch (error) {
        the('split-said').textContent = error instanceof Error ? error.message : String(error);
      }
    };
  }

  /** Show it for a text that is cut at a place; hide it if none is. @param {number | null} end */
  show(end) {
    the('fitting').hidden = end === null;
    the('split-parts').hidden = true;
    the('split').hidden = false;
    the('split-said').textContent = '';
    this.end = end ?? 0;
  }
}

/** The line with the count by every encoding that ships. */
export class Everywhere {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {() => number} length
   * @param {(name: string) => void} choose
   */
  constructor(engine, length, choose) {
    this.engine = engine;
    this.choose = choose;
    this.soon = later(() => this.draw(), 600);
    this.length = length;
    the('all').onclick = () => {
      the('everywhere').hidden = !the('everywhere').hidden;
      the('all').setAttribute('aria-expanded', String(!the('everywhere').hidden));
      if (!the('everywhere').hidden) this.draw();
    };
  }

  /** Follow another text, unless that takes long. */
  follow() {
    if (the('everywhere').hidden) return;
    if (this.length() > LONGEST) the('all').click();
    else this.soon();
  }

  async draw() {
    const keys = [...names.keys()].filter(ships);
    try {
      await prepared(this.engine, keys);
      const counts = await this.engine.ask('everywhere', { keys });
      the('everywhere').replaceChildren(make('span', {}, 'All encodings:'), ...keys.map((key, at) => {
        const button = make('button', { type: 'button', data: { key } }, make('strong', {}, figure(counts[at])), ` ${key}`);
        button.onclick = () => this.choose(key);
        return button;
      }));
    } catch (error) {
      the('everywhere').textContent = error instanceof Error ? error.message : String(error);
    }
  }
}
