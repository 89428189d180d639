// The tokenizers to choose from: models, encodings, estimates and the visitor's files.
import { names } from './encodings.js';
import { failure, figure, goOn, make, notice } from './dom.js';

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} key what the worker counts by; empty if the page cannot count it
 * @property {number | null} context the most tokens that it takes, if that is known
 * @property {string} family
 * @property {string} [hint] without a key: what to do
 * @property {string} [rule] why a model that is not listed has its encoding
 */

const ENCODINGS = 'Encodings', OWN = 'Your files';
/** The most that are listed at once. */
const SHOWN = 100;

/** Tell if an entry is an encoding, and no model. @param {Entry} entry */
export const isEncoding = ({ family }) => family === ENCODINGS || family === OWN;

export class Models {
  /** @param {import('./engine.js').Engine} engine */
  constructor(engine) {
    this.engine = engine;
    /** @type {Entry[]} */ this.entries = [];
    this.ready = this.fetch();
  }

  async fetch() {
    const families = await (await fetch('models.json')).json();
    this.entries = families.flatMap((/** @type {any} */ { family, models }) => models.map(
      (/** @type {[string, string, number | null, string]} */ [name, key, context, hint]) => ({ name, key, context, hint, family })));
  }

  /** Add a tokenizer from files, and return its entry. @param {string} key @param {string} name */
  add(key, name) {
    names.set(key, name);
    const entry = { name, key, context: null, family: OWN };
    this.entries.unshift(entry);
    return entry;
  }

  /**
   * Return the entry of a name; null if it is not listed.
   * @param {string} name
   * @param {string} [field] "model" or "encoding" if it must be one
   */
  find(name, field = '') {
    return this.entries.find(one => one.name === name && one.key
      && (!field || isEncoding(one) === (field === 'encoding'))) ?? null;
  }

  /**
   * Return what a name means, also one that is not listed; an error says why it means nothing.
   * @param {string} name
   * @param {string} [field]
   * @returns {Promise<Entry>}
   */
  async meaning(name, field = '') {
    const listed = this.find(name, field);
    if (listed) return listed;
    const found = await this.engine.ask('find', { name, field });
    return { ...found, family: found.field === 'encoding' ? ENCODINGS : '' };
  }

  /** Return the entries that have all of some words; first those whose names begin with them. @param {string} text */
  search(text) {
    const wanted = text.toLowerCase(), words = wanted.split(/\s+/);
    const found = this.entries.filter(({ name, family }) => words.every(word => `${name} ${family}`.toLowerCase().includes(word)));
    const begins = (/** @type {Entry} */ { name }) => Number(name.toLowerCase().startsWith(wanted));
    return found.sort((one, other) => begins(other) - begins(one));
  }
}

/** A field in which a tokenizer is looked for: a combobox with a list below it. */
export class Picker {
  /**
   * @param {any} field
   * @param {Models} models
   * @param {(entry: Entry) => void} choose
   */
  constructor(field, models, choose) {
    this.field = field;
    this.models = models;
    this.choose = choose;
    this.shown = ''; // what the field says while nothing is looked for
    /** @type {Entry[]} */ this.found = [];
    this.active = -1;
    this.list = make('div', { id: `${field.id}-list`, className: 'options', hidden: true, role: 'listbox', ariaLabel: field.labels[0].textContent });
    field.after(this.list);
    field.setAttribute('aria-controls', this.list.id);
    field.addEventListener('focus', () => field.select());
    field.addEventListener('click', () => this.open(''));
    field.addEventListener('input', () => this.open(field.value.trim()));
    field.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => this.pressed(event));
    field.addEventListener('blur', () => this.close());
    this.list.addEventListener('pointerdown', (/** @type {Event} */ event) => event.preventDefault()); // the focus stays
    this.list.addEventListener('click', (/** @type {any} */ event) => {
      const option = event.target.closest('[role=option]');
      if (option) this.take(this.found[Number(option.dataset.at)]);
    });
  }

  /** @param {string} text */
  show(text) {
    this.shown = text;
    if (this.list.hidden) this.field.value = text;
  }

  /** @param {string} text what is looked for */
  open(text) {
    this.found = this.models.search(text).slice(0, SHOWN);
    /** @type {any[]} */ const groups = [];
    this.found.forEach((entry, at) => {
      if (!at || this.found[at - 1].family !== entry.family) {
        groups.push(make('div', { role: 'group', ariaLabel: entry.family, className: 'family' }, make('div', { className: 'of', ariaHidden: 'true' }, entry.family)));
      }
      groups[groups.length - 1].append(make('div', { role: 'option', id: `${this.list.id}-${at}`, data: { at: String(at) }, ariaSelected: 'false' },
        make('span', {}, entry.name), make('small', { className: 'of' }, about(entry))));
    });
    if (!groups.length) groups.push(make('div', { role: 'option', ariaDisabled: 'true', ariaSelected: 'false' }, 'Enter looks for this name'));
    this.list.replaceChildren(...groups);
    this.list.hidden = false;
    this.field.setAttribute('aria-expanded', 'true');
    this.activate(text ? Math.max(0, this.found.findIndex(({ name }) => name === text)) : -1);
  }

  close() {
    this.list.hidden = true;
    this.field.setAttribute('aria-expanded', 'false');
    this.field.removeAttribute('aria-activedescendant');
    this.field.value = this.shown;
  }

  /** @param {number} at */
  activate(at) {
    this.list.querySelector('[aria-selected=true]')?.setAttribute('aria-selected', 'false');
    const option = document.getElementById(`${this.list.id}-${at}`);
    this.active = option ? at : -1;
    if (!option) {
      this.field.removeAttribute('aria-activedescendant');
      return;
    }
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    this.field.setAttribute('aria-activedescendant', option.id);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (this.list.hidden) this.open('');
      const { length } = this.found;
      if (length) this.activate((this.active + step + length) % length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const name = this.field.value.trim();
      if (this.found[this.active] && !this.list.hidden) this.take(this.found[this.active]);
      else if (name) this.ask(name);
    } else if (event.key === 'Escape' && !this.list.hidden) {
      event.stopPropagation();
      this.close();
    }
  }

  /** Take a name that is not listed. @param {string} name */
  async ask(name) {
    try {
      this.take(await this.models.meaning(name));
    } catch (error) {
      this.close();
      failure(error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {Entry} entry */
  take(entry) {
    this.close();
    goOn();
    if (entry.key) this.choose(entry);
    else notice(`${entry.name}: ${entry.hint}.`);
  }
}

/** What the list says beside a name. @param {Entry} entry */
function about({ name, key, context, hint }) {
  if (!key) return hint ?? '';
  const by = key.startsWith('≈') ? 'estimate' : key === name ? '' : key.startsWith('file:') ? '' : key;
  return [by, context === null ? '' : figure(context)].filter(Boolean).join(' · ');
}
