// What the visitor has chosen, in the form and in the link; and the views of the page.
import { setUpCopying, the } from './dom.js';
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

/** A longer link is cut off by some programs. */
const LONGEST = 100_000;

/**
 * @param {Settings} settings
 * @param {import('./text.js').Model} model
 */
export function setUpSharing(settings, model) {
  const write = () => {
    const text = the('with-text').checked ? model.text : null;
    const isLong = (text?.length ?? 0) > LONGEST;
    const link = location.href.replace(/#.*/, '') + settings.write(isLong ? null : text);
    the('link').value = isLong ? 'The text is too long for a link.' : link;
    the('copy-link').disabled = isLong;
  };
  the('share').onclick = () => {
    the('sharing').hidden = !the('sharing').hidden;
    the('share').setAttribute('aria-expanded', String(!the('sharing').hidden));
    write();
    if (!the('sharing').hidden) the('link').select();
  };
  the('share').setAttribute('aria-expanded', 'false');
  the('share').setAttribute('aria-controls', 'sharing');
  the('with-text').onchange = write;
  setUpCopying('copy-link', () => {
    the('link').select();
    return the('link').value;
  });
  settings.addEventListener('change', write);
  model.addEventListener('change', () => {
    if (!the('sharing').hidden && the('with-text').checked) write();
  });
}

/**
 * Make the tabs work; the function is called with the name of the one that is chosen.
 * @param {(name: string) => void} chosen
 */
export function setUpTabs(chosen) {
  const tabs = [...the('tabs').children];
  const show = (/** @type {any} */ tab) => {
    for (const one of tabs) {
      const isIt = one === tab;
      one.setAttribute('aria-selected', String(isIt));
      one.tabIndex = isIt ? 0 : -1;
      the(one.getAttribute('aria-controls')).hidden = !isIt;
    }
    chosen(tab.id.replace('tab-', ''));
  };
  the('tabs').addEventListener('click', (/** @type {any} */ event) => {
    if (tabs.includes(event.target)) show(event.target);
  });
  the('tabs').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const at = tabs.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.focus();
    show(tab);
  });
  return (/** @type {string} */ name) => show(the(`tab-${name}`));
}
