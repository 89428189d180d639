// What the visitor has chosen, in the form and in the link.
import { the } from './dom.js';
import { isEncoding } from './models.js';

/**
 * @typedef {import('./models.js').Entry} Entry
 * @typedef {object} Chosen
 * @property {number | null} limit
 * @property {boolean} special
 * @property {boolean} spaces show every space
 * @property {boolean} ids show ids in place of the text
 */

const CHECKS = ['special', 'spaces', 'ids'];
const DEFAULT = { name: 'gpt-4o', key: 'o200k_base', context: 128_000, family: 'GPT-4o' };

export class Settings extends EventTarget {
  constructor() {
    super();
    /** What counts. @type {Entry} */ this.first = DEFAULT;
    /** What it is compared with. @type {Entry | null} */ this.other = null;
    /** What is seen beside the text: the tab, and what is in it. @type {() => Record<string, string>} */
    this.view = () => ({});
    for (const id of ['limit', ...CHECKS]) the(id).addEventListener('input', () => this.changed(id));
    the('settings').addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
  }

  /** @param {string} id */
  changed(id) {
    if (id === 'limit') the('limit').reportValidity(); // in the visitor's language
    this.dispatchEvent(new CustomEvent('change', { detail: id }));
  }

  /** @returns {Chosen} */
  get chosen() {
    const limit = the('limit').value;
    return {
      limit: limit === '' || !the('limit').validity.valid ? null : Number(limit),
      special: the('special').checked,
      spaces: the('spaces').checked,
      ids: the('ids').checked,
    };
  }

  /** The keys of what is chosen. @returns {string[]} */
  get keys() {
    const { first, other } = this;
    return other && other.key !== first.key ? [first.key, other.key] : [first.key];
  }

  /** Choose what counts. @param {Entry} entry */
  choose(entry) {
    this.first = entry;
    this.changed('model');
  }

  /** Choose what it is compared with. @param {Entry | null} entry */
  compare(entry) {
    this.other = entry;
    this.changed('other');
  }

  /**
   * Take the settings of a link. What is not in it is not chosen; names are left to be looked for.
   * @param {string} hash
   */
  read(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ''));
    the('limit').value = /^\d{1,12}$/.test(given.get('limit') ?? '') ? given.get('limit') : '';
    for (const id of CHECKS) the(id).checked = given.get(id) === '1';
    const field = given.get('model') === null ? 'encoding' : 'model';
    return { field, first: given.get(field), other: given.get('compare'), text: given.get('text'), tab: given.get('tab') ?? 'text', word: given.get('word'), list: given.get('list') };
  }

  /**
   * Return the part of a link behind "#", which browsers do not send to any server.
   * @param {string | null} text the text to put into it
   */
  write(text) {
    const { first, other, chosen: { limit, ...checks } } = this;
    const given = new URLSearchParams();
    if (!first.key.startsWith('file:')) given.set(isEncoding(first) ? 'encoding' : 'model', first.name);
    if (other && !other.key.startsWith('file:')) given.set('compare', other.name);
    if (limit !== null) given.set('limit', String(limit));
    for (const [id, isChosen] of Object.entries(checks)) if (isChosen) given.set(id, '1');
    for (const [name, value] of Object.entries(this.view())) given.set(name, value);
    if (text !== null) given.set('text', text);
    return `#${given}`;
  }
}
