// Dropping files anywhere on the page.
import { the } from './dom.js';
import { filesOfDrop } from './dropped.js';

/** @param {(found: Awaited<ReturnType<typeof filesOfDrop>>) => void} dropped */
export function setUpDropping(dropped) {
  const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files');
  let depth = 0;
  document.addEventListener('dragenter', event => {
    if (!hasFiles(event)) return;
    depth++;
    the('drop').hidden = false;
  });
  document.addEventListener('dragleave', event => {
    if (!hasFiles(event) || --depth > 0) return;
    depth = 0;
    the('drop').hidden = true;
  });
  document.addEventListener('dragover', event => {
    if (hasFiles(event)) event.preventDefault();
  });
  document.addEventListener('drop', async event => {
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    depth = 0;
    the('drop').hidden = true;
    dropped(await filesOfDrop(event.dataTransfer));
  });
}
