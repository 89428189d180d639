// Several files as one: a list of names and sizes, then all contents, compressed.

/**
 * Return the files of a bundle, as web/build.py makes it.
 * @param {Response} answer
 * @returns {Promise<[string, Uint8Array][]>}
 */
export async function unbundle(answer) {
  if (!answer.ok || !answer.body) throw new Error(`${answer.url}: ${answer.status}`);
  const stream = answer.body.pipeThrough(new DecompressionStream('gzip'));
  const data = await new Response(stream).arrayBuffer();
  const length = new DataView(data).getUint32(0, true);
  const names = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let at = 4 + length;
  return names.map((/** @type {[string, number]} */ [name, size]) => {
    const part = new Uint8Array(data, at, size);
    at += size;
    return [name, part];
  });
}
