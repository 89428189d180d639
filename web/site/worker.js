// The Web Worker: runs compat_bpe in Pyodide and answers what the page asks.
//
// All that is fetched comes from the folder of the page. What Python needs to start is fetched first, and
// while it starts, the package and the vocabulary come. At a later visit all is kept, and nothing waits.
import './js/module-worker.js';
import { canKeep, countFetched, decompressed, fetchKept, forgetSnapshot, keepSnapshot, keptSnapshot, unbundle } from './js/fetching.js';
import { loadPyodide } from './pyodide/pyodide.mjs';

const ROOT = new URL('.', import.meta.url);
const CODE = '/compat_bpe_page';
/** The folder of dropped files while an encoding is loaded from them. */
const DROPPED = '/dropped';
const began = performance.now();
/** @type {Record<string, number>} milliseconds since the start, by step */
const times = {};
const mark = step => { times[step] = Math.round(performance.now() - began); };

/** @type {any} */ let python;
/** @type {any} */ let desk;
let packsFolder = '';

/** @type {Record<string, number> | null} */ let sizes = null;
/** @type {Set<string>} the packs that the first count waits for */
let awaited = new Set();
let isStarted = false;
let told = 0;
const runtimeFetched = countFetched(bytes => {
  if (isStarted || !sizes) return;
  const names = Object.keys(sizes).filter(name => !name.startsWith('packs/') || awaited.has(name));
  const total = names.reduce((sum, name) => sum + (sizes?.[name] ?? 0), 0);
  const share = Math.min(bytes / total, 1);
  if (share - told < 0.01) return; // not for every packet
  told = share;
  postMessage({ progress: { bytes: Math.min(bytes, total), total } });
});

const build = fetch(new URL('build.json', ROOT)).then(answer => answer.json());
/** Python's memory of an earlier visit, compressed. */
const memory = canKeep() ? keptSnapshot(build) : Promise.resolve(null);
/** Settled when the rest may be fetched. */
const runtimeCame = memory.then(kept => (kept ? undefined : runtimeFetched));
const settings = {
  indexURL: new URL('pyodide/', ROOT).href,
  stdout: () => {},
  stderr: (/** @type {string} */ text) => console.error(text),
};
/** True if Python began with the memory of an earlier visit. */
let isContinued = false;
const runtime = startPython().then(loaded => { mark('runtime'); return loaded; });
const code = runtimeCame.then(() => fetch(new URL('package.bin', ROOT))).then(unbundle);
/** Each pack is fetched once. @type {Map<string, Promise<Uint8Array>>} */
const packs = new Map();
/** @type {Set<string>} */ const written = new Set();

async function startPython() {
  const kept = await memory;
  if (kept) {
    const found = decompressed(kept); // while the runtime comes
    found.catch(() => {}); // Pyodide awaits it, but later
    try {
      const loaded = await loadPyodide({ ...settings, _loadSnapshot: found });
      isContinued = true;
      return loaded;
    } catch {
      await forgetSnapshot(await build).catch(() => {}); // damaged: Python starts as on a first visit
    }
  }
  return loadPyodide({ ...settings, _makeSnapshot: canKeep() });
}

/** Return the packs of encodings; dropped ones have none. @param {string[]} keys */
async function packsOf(keys) {
  const { encodings } = await build;
  return [...new Set(keys.map(key => encodings[key]).filter(Boolean))];
}

/** @param {string} name */
function fetchPack(name) {
  if (!packs.has(name)) {
    packs.set(name, runtimeCame.then(() => build).then(({ packs: known }) => fetchKept(new URL(known[name], ROOT))));
    packs.get(name)?.catch(() => packs.delete(name)); // to be tried again
  }
  return packs.get(name);
}

/** Write files where Python looks for them. @param {[string, Uint8Array][]} files */
function write(files) {
  const folders = new Set();
  for (const [name, data] of files) {
    const path = `${CODE}/${name}`;
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (!folders.has(folder)) python.FS.mkdirTree(folder);
    folders.add(folder);
    python.FS.writeFile(path, data);
  }
}

/** What is asked while only that is there which counts and shows a text, as web/in_pyodide.py finds it. */
const EARLY = new Set(['choose', 'edit', 'blocks', 'cut', 'part']);
/** @type {Promise<void> | undefined} */ let rest;

/** Fetch what the first count can do without. */
function fetchRest() {
  rest ??= fetch(new URL('rest.bin', ROOT)).then(unbundle).then(files => {
    write(files);
    python.runPython('import sys; sys.path_importer_cache.clear()');
  });
  rest.catch(() => { rest = undefined; }); // to be tried again
  return rest;
}

/** Put the packs of encodings where the package looks for them. @param {string[]} keys */
async function prepare(keys) {
  for (const name of await packsOf(keys)) {
    const data = await fetchPack(name);
    if (written.has(name)) continue;
    written.add(name);
    python.FS.writeFile(`${packsFolder}/${name}.pack`, data);
  }
}

/** @param {string[]} keys the first encodings */
async function start(keys) {
  packsOf(keys).then(async names => {
    names.forEach(fetchPack);
    const known = await build;
    awaited = new Set(names.map(name => known.packs[name]));
    sizes = known.sizes;
  });
  python = await runtime;
  guardReading();
  write(await code);
  mark('package');
  packsFolder = `${CODE}/compat_bpe/encodings/packs`;
  python.FS.mkdirTree(packsFolder);
  python.runPython(`
import sys
if "${CODE}" not in sys.path:
    sys.path.insert(0, "${CODE}")
import counting_page.desk`);
  mark('import');
  if (!isContinued && canKeep()) keepLater(python.makeMemorySnapshot());
  desk = python.runPython('counting_page.desk.Desk()');
  await prepare(keys);
  mark('pack');
  isStarted = true;
  return { times, isContinued };
}

/** Keep Python's memory when the first counts are done. @param {Uint8Array} memory */
function keepLater(memory) {
  setTimeout(async () => keepSnapshot(await build, memory).catch(() => {}), 3000);
}

/** The answers that are not given by Python alone. @type {Record<string, (asked: any) => any>} */
const answers = {
  start: ({ keys }) => start(keys),
  prepare: ({ keys }) => prepare(keys),
  ask: async ({ question }) => {
    const { early } = await build;
    const isEarly = EARLY.has(question.ask) && (question.keys ?? []).every((/** @type {string} */ key) => early.includes(key));
    if (!isEarly) await fetchRest();
    const answer = answered(desk.answer(JSON.stringify(question)));
    if (question.ask === 'choose') setTimeout(() => fetchRest().catch(() => {}));
    return answer;
  },
  file: async ({ data }) => {
    await fetchRest();
    return JSON.parse(desk.count_file(python.toPy(new Uint8Array(data)).tobytes()));
  },
  load: async ({ files, pattern }) => {
    await fetchRest();
    // Of a GGUF file of 40 GB only the beginning is read: no file is in memory as a whole.
    mount(DROPPED, files);
    try {
      return answered(desk.load(DROPPED, pattern));
    } finally {
      python.FS.unmount(DROPPED);
    }
  },
};

/** Make it an error of Python's, which else would stop, that a file was changed or removed. */
function guardReading() {
  const { FS, ERRNO_CODES } = python;
  const operations = FS.filesystems.WORKERFS.stream_ops;
  const { read } = operations;
  operations.read = (/** @type {any[]} */ ...asked) => {
    try {
      return read(...asked);
    } catch {
      throw new FS.ErrnoError(ERRNO_CODES.EIO);
    }
  };
}

/**
 * Put files into a folder, each to be read when and as far as Python does.
 * @param {string} folder
 * @param {File[]} files
 */
function mount(folder, files) {
  const { FS } = python;
  FS.mkdirTree(folder);
  // A name may have folders in it, which are left out.
  const named = new Map(files.map(file => [file.name.replace(/^.*[/\\]/s, ''), file]));
  const blobs = [...named].map(([name, data]) => ({ name, data }));
  FS.mount(FS.filesystems.WORKERFS, { blobs }, folder);
}

/** @param {string} text */
function answered(text) {
  const { value, error } = JSON.parse(text);
  if (error !== undefined) throw new Error(error);
  return value;
}

// One after the other: an edit must not overtake the one before it.
let last = Promise.resolve();
addEventListener('message', ({ data: { id, kind, asked } }) => {
  last = last.then(async () => {
    try {
      postMessage({ id, value: await answers[kind](asked) });
    } catch (error) {
      // Of an error of Python's the last line is for visitors.
      const message = error instanceof Error ? error.message.trim() : String(error);
      postMessage({ id, error: message.slice(message.lastIndexOf('\n') + 1) });
    }
  });
});
