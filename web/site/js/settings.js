// What the visitor has chosen, in the form and in the link.
import { make, the } from './dom.js';
import { names, ships } from './encodings.js';

/**
 * @typedef {object} Chosen
 * @property {string} encoding
 * @property {string} other empty if there is nothing to compare with
 * @property {number | null} limit
 * @property {boolean} special
 * @property {boolean} spaces show every space
 * @property {boolean} ids show ids in place of the text
 */

const CHECKS = ['special', 'spaces', 'ids'];

export class Settings extends EventTarget {
  constructor() {
    super();
    /** The model of the link, which the picker takes over. */
    this.model = '';
    this.fill();
    for (const id of ['encoding', 'other', 'limit', ...CHECKS]) {
      the(id).addEventListener('input', () => this.changed(id));
    }
    the('settings').addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
  }

  /** Fill the lists of encodings, and keep what is chosen. */
  fill() {
    for (const id of ['encoding', 'other']) {
      const chosen = the(id).value;
      const options = [...names].map(([value, text]) => make('option', { value }, text));
      if (id === 'other') options.unshift(make('option', { value: '' }, 'nothing'));
      the(id).replaceChildren(...options);
      if (chosen) the(id).value = chosen;
    }
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
      encoding: the('encoding').value,
      other: the('other').value,
      limit: limit === '' || !the('limit').validity.valid ? null : Number(limit),
      special: the('special').checked,
      spaces: the('spaces').checked,
      ids: the('ids').checked,
    };
  }

  /** The keys of the chosen encodings, each once. @returns {string[]} */
  get keys() {
    const { encoding, other } = this.chosen;
    return other && other !== encoding ? [encoding, other] : [encoding];
  }

  /** Choose an encoding. @param {string} key */
  choose(key) {
    the('encoding').value = key;
    this.changed('encoding');
  }

  /**
   * Take the settings of a link; return the text in it, or null. What is not in it is not chosen.
   * @param {string} hash
   */
  read(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ''));
    const encoding = given.get('encoding') ?? '', other = given.get('compare') ?? '';
    if (ships(encoding)) the('encoding').value = encoding;
    the('other').value = ships(other) ? other : '';
    the('limit').value = /^\d{1,12}$/.test(given.get('limit') ?? '') ? given.get('limit') : '';
    this.model = given.get('model') ?? '';
    for (const id of CHECKS) the(id).checked = given.get(id) === '1';
    return given.get('text');
  }

  /**
   * Return the part of a link behind "#", which browsers do not send to any server.
   * @param {string | null} text the text to put into it
   */
  write(text) {
    const { encoding, other, limit, ...checks } = this.chosen;
    const given = new URLSearchParams();
    if (ships(encoding)) given.set('encoding', encoding);
    if (the('model').value) given.set('model', the('model').value);
    if (ships(other)) given.set('compare', other);
    if (limit !== null) given.set('limit', String(limit));
    for (const [id, isChosen] of Object.entries(checks)) if (isChosen) given.set(id, '1');
    if (text !== null) given.set('text', text);
    return `#${given}`;
  }
}
