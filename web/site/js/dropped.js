// Files and folders that were dropped or chosen.

/**
 * A file with its path below what was dropped.
 * @typedef {{ path: string, file: File }} Found
 */

/** The most files that are taken at once. */
export const MOST = 20_000;

/**
 * Return the files of a drop, those in folders included.
 * @param {DataTransfer} transfer
 * @returns {Promise<{ found: Found[], hidden: number, folders: boolean }>}
 */
export async function filesOfDrop(transfer) {
  // The list of items is gone after the first await.
  const items = [...transfer.items].map(item => ({ entry: item.webkitGetAsEntry?.(), file: item.getAsFile() }));
  const entries = items.map(({ entry }) => entry).filter(Boolean);
  /** @type {Found[]} */ const found = [];
  const seen = { hidden: 0 };
  for (const { entry, file } of items) {
    if (entry) await walk(entry, '', found, seen);
    else if (file) found.push({ path: file.name, file });
  }
  return { found, hidden: seen.hidden, folders: entries.some(entry => entry?.isDirectory) };
}

/**
 * Return the files that were chosen in a dialog.
 * @param {FileList} list
 */
export function filesOfDialog(list) {
  const all = [...list].map(file => ({ path: file.webkitRelativePath || file.name, file }));
  const found = all.filter(({ path }) => !path.split('/').slice(1).some(isHidden));
  return { found: found.slice(0, MOST), hidden: all.length - found.length, folders: all.some(({ path }) => path.includes('/')) };
}

/** In a folder, hidden files are left out, as on the command line. @param {string} name */
const isHidden = name => name.startsWith('.');

/**
 * @param {any} entry
 * @param {string} folder
 * @param {Found[]} found
 * @param {{ hidden: number }} seen
 */
async function walk(entry, folder, found, seen) {
  const path = folder + entry.name;
  if (folder && isHidden(entry.name)) {
    seen.hidden++;
    return;
  }
  if (found.length >= MOST) return;
  if (entry.isFile) {
    found.push({ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    /** @type {any[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const one of some) await walk(one, `${path}/`, found, seen);
  }
}
