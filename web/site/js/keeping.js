// The browser keeps the text, the messages and the loaded tokenizers from visit to visit. They stay
// on this machine, and one button forgets them.

const PATH = new URL('./', document.baseURI).pathname;
const TEXT = `compat_bpe text ${PATH}`;
const MESSAGES = `compat_bpe messages ${PATH}`;
const CHOSEN = `compat_bpe chosen ${PATH}`;
/** Not among the caches of a version, which a newer one deletes. */
const FILES = `compat-bpe-own ${PATH}`;
/** Longer texts are not kept: browsers have room for some megabytes. */
const LONGEST_TEXT = 2_000_000;
const LARGEST_FILES = 100_000_000;

/** Where a visitor forbids it, asking for the storage is an error. @param {string} key */
function read(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string} value */
function write(key, value) {
  try {
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  } catch {
    // It is full, or forbidden: then nothing is kept, rather than something old.
    try { localStorage.removeItem(key); } catch { /* forbidden */ }
  }
}

export const keptText = () => read(TEXT);

/** @param {string} text */
export const keepText = text => write(TEXT, text.length > LONGEST_TEXT ? '' : text);

/** Return the kept conversation as JSON; empty if there is none. */
export const keptMessages = () => read(MESSAGES) ?? '';

/** @param {string} json */
export const keepMessages = json => write(MESSAGES, json.length > LONGEST_TEXT ? '' : json);

/** The names of the chosen encodings, since keys of loaded ones are of one visit. @returns {string[]} */
export function keptChoice() {
  try {
    return JSON.parse(read(CHOSEN) ?? '[]');
  } catch {
    return [];
  }
}

/** @param {string[]} names */
export const keepChoice = names => write(CHOSEN, JSON.stringify(names));

/**
 * Keep the files of a loaded tokenizer; return false if they are too large or there is no room.
 * @param {string} name
 * @param {File[]} files
 * @param {string} pattern
 */
export async function keepFiles(name, files, pattern) {
  if (files.reduce((sum, file) => sum + file.size, 0) > LARGEST_FILES) return false;
  try {
    const cache = await caches.open(FILES);
    const known = (await cache.keys()).length;
    const form = new FormData();
    form.set('about', JSON.stringify({ name, pattern }));
    for (const file of files) form.append('files', file, file.name);
    await cache.put(`${PATH}own/${String(known).padStart(4, '0')}-${Date.now()}`, new Response(form));
    return true;
  } catch {
    return false;
  }
}

/** Return the kept tokenizers, in the order in which they were loaded. */
export async function keptFiles() {
  /** @type {{ name: string, files: File[], pattern: string }[]} */ const found = [];
  try {
    if (!(await caches.has(FILES))) return found;
    const cache = await caches.open(FILES);
    for (const request of await cache.keys()) {
      const form = await (await cache.match(request))?.formData();
      if (!form) continue;
      const { name, pattern } = JSON.parse(String(form.get('about')));
      found.push({ name, pattern, files: /** @type {File[]} */ (form.getAll('files')) });
    }
  } catch { /* no https, or forbidden */ }
  return found;
}

/** Forget all that the visitor put in. */
export async function forgetAll() {
  for (const key of [TEXT, MESSAGES, CHOSEN]) write(key, '');
  try {
    await caches.delete(FILES);
  } catch { /* nothing is kept then */ }
}
