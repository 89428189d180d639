// Characters that cannot be seen, shown.

/** What is drawn as nothing, or changes how other text is drawn. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u2000-\u200a\u202f\u205f\u3000\u3164]/u;
/** What joins and styles the characters of emoji and of some scripts is drawn as part of them. */
const JOINERS = /[\u200c\u200d\u{e0020}-\u{e007f}]/u;

/**
 * Return a part of the text as nodes in which everything can be seen.
 * @param {string} text
 * @param {boolean} everySpace show the spaces that stand with other characters, too
 * @returns {Node[]}
 */
export function visible(text, everySpace) {
  const isBlank = !/\S/.test(text);
  /** @type {Node[]} */ const nodes = [];
  let plain = '';
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = '';
  };
  const show = (/** @type {string} */ shown, /** @type {string} */ kind) => {
    flush();
    const mark = document.createElement('i');
    mark.className = kind;
    mark.textContent = shown;
    nodes.push(mark);
  };
  const joins = /[\p{L}\p{So}\p{Extended_Pictographic}]/u.test(text);
  for (const char of text) {
    if (char === '\n') {
      show('↵', 'mark');
      plain = '\n';
    } else if (char === '\t') {
      show('→', 'mark');
      plain = '\t';
    } else if (char === ' ') {
      if (isBlank || everySpace) show('·', 'mark');
      else plain += char;
    } else if (HIDDEN.test(char) && !(joins && JOINERS.test(char))) {
      show(name(char), 'code');
    } else plain += char;
  }
  flush();
  return nodes;
}

/** @param {string} char */
const name = char => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
