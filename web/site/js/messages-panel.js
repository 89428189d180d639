// A conversation, and the tokens that a model gets for it.
import { figure, later, make, many, the } from './dom.js';
import { prepared } from './prepared.js';

const MODELS = ['gpt-4o', 'gpt-4', 'gpt-3.5-turbo', 'gpt-5', 'gpt-oss-120b', 'deepseek-v3', 'deepseek-r1', 'deepseek-v4'];
const ROLES = ['system', 'developer', 'user', 'assistant'];

export class MessagesPanel {
  /** @param {import('./engine.js').Engine} engine */
  constructor(engine) {
    this.engine = engine;
    this.run = 0;
    the('models').replaceChildren(...MODELS.map(value => make('option', { value })));
    this.add('system', 'You are a helpful assistant.');
    this.add('user', 'What is a token?');
    the('add-message').onclick = () => {
      const last = [...the('messages').querySelectorAll('select')].pop();
      this.add(last?.value === 'user' ? 'assistant' : 'user', '').querySelector('textarea').focus();
      this.count();
    };
    const soon = later(() => this.count(), 150);
    the('panel-messages').addEventListener('input', soon);
  }

  /** @param {string} role @param {string} content */
  add(role, content) {
    const select = make('select', {}, ...ROLES.map(value => make('option', { value }, value)));
    select.value = role;
    const text = make('textarea', { value: content, rows: 3, spellcheck: false });
    const remove = make('button', { type: 'button' }, 'Remove');
    const item = make('li', {},
      make('div', { className: 'message-head' }, make('label', {}, 'Role ', select),
        make('span', { className: 'tokens-of' }), remove),
      make('label', { className: 'grow' }, make('span', { className: 'hidden' }, 'Content'), text));
    remove.onclick = () => {
      item.remove();
      this.count();
    };
    the('messages').append(item);
    return item;
  }

  get messages() {
    return [...the('messages').children].map(item => ({
      role: item.querySelector('select').value,
      content: item.querySelector('textarea').value,
    }));
  }

  async count() {
    const run = ++this.run;
    const { messages } = this;
    const model = the('model').value.trim();
    let said = '';
    /** @type {number[]} */ let parts = [];
    try {
      const encoding = await this.engine.ask('model', { model });
      await prepared(this.engine, [encoding]);
      const found = await this.engine.ask('conversation', { model, messages });
      parts = found.parts;
      const own = parts.reduce((sum, one) => sum + one, 0);
      said = `${found.note ? 'About ' : ''}${many(found.count, 'token')}: ${figure(own)} of the texts, `
        + `${figure(found.count - own)} of the format and of the beginning of the reply. `
        + `The model's encoding is ${encoding}.`
        + (found.note ? ` An estimate: ${found.note}.` : '');
    } catch (error) {
      said = error instanceof Error ? error.message : String(error);
    }
    if (run !== this.run) return;
    the('conversation-count').textContent = said;
    [...the('messages').children].forEach((item, at) => {
      item.querySelector('.tokens-of').textContent = parts[at] === undefined ? '' : many(parts[at], 'token');
    });
  }
}
