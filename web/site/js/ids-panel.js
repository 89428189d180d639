// A list of ids, and the text that they are.
import { later, make, many, the } from './dom.js';
import { shortName } from './encodings.js';
import { drawSides } from './block-view.js';

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
    the('ids-to-text').disabled = !this.text;
  }
}

/** The numbers of a list with any separators: commas, spaces, lines, brackets. @param {string} list */
function numbers(list) {
  const wrong = list.match(/[^\d\s,;[\]()]+/);
  if (wrong) throw new Error(`${JSON.stringify(wrong[0])} is no id: give whole numbers, such as [13225, 2375]`);
  return (list.match(/\d+/g) ?? []).map(Number);
}
