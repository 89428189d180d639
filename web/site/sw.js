// The service worker: the page without a network, from the second visit on.
const BUILD = 'BUILD';
// An address may have several builds of the page, each in a folder: a folder's caches are its own.
const OWN = `compat-bpe ${new URL('./', location.href).pathname} `;
const SHELL = `${OWN}${BUILD.version}`;
const KEPT = `${OWN}packs`;

addEventListener('install', event => event.waitUntil(keep()));
addEventListener('activate', event => event.waitUntil(Promise.all([forget(), clients.claim()])));
addEventListener('fetch', event => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== location.origin) return;
  event.respondWith(answer(event.request));
  // An open page of the version before may have kept something since that version was forgotten.
  if (event.request.mode === 'navigate') event.waitUntil(forget());
});

async function keep() {
  const cache = await caches.open(SHELL);
  // The browser may have files of an older version, and no-cache makes it ask if they are the newest.
  const files = ['./', 'build.json', ...BUILD.files];
  await cache.addAll(files.map(path => new Request(path, { cache: 'no-cache' })));
  // An open page has all that it needs of the version before, and the next visit gets this one.
  await skipWaiting();
}

/** Delete what older versions of the page kept; a pack of the same content stays. */
async function forget() {
  const names = (await caches.keys()).filter(name => name.startsWith(OWN) && name !== SHELL && name !== KEPT);
  // A newer version keeps its files while it waits to follow this one: they are not older.
  if (registration.installing || registration.waiting) return;
  await Promise.all(names.map(name => caches.delete(name)));
  const known = new Set(Object.values(BUILD.packs).map(path => new URL(path, location.href).href));
  const packs = await caches.open(KEPT);
  for (const request of await packs.keys()) {
    if (!known.has(request.url)) await packs.delete(request);
  }
}

/** @param {Request} request */
async function answer(request) {
  // Opening a cache would make it anew: a newer version may have deleted it while this one answers.
  return await caches.match(request, { cacheName: SHELL, ignoreSearch: true })
    ?? await caches.match(request, { cacheName: KEPT })
    ?? fetch(request);
}
