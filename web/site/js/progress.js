// How much of what the page needs has come. The worker imports it before anything fetches.

const COUNTED = /\.(wasm|zip|bin|pack)$/;

/**
 * Call a function with the number of bytes of all that is fetched from now on, as they come.
 * @param {(bytes: number) => void} tell
 */
export function countFetched(tell) {
  const plain = globalThis.fetch;
  let bytes = 0;
  globalThis.fetch = async (asked, options) => {
    const answer = await plain(asked, options);
    if (!answer.ok || !answer.body || !COUNTED.test(new URL(answer.url || String(asked), location.href).pathname)) return answer;
    const counted = answer.body.pipeThrough(new TransformStream({
      transform(part, out) {
        bytes += part.byteLength;
        tell(bytes);
        out.enqueue(part);
      },
    }));
    const { status, headers } = answer;
    const same = new Response(counted, { status, headers });
    Object.defineProperty(same, 'url', { value: answer.url });
    return same;
  };
}
