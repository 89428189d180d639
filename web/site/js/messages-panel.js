// A conversation, and the tokens that a model gets for it.
import { drawSides } from './block-view.js';
import { figure, later, make, many, the } from './dom.js';
import { keepMessages, keptMessages } from './keeping.js';
import { prepared } from './prepared.js';
import { requestOf, setUpRequest, textOf } from './request.js';

/** @typedef {import('./request.js').Request} Request */

/** The conversation of a first visit. @type {Request} */
const FIRST = {
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'What is a token?' },
  ],
  tools: null,
  response_format: null,
};
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];

export class MessagesPanel {
  /** @param {import('./engine.js').Engine} engine @param {import('./model-picker.js').ModelPicker} picker */
  constructor(engine, picker) {
    this.engine = engine;
    this.picker = picker;
    /** The request that was shown last: its messages may have been changed since. */ this.given = FIRST;
    this.run = 0;
    this.fill(keptRequest());
    the('add-message').onclick = () => {
      const last = [...the('messages').querySelectorAll('select')].pop();
      this.add(last?.value === 'user' ? 'assistant' : 'user', '').querySelector('textarea').focus();
      this.count();
    };
    const soon = later(() => this.count(), 150);
    addEventListener('pagehide', () => this.keep());
    the('messages').addEventListener('input', soon);
    setUpRequest(request => this.take(request));
  }

  /** @param {string} role @param {string} content */
  add(role, content) {
    const roles = ROLES.includes(role) ? ROLES : [...ROLES, role];
    const select = make('select', {}, ...roles.map(value => make('option', { value }, value)));
    select.value = role;
    const text = make('textarea', { value: content, rows: 3, spellcheck: false });
    const shown = make('div', { className: 'tokens of-message' }, make('div'));
    const remove = make('button', { type: 'button' }, 'Remove');
    const item = make('li', {},
      make('div', { className: 'message-head' }, make('label', {}, 'Role ', select),
        make('span', { className: 'tokens-of' }), remove),
      make('label', { className: 'grow' }, make('span', { className: 'hidden' }, 'Content'), text), shown);
    remove.onclick = () => {
      item.remove();
      this.count();
    };
    the('messages').append(item);
    return item;
  }

  get messages() {
    return [...the('messages').children].map(item => {
      const message = { ...item.given, role: item.querySelector('select').value };
      const content = item.querySelector('textarea').value;
      // What has parts, or no text at all, stays as it came until its text is changed.
      return content === item.text ? message : { ...message, content };
    });
  }

  /** The request with the messages as they are now. @returns {Request} */
  get request() {
    return { ...this.given, messages: this.messages };
  }

  /** Show the messages of a request. @param {Request} request */
  take(request) {
    this.fill(request);
    return this.count();
  }

  /** Show the conversation of a first visit again. */
  forget() {
    this.fill(FIRST);
  }

  /** @param {Request} request */
  fill(request) {
    the('messages').replaceChildren();
    this.given = request;
    for (const message of request.messages) {
      const text = textOf(message);
      Object.assign(this.add(message.role, text), { given: message, text });
    }
  }

  /** Keep the conversation for the next visit, unless it is that of a first one. */
  keep() {
    const json = JSON.stringify(this.request);
    keepMessages(json === JSON.stringify(FIRST) ? '' : json);
  }

  async count() {
    const run = ++this.run;
    const { request } = this;
    this.keep();
    const { model } = this.picker;
    let said = '';
    /** @type {number[]} */ let parts = [];
    /** @type {any[]} */ let sides = [];
    try {
      const encoding = await this.engine.ask('model', { model });
      await prepared(this.engine, [encoding]);
      const found = await this.engine.ask('conversation', { model, ...request });
      parts = found.parts;
      sides = await this.engine.ask('sides', { key: encoding, texts: found.texts });
      const own = parts.reduce((sum, one) => sum + one, 0);
      said = `${model}: ${found.note ? 'about ' : ''}${many(found.count, 'token')}: ${figure(own)} of the texts, `
        + `${figure(found.count - own)} of the format${request.tools ? `, of ${many(request.tools.length, 'tool')}` : ''}${request.response_format ? ', of the form of the reply' : ''} and of the beginning of the reply. `
        + `The model's encoding is ${encoding}.`
        + (found.note ? ` An estimate: ${found.note}.` : '');
    } catch (error) {
      said = error instanceof Error ? error.message : String(error);
    }
    if (run !== this.run) return;
    the('conversation-count').textContent = said;
    [...the('messages').children].forEach((item, at) => {
      const { text = '', side = { first: 0, cells: [] } } = sides[at] ?? {};
      item.querySelector('.of-message').replaceChildren(...drawSides(text, [side], [null], { spaces: false, ids: false }));
      item.querySelector('.tokens-of').textContent = parts[at] === undefined ? '' : many(parts[at], 'token');
    });
  }
}

/** Return the conversation that was kept, or that of a first visit. */
function keptRequest() {
  try {
    // A browser may have what another version kept.
    return requestOf(keptMessages());
  } catch {
    return FIRST;
  }
}
