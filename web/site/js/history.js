// What was done to the text, to be undone and done again. A browser's own history of a text field
// ends where a script puts another part of the text into it.

/**
 * One step: at a place a text was removed, and another one put there.
 * @typedef {{ start: number, removed: string, text: string }} Step
 */

const MOST = 40_000_000; // UTF-16 units in all steps; older ones are forgotten

export class History {
  constructor() {
    /** @type {Step[]} */ this.done = [];
    /** @type {Step[]} */ this.undone = [];
    this.units = 0;
    this.isOpen = false; // what is typed next may belong to the last step
  }

  /**
   * Remember a step.
   * @param {Step} step
   * @param {boolean} isTyped true if it may be one with the step typed before
   */
  add(step, isTyped) {
    for (const one of this.undone) this.units -= size(one);
    this.undone = [];
    const last = this.done[this.done.length - 1];
    const joined = isTyped && this.isOpen && last ? join(last, step) : null;
    if (joined) {
      this.done.pop();
      this.units -= size(last);
    }
    // A slice would keep all of the text that it is from in memory; its copy does not.
    const made = joined ?? { ...step, removed: structuredClone(step.removed) };
    this.isOpen = isTyped && size(made) > 0; // a letter that was typed and deleted is no step
    if (size(made)) this.done.push(made);
    this.units += size(made);
    while (this.units > MOST && this.done.length > 1) this.units -= size(/** @type {Step} */ (this.done.shift()));
  }

  /** End a step: what is typed next is another one. */
  close() { this.isOpen = false; }

  /** Return what undoes the last step; null if there is none. @returns {Step | null} */
  undo() {
    const step = this.done.pop();
    if (!step) return null;
    this.undone.push(step);
    this.close();
    return { start: step.start, removed: step.text, text: step.removed };
  }

  /** Return the step that was undone last; null if there is none. @returns {Step | null} */
  redo() {
    const step = this.undone.pop();
    if (!step) return null;
    this.done.push(step);
    this.close();
    return step;
  }
}

/** @param {Step} step */
const size = step => step.removed.length + step.text.length;

/**
 * Return two steps as one, or null: a step is a word that was typed, or a run of deletions.
 * @param {Step} last
 * @param {Step} step
 * @returns {Step | null}
 */
function join(last, step) {
  const end = step.start + step.removed.length;
  if (!last.text && !step.text) {
    if (step.removed.length > 2) return null; // more than a character
    if (end === last.start) return { ...last, start: step.start, removed: step.removed + last.removed };
    return step.start === last.start ? { ...last, removed: last.removed + step.removed } : null;
  }
  // What changes in a word that is still typed, as with a keyboard that suggests words.
  if (step.start < last.start || end > last.start + last.text.length) return null;
  const isNew = !step.removed && (step.text.length > 2 || (/\s$/.test(last.text) && !/^\s/.test(step.text)));
  if (isNew) return null;
  const from = step.start - last.start;
  return { ...last, text: last.text.slice(0, from) + step.text + last.text.slice(from + step.removed.length) };
}
