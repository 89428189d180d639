// Tokenizers from the visitor's files.
import { failure, figure, goOn, notice, the } from './dom.js';
import { names } from './encodings.js';
import { keepFiles, keptFiles } from './keeping.js';
import { whileLoading } from './status.js';

export class TokenizerFiles {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {import('./models.js').Models} models
   * @param {(entry: import('./models.js').Entry) => void} loaded
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
      the('pattern-why').textContent = `How does ${name} split a text? A name, or a pattern`;
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
