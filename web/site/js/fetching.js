// What the worker fetches: files as one bundle, vocabularies that are kept for visits without a network,
// how much has come, and Python's memory after its start.

/**
 * Return the files of a bundle, as web/build.py makes it.
 * @param {Response} answer
 * @returns {Promise<[string, Uint8Array][]>}
 */
export async function unbundle(answer) {
  if (!answer.ok || !answer.body) throw new Error(`${answer.url}: ${answer.status}`);
  const data = await decompressed(answer);
  const length = new DataView(data).getUint32(0, true);
  const names = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let at = 4 + length;
  return names.map((/** @type {[string, number]} */ [name, size]) => {
    const part = new Uint8Array(data, at, size);
    at += size;
    return [name, part];
  });
}

/** The beginning of the names of the page's caches: other builds may be at the same address. */
export const OWN = `compat-bpe ${new URL('../', import.meta.url).pathname} `;
const KEPT = `${OWN}packs`;

/**
 * Return the bytes of a file.
 * @param {URL} url
 * @returns {Promise<Uint8Array>}
 */
export async function fetchKept(url) {
  const cache = await open();
  let answer = await cache?.match(url);
  if (!answer) {
    const name = url.pathname.replace(/.*\/|-[0-9a-f]+\.pack$/g, '');
    answer = await fetch(url).catch(() => {
      throw new Error(`The vocabulary ${name} is not kept here, and cannot be fetched without a network.`);
    });
    if (!answer.ok) throw new Error(`The vocabulary ${name} cannot be fetched: ${answer.status}.`);
    // A full disk must not keep the page from counting.
    await cache?.put(url, answer.clone()).catch(() => {});
  }
  return new Uint8Array(await answer.arrayBuffer());
}

/** Caches are there only on https and this machine, and not in some private windows. */
async function open() {
  try {
    return await globalThis.caches?.open(KEPT);
  } catch {
    return undefined;
  }
}

const COUNTED = /\.(wasm|zip|bin|pack)$/, COMPRESSED = /\.(wasm|zip)$/;

/**
 * Call a function with the number of bytes of all that is fetched from now on, as they come. Pyodide's
 * files are compressed ones, see web/build.py, which it is given as they were.
 * @param {(bytes: number) => void} tell
 * @returns {Promise<void>} settled when all of Pyodide's have come
 */
export function countFetched(tell) {
  const plain = globalThis.fetch;
  let bytes = 0, missing = 2;
  let come = () => {};
  const runtime = new Promise(done => { come = () => done(undefined); });
  globalThis.fetch = async (asked, options) => {
    const url = asked instanceof Request ? asked.url : String(asked);
    if (!COUNTED.test(url)) return plain(asked, options);
    const isCompressed = COMPRESSED.test(url);
    const answer = await plain(isCompressed ? `${url}.bin` : asked, options);
    if (!answer.ok || !answer.body) return answer;
    let body = answer.body.pipeThrough(new TransformStream({
      transform(part, out) {
        bytes += part.byteLength;
        tell(bytes);
        out.enqueue(part);
      },
      flush() {
        if (isCompressed && !--missing) come();
      },
    }));
    if (isCompressed) body = body.pipeThrough(new DecompressionStream('gzip'));
    const { status } = answer;
    // Only what says that it is WebAssembly is compiled while it comes.
    const headers = url.endsWith('.wasm') ? { 'Content-Type': 'application/wasm' } : answer.headers;
    const same = new Response(body, { status, headers });
    Object.defineProperty(same, 'url', { value: answer.url });
    return same;
  };
  return runtime;
}

const NAME = new URL('../snapshot', import.meta.url).href;

/** @param {{ version: string }} build */
const cacheName = build => `${OWN}${build.version}`;

/** Tell if this browser keeps anything for the page. */
export function canKeep() {
  try {
    return Boolean(globalThis.caches);
  } catch {
    return false; // where the visitor forbids it, asking is an error
  }
}

/**
 * Return the memory of an earlier visit of the same version, compressed, or null.
 * @param {Promise<{ version: string }>} build
 */
export async function keptSnapshot(build) {
  try {
    const names = await caches.keys();
    // On a first visit nothing waits for the network.
    if (!names.some(name => name.startsWith(OWN))) return null;
    return await caches.match(NAME, { cacheName: cacheName(await build) }) ?? null;
  } catch {
    return null;
  }
}

/** Return the bytes of a compressed answer. @param {Response} answer */
export async function decompressed(answer) {
  const stream = /** @type {ReadableStream} */ (answer.body).pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/**
 * Keep the memory for later visits.
 * @param {{ version: string }} build
 * @param {Uint8Array} memory
 */
export async function keepSnapshot(build, memory) {
  const stream = new Blob([/** @type {any} */ (memory)]).stream().pipeThrough(new CompressionStream('gzip'));
  const packed = await new Response(stream).blob();
  if (await isReplaced(build)) return;
  await (await caches.open(cacheName(build))).put(NAME, new Response(packed));
}

/**
 * Tell if a newer version has deleted what this one kept; opening the cache would make it anew.
 * @param {{ version: string }} build
 */
async function isReplaced(build) {
  const versions = (await caches.keys()).filter(name => name.startsWith(OWN) && name !== `${OWN}packs`);
  return versions.length > 0 && !versions.includes(cacheName(build));
}

/** Forget what is kept, since it could not be used. @param {{ version: string }} build */
export async function forgetSnapshot(build) {
  if (await caches.has(cacheName(build))) await (await caches.open(cacheName(build))).delete(NAME);
}
