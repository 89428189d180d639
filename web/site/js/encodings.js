// The encodings to choose from, and their names for people.

/** @type {[string, string][]} */
const SHIPPED = [
  ['o200k_base', 'GPT-4o, GPT-4.1, GPT-5, o1, o3'],
  ['cl100k_base', 'GPT-4, GPT-3.5, text-embedding-3'],
  ['o200k_harmony', 'gpt-oss'],
  ['deepseek_v4', 'DeepSeek V4'],
  ['deepseek_v3', 'DeepSeek V3'],
  ['deepseek_r1', 'DeepSeek R1'],
  ['p50k_base', 'text-davinci-003'],
  ['p50k_edit', 'edit models'],
  ['r50k_base', 'GPT-3'],
  ['gpt2', 'GPT-2'],
];

/** Files that are a tokenizer, by their names. */
const TOKENIZER = new RegExp(`^(${[
  'tokenizer(\\.tok)?\\.json', 'tekken\\.json', 'vocab\\.(json|txt|bpe)', 'encoder\\.json', 'merges\\.txt',
  'rwkv_vocab_v\\d+\\.txt', 'bpe_simple_vocab_16e6\\.txt\\.gz', '.*\\.(tiktoken|gguf)', '.*\\.model(\\.v\\d+(m\\d+)?)?',
  // Ranks as tiktoken's ports to JavaScript have them.
  `(${SHIPPED.map(([key]) => key).join('|')})\\.json`,
].join('|')})$`, 'i');
/** What may lie beside such a file, and says more of it. */
const BESIDE = /^(tokenizer_config|special_tokens_map|added_tokens|manifest|config)\.json$/i;

/** @type {Map<string, string>} the keys of encodings, and their names for people */
export const names = new Map(SHIPPED.map(([key, models]) => [key, `${key} – ${models}`]));

/** Return the short name of an encoding. @param {string} key */
export const shortName = key => (key.startsWith('file:') ? names.get(key) ?? key : key);

/** Tell if a key stands for an estimate. @param {string} key */
export const isEstimate = key => key.startsWith('≈');

/** Tell if an encoding ships with the page. @param {string} key */
export const ships = key => SHIPPED.some(([one]) => one === key);

/**
 * Tell if files, dropped by themselves, are a tokenizer and not texts.
 * @param {string[]} files
 */
export const areTokenizer = files =>
  files.some(name => TOKENIZER.test(name)) && files.every(name => TOKENIZER.test(name) || BESIDE.test(name));
