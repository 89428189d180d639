// Puts the parts of the page together.
import { Card } from './card.js';
import { Counter } from './counter.js';
import { Everywhere, Fitting, showCounts, tokensOf } from './counts.js';
import { failure, figure, goOn, later, make, many, notice, setUpCopying, the, work } from './dom.js';
import { Editor } from './editor.js';
import { engine, setBusy, setStatus, trusted } from './engine.js';
import { EXAMPLE, FIGURES, SIDES } from './example.js';
import { filesOfDialog, FilesPanel, MOST, setUpDropping } from './files.js';
import { forgetAll, keepChoice, keepText, keptChoice, keptText } from './keeping.js';
import { MessagesPanel } from './messages.js';
import { areTokenizer, isEstimate, Models, names, Picker, prepared, ships, shortName, TokenizerFiles } from './models.js';
import { SamePlace } from './same-place.js';
import { Settings, setUpSharing, setUpTabs } from './settings.js';
import { Model } from './text.js';
import { IdsPanel, WordPanel } from './token-panels.js';
import { TokenView } from './token-view.js';

const TOKENS_HELP = the('tokens-help').textContent;
const settings = new Settings();
const link = settings.read(location.hash);
const models = new Models(engine);
/** Python starts with the vocabularies of what the link names, as far as it is listed. */
const started = models.ready.then(() => {
  settings.first = (link.first !== null && models.find(link.first, link.field)) || settings.first;
  settings.other = (link.other !== null && models.find(link.other)) || null;
  showChosen();
  return engine.start(settings.keys);
});
engine.progressed = ({ bytes, total }) => {
  the('progress').value = bytes / total;
  the('loaded').textContent = `${[bytes, total].map(one => (one / 1e6).toFixed(1)).join(' of ')} MB`;
};
/** Characters to a token, until Python has counted. */
const ABOUT = 4;
const picker = new Picker(the('model'), models, entry => settings.choose(entry));
const otherPicker = new Picker(the('other'), models, entry => settings.compare(entry));
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
const same = new SamePlace(editor, view, async (start, end) => {
  const counts = await engine.ask('part', { start, end });
  return counts.map((/** @type {number} */ count, /** @type {number} */ column) => tokensOf(counter.keys[column], count));
});
card.pointed = found => same.point(found);
const files = new FilesPanel(engine, () => settings.keys, () => settings.chosen.limit, openText);
const word = new WordPanel(engine, () => ({ keys: settings.keys, special: settings.chosen.special }));
const messages = new MessagesPanel(engine, settings, models);
const ids = new IdsPanel(engine, () => settings.keys, text => {
  model.set(text);
  showTab('text');
});
const fitting = new Fitting(engine, model, () => settings.chosen.limit);
const everywhere = new Everywhere(engine, () => model.text.length, async name => settings.choose(await models.meaning(name, 'encoding')));
/** @type {any} */ let figures = { keys: [], counts: [], notes: [], characters: 0, bytes: 0, lines: 0 };
let tab = 'text';
let isExample = false; // the text is the example, which the first key replaces

const showTab = setUpTabs(name => {
  tab = name;
  document.body.dataset.tab = name;
  goOn();
  keepLink();
  if (name === 'word') word.draw();
  if (name === 'messages') messages.count();
  if (name === 'ids') ids.draw();
});
setUpSharing(settings, model);
setUpDropping(({ found, hidden, folders }) => work(take(found, hidden, folders)));
const tokenizers = new TokenizerFiles(engine, models, entry => settings.choose(entry));

model.addEventListener('change', () => {
  goOn();
  isExample &&= model.text === EXAMPLE;
  setBusy(!counter.isCurrent);
  if (!counter.isReady) the('counts').querySelector('.count').textContent = `≈ ${figure(Math.ceil(model.text.length / ABOUT))}`;
  keepSoon();
  view.drawSoon();
});
the('text').addEventListener('turned', (/** @type {any} */ event) => view.reveal(event.detail));
const keep = () => keepText(isExample ? '' : model.text);
const keepSoon = later(keep, 300, false);
addEventListener('pagehide', keep);

/** Show the example, with its tokens if they are those that the page was built with. */
function showExample() {
  isExample = true;
  const isKnown = SIDES && link.first === null && !link.other;
  if (isKnown) view.known = { text: EXAMPLE, sides: SIDES };
  model.set(EXAMPLE);
  if (isKnown) showCounts({ ...FIGURES, keys: settings.keys }, settings);
  editor.reveal(0, 0);
}
for (const kind of ['beforeinput', 'compositionstart', 'paste']) {
  the('text').addEventListener(kind, (/** @type {any} */ event) => {
    if (isExample && !event.isComposing && !/^(delete|history)/.test(event.inputType ?? '')) the('text').select();
  }, true);
}
const fold = (/** @type {boolean} */ isOpen) => {
  the('settings').hidden = !isOpen;
  the('fold').setAttribute('aria-expanded', String(isOpen));
};
the('fold').onclick = () => fold(the('settings').hidden);
the('compare').onclick = () => {
  the('second').hidden = false;
  the('other').focus();
  otherPicker.open('');
};
the('other').addEventListener('blur', () => showChosen());
the('no-other').onclick = () => {
  settings.compare(null);
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
    the('offline-said').textContent = navigator.serviceWorker ? 'All encodings are kept.' : 'Loaded, but not kept: only a page over https can keep them.';
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
  showCounts(figures, settings);
  the('not-counted').textContent = '';
  if (counter.isCurrent) {
    setBusy(false);
    isPaused = counter.took > SLOW;
    if (isPaused) {
      the('tokens').setAttribute('aria-busy', 'true');
      refreshSoon();
    } else view.refresh();
    same.countSoon();
    cutSoon();
    everywhere.follow();
  }
});
counter.addEventListener('failure', (/** @type {any} */ { detail }) => notCounted(detail));

/** Show why there are no figures; those of another text would be wrong. @param {unknown} error */
function notCounted(error) {
  const message = error instanceof Error ? error.message : String(error);
  figures = { ...figures, keys: [], counts: [] };
  showCounts(figures, settings);
  the('not-counted').textContent = `Not counted: ${message}`;
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
  fitting.show(cuts[0] ?? null);
  view.redraw();
}, 120);

async function choose() {
  const { keys } = settings;
  the('heads').replaceChildren(...(keys.length > 1 ? keys.map(key => make('span', {}, shortName(key))) : []));
  the('tokens').classList.toggle('two', keys.length > 1);
  the('tokens').parentElement.classList.toggle('two-heads', keys.length > 1);
  const isGuessed = keys.every(isEstimate);
  the('tokens-help').textContent = isGuessed ? 'There are no tokens to show: the count is an estimate.' : TOKENS_HELP;
  for (const id of ['spaces', 'ids', 'copy-ids']) the(id).disabled = isEstimate(keys[0]) && (isGuessed || id === 'copy-ids');
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

/** Show what is chosen in the fields. */
function showChosen() {
  picker.show(settings.first.name);
  otherPicker.show(settings.other?.name ?? '');
  the('second').hidden = !settings.other;
  the('compare').hidden = Boolean(settings.other);
}

/** The address has what is seen, so that it is still there when the page is loaded again. */
function keepLink() {
  if (isLinked) history.replaceState(null, '', settings.write(null));
}
let isLinked = false; // what the link says has been taken
/** @type {Record<string, () => Record<string, string>>} */
const views = { word: () => ({ word: the('word').value }), ids: () => ({ list: the('id-list').value.slice(0, 10_000) }) };
settings.view = () => (tab === 'text' ? {} : { tab, ...views[tab]?.() });
for (const id of ['word', 'id-list']) the(id).addEventListener('input', later(keepLink, 300, false));

settings.addEventListener('change', (/** @type {any} */ { detail: id }) => {
  if (id !== 'link') goOn();
  showChosen();
  keepChoice(settings.keys.map(shortName));
  keepLink();
  look();
  if (id === 'spaces' || id === 'ids') view.redraw();
  else if (id === 'limit') {
    showCounts(figures, settings);
    cutSoon();
    files.draw();
  } else started.then(choose);
});

/** Take what the settings say of how tokens are shown. */
function look() {
  const { spaces, ids } = settings.chosen;
  view.look = { spaces, ids };
}

/** Take what a link says: what it does not name stays as on a first visit. @param {ReturnType<Settings['read']>} given */
async function follow(given) {
  const wrong = [];
  const meaning = async (/** @type {string} */ name, /** @type {string} */ field) => {
    try {
      return await models.meaning(name, field);
    } catch (error) {
      wrong.push(error instanceof Error ? error.message : String(error));
      return null;
    }
  };
  if (given.first !== null) settings.first = await meaning(given.first, given.field) ?? settings.first;
  settings.other = given.other ? await meaning(given.other, '') : null;
  if (given.word !== null) the('word').value = given.word.slice(0, 200);
  if (given.list !== null) the('id-list').value = given.list;
  if (given.text !== null) model.set(given.text);
  if (document.getElementById(`tab-${given.tab}`)) showTab(given.tab);
  fold(settings.chosen.limit !== null || settings.chosen.special);
  isLinked = true;
  if (wrong.length) failure(wrong.join('; '));
}

addEventListener('hashchange', () => work(started.then(() => follow(settings.read(location.hash))).then(() => settings.changed('link'))));

/** @param {import('./files.js').Found[]} found @param {number} hidden @param {boolean} folders */
async function take(found, hidden, folders) {
  if (!found.length) return;
  await started;
  if (!folders && areTokenizer(found.map(({ file }) => file.name))) {
    await tokenizers.load(found.map(({ file }) => file));
    return;
  }
  showTab('files');
  const notes = [];
  if (hidden) notes.push(`${figure(hidden)} hidden ${hidden === 1 ? 'file or folder' : 'files or folders'} left out.`);
  if (found.length >= MOST) notes.push(`Only the first ${many(MOST, 'file')} are counted.`);
  await files.set(found, notes.join(' '));
}

/** @param {string} path @param {string} text */
function openText(path, text) {
  const changed = model.set(text);
  showTab('text');
  editor.reveal(0, 0);
  if (changed) notice(`The text field turns the line ends of ${path} into line feeds, so its count may differ from the file's.`);
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
  const [first, other] = chosen.map(name => models.entries.find(one => one.key.startsWith('file:') && one.name === name));
  if (!first && !other) return;
  settings.first = first ?? settings.first;
  settings.other = other ?? settings.other;
  settings.changed('file');
}

async function begin() {
  look();
  if (link.text !== null) model.set(link.text);
  else if (the('text').value) model.set(the('text').value); // typed before this script was there
  else if (keptText()) model.set(keptText() ?? '');
  else showExample();
  if (document.activeElement === document.body && !matchMedia('(pointer: coarse)').matches) the('text').focus();
  const chosen = keptChoice();
  try {
    const { times, isContinued } = await started;
    the('progress').hidden = the('loaded').hidden = true;
    await follow({ ...link, text: null });
    showChosen();
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
