// The work that the page was asked for, and that which is done and drawn, as two numbers on the
// root element: `data-asked` and `data-answered`. What waits for the page waits until they are equal.

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
