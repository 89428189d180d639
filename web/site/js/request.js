// A request to a service as rows: its messages, and what it has beside them.

/**
 * One row: a message, an item of the input, or a text beside them such as "system".
 * @typedef {{ member: string, given: any }} Row
 */

/** The name of the list of a request. @param {any} request */
const listOf = request => (request.messages === undefined && request.input !== undefined ? 'input' : 'messages');

/** Return the rows of a request. @param {any} request @returns {Row[]} */
export function rowsOf(request) {
  const list = listOf(request), items = request[list];
  const beside = (list === 'input' ? ['instructions'] : ['system'])
    .filter(name => typeof request[name] === 'string' || Array.isArray(request[name]))
    .map(member => ({ member, given: { role: 'system', content: request[member] } }));
  if (typeof items === 'string') return [...beside, { member: 'input', given: { role: 'user', content: items } }];
  return [...beside, ...items.map((/** @type {any} */ given) => ({ member: '', given }))];
}

/** Return a request with other rows. @param {any} request @param {Row[]} rows */
export function withRows(request, rows) {
  const list = listOf(request);
  const made = { ...request };
  for (const name of ['system', 'instructions']) if (rowsOf(request).some(({ member }) => member === name)) delete made[name];
  for (const { member, given } of rows) if (member) made[member] = given.content;
  const items = rows.filter(({ member }) => !member).map(({ given }) => given);
  if (typeof request[list] !== 'string') made[list] = items;
  else if (items.length || made[list] === undefined) { // a text that is followed by messages is one of them
    const first = rows.find(({ member }) => member === list);
    made[list] = [...(first ? [first.given] : []), ...items];
  }
  return made;
}

/** Tell if a request has rows that can be shown. @param {any} request */
export const isShown = request => {
  const items = request?.[listOf(request ?? {})];
  return typeof items === 'string'
    || (Array.isArray(items) && items.length > 0 && items.every(one => one && typeof one === 'object' && (typeof (one.role ?? one.type) === 'string')));
};

const isText = (/** @type {any} */ part) => typeof part?.text === 'string';

/** Return the text of a message, also of one in parts. @param {any} given @returns {string} */
export function textOf({ content, output, arguments: input }) {
  if (Array.isArray(content)) return content.filter(isText).map(({ text }) => text).join('');
  const text = content ?? output ?? input ?? '';
  return typeof text === 'string' ? text : JSON.stringify(text);
}

/** Return a message with another text; what it has beside texts stays. @param {any} given @param {string} text */
export function withText(given, text) {
  const { content } = given;
  if (Array.isArray(content) && content.some(isText)) {
    const first = content.find(isText);
    return { ...given, content: content.filter(part => part === first || !isText(part)).map(part => (part === first ? { ...part, text } : part)) };
  }
  if (Array.isArray(content)) return { ...given, content: [{ type: 'text', text }, ...content] };
  const member = ['output', 'arguments'].find(name => typeof given[name] === 'string' && content === undefined) ?? 'content';
  return { ...given, [member]: text };
}

/** Name what a message has beside its text. @param {any} given @returns {string[]} */
export function chipsOf(given) {
  const parts = (Array.isArray(given.content) ? given.content : []).filter((/** @type {any} */ part) => part && !isText(part));
  const calls = [...(given.tool_calls ?? []), ...(given.function_call ? [given.function_call] : []), ...(given.type === 'function_call' ? [given] : [])];
  return [
    ...calls.map(call => `calls ${call.function?.name ?? call.name ?? call.type}`),
    ...parts.map((/** @type {any} */ part) => (/image/.test(part.type) ? 'image' : /tool_use/.test(part.type) ? `calls ${part.name}` : String(part.type))),
  ];
}

/** Name what a request has beside its rows. @param {any} request @returns {string[]} */
export const chipsOfRequest = request => [
  ...(request.tools ?? request.functions ?? []).map((/** @type {any} */ tool) => `tool ${tool?.function?.name ?? tool?.name ?? tool?.type}`),
  ...(request.response_format ?? request.text?.format ? [`form of the reply: ${(request.response_format ?? request.text.format).type}`] : []),
];
