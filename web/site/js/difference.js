// The difference of two texts: one replacement that makes the second of the first.

/** @param {number} unit */
const isHigh = unit => (unit & 0xfc00) === 0xd800;
/** @param {number} unit */
const isLow = unit => (unit & 0xfc00) === 0xdc00;

/**
 * Return the replacement that makes one text of another; no surrogate pair is cut in two.
 * @param {string} before
 * @param {string} after
 * @returns {{ start: number, end: number, text: string } | null} null if they are equal
 */
export function difference(before, after) {
  if (before === after) return null;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let end = before.length, stop = after.length;
  while (end > start && stop > start && before.charCodeAt(end - 1) === after.charCodeAt(stop - 1)) {
    end--;
    stop--;
  }
  // Halves of pairs go with their other halves, on both sides and in both texts.
  if (start && isHigh(before.charCodeAt(start - 1))) start--;
  if (end < before.length && isLow(before.charCodeAt(end))) {
    end++;
    stop++;
  }
  return { start, end, text: after.slice(start, stop) };
}
