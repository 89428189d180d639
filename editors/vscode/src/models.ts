// The models that the package knows, with the tokens that they take.
import names from './names.json';
import { Choice } from './settings';

export const MODELS: readonly string[] = names.models;
export const ENCODINGS: readonly string[] = names.encodings;
const CONTEXTS: Record<string, number> = names.contexts;

/** Return the tokens that a model takes; undefined if that is not known. */
export function contextOf(choice: Choice): number | undefined {
  return choice.kind === 'model' ? CONTEXTS[choice.name] : undefined;
}
