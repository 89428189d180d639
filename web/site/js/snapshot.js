// Python's memory after its start, kept by the browser: later visits begin there, several times
// sooner. It is taken before any text is known, so it has nothing of the visitor in it.

import { OWN } from './kept.js';

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
 * Return the memory of an earlier visit of the same version, or null.
 * @param {Promise<{ version: string }>} build
 * @returns {Promise<Uint8Array | null>}
 */
export async function readSnapshot(build) {
  try {
    const names = await caches.keys();
    // On a first visit nothing waits for the network.
    if (!names.some(name => name.startsWith(OWN))) return null;
    const kept = await caches.match(NAME, { cacheName: cacheName(await build) });
    if (!kept?.body) return null;
    const stream = kept.body.pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    return null;
  }
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
