// What the visitor has chosen, in the form and in the link.
import { make, the } from './dom.js';
import { names, ships } from './encodings.js';

/**
 * @typedef {object} Chosen
 * @property {string} encoding
 * @property {string} other empty if there is nothing to compare with
 * @property {number | null} limit
 * @property {boolean} special
 * @property {boolean} spaces
 */

export class Settings extends EventTarget {
  constructor() {
    super();
    this.fill();
    for (const id of ['encoding', 'other', 'limit', 'special', 'spaces']) {
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
   * Take the settings of a link; return the text in it, or null.
   * @param {string} hash
   */
  read(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ''));
    const encoding = given.get('encoding') ?? '', other = given.get('compare') ?? '';
    if (ships(encoding)) the('encoding').value = encoding;
    if (ships(other)) the('other').value = other;
    if (/^\d{1,12}$/.test(given.get('limit') ?? '')) the('limit').value = given.get('limit');
    the('special').checked = given.get('special') === '1';
    the('spaces').checked = given.get('spaces') === '1';
    return given.get('text');
  }

  /**
   * Return the part of a link behind "#", which browsers do not send to any server.
   * @param {string | null} text the text to put into it
   */
  write(text) {
    const { encoding, other, limit, special, spaces } = this.chosen;
    const given = new URLSearchParams();
    if (ships(encoding)) given.set('encoding', encoding);
    if (ships(other)) given.set('compare', other);
    if (limit !== null) given.set('limit', String(limit));
    if (special) given.set('special', '1');
    if (spaces) given.set('spaces', '1');
    if (text !== null) given.set('text', text);
    return `#${given}`;
  }
}
