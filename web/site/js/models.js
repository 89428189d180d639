// The tokenizers to choose from: models, encodings, estimates and the visitor's files; the fields to choose
// them in; and the loading of files.
import { failure, figure, goOn, make, notice, the } from './dom.js';
import { whileLoading } from './engine.js';
import { keepFiles, keptFiles } from './keeping.js';

/** @type {[string, string][]} */
const SHIPPED = [
  ['o200k_base', 'GPT-4o, GPT-4.1, GPT-5, o1, o3'],
  ['cl100k_base', 'GPT-4, GPT-3.5, text-embedding-3'],
  ['o200k_harmony', 'gpt-oss'],
  ['deepseek_v4', 'DeepSeek V4'],
  ['deepseek_v3', 'DeepSeek V3'],
  ['deepseek_r1', 'DeepSeek R1'],
  ['p50k_base', 'text-davinci-003'],
  ['p50k_edit', 'edit models'],
  ['r50k_base', 'GPT-3'],
  ['gpt2', 'GPT-2'],
];

/** Files that are a tokenizer, by their names. */
const TOKENIZER = new RegExp(`^(${[
  'tokenizer(\\.tok)?\\.json', 'tekken\\.json', 'vocab\\.(json|txt|bpe)', 'encoder\\.json', 'merges\\.txt',
  'rwkv_vocab_v\\d+\\.txt', 'bpe_simple_vocab_16e6\\.txt\\.gz', '.*\\.(tiktoken|gguf)', '.*\\.model(\\.v\\d+(m\\d+)?)?',
  // Ranks as tiktoken's ports to JavaScript have them.
  `(${SHIPPED.map(([key]) => key).join('|')})\\.json`,
].join('|')})$`, 'i');
/** What may lie beside such a file, and says more of it. */
const BESIDE = /^(tokenizer_config|special_tokens_map|added_tokens|manifest|config)\.json$/i;

/** @type {Map<string, string>} the keys of encodings, and their names for people */
export const names = new Map(SHIPPED.map(([key, models]) => [key, `${key} – ${models}`]));

/** Return the short name of an encoding. @param {string} key */
export const shortName = key => (key.startsWith('file:') ? names.get(key) ?? key : key);

/** Tell if a key stands for an estimate. @param {string} key */
export const isEstimate = key => key.startsWith('≈');

/** Tell if an encoding ships with the page. @param {string} key */
export const ships = key => SHIPPED.some(([one]) => one === key);

/**
 * Tell if files, dropped by themselves, are a tokenizer and not texts.
 * @param {string[]} files
 */
export const areTokenizer = files =>
  files.some(name => TOKENIZER.test(name)) && files.every(name => TOKENIZER.test(name) || BESIDE.test(name));

/** @type {Set<string>} those that are there */
const ready = new Set();

/**
 * Fetch the vocabularies of some encodings, unless they are there.
 * @param {import('./engine.js').Engine} engine
 * @param {string[]} keys
 */
export async function prepared(engine, keys) {
  const missing = keys.filter(key => !ready.has(key));
  if (!missing.length) return;
  await whileLoading(`Loading ${missing.map(shortName).join(', ')}…`, engine.prepare(keys));
  for (const key of keys) ready.add(key);
}

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
    if (!groups.length) groups.push(make('div', { role: 'option', ariaDisabled: 'true', ariaSelected: 'false' }, 'Press Enter to look for this name'));
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

export class TokenizerFiles {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {Models} models
   * @param {(entry: Entry) => void} loaded
   */
  constructor(engine, models, loaded) {
    this.engine = engine;
    this.models = models;
    this.loaded = loaded;
    /** @type {File[]} */ this.files = [];
    the('load-encoding').onclick = () => the('encoding-files').click();
    the('encoding-files').onchange = () => {
      this.load([...the('encoding-files').files]);
      the('encoding-files').value = '';
    };
    the('pattern-form').onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.load(this.files, the('pattern').value);
    };
    the('pattern-cancel').onclick = () => {
      the('pattern-form').hidden = true;
      goOn();
    };
  }

  /** Load what the browser kept, under the names of before. */
  async restore() {
    for (const { name, files, pattern } of await keptFiles()) {
      try {
        const key = await whileLoading(`Loading ${name}…`, this.engine.load(files, pattern));
        this.models.add(key, name);
      } catch { /* another version may refuse it */ }
    }
  }

  /** @param {File[]} files @param {string} [pattern] */
  async load(files, pattern = '') {
    if (!files.length) return;
    this.files = files;
    the('pattern-form').hidden = true;
    const name = files.map(file => file.name).join(', ');
    const box = notice(`Reading ${name}…`);
    try {
      // A rank file may be one of the vocabularies that ship: then its pattern is known.
      if (!pattern && (await Promise.all(files.map(isRanks))).includes(true)) await this.engine.prepare(['o200k_base', 'cl100k_base', 'p50k_base', 'gpt2']);
      const key = await whileLoading(`Loading ${name}…`, this.engine.load(files, pattern));
      box.remove();
      const entry = this.models.add(key, unused(name, await this.engine.ask('size', { key })));
      this.loaded(entry);
      keepFiles(entry.name, files, pattern);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failure(message);
      if (!/give (a|the) pattern/.test(message)) return;
      the('pattern-why').textContent = `${name} has no known pattern: enter the name of one, or a regular expression`;
      the('pattern-form').hidden = false;
      the('pattern').focus();
    }
  }
}

/** Tell if a file is one of ranks: tokens in base64, each with its number. @param {File} file */
async function isRanks(file) {
  const beginning = await file.slice(0, 4096).text();
  return file.name.endsWith('.tiktoken') || /^\s*[A-Za-z0-9+/=]+[ \t]+\d+[ \t]*\r?\n/.test(beginning);
}

/**
 * Return a name that no other encoding has. Most files have the same name, and the end of a long one
 * is cut off where there is no room: so what tells them apart comes first.
 * @param {string} name
 * @param {number} size the number of tokens
 */
function unused(name, size) {
  const taken = new Set(names.values());
  const plain = `${name}, ${figure(size)} tokens`;
  let found = plain;
  for (let number = 2; taken.has(found); number++) found = `${number}: ${plain}`;
  return found;
}
