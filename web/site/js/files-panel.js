// The table of files: the tokens of each, as it is on the disk, and the total.
import { figure, make, many, the } from './dom.js';
import { csv, save } from './csv.js';
import { shortName } from './encodings.js';

/** The most rows that are shown at first. */
const SHOWN = 500;
/** The largest file that is opened in the text field. */
const OPENED = 20_000_000;

/**
 * @typedef {import('./dropped.js').Found} Found
 * @typedef {Found & { bytes: number, counts: number[], error: string }} Row
 */

export class FilesPanel {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {() => string[]} keys
   * @param {(path: string, text: string) => void} open
   */
  constructor(engine, keys, open) {
    this.engine = engine;
    this.keys = keys;
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
    const said = !rows.length ? 'No files yet: choose some, or drop files and folders anywhere on the page.'
      : done.length < rows.length ? `Counting: ${figure(done.length)} of ${many(rows.length, 'file')}…`
        : `${many(good.length, 'file')} counted as they are${good.length < rows.length ? `, ${figure(rows.length - good.length)} not` : ''}.`;
    the('files-said').textContent = [said, this.note].filter(Boolean).join(' ');
    if (!rows.length) return;
    const [head, body, foot] = ['thead', 'tbody', 'tfoot'].map(part => the('files-table').querySelector(part));
    const columns = [['path', 'File'], ['bytes', 'Bytes'], ...keys.map((key, at) => [String(at), shortName(key)])];
    head.replaceChildren(make('tr', {}, ...columns.map(([order, text]) => this.header(order, text))));
    const shown = this.sorted().slice(0, this.all ? rows.length : SHOWN);
    body.replaceChildren(...shown.map(row => line(row, keys.length)));
    const totals = keys.map((_, at) => good.reduce((sum, row) => sum + row.counts[at], 0));
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

/** @param {Row} row @param {number} columns */
function line(row, columns) {
  const name = row.counts.length
    ? make('button', { type: 'button', className: 'name', title: 'Open as text', data: { path: row.path } }, row.path)
    : make('span', { className: 'name' }, row.path);
  const cells = row.error
    ? [make('td', { className: 'error', colSpan: columns }, row.error)]
    : Array.from({ length: columns }, (_, at) =>
      make('td', {}, row.counts.length ? figure(row.counts[at]) : '…'));
  return make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, figure(row.bytes)), ...cells);
}
