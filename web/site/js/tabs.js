// The views of the page, of which one is shown.
import { the } from './dom.js';

/**
 * Make the tabs work; the function is called with the name of the one that is chosen.
 * @param {(name: string) => void} chosen
 */
export function setUpTabs(chosen) {
  const tabs = [...the('tabs').children];
  const show = (/** @type {any} */ tab) => {
    for (const one of tabs) {
      const isIt = one === tab;
      one.setAttribute('aria-selected', String(isIt));
      one.tabIndex = isIt ? 0 : -1;
      the(one.getAttribute('aria-controls')).hidden = !isIt;
    }
    chosen(tab.id.replace('tab-', ''));
  };
  the('tabs').addEventListener('click', (/** @type {any} */ event) => {
    if (tabs.includes(event.target)) show(event.target);
  });
  the('tabs').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const at = tabs.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.focus();
    show(tab);
  });
  return (/** @type {string} */ name) => show(the(`tab-${name}`));
}
