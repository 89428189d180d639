// Files and folders, dropped or chosen: the table with the tokens of each, as it is on the disk.
import { csv, figure, make, many, save, the } from './dom.js';
import { shortName } from './models.js';

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

/** The most rows that are shown at first. */
const SHOWN = 500;
/** The largest file that is opened in the text field. */
const OPENED = 20_000_000;

/**
 * @typedef {Found} Found
 * @typedef {Found & { bytes: number, counts: number[], error: string }} Row
 */

export class FilesPanel {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {() => string[]} keys
   * @param {() => number | null} limit
   * @param {(path: string, text: string) => void} open
   */
  constructor(engine, keys, limit, open) {
    this.engine = engine;
    this.keys = keys;
    this.limit = limit;
    this.open = open;
    /** @type {Row[]} */ this.rows = [];
    this.order = 'path';
    this.run = 0;
    this.all = false;
    this.note = '';
    the('csv').onclick = () => save('tokens.csv', this.csv(), 'text/csv');
    the('forget-files').onclick = () => this.set([], '');
    the('files-table').addEventListener('click', (/** @type {any} */ event) => {
      const { order, path } = event.target.dataset ?? {};
      if (order !== undefined) {
        this.order = order;
        this.draw();
      } else if (path !== undefined) this.openRow(path);
    });
  }

  /** Show these files. @param {Found[]} found @param {string} note */
  set(found, note) {
    this.rows = found.map(one => ({ ...one, bytes: one.file.size, counts: [], error: '' }));
    this.note = note;
    this.all = false;
    return this.count();
  }

  /** Count all files, by the encodings that are chosen now. */
  async count() {
    const run = ++this.run;
    for (const row of this.rows) row.counts = [];
    this.draw();
    let drawn = performance.now();
    for (const row of this.rows) {
      try {
        const { counts = [], error = '' } = await this.engine.countFile(await row.file.arrayBuffer());
        Object.assign(row, { counts, error });
      } catch (error) {
        Object.assign(row, { counts: [], error: error instanceof Error ? error.message : String(error) });
      }
      if (run !== this.run) return; // others were chosen meanwhile
      if (performance.now() - drawn > 250) {
        this.draw();
        drawn = performance.now();
      }
    }
    this.draw();
  }

  /** The table as it is sorted, without the total. */
  csv() {
    const keys = this.keys();
    return csv([['file', 'bytes', ...keys.map(shortName), 'error'], ...this.sorted().map(row =>
      [row.path, row.bytes, ...keys.map((_, at) => row.counts[at] ?? ''), row.error])]);
  }

  draw() {
    const { rows } = this;
    const keys = this.keys();
    the('files-wide').hidden = !rows.length;
    the('csv').disabled = !rows.some(row => row.counts.length || row.error);
    const done = rows.filter(row => row.counts.length || row.error);
    const good = rows.filter(row => row.counts.length);
    const limit = this.limit();
    const over = good.filter(row => isOver(row, limit)).length;
    const said = !rows.length ? 'No files yet: choose some, or drop files and folders anywhere on the page.'
      : done.length < rows.length ? `Counting: ${figure(done.length)} of ${many(rows.length, 'file')}…`
        : `${many(good.length, 'file')} counted${good.length < rows.length ? `, ${figure(rows.length - good.length)} not` : ''}${over ? `; ${figure(over)} over the limit` : ''}.`;
    the('files-said').textContent = [said, this.note].filter(Boolean).join(' ');
    if (!rows.length) return;
    const [head, body, foot] = ['thead', 'tbody', 'tfoot'].map(part => the('files-table').querySelector(part));
    const columns = [['path', 'File'], ['bytes', 'Bytes'], ...keys.map((key, at) => [String(at), shortName(key)])];
    head.replaceChildren(make('tr', {}, ...columns.map(([order, text]) => this.header(order, text))));
    const shown = this.sorted().slice(0, this.all ? rows.length : SHOWN);
    const totals = keys.map((_, at) => good.reduce((sum, row) => sum + row.counts[at], 0));
    body.replaceChildren(...shown.map(row => line(row, keys.length, totals[0], limit)));
    const bytes = good.reduce((sum, row) => sum + row.bytes, 0);
    foot.replaceChildren(make('tr', {}, make('th', { scope: 'row' }, 'Total'),
      ...[bytes, ...totals].map(one => make('td', {}, figure(one)))));
    if (shown.length < rows.length) {
      const more = make('button', { type: 'button' }, `Show all ${many(rows.length, 'file')}`);
      more.onclick = () => {
        this.all = true;
        this.draw();
      };
      foot.prepend(make('tr', {}, make('td', { colSpan: columns.length }, more)));
    }
  }

  /** @param {string} order @param {string} text */
  header(order, text) {
    const isOrder = order === this.order;
    const button = make('button', { type: 'button', className: 'sort', data: { order } }, text);
    const cell = make('th', { scope: 'col' }, button);
    cell.setAttribute('aria-sort', !isOrder ? 'none' : order === 'path' ? 'ascending' : 'descending');
    return cell;
  }

  sorted() {
    const { order } = this;
    const value = (/** @type {Row} */ row) => (order === 'bytes' ? row.bytes : row.counts[Number(order)] ?? -1);
    return [...this.rows].sort((one, other) =>
      (order === 'path' ? 0 : value(other) - value(one)) || (one.path < other.path ? -1 : 1));
  }

  /** @param {string} path */
  async openRow(path) {
    const row = this.rows.find(one => one.path === path);
    if (!row) return;
    if (row.file.size > OPENED) {
      row.error = `too large for the text field (over ${figure(OPENED)} bytes)`;
      this.draw();
      return;
    }
    const data = await row.file.arrayBuffer();
    this.open(row.path, new TextDecoder('utf-8', { ignoreBOM: true }).decode(data));
  }
}

/** Tell if a file has more tokens than the limit, by the first tokenizer. @param {Row} row @param {number | null} limit */
const isOver = (row, limit) => limit !== null && row.counts[0] > limit;

/**
 * @param {Row} row
 * @param {number} columns
 * @param {number} total the tokens of all files, by the first tokenizer
 * @param {number | null} limit
 */
function line(row, columns, total, limit) {
  const name = row.counts.length
    ? make('button', { type: 'button', className: 'name', title: 'Open as text', data: { path: row.path } }, row.path)
    : make('span', { className: 'name' }, row.path);
  const cells = row.error
    ? [make('td', { className: 'error', colSpan: columns }, row.error)]
    : Array.from({ length: columns }, (_, at) =>
      make('td', {}, row.counts.length ? figure(row.counts[at]) : '…'));
  if (isOver(row, limit)) cells[0].className = 'limit over';
  cells[0].style.setProperty('--share', `${total && !row.error ? ((row.counts[0] ?? 0) / total) * 100 : 0}%`);
  return make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, figure(row.bytes)), ...cells);
}
