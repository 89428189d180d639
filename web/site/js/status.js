// The line that says how far the page is.
import { later, the } from './dom.js';

/** @param {string} text @param {string} [kind] */
export function setStatus(text, kind = '') {
  if (the('status').textContent === text) return; // not to be read out again
  the('status').textContent = text;
  the('status').className = kind;
}

/** Say that the figures are not yet those of the text, or that they are. @param {boolean} isBusy */
export function setBusy(isBusy) {
  the('counts').setAttribute('aria-busy', String(isBusy));
  if (isBusy) sayBusySoon();
  else setStatus('Ready.', 'ready');
}

const sayBusySoon = later(() => {
  const isReady = the('status').className === 'ready'; // else Python starts, or could not
  if (isReady && the('counts').getAttribute('aria-busy') === 'true') setStatus('Counting…');
}, 400);
