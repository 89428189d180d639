// Files whose names say their content: fetched once, and kept for visits without a network.

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
