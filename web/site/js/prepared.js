// Vocabularies that are fetched when they are asked for, which the status line says.
import { shortName } from './encodings.js';
import { whileLoading } from './status.js';

/** @type {Set<string>} those that are there */
const ready = new Set();

/**
 * Fetch the vocabularies of some encodings, unless they are there.
 * @param {import('./engine.js').Engine} engine
 * @param {string[]} keys
 */
export async function prepared(engine, keys) {
  const missing = keys.filter(key => !ready.has(key));
  if (!missing.length) return;
  await whileLoading(`Loading ${missing.map(shortName).join(', ')}…`, engine.prepare(keys));
  for (const key of keys) ready.add(key);
}
