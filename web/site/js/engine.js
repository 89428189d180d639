// The page's side of the worker: questions, and promises of their answers; and the line that says how far
// the page is, which is never "Ready." while something loads.
import { later, the, work } from './dom.js';

const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('compat-bpe', {
  createScriptURL: (/** @type {string} */ url) => url,
});

/**
 * Return the address of a script of ours, as browsers with trusted types want it.
 * @param {string} url
 */
export const trusted = url => policy?.createScriptURL(url) ?? url;

export class Engine {
  constructor() {
    // A worker made of a blob has this page's Content-Security-Policy, wherever it is published;
    // one that is loaded by its address has only that of the server's headers.
    const address = new URL('worker.js', document.baseURI).href;
    const source = new Blob([`import ${JSON.stringify(address)};`], { type: 'text/javascript' });
    const url = URL.createObjectURL(source);
    /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
    this.waiting = new Map();
    this.asked = 0;
    this.worker = new Worker(trusted(url), { type: 'module' });
    this.progressed = (/** @type {{ bytes: number, total: number }} */ progress) => {};
    this.worker.onmessage = ({ data: { id, value, error, progress } }) => {
      if (progress !== undefined) {
        this.progressed(progress);
        return;
      }
      const { resolve, reject } = /** @type {any} */ (this.waiting.get(id));
      this.waiting.delete(id);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    };
    this.worker.onerror = event => {
      const error = new Error(event.message || 'the worker cannot be loaded');
      for (const { reject } of this.waiting.values()) reject(error);
      this.waiting.clear();
    };
  }

  /**
   * @param {string} kind
   * @param {any} asked
   * @returns {Promise<any>}
   */
  post(kind, asked) {
    return work(new Promise((resolve, reject) => {
      this.waiting.set(++this.asked, { resolve, reject });
      this.worker.postMessage({ id: this.asked, kind, asked });
    }));
  }

  /**
   * Start Python, with the vocabularies of some encodings.
   * @param {string[]} keys
   */
  start(keys) { return this.post('start', { keys }); }

  /**
   * Fetch the vocabularies of some encodings, unless they are there.
   * @param {string[]} keys
   */
  prepare(keys) { return this.post('prepare', { keys }); }

  /**
   * Ask compat_bpe something.
   * @param {string} ask
   * @param {Record<string, any>} [more]
   */
  ask(ask, more = {}) { return this.post('ask', { question: { ask, ...more } }); }

  /**
   * Count a file by the chosen encodings.
   * @param {ArrayBuffer} data
   */
  countFile(data) { return this.post('file', { data }); }

  /**
   * Load an encoding from files, and return its key. The worker reads of each what it needs.
   * @param {File[]} files
   * @param {string} pattern
   */
  load(files, pattern = '') { return this.post('load', { files, pattern }); }
}

/** The page's worker. It starts here, which the page loads before its other modules. */
export const engine = new Engine();

/** @type {string[]} what loads now */
const loading = [];
let isStarted = false;
let isBusy = false;
let isSlow = false; // busy for so long that it is worth saying

/** @param {string} text @param {string} [kind] */
export function setStatus(text, kind = '') {
  if (the('status').textContent === text) return; // not to be read out again
  the('status').textContent = text;
  the('status').className = kind;
}

/** Say that the figures are not yet those of the text, or that they are. @param {boolean} busy */
export function setBusy(busy) {
  the('counts').setAttribute('aria-busy', String(busy));
  isBusy = busy;
  if (!busy) isStarted = true;
  isSlow &&= busy;
  show();
  if (busy) sayBusySoon();
}

/**
 * Say what is loading until a promise is settled, and return its value.
 * @template T
 * @param {string} text
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function whileLoading(text, promise) {
  loading.push(text);
  show();
  try {
    return await promise;
  } finally {
    loading.splice(loading.indexOf(text), 1);
    show();
  }
}

function show() {
  if (loading.length) setStatus(loading[loading.length - 1]);
  else if (!isStarted) return; // Python starts, or could not
  else if (isSlow) setStatus('Counting…');
  else if (!isBusy || the('status').className !== 'ready') setStatus(isBusy ? 'Counting…' : 'Ready.', isBusy ? '' : 'ready');
}

const sayBusySoon = later(() => {
  isSlow = isBusy;
  show();
}, 400, false);
