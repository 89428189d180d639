"""The style sheet of a report's page.

The eight colors differ in lightness as well as in hue, so that readers who do not see red or green
tell them apart, too; each has a contrast of 3 to 1 with the card it is drawn on.
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --card: #ffffff; --ink: #1d1f24; --soft: #5d626d; --line: #e4e1db;
  --shade-color: #d9622b;
  --c0: #2459d6; --c1: #b8440f; --c2: #199b86; --c3: #b26ff7;
  --c4: #74065c; --c5: #b58a18; --c6: #4b2a03; --c7: #1d6488;
  --t0: #d6e4fb; --t1: #fbe2cf; --t2: #cdeee2; --t3: #e9dcf7;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #15171b; --card: #1d2025; --ink: #e9e7e2; --soft: #a2a7b1; --line: #32363d;
    --shade-color: #e0713a;
    --c0: #6480ff; --c1: #ee8d4a; --c2: #45b89c; --c3: #e58cfc;
    --c4: #cf3d9e; --c5: #ded23c; --c6: #b6e6fb; --c7: #8f6a4a;
    --t0: #26406b; --t1: #66401f; --t2: #1c5142; --t3: #49326b;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; letter-spacing: -.01em; margin: 0 0 .25rem; }
h3 { font-size: .95rem; line-height: 1.35; margin: 0 0 .5rem; }
p { margin: 0 0 1rem; max-width: 44rem; }
header p { margin: 0; max-width: none; }
.corpus { font-size: 1.1rem; font-weight: 600; margin-bottom: .15rem; }
.source { font-size: .875rem; }
.lead, section > p, caption, small, summary, footer { color: var(--soft); }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.4rem 1.5rem 1.3rem; margin: 1.25rem 0 0;
}

.c0 { --color: var(--c0); } .c1 { --color: var(--c1); } .c2 { --color: var(--c2); }
.c3 { --color: var(--c3); } .c4 { --color: var(--c4); } .c5 { --color: var(--c5); }
.c6 { --color: var(--c6); } .c7 { --color: var(--c7); }
.fill { background: var(--color); }
.fill.p1 {
  background: repeating-linear-gradient(-45deg, var(--color) 0 4px, transparent 4px 6.5px);
}
.fill.p2 {
  background: radial-gradient(circle, var(--color) 1.6px, transparent 2px) 0 0 / 5px 5px;
}
.fill.p3 { background: repeating-linear-gradient(90deg, var(--color) 0 2px, transparent 2px 5px); }
.fill.p1, .fill.p2, .fill.p3 { box-shadow: inset 0 0 0 1px var(--color); }
.badge {
  display: inline-block; min-width: 1.55em; padding: 0 .3em; border: 2px solid var(--color);
  border-radius: .9em; background: var(--card); color: var(--ink); text-align: center;
  font-size: .75rem; line-height: 1.3; font-weight: 650; letter-spacing: 0; white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
.badge.p1 { border-style: dashed; } .badge.p2 { border-style: dotted; }
.badge.p3 { border-style: double; }
.name { overflow-wrap: break-word; }

.cards {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 1rem;
  list-style: none; margin: 1.6rem 0 0; padding: 0; max-width: calc(var(--count) * 24rem);
}
.cards > li {
  display: grid; grid-row: span 4; grid-template-rows: subgrid; gap: 0; overflow: hidden;
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 0 1.1rem 1rem;
}
.cards .fill { height: .35rem; margin: 0 -1.1rem .8rem; }
.cards h2 { font-size: 1rem; line-height: 1.35; min-width: 0; }
.big { font-size: 2.1rem; line-height: 1.15; letter-spacing: -.03em; font-weight: 650; }
.big small { display: block; font-size: .85rem; letter-spacing: 0; font-weight: 400; }
.cards dl {
  display: grid; grid-template-columns: 1fr auto; align-content: start; gap: .1rem .5rem;
  margin: .6rem 0 0; font-size: .85rem;
}
.cards dt { color: var(--soft); }
.cards dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.legend {
  display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; padding: 0;
  margin: 0 0 1.1rem; font-size: .875rem;
}
.legend li { display: flex; gap: .35rem; align-items: baseline; }

.bars { display: grid; grid-template-columns: fit-content(13rem) 1fr; gap: .8rem 1rem; }
.bars-name, .strip-name { font-size: .875rem; line-height: 1.35; min-width: 3rem; }
.bars-name { align-self: center; text-align: right; }
.bar { display: flex; align-items: center; height: 1.1rem; }
.bar .figure {
  flex: none; width: 1.5rem; padding-right: .4rem; text-align: right; font-size: .72rem;
  color: var(--soft); font-variant-numeric: tabular-nums;
}
.bar .track { flex: 1; display: flex; align-items: center; padding-right: 3.2rem; }
.bar .fill { height: .85rem; min-width: 2px; border-radius: 0 .2rem .2rem 0; flex: none; }
.bar .value {
  flex: none; width: 3.2rem; margin-right: -3.2rem; padding-left: .4rem;
  font-size: .78rem; font-variant-numeric: tabular-nums;
  white-space: nowrap;
}

.strips {
  display: grid; grid-template-columns: fit-content(13rem) 1fr; gap: .8rem 1rem;
  align-items: center; margin-bottom: 1.2rem;
}
.strip { position: relative; height: 2.4rem; margin: 0 .5rem; }
.strip::before {
  content: ""; position: absolute; inset: .7rem 0 auto; border-top: 1px solid var(--line);
}
.strip .range {
  position: absolute; left: 0; top: .58rem; height: .3rem; border-radius: .2rem;
  background: var(--color); opacity: .28;
}
.strip i {
  position: absolute; top: .37rem; width: .72rem; height: .72rem; margin-left: -.36rem;
  border-radius: 50%; background: var(--color); border: 1.5px solid var(--card);
}
.strip .end {
  position: absolute; top: 1.15rem; font-size: .78rem; color: var(--soft); white-space: nowrap;
  overflow: hidden; text-overflow: ellipsis;
}
.strip .after { transform: translateX(-.36rem); }
.strip .before { transform: translateX(calc(-100% + .36rem)); }
.axis {
  position: relative; height: 1.5rem; border-top: 1px solid var(--line); font-size: .72rem;
  color: var(--soft); white-space: nowrap;
}
.strips .axis { margin: 0 .5rem; }
.axis > span { position: absolute; top: .2rem; transform: translateX(-50%); }
.axis > span::before {
  content: ""; position: absolute; left: 50%; top: -.2rem; height: .25rem;
  border-left: 1px solid var(--soft);
}

.panels {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(13.5rem, 1fr)); gap: 1.6rem 1.75rem;
  max-width: calc(var(--count) * 30rem);
}
.panels > div { display: flex; flex-direction: column; justify-content: space-between; }
.shares {
  display: grid; grid-template-columns: auto 1fr auto; column-gap: .5rem; font-size: .75rem;
  line-height: 1.1rem; font-variant-numeric: tabular-nums;
}
.shares .row, .shares .value { text-align: right; }
.shares .head { color: var(--soft); }
.shares .end { grid-column: 2 / -1; text-align: right; }
.shares .track {
  background: linear-gradient(90deg, var(--line) 1px, transparent 1px) 0 0 / var(--step) 100%;
}
.shares .fill {
  display: block; height: .8rem; margin-top: .15rem; border-radius: 0 .15rem .15rem 0;
}
.shares .axis { grid-column: 2; }

.plot { position: relative; height: 19rem; margin: .5rem 1rem 1.7rem 3rem; }
.plot svg { width: 100%; height: 100%; display: block; overflow: visible; }
.plot path { stroke: var(--line); vector-effect: non-scaling-stroke; }
.plot polyline {
  fill: none; stroke: var(--color); stroke-width: 2.25px; stroke-linejoin: round;
  vector-effect: non-scaling-stroke;
}
.plot .p1 { stroke-dasharray: 7 4; } .plot .p2 { stroke-dasharray: 2 4; }
.plot .p3 { stroke-dasharray: 9 3 2 3; }
.plot .badge { position: absolute; transform: translate(-50%, 50%); }
.x, .y { white-space: nowrap; position: absolute; font-size: .75rem; color: var(--soft); }
.x { top: 100%; transform: translateX(-50%); padding-top: .3rem; }
.y { right: 100%; transform: translateY(50%); padding-right: .5rem; }
.below { font-size: .75rem; color: var(--soft); text-align: center; max-width: none; margin: 0; }

details { margin-top: 1rem; font-size: .875rem; }
details h3 { margin-top: .7rem; font-size: .875rem; }
details > p { color: var(--soft); margin: .6rem 0; }
summary { cursor: pointer; }
.wide { overflow-x: auto; margin-top: .5rem; }
.wide + .wide { margin-top: 1.4rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-size: .8rem; padding-bottom: .3rem; white-space: nowrap; }
th, td { padding: .3rem .75rem; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; overflow-wrap: break-word; }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom; max-width: 10rem; }
tr > :first-child { text-align: left; padding-left: 0; min-width: 6rem; max-width: 16rem; }
.wide .long { min-width: 14rem; font-weight: 400; }
thead .badge { display: table; margin-left: auto; }
.wide tr > :first-child { position: sticky; left: 0; background: var(--card); }
td { white-space: nowrap; }
td.shade {
  background: color-mix(in srgb, var(--shade-color) var(--shade), transparent);
}
bdi {
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .8125rem; padding: .1em .25em; border-radius: .25em; white-space: pre-wrap;
}
.t0 { background: var(--t0); } .t1 { background: var(--t1); }
.t2 { background: var(--t2); } .t3 { background: var(--t3); }
.tokens { display: flex; flex-wrap: wrap; gap: 2px; min-width: 0; }
.list {
  display: flex; flex-wrap: wrap; gap: .35rem .9rem; list-style: none; padding: 0; margin: 0 0 1rem;
}
.list small { font-variant-numeric: tabular-nums; margin-left: .3rem; }
.terms { width: 100%; table-layout: fixed; }
.terms tr > :first-child { width: 11rem; }
.terms td, .terms thead th { padding: .3rem .75rem .3rem 0; text-align: left; }
.terms td { white-space: normal; vertical-align: baseline; }
.terms .cut { display: flex; align-items: baseline; gap: .5rem; }
.terms .cut small {
  flex: none; min-width: 1.2rem; text-align: right; font-variant-numeric: tabular-nums;
}
.terms tbody:not(:first-of-type) .term { padding-top: 1.3rem; }
.terms th.term { font-size: 1rem; max-width: none; width: auto; }
.terms th.term bdi { font: inherit; padding: 0; }
.terms th[scope="row"] {
  font-weight: 400; vertical-align: baseline; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; padding-right: .75rem;
}
footer { font-size: .8rem; margin-top: 1.5rem; }
footer p { max-width: none; }
@media (max-width: 36rem) {
  main { padding: 1.5rem .8rem 3rem; }
  section { padding: 1.1rem 1rem; }
  .cards > li {
    grid-row: span 3; grid-template-columns: 1fr auto; column-gap: 1rem; padding: 0 1rem .8rem;
  }
  .cards .fill, .cards dl { grid-column: 1 / -1; }
  .cards .fill { margin: 0 -1rem .6rem; }
  .big { font-size: 1.5rem; text-align: right; }
  .big small { font-size: .75rem; }
  .bars, .strips { grid-template-columns: minmax(0, 1fr); gap: .15rem; }
  .bars-name { text-align: left; margin-top: .7rem; }
  .strip-name { margin-top: .4rem; }
  .wide tr > :first-child { min-width: 5rem; max-width: 8.5rem; }
  .wide tr > .long { min-width: 8.5rem; }
  .terms thead { display: none; }
  .terms tr { display: grid; border-bottom: 1px solid var(--line); padding: .3rem 0; }
  .terms th, .terms td { border: 0; max-width: none; padding: .1rem 0; }
  .terms tr > :first-child { width: auto; max-width: none; padding: 0; }
}
@media print {
  main { max-width: none; padding: 0; }
  section { border: 0; padding: 0; margin-top: 2rem; }
  section > h2, section > h2 + p, h3, summary { break-after: avoid; }
  .bars-of, .panels > div, .cards > li, .strip, .plot, tr { break-inside: avoid; }
  .fill, .badge, .strip i, .range, .shade, .shares .track, bdi {
    print-color-adjust: exact;
  }
  details:not([open]) { display: none; }
  .wide { overflow: visible; }
  .wide table { font-size: min(.7rem, 8rem / var(--columns)); }
  .wide th, .wide td { padding: .3em .4em; }
  .wide th, .wide .name { overflow-wrap: anywhere; }
  .wide .badge { font-size: .9em; border-width: 1px; }
  .wide tr > :first-child { position: static; min-width: 8em; }
}
@media (forced-colors: active) {
  .fill, .strip i, .range, .badge, polyline { forced-color-adjust: none; }
}
"""
