// The link that carries the settings; the text goes into it only if that is asked for.
import { setUpCopying, the } from './dom.js';

/** A longer link is cut off by some programs. */
const LONGEST = 100_000;

/**
 * @param {import('./settings.js').Settings} settings
 * @param {import('./model.js').Model} model
 */
export function setUpSharing(settings, model) {
  const write = () => {
    const text = the('with-text').checked ? model.text : null;
    const isLong = (text?.length ?? 0) > LONGEST;
    const link = location.href.replace(/#.*/, '') + settings.write(isLong ? null : text);
    the('link').value = isLong ? 'The text is too long for a link.' : link;
    the('copy-link').disabled = isLong;
  };
  the('share').onclick = () => {
    the('sharing').hidden = !the('sharing').hidden;
    the('share').setAttribute('aria-expanded', String(!the('sharing').hidden));
    write();
    if (!the('sharing').hidden) the('link').select();
  };
  the('share').setAttribute('aria-expanded', 'false');
  the('share').setAttribute('aria-controls', 'sharing');
  the('with-text').onchange = write;
  setUpCopying('copy-link', () => {
    the('link').select();
    return the('link').value;
  });
  settings.addEventListener('change', write);
  model.addEventListener('change', () => {
    if (!the('sharing').hidden && the('with-text').checked) write();
  });
}
