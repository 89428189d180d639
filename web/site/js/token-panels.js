// How the pieces of a word are merged, step by step; and a list of ids with the text that they are.
import { drawSides, visible } from './block-view.js';
import { later, make, many, the } from './dom.js';
import { shortName } from './models.js';

export class WordPanel {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {() => { keys: string[], special: boolean }} chosen
   */
  constructor(engine, chosen) {
    this.engine = engine;
    this.chosen = chosen;
    the('word').addEventListener('input', later(() => this.draw(), 100));
  }

  async draw() {
    const { keys, special } = this.chosen();
    const text = the('word').value;
    const parts = [];
    try {
      for (const key of keys) {
        const chunks = await this.engine.ask('steps', { key, text, special });
        parts.push(make('div', { className: 'steps-of' }, make('h2', {}, shortName(key)),
          ...(chunks.length ? chunks.map(chunk) : [make('p', {}, 'Nothing to merge.')])));
      }
    } catch (error) {
      parts.push(make('p', { className: 'error' }, error instanceof Error ? error.message : String(error)));
    }
    if (text === the('word').value) the('steps').replaceChildren(...parts);
  }
}

/** @param {any} found */
function chunk(found) {
  const note = found.note === 'special' ? 'a special token' : found.note;
  const steps = found.steps.map(step);
  const section = make('section', { className: 'chunk' },
    make('h3', {}, make('code', { className: 'word' }, found.chunk), ' ',
      make('span', { className: 'of' }, `${many(found.ids.length, 'token')}${note ? ` · ${note}` : ''}`)));
  if (steps.length) section.append(make('ol', { className: 'steps' }, ...steps));
  section.append(make('p', { className: 'ids' }, 'ids ', make('code', {}, found.ids.join(' '))));
  return section;
}

/** @param {any} found */
function step(found) {
  const [first, end] = found.marked;
  const parts = found.parts.map((/** @type {string} */ part, /** @type {number} */ at) => {
    const name = at >= first && at < end ? 'mark' : 'span';
    return make(name, { className: 'piece' }, ...visible(part, true));
  });
  const row = make('li', {}, make('div', { className: 'pieces' }, ...parts));
  if (found.items.length) row.append(make('div', { className: 'pairs' }, ...pairs(found)));
  return row;
}

/** The pairs that could be merged, in the order of their ranks. @param {any} found */
function* pairs(found) {
  for (const [at, item] of found.items.entries()) {
    if (at) yield item.lead;
    const parts = item.parts.map((/** @type {string} */ part) => part.replaceAll(' ', '·'));
    yield make(item.taken ? 'strong' : 'span', {}, [...parts, item.figure].join(' ').trim());
  }
  if (found.more) yield ` … ${found.more} more`;
}

export class IdsPanel {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {() => string[]} keys
   * @param {(text: string) => void} open shows a text in the text field
   */
  constructor(engine, keys, open) {
    this.engine = engine;
    this.keys = keys;
    the('id-list').addEventListener('input', later(() => this.draw(), 100));
    the('ids-to-text').onclick = () => open(this.text);
    this.text = '';
  }

  async draw() {
    const list = the('id-list').value;
    const [key] = this.keys();
    try {
      const { text, side, count } = await this.engine.ask('decode', { key, ids: numbers(list) });
      if (list !== the('id-list').value) return;
      this.text = text;
      the('ids-said').textContent = count ? `${many(count, 'token')} of ${shortName(key)}` : '';
      the('ids-said').classList.remove('error');
      the('decoded').replaceChildren(...drawSides(text, [side], [null], { spaces: false, ids: false }));
    } catch (error) {
      this.text = '';
      the('ids-said').textContent = error instanceof Error ? error.message : String(error);
      the('ids-said').classList.add('error');
      the('decoded').replaceChildren(make('div'));
    }
    the('decoded').hidden = !this.text;
    the('ids-to-text').disabled = !this.text;
  }
}

/** The numbers of a list with any separators: commas, spaces, lines, brackets. @param {string} list */
function numbers(list) {
  const wrong = list.match(/[^\d\s,;[\]()]+/);
  if (wrong) throw new Error(`${JSON.stringify(wrong[0])} is not an id: use whole numbers, such as [13225, 2375]`);
  return (list.match(/\d+/g) ?? []).map(Number);
}
