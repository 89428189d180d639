// Puts the parts of the page together.
import { Card } from './card.js';
import { Counter } from './counter.js';
import { showCounts } from './counts.js';
import { goOn, later, make, many, notice, setUpCopying, the } from './dom.js';
import { EXAMPLE } from './example.js';
import { MOST, filesOfDialog } from './dropped.js';
import { setUpDropping } from './dropping.js';
import { Editor } from './editor.js';
import { areTokenizer, names, ships, shortName } from './encodings.js';
import { engine, trusted } from './engine.js';
import { FilesPanel } from './files-panel.js';
import { IdsPanel } from './ids-panel.js';
import { forgetAll, keepChoice, keepText, keptChoice, keptText } from './keeping.js';
import { MessagesPanel } from './messages-panel.js';
import { Model } from './model.js';
import { ModelPicker } from './model-picker.js';
import { prepared } from './prepared.js';
import { SamePlace } from './same-place.js';
import { Settings } from './settings.js';
import { setUpSharing } from './sharing.js';
import { setBusy, setStatus } from './status.js';
import { setUpTabs } from './tabs.js';
import { TokenView } from './token-view.js';
import { TokenizerFiles } from './tokenizer-files.js';
import { WordPanel } from './word-panel.js';
import { work } from './work.js';

const settings = new Settings();
const textOfLink = settings.read(location.hash);
const started = engine.start(settings.keys);
engine.progressed = share => { the('progress').value = share; };
const picker = new ModelPicker(settings);
const model = new Model();
const editor = new Editor(model);
const counter = new Counter(engine, model);
const view = new TokenView(the('tokens'), model, ranges => engine.ask('blocks', { ranges }));
view.mayAsk = () => counter.isCurrent && !isPaused;
/** Milliseconds of an edit from which the tokens wait for a pause: the next count must not wait for them. */
const SLOW = 100;
let isPaused = false;
const refreshSoon = later(() => {
  isPaused = false;
  if (counter.isCurrent) view.refresh();
}, 300);
const card = new Card(view, engine, () => counter.keys, (start, end) => editor.reveal(start, end));
const same = new SamePlace(editor, view, (start, end) => engine.ask('part', { start, end }));
card.pointed = found => same.point(found);
const files = new FilesPanel(engine, () => settings.keys, openText);
const word = new WordPanel(engine, () => ({ keys: settings.keys, special: settings.chosen.special }));
const messages = new MessagesPanel(engine, picker);
const ids = new IdsPanel(engine, () => settings.keys, text => {
  model.set(text);
  showTab('text');
});
/** @type {any} */ let figures = { keys: [], counts: [], characters: 0, bytes: 0, lines: 0 };
let tab = 'text';

const showTab = setUpTabs(name => {
  tab = name;
  goOn();
  if (name === 'word') word.draw();
  if (name === 'messages') messages.count();
  if (name === 'ids') ids.draw();
});
setUpSharing(settings, model);
setUpDropping(({ found, hidden, folders }) => work(take(found, hidden, folders)));
const tokenizers = new TokenizerFiles(engine, key => {
  settings.fill();
  settings.choose(key);
});

model.addEventListener('change', () => {
  goOn();
  setBusy(!counter.isCurrent);
  the('example').hidden = model.text !== '';
  keepSoon();
  view.drawSoon();
});
the('text').addEventListener('turned', (/** @type {any} */ event) => view.reveal(event.detail));
const keepSoon = later(() => keepText(model.text), 300, false);
addEventListener('pagehide', () => keepText(model.text));
the('example').onclick = () => {
  model.set(EXAMPLE);
  editor.reveal(0, 0);
  the('text').focus();
};
the('fold').onclick = () => {
  const isOpen = the('settings').classList.toggle('open');
  the('fold').setAttribute('aria-expanded', String(isOpen));
};
the('forget').onclick = () => the('forgetting').showModal();
the('forgetting').onclose = async () => {
  if (the('forgetting').returnValue !== 'forget') return;
  the('forgetting').returnValue = '';
  model.forget();
  messages.forget();
  await forgetAll();
  the('offline-said').textContent = 'Forgotten.';
};
the('keep-offline').onclick = async () => {
  the('offline-said').textContent = '';
  try {
    await prepared(engine, [...names.keys()].filter(ships));
    await navigator.serviceWorker?.ready;
    the('offline-said').textContent = navigator.serviceWorker ? 'All encodings are kept.' : 'Loaded, but kept only over https.';
  } catch (error) {
    the('offline-said').textContent = error instanceof Error ? error.message : String(error);
  }
};
the('clear').onclick = () => {
  model.set('');
  the('text').focus();
};
setUpCopying('copy-text', () => model.text);
setUpCopying('copy-ids', async () => JSON.stringify(await engine.ask('ids', { column: 0 })).replaceAll(',', ', '));

counter.addEventListener('counted', (/** @type {any} */ { detail }) => {
  figures = detail;
  showCounts(figures, settings.chosen.limit, picker.context);
  if (counter.isCurrent) {
    setBusy(false);
    isPaused = counter.took > SLOW;
    if (isPaused) {
      the('tokens').setAttribute('aria-busy', 'true');
      refreshSoon();
    } else view.refresh();
    same.countSoon();
    cutSoon();
  }
});
counter.addEventListener('failure', (/** @type {any} */ { detail }) => notCounted(detail));

/** Show why there are no figures; those of another text would be wrong. @param {unknown} error */
function notCounted(error) {
  const message = error instanceof Error ? error.message : String(error);
  the('counts').replaceChildren(make('p', { className: 'error' }, `Not counted: ${message}`));
  setBusy(false);
}

/** Find where the text is cut by the limit, in each encoding. */
const cutSoon = later(async () => {
  const { limit } = settings.chosen;
  const { text } = model;
  const cuts = await Promise.all(counter.keys.map((_, column) => (limit === null || !counter.isCurrent
    ? null : engine.ask('cut', { column, limit }))));
  if (text !== model.text) return;
  view.cuts = cuts;
  view.redraw();
}, 120);

async function choose() {
  const { keys } = settings;
  the('heads').replaceChildren(...(keys.length > 1 ? keys.map(key => make('span', {}, shortName(key))) : []));
  the('tokens').classList.toggle('two', keys.length > 1);
  the('tokens').parentElement.classList.toggle('two-heads', keys.length > 1);
  setBusy(true);
  try {
    await counter.choose(keys, settings.chosen.special);
  } catch (error) {
    notCounted(error);
    return;
  }
  card.forget();
  model.blocks.forgetHeights();
  view.refresh();
  if (files.rows.length) files.count();
  if (tab === 'word') word.draw();
  if (tab === 'messages') messages.count();
  if (tab === 'ids') ids.draw();
}

settings.addEventListener('change', (/** @type {any} */ { detail: id }) => {
  goOn();
  picker.follow();
  keepChoice(settings.keys.map(shortName));
  // So the settings are still there when the page is loaded again.
  if (id !== 'link') history.replaceState(null, '', settings.write(null));
  look();
  if (id === 'spaces' || id === 'ids') view.redraw();
  else if (id === 'limit') {
    showCounts(figures, settings.chosen.limit, picker.context);
    cutSoon();
  } else started.then(choose);
});

/** Take what the settings say of how tokens are shown. */
function look() {
  const { spaces, ids } = settings.chosen;
  view.look = { spaces, ids };
}

addEventListener('hashchange', () => {
  const text = settings.read(location.hash);
  if (text !== null) model.set(text);
  settings.changed('link');
});

/** @param {import('./dropped.js').Found[]} found @param {number} hidden @param {boolean} folders */
async function take(found, hidden, folders) {
  if (!found.length) return;
  await started;
  if (!folders && areTokenizer(found.map(({ file }) => file.name))) {
    await tokenizers.load(found.map(({ file }) => file));
    return;
  }
  showTab('files');
  const notes = [];
  if (hidden) notes.push(`${many(hidden, 'hidden file or folder').replace('folders', 'folder')} left out.`);
  if (found.length >= MOST) notes.push(`Only the first ${many(MOST, 'file')} are taken.`);
  await files.set(found, notes.join(' '));
}

/** @param {string} path @param {string} text */
function openText(path, text) {
  const changed = model.set(text);
  showTab('text');
  editor.reveal(0, 0);
  if (changed) notice(`${path} has other line ends than line feeds. In the text field all are line feeds, so its count may differ from the file's.`);
}

for (const [button, input] of [['choose-files', 'files'], ['choose-folder', 'folder']]) {
  the(button).onclick = () => the(input).click();
  the(input).onchange = () => {
    const { found, hidden } = filesOfDialog(the(input).files);
    work(take(found, hidden, true));
    the(input).value = '';
  };
}

/** Keep the page for visits without a network, where a browser may: not without https. */
async function keepOffline() {
  await navigator.serviceWorker?.register(trusted('sw.js')).catch(() => {});
}

/** Load the tokenizers that were kept, and choose those that were chosen. @param {string[]} chosen their names */
async function restore(chosen) {
  await tokenizers.restore();
  settings.fill();
  const keys = chosen.map(name => [...names].find(([key, one]) => !ships(key) && one === name)?.[0]);
  if (!keys.some(Boolean)) return;
  if (keys[0]) the('encoding').value = keys[0];
  if (keys[1]) the('other').value = keys[1];
  settings.changed('encoding');
}

async function begin() {
  look();
  if (textOfLink !== null) model.set(textOfLink);
  else if (the('text').value) model.set(the('text').value); // typed before this script was there
  else if (keptText()) model.set(keptText() ?? '');
  if (document.activeElement === document.body && !matchMedia('(pointer: coarse)').matches) the('text').focus();
  const chosen = keptChoice();
  try {
    const { times, isContinued } = await started;
    the('progress').hidden = true;
    await choose();
    await restore(chosen);
    const build = await (await fetch('build.json')).json();
    the('facts').textContent = `compat_bpe ${build.compat_bpe}, Pyodide ${build.pyodide}; Python ready after ${(times.pack / 1000).toFixed(1)} s.`;
    Object.assign(globalThis, { isContinued, times: { ...times, first: Math.round(performance.now()) } });
    keepOffline(); // only now: it must not delay the first count
  } catch (error) {
    setStatus(`Python could not be started: ${error instanceof Error ? error.message : error}`, 'error');
  }
}
work(begin());
