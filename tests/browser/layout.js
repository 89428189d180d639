// The body of a function that returns everything on the page that is not where it belongs.
const found = [];
const width = document.documentElement.clientWidth;
const say = (what, element) => found.push(
  `${what}: <${element.localName} class="${element.getAttribute('class') || ''}"> ` +
  element.textContent.slice(0, 60));
const isShown = element => element.checkVisibility({ contentVisibilityAuto: true });
// What is cut off with an ellipsis says the whole name when it is pointed at.
const ellipsis = element => element.closest('.terms th[scope="row"]');
// Numbers of an axis are centered on places of it: see below.
const centered = '.plot, .plot *';

if (document.documentElement.scrollWidth > width) say('the page scrolls', document.body);
for (const element of document.querySelectorAll('body *')) {
  if (!isShown(element) || !element.clientWidth || element.closest('svg')) continue;
  if (element.matches('.wide')) continue;
  if (element.scrollWidth <= element.clientWidth || element.matches(centered)) continue;
  const cut = ellipsis(element);
  if (!cut) say('wider than its box', element);
  else if (!(cut.title || cut.querySelector('[title]'))) say('cut off without a title', element);
}

// All text stays in its card or section, and in the viewport.
const range = document.createRange();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
  const element = node.parentElement;
  if (!node.data.trim() || !isShown(element) || ellipsis(element)) continue;
  range.selectNodeContents(node);
  const box = element.closest('.cards > li, section, main').getBoundingClientRect();
  for (const place of range.getClientRects()) {
    if (element.closest('.wide') && SCROLLS) continue;
    if (place.left < box.left - 0.5 || place.right > box.right + 0.5) say('out of its box', element);
    if (place.left < 0 || place.right > width + 0.5) say('out of the viewport', element);
  }
}

// Texts beside each other do not overlap.
for (const axis of document.querySelectorAll('.plot')) {
  const places = [...axis.querySelectorAll(':scope > .x')].map(
    element => element.getBoundingClientRect());
  places.sort((one, other) => one.left - other.left);
  places.forEach((place, number) => {
    if (number && place.left < places[number - 1].right - 0.5) say('overlapping', axis);
  });
}

// A path is broken between its parts. A table that has to fit on paper breaks them elsewhere, too.
for (const name of document.querySelectorAll('.name')) {
  if (!isShown(name) || !/[\/\\]/.test(name.textContent) || ellipsis(name)) continue;
  if (name.closest('.wide') && !SCROLLS) continue;
  let last = null, before = '';
  const texts = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    [...node.data].forEach((character, at) => {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const top = range.getBoundingClientRect().top;
      const isBetween = character === '\\' || /[\/_.\-: ]/.test(before);
      if (last !== null && top > last + 4 && !isBetween) say('broken within', name);
      last = top;
      before = character;
    });
  }
}
return found;
