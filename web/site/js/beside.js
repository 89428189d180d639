// What can be done beside counting: copy what fits a limit, take the parts, count by every encoding.
import { save } from './csv.js';
import { figure, later, make, many, setUpCopying, the } from './dom.js';
import { names, ships } from './encodings.js';
import { prepared } from './prepared.js';

/** The longest text that is counted by every encoding whenever it changes. */
const LONGEST = 100_000;

/** The bar below the text, when it is over the limit. */
export class Fitting {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {import('./model.js').Model} model
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
      the('everywhere').replaceChildren('All encodings: ', ...keys.flatMap((key, at) => {
        const button = make('button', { type: 'button', data: { key } }, make('strong', {}, figure(counts[at])), ` ${key}`);
        button.onclick = () => this.choose(key);
        return at ? [' · ', button] : [button];
      }));
    } catch (error) {
      the('everywhere').textContent = error instanceof Error ? error.message : String(error);
    }
  }
}
