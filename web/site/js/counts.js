// The figures above the text: tokens by each encoding, their difference, the limit.
import { figure, later, make, many, the } from './dom.js';
import { shortName } from './encodings.js';

/**
 * Show the figures of the text.
 * @param {{ keys: string[], counts: number[], characters: number, bytes: number, lines: number }} figures
 * @param {number | null} limit
 * @param {number | null} context the most tokens that the chosen model takes
 */
export function showCounts(figures, limit, context = null) {
  const { keys, counts } = figures;
  const cards = keys.map((key, column) => {
    const card = make('div', { className: 'card', data: { key, count: String(counts[column]) } },
      make('strong', { className: 'count' }, figure(counts[column])),
      make('span', { className: 'of' }, `${counts[column] === 1 ? 'token' : 'tokens'} · ${shortName(key)}`));
    const said = column ? compared(counts[0], counts[1]) : '';
    if (said) card.append(make('span', { className: 'more' }, said));
    if (!column && context !== null) card.append(make('span', { className: 'more' }, shareOf(counts[0], context)));
    if (limit !== null) card.append(limited(counts[column], limit));
    return card;
  });
  const { characters, bytes, lines } = figures;
  const sizes = [many(characters, 'character'), many(bytes, 'byte'), many(lines, 'line')];
  if (characters) sizes.push(`${(bytes / Math.max(counts[0], 1)).toFixed(2)} bytes a token`);
  the('counts').replaceChildren(...cards, make('p', { className: 'sizes' }, ...sizes.map(one => make('span', {}, one))));
  spoken = keys.map((key, column) => `${many(counts[column], 'token')} in ${shortName(key)}`).join(', ');
  speak();
}

let spoken = '';
// Screen readers are told when the visitor pauses, not on every keystroke.
const speak = later(() => { the('spoken').textContent = spoken; }, 800, false);

/** @param {number} first @param {number} second */
function compared(first, second) {
  if (first === second) return 'as many';
  const more = second - first;
  const share = first ? ` (${more > 0 ? '+' : '−'}${Math.abs((more / first) * 100).toFixed(1)} %)` : '';
  return `${figure(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'}${share}`;
}

/** @param {number} count @param {number} context */
function shareOf(count, context) {
  const share = (count / context) * 100;
  return `${share && share < 0.1 ? 'less than 0.1' : share.toFixed(1)} % of ${figure(context)}`;
}

/** @param {number} count @param {number} limit */
function limited(count, limit) {
  const isOver = count > limit;
  return make('span', { className: isOver ? 'limit over' : 'limit' },
    isOver ? `${figure(count - limit)} over the limit` : `${figure(limit - count)} left`);
}
