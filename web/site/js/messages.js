// A conversation, and the tokens that a model gets for it. A request to a service is shown as rows: its
// messages, and what it has beside them.
import { drawSides } from './block-view.js';
import { figure, later, make, many, the } from './dom.js';
import { keepMessages, keptMessages } from './keeping.js';
import { isEncoding, isEstimate, prepared } from './models.js';

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

/** The conversation of a first visit. */
const FIRST = {
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'What is a token?' },
  ],
};
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];
/** @type {Record<string, string>} */
const PARTS = { images: 'images', tools: 'tools', response_format: 'form of the reply' };

export class MessagesPanel {
  /**
   * @param {import('./engine.js').Engine} engine
   * @param {import('./settings.js').Settings} settings
   * @param {import('./models.js').Models} models
   */
  constructor(engine, settings, models) {
    this.engine = engine;
    this.settings = settings;
    this.models = models;
    /** The request that was shown last: its messages may have been changed since. @type {any} */ this.given = FIRST;
    this.note = '';
    this.run = 0;
    this.fill(keptRequest());
    the('add-message').onclick = () => {
      const last = [...the('messages').querySelectorAll('select')].pop();
      this.add({ member: '', given: { role: last?.value === 'user' ? 'assistant' : 'user', content: '' } }).querySelector('textarea').focus();
      this.count();
    };
    const soon = later(() => this.count(), 150);
    addEventListener('pagehide', () => this.keep());
    the('messages').addEventListener('input', soon);
    const form = the('request-form');
    const show = (/** @type {boolean} */ isOpen) => {
      form.hidden = !isOpen;
      the('paste-request').setAttribute('aria-expanded', String(isOpen));
    };
    the('paste-request').onclick = () => {
      show(form.hidden);
      if (!form.hidden) the('request').focus();
    };
    form.onsubmit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        await this.take(the('request').value);
        the('request-said').textContent = '';
        show(false);
      } catch (error) {
        the('request-said').textContent = error instanceof Error ? error.message : String(error);
      }
    };
  }

  /** @param {Row} row */
  add(row) {
    const { member, given } = row;
    const role = String(given.role ?? given.type);
    const select = make('select', { disabled: Boolean(member) || given.role === undefined },
      ...[...new Set([...ROLES, role])].map(value => make('option', { value }, value)));
    select.value = role;
    const text = make('textarea', { value: textOf(given), rows: 3, spellcheck: false });
    const shown = make('div', { className: 'tokens of-message' }, make('div'));
    const remove = make('button', { type: 'button' }, 'Remove');
    const item = make('li', {},
      make('div', { className: 'message-head' }, make('label', {}, 'Role ', select),
        ...chipsOf(given).map(chip => make('span', { className: 'chip' }, chip)),
        make('span', { className: 'tokens-of' }), remove),
      make('label', { className: 'grow' }, make('span', { className: 'hidden' }, 'Content'), text), shown);
    item.row = row;
    remove.onclick = () => {
      item.remove();
      this.count();
    };
    the('messages').append(item);
    return item;
  }

  /** The request with the messages as they are now. */
  get request() {
    return withRows(this.given, [...the('messages').children].map(item => {
      const { row } = item, role = item.querySelector('select').value, text = item.querySelector('textarea').value;
      const given = row.given.role === undefined ? row.given : { ...row.given, role };
      // What has parts, or no text at all, stays as it came until its text is changed.
      return { member: row.member, given: text === textOf(row.given) ? given : withText(given, text) };
    }));
  }

  /** Show a request in JSON, and choose its model; an error says what is wrong with it. @param {string} text */
  async take(text) {
    const { request, note } = await this.engine.ask('request', { text });
    const notes = [note];
    let entry = null;
    if (typeof request.model === 'string' && request.model !== this.settings.first.name) {
      try {
        entry = await this.models.meaning(request.model, 'model');
      } catch (error) {
        notes.push(`counted as ${this.settings.first.name}: ${error instanceof Error ? error.message : error}`);
      }
    }
    await this.ask(request, entry ?? this.settings.first);
    if (!isShown(request)) throw new Error('There are no messages to show.');
    this.fill(request, notes.filter(Boolean).join('; '));
    if (entry) this.settings.choose(entry); // which counts, too
    else await this.count();
  }

  /** Count a request. @param {any} request @param {import('./models.js').Entry} entry */
  async ask(request, entry) {
    await prepared(this.engine, [entry.key]);
    return this.engine.ask('conversation', { key: entry.key, model: isEncoding(entry) ? null : entry.name, request });
  }

  /** Show the conversation of a first visit again. */
  forget() {
    this.fill(FIRST);
  }

  /** @param {any} request @param {string} [note] */
  fill(request, note = '') {
    the('messages').replaceChildren();
    this.given = request;
    this.note = note;
    for (const row of rowsOf(request)) this.add(row);
    the('request-chips').replaceChildren(...chipsOfRequest(request).map(chip => make('span', { className: 'chip' }, chip)));
  }

  /** Keep the conversation for the next visit, unless it is that of a first one. */
  keep() {
    const json = JSON.stringify(this.request);
    keepMessages(json === JSON.stringify(FIRST) ? '' : json);
  }

  async count() {
    const run = ++this.run;
    const { request, settings: { first } } = this;
    this.keep();
    const notes = [this.note];
    if (typeof request.model === 'string' && request.model !== first.name && !this.note) notes.push(`the request is for ${request.model}`);
    let figures = [], parts = '';
    /** @type {any[]} */ let sides = [];
    try {
      const texts = rowsOf(request).map(({ given }) => textOf(given));
      const found = await this.ask(request, first);
      sides = await this.engine.ask('sides', { key: first.key, texts });
      const own = sides.reduce((sum, one) => sum + one.count, 0);
      const others = Object.values(/** @type {Record<string, number>} */ (found.parts)).reduce((sum, one) => sum + one, 0);
      const sign = found.note ? '≈ ' : '';
      figures = [make('strong', { className: 'count' }, sign + figure(found.count)), ` ${found.count === 1 ? 'token' : 'tokens'}`];
      if (found.note) notes.push(found.note);
      parts = [`texts ${figure(own)}`, ...Object.entries(found.parts).map(([name, tokens]) => `${PARTS[name]} ${figure(Number(tokens))}`),
        `format and start of the reply ${figure(found.count - own - others)}`].join(' · ');
    } catch (error) {
      figures = [make('span', { className: 'error' }, error instanceof Error ? error.message : String(error))];
    }
    if (run !== this.run) return;
    the('conversation-count').replaceChildren(...figures);
    the('conversation-parts').textContent = parts;
    the('conversation-note').textContent = notes.filter(Boolean).join('. ');
    [...the('messages').children].forEach((item, at) => {
      const { text = '', side = { first: 0, cells: [] }, count } = sides[at] ?? {};
      item.querySelector('.of-message').replaceChildren(...drawSides(text, [side], [null], { spaces: false, ids: false }));
      item.querySelector('.of-message').hidden = isEstimate(first.key);
      item.querySelector('.tokens-of').textContent = count === undefined ? '' : many(count, 'token');
    });
  }
}

/** Return the conversation that was kept, or that of a first visit. */
function keptRequest() {
  try {
    // A browser may have what another version kept.
    const request = JSON.parse(keptMessages());
    return isShown(request) ? request : FIRST;
  } catch {
    return FIRST;
  }
}
