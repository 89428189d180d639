"""The style sheet of a report's page."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --card: #ffffff; --ink: #1d1f24; --soft: #5d626d; --line: #e4e1db;
  --shade-color: #d9622b;
  --c0: #2f6fd0; --c1: #d8692a; --c2: #12876a; --c3: #8a50c7;
  --c4: #c23b77; --c5: #7d7a12; --c6: #4d6b7d; --c7: #a3312a;
  --t0: #d6e4fb; --t1: #fbe2cf; --t2: #cdeee2; --t3: #e9dcf7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171b; --card: #1d2025; --ink: #e9e7e2; --soft: #a2a7b1; --line: #32363d;
    --shade-color: #e0713a;
    --c0: #6ea4f7; --c1: #f09a5f; --c2: #4cc3a0; --c3: #bd93ee;
    --c4: #ee7fae; --c5: #c3bd4d; --c6: #98b6c8; --c7: #ec7d73;
    --t0: #26406b; --t1: #66401f; --t2: #1c5142; --t3: #49326b;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; letter-spacing: -.01em; margin: 0 0 .25rem; }
h3 { font-size: .95rem; margin: 0 0 .5rem; }
p { margin: 0 0 1rem; max-width: 44rem; }
.lead, section > p, caption, small, summary, footer { color: var(--soft); }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.4rem 1.5rem 1.3rem; margin: 1.25rem 0 0;
}
.cards {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 1rem;
  list-style: none; margin: 1.6rem 0 0; padding: 0;
}
.cards > li {
  background: var(--card); border: 1px solid var(--line); border-top: .3rem solid var(--color);
  border-radius: .75rem; padding: .9rem 1.1rem 1rem;
}
.cards h2 { font-size: 1rem; }
.big { font-size: 2.1rem; line-height: 1.15; letter-spacing: -.03em; font-weight: 650; }
.big small { font-size: .85rem; letter-spacing: 0; font-weight: 400; }
.cards dl {
  display: grid; grid-template-columns: 1fr auto; gap: .1rem .75rem; margin: .7rem 0 0;
  font-size: .85rem;
}
.cards dt { color: var(--soft); }
.cards dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.legend {
  display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; padding: 0;
  margin: 0 0 1rem; font-size: .875rem;
}
.swatch {
  display: inline-block; width: .75rem; height: .75rem; border-radius: .2rem;
  background: var(--color); margin-right: .4rem;
}
.c0 { --color: var(--c0); } .c1 { --color: var(--c1); } .c2 { --color: var(--c2); }
.c3 { --color: var(--c3); } .c4 { --color: var(--c4); } .c5 { --color: var(--c5); }
.c6 { --color: var(--c6); } .c7 { --color: var(--c7); }

.bars { display: grid; grid-template-columns: minmax(3rem, max-content) 1fr; gap: .7rem 1rem; }
.bars-name, .strip-name { font-size: .875rem; max-width: 12rem; }
.bars-name { align-self: center; text-align: right; }
.bar { display: flex; align-items: center; height: 1.15rem; margin: 1px 0; padding-right: 3.2rem; }
.bar .fill { height: .85rem; min-width: 2px; border-radius: 0 .2rem .2rem 0; flex: none; }
.fill { background: var(--color); }
.bar .value {
  margin-left: .4rem; font-size: .78rem; font-variant-numeric: tabular-nums; white-space: nowrap;
}

.strips {
  display: grid; grid-template-columns: minmax(3rem, max-content) 1fr; gap: .9rem 1rem;
  align-items: center;
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
  max-width: 48%; overflow: hidden; text-overflow: ellipsis;
}
.strip .after { transform: translateX(-.36rem); }
.strip .before { transform: translateX(calc(-100% + .36rem)); }

.panels {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr));
  gap: 1.5rem;
}
.columns { display: flex; align-items: flex-end; height: 9rem; gap: 2px; }
.column {
  flex: 1 1 0; height: 100%; display: flex; flex-direction: column; justify-content: flex-end;
}
.column .fill { border-radius: .15rem .15rem 0 0; min-height: 1px; }
.column small { font-size: .68rem; line-height: 1.5; text-align: center; white-space: nowrap; }

.plot { position: relative; height: 17rem; margin: .5rem .75rem 2rem 2.6rem; }
.plot svg { width: 100%; height: 100%; display: block; overflow: visible; }
.plot path { stroke: var(--line); vector-effect: non-scaling-stroke; }
.plot polyline {
  fill: none; stroke: var(--color); stroke-width: 2.25px; stroke-linejoin: round;
  vector-effect: non-scaling-stroke;
}
.x, .y { white-space: nowrap; position: absolute; font-size: .75rem; color: var(--soft); }
.x { top: 100%; transform: translateX(-50%); padding-top: .3rem; }
.y { right: 100%; transform: translateY(50%); padding-right: .5rem; }

details { margin-top: 1rem; }
details h3 { margin-top: .7rem; }
summary { cursor: pointer; font-size: .875rem; }
.wide { overflow-x: auto; margin-top: .5rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-size: .8rem; padding-bottom: .3rem; }
th, td { padding: .3rem .75rem; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
thead th, tr > :first-child { max-width: 14rem; overflow-wrap: break-word; }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom; }
tr > :first-child { text-align: left; padding-left: 0; min-width: 6rem; }
td { white-space: nowrap; }
td.shade {
  background: color-mix(in srgb, var(--shade-color) var(--shade), transparent);
}
bdi {
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .85em; padding: .1em .25em; border-radius: .25em; white-space: pre-wrap;
}
.t0 { background: var(--t0); } .t1 { background: var(--t1); }
.t2 { background: var(--t2); } .t3 { background: var(--t3); }
.tokens { display: inline-flex; flex-wrap: wrap; gap: 2px; }
.list {
  display: flex; flex-wrap: wrap; gap: .35rem .9rem; list-style: none; padding: 0; margin: 0 0 1rem;
}
.list small, .terms small { font-variant-numeric: tabular-nums; margin-left: .3rem; }
.terms { width: 100%; table-layout: fixed; }
.terms tr > :first-child { width: 9rem; }
.terms td, .terms thead th { padding: .3rem .75rem .3rem 0; text-align: left; }
.terms td { white-space: normal; }
.terms tbody:not(:first-of-type) .term { padding-top: 1.3rem; }
.terms th.term { font-size: 1rem; }
.terms th.term bdi { font: inherit; padding: 0; }
.terms th[scope="row"] { font-weight: 400; }
footer { font-size: .8rem; margin-top: 1.5rem; }
footer p { max-width: none; }
@media (max-width: 36rem) {
  main { padding: 1.5rem .8rem 3rem; }
  section { padding: 1.1rem 1rem; }
  .bars, .strips { grid-template-columns: 1fr; gap: .15rem; }
  .bars-name { text-align: left; margin-top: .6rem; }
  .bars-name, .strip-name { max-width: none; }
  .terms tr { display: grid; grid-template-columns: 1fr 1fr; border-bottom: 1px solid var(--line); }
  .terms th, .terms td { border: 0; max-width: none; }
  .terms tr > :first-child { width: auto; grid-column: 1 / -1; padding-bottom: 0; }
}
@media print { section { break-inside: avoid; } }
"""
