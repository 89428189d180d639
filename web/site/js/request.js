// A request to a service, pasted as JSON: its messages, its tools and the form of the reply.
import { the } from './dom.js';

/** @typedef {{ messages: any[], tools: any[] | null, response_format: any }} Request */

/**
 * Make the form take a request.
 * @param {(request: Request) => void} take
 */
export function setUpRequest(take) {
  const button = the('paste-request'), form = the('request-form');
  const show = (/** @type {boolean} */ isOpen) => {
    form.hidden = !isOpen;
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.onclick = () => {
    show(form.hidden);
    if (!form.hidden) the('request').focus();
  };
  form.onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      take(requestOf(the('request').value));
      the('request-said').textContent = '';
      show(false);
    } catch (error) {
      the('request-said').textContent = error instanceof Error ? error.message : String(error);
    }
  };
}

/**
 * Return a request in JSON; an error says what is wrong with it.
 * @param {string} text
 * @returns {Request}
 */
export function requestOf(text) {
  let given;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  const messages = Array.isArray(given) ? given : given?.messages;
  if (!Array.isArray(messages) || !messages.length) throw new Error('There are no messages: give a list, or an object with "messages".');
  const wrong = messages.findIndex(one => typeof one?.role !== 'string');
  if (wrong >= 0) throw new Error(`messages[${wrong}] has no role.`);
  // OpenAI's requests had tools under the name of functions before.
  const tools = given.tools ?? given.functions ?? null;
  if (tools !== null && !Array.isArray(tools)) throw new Error('tools must be a list.');
  return { messages, tools, response_format: given.response_format ?? null };
}

/** Return the text of a message, also of one in parts. @param {any} message @returns {string} */
export function textOf({ content }) {
  if (Array.isArray(content)) return content.map(part => part?.text ?? '').join('');
  return content ?? '';
}
