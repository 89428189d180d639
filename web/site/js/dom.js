// The elements of the page, what waits to be done and drawn, and files to save. Text becomes text: nothing
// here takes HTML.
//
// The work that the page was asked for, and that which is done and drawn, are two numbers on the root element:
// `data-asked` and `data-answered`. What waits for the page waits until they are equal.

const { dataset } = document.documentElement;
let asked = 0, answered = 0;

/** Some work was asked for. */
export function begun() { dataset.asked = String(++asked); }

/** It is done, or nothing will come of it. */
export function done() { dataset.answered = String(++answered); }

/**
 * Count what a promise stands for as work, and return its value.
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function work(promise) {
  begun();
  try {
    return await promise;
  } finally {
    setTimeout(done); // after what follows on it has begun
  }
}

/**
 * Call something before the next picture. @param {() => void} call @returns {number} as requestAnimationFrame
 */
export function nextFrame(call) {
  begun();
  return requestAnimationFrame(() => {
    try {
      call();
    } finally {
      done();
    }
  });
}

/**
 * Return the element of an id.
 * @param {string} id
 * @returns {any}
 */
export const the = id => document.getElementById(id);

/**
 * Make an element.
 * @param {string} name
 * @param {Record<string, any>} [properties] properties; `data` are data attributes
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  const { data = {}, aria = {}, ...others } = properties;
  Object.assign(element, others);
  Object.assign(element.dataset, data);
  for (const [key, value] of Object.entries(aria)) element.setAttribute(`aria-${key}`, value);
  element.append(...children);
  return element;
}

const figures = new Intl.NumberFormat('en');

/**
 * Return a number with separators.
 * @param {number} value
 */
export const figure = value => figures.format(value);

/**
 * Return a number with what is counted, in one or several.
 * @param {number} value
 * @param {string} what
 */
export const many = (value, what) => `${figure(value)} ${what}${value === 1 ? '' : 's'}`;

/**
 * Say something to the visitor, until it is closed.
 * @param {string} text
 * @param {Node[]} more
 */
export function notice(text, ...more) {
  const close = make('button', { type: 'button', className: 'close', aria: { label: 'Close' } }, '×');
  const box = make('p', { className: 'notice' }, make('span', {}, text), ...more, close);
  close.onclick = () => box.remove();
  the('notices').replaceChildren(box);
  return box;
}

/** Say that something failed, until it is closed or the visitor goes on. @param {string} text */
export function failure(text) {
  const box = notice(text);
  box.classList.add('failed');
  box.setAttribute('role', 'alert');
}

/** Take a failure away: the visitor has gone on. */
export const goOn = () => document.querySelector('.notice.failed')?.remove();

/**
 * Return a function that calls another once nothing was asked for so many milliseconds.
 * @param {() => void} call
 * @param {number} delay
 * @param {boolean} isWork false if no figure and no drawing comes of it
 */
export function later(call, delay, isWork = true) {
  /** @type {any} */ let timer;
  return () => {
    if (timer !== undefined) clearTimeout(timer);
    else if (isWork) begun();
    timer = setTimeout(() => {
      timer = undefined;
      try {
        call();
      } finally {
        if (isWork) done();
      }
    }, delay);
  };
}

/**
 * Make a button copy a text, and say if it did.
 * @param {string} id
 * @param {() => string | Promise<string>} text
 */
export function setUpCopying(id, text) {
  const button = the(id), label = button.textContent;
  const reset = later(() => { button.textContent = label; }, 1500, false);
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(await text());
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not copied'; // without https a page may not, or the visitor forbids it
    }
    reset();
  };
}

/** @param {(string | number)[][]} rows */
export const csv = rows => rows.map(row => `${row.map(field).join(',')}\r\n`).join('');

/** @param {string | number} value */
const field = value => (/[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

/**
 * Save a text as a file.
 * @param {string} name
 * @param {string} text
 * @param {string} type
 */
export function save(name, text, type) {
  const link = document.createElement('a');
  link.download = name;
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
