// The line that says how far the page is. It is never "Ready." while something loads.
import { later, the } from './dom.js';

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
