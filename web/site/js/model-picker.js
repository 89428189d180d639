// The models to choose from, by family: each says its encoding and the most tokens it takes.
import { figure, make, the } from './dom.js';

export class ModelPicker {
  /** @param {import('./settings.js').Settings} settings */
  constructor(settings) {
    this.settings = settings;
    /** @type {Map<string, { encoding: string, context: number | null }>} */
    this.known = new Map();
    this.ready = this.fill();
    the('model').addEventListener('input', () => {
      const found = this.known.get(the('model').value);
      if (found) settings.choose(found.encoding);
      else settings.changed('model');
    });
  }

  async fill() {
    const families = await (await fetch('models.json')).json();
    const groups = families.map((/** @type {any} */ { family, models }) => make('optgroup', { label: family },
      ...models.map((/** @type {[string, string, number | null]} */ [name, encoding, context]) => {
        this.known.set(name, { encoding, context });
        const limit = context === null ? '' : ` · ${figure(context)}`;
        return make('option', { value: name }, `${name} – ${encoding}${limit}`);
      })));
    the('model').replaceChildren(make('option', { value: '' }, 'any'), ...groups);
    const wanted = this.settings.model;
    if (this.known.has(wanted)) the('model').value = wanted;
    this.follow();
  }

  /** Leave the model if another encoding than its own was chosen. */
  follow() {
    const found = this.known.get(the('model').value);
    if (found && found.encoding !== the('encoding').value) the('model').value = '';
  }

  /** The chosen model, or else the first one of the encoding: of its format there is none. */
  get model() {
    if (the('model').value) return the('model').value;
    const encoding = the('encoding').value;
    const usual = ['gpt-4o', 'gpt-4'].find(name => this.known.get(name)?.encoding === encoding);
    return usual ?? [...this.known].find(([, one]) => one.encoding === encoding)?.[0] ?? '';
  }

  /** What the chosen model takes, if that is known. */
  get context() { return this.known.get(the('model').value)?.context ?? null; }
}
