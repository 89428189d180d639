"""Write the Unicode tables in ``compat_bpe/unicode`` from the Unicode Character Database.

    python tools/build_unicode_tables.py [--check]

The data comes from the npm packages ``@unicode/unicode-…``, fetched by ``npm pack``, checked
against a pinned sha256 and read with ``node`` (their modules are JavaScript).

- ``tables.py`` is of version 16.0, by which tiktoken 0.14 classifies, and so do the
  patterns of tokenizers 0.23.3.
- ``tables_tokenizers.py`` has what else tokenizers 0.23.3 asks, of the versions that the
  libraries in it are of.

A later tiktoken or tokenizers may need others; the differential tests are what notices.

``--check`` writes nothing and exits with 1 when a file is not what would be written.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.generated import write_or_check

ROOT = Path(__file__).resolve().parents[1]
UNICODE_VERSION = "16.0.0"
#: The version of Unicode → the version of the npm package and its sha256.
PACKAGES = {
    "8.0.0": ("2.0.7", "bef3ad7da21713b73f55d24cef867eac0a640884d1c50f4814ccfc5df400a4e8"),
    "9.0.0": ("2.0.7", "dba638a3b190a48cffca60c20c32ca6c8f928050ea2d5878c0f39dae56ebc8c3"),
    "16.0.0": ("2.0.7", "f8863f037f9a917eff824fe0da6d1fef6029a98f34d0555fe72816a533d76e6f"),
    "17.0.0": ("2.1.0", "dc16c2001bb62c0c48a6e85f12ef9172e4a221eae2d25dc6544536158e0de4b2"),
}
UNICODE = ROOT / "compat_bpe" / "unicode"
TARGET = UNICODE / "tables.py"
TOKENIZERS_TARGET = UNICODE / "tables_tokenizers.py"

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

READ_ONE = """
const points = (await import(`${process.cwd()}/${process.argv[1]}/code-points.mjs`)).default;
console.log(JSON.stringify([...points]));
"""

#: What composes: Hangul, that has no table in the database.
LEADING, VOWELS, TRAILING = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3)
OPEN_SYLLABLES = range(0xAC00, 0xD7A4, 28)

#: A class of characters in clusters → its path in the database.
CLUSTER_CLASSES = {
    "c": "Grapheme_Cluster_Break/Control",
    "e": "Grapheme_Cluster_Break/Extend",
    "z": "Grapheme_Cluster_Break/ZWJ",
    "s": "Grapheme_Cluster_Break/SpacingMark",
    "r": "Grapheme_Cluster_Break/Regional_Indicator",
    "p": "Grapheme_Cluster_Break/Prepend",
    "L": "Grapheme_Cluster_Break/L",
    "V": "Grapheme_Cluster_Break/V",
    "T": "Grapheme_Cluster_Break/T",
    "x": "Binary_Property/Extended_Pictographic",
    "C": "Indic_Conjunct_Break/Consonant",
    "k": "Indic_Conjunct_Break/Linker",
    "n": "Indic_Conjunct_Break/None",
}


def fetch(folder: Path, version: str) -> Path:
    """The folder in ``folder`` with what is in the package of a version."""
    package_version, sha256 = PACKAGES[version]
    target = folder / version
    target.mkdir()
    package = f"@unicode/unicode-{version}@{package_version}"
    subprocess.run(["npm", "pack", "--silent", package], cwd=target, check=True)
    (archive,) = target.glob("*.tgz")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{archive.name}: sha256 is {found}, expected {sha256}")
    with tarfile.open(archive) as tar:
        tar.extractall(target)
    return target / "package"


def read(package: Path, script: str, argument: str) -> Any:
    """What a script prints of the data in a package, run by node."""
    run = subprocess.run(
        ["node", "--input-type=module", "-e", script, argument],
        cwd=package,
        check=True,
        capture_output=True,
    )
    return json.loads(run.stdout)


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

Derived from the Unicode Character Database (see NOTICE). Each table is a text of
hexadecimal code points and ranges, parsed when asked for by ``properties``.
"""

from __future__ import annotations

UNICODE_VERSION = "{UNICODE_VERSION}"
''',
        "#: The property White_Space: the characters that ``\\s`` matches.",
        f"WHITE_SPACE = {literal(ranges(data['White_Space']))}\n",
        "#: The characters of ``\\w``: Alphabetic, marks, decimal digits, connectors, joiners.",
        f"WORD = {literal(ranges(word))}\n",
        "#: Simple case folding (status C and S): groups that match each other under ``(?i)``.",
        f"CASE_ORBITS = {literal(orbits(data['folding']))}\n",
        "#: General categories; unassigned code points (Cn) are in none of them.",
        "CATEGORIES = {",
        *(f'    "{name}": {literal(ranges(v), "    ")},' for name, v in categories.items()),
        "}\n",
        "#: Scripts, by their long names.",
        "SCRIPTS = {",
        *(f'    "{name}": {literal(ranges(v), "    ")},' for name, v in scripts.items()),
        "}",
    ]
    return "\n".join(parts) + "\n"


def shifts(mapping: Iterable[tuple[int, int]]) -> str:
    """Code points and what they map to, as ``41-5a+20`` or, every second, ``100-12e/2+1``."""
    runs: list[list[int]] = []
    for code_point, mapped in sorted(mapping):
        delta = mapped - code_point
        gap = code_point - runs[-1][1] if runs and runs[-1][3] == delta else 0
        if gap in (1, 2) and runs[-1][2] in (0, gap):
            runs[-1][1:3] = [code_point, gap]
        else:
            runs.append([code_point, code_point, 0, delta])
    return " ".join(
        f"{first:x}-{last:x}{'/2' if step == 2 else ''}{delta:+x}"
        for first, last, step, delta in runs
    )


def composing(of: Callable[[str, str], Any]) -> tuple[set[int], set[int]]:
    """The characters that compose with a later one, and those that compose with an earlier one.

    The database of Unicode 9.0 lacks the mappings. But those of a character never change.
    """
    excluded = {*of("17.0.0", "Binary_Property/Full_Composition_Exclusion")}
    excluded.update(of("9.0.0", "General_Category/Unassigned"))
    pairs = [
        mapped
        for point, mapped in of("17.0.0", "Decomposition_Mapping/Canonical")
        if point not in excluded and not 0xAC00 <= point < 0xD7A4
    ]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise SystemExit("Decomposition_Mapping: not pairs")
    forward = {pair[0] for pair in pairs} | {*LEADING, *OPEN_SYLLABLES}
    return forward, {pair[1] for pair in pairs} | {*VOWELS, *TRAILING}


def cluster_classes(of: Callable[[str, str], Any]) -> dict[str, set[int]]:
    """The classes of characters in clusters, each character in one; the others are in none."""
    found = {name: {*of("17.0.0", path)} for name, path in CLUSTER_CLASSES.items()}
    extend = found["e"]
    if not found["k"] <= extend or found["z"] & extend:
        raise SystemExit("Indic_Conjunct_Break: a linker that does not extend")
    found["n"] &= extend
    found["e"] = extend - found["k"] - found["n"]
    found["c"] -= {0x0A, 0x0D}
    members = [point for points in found.values() for point in points]
    if len(members) != len(set(members)):
        raise SystemExit("Grapheme_Cluster_Break: a character in two classes")
    return found


def tokenizers_module(of: Callable[[str, str], Any]) -> str:
    """The text of the module for tokenizers; ``of(version, path)`` is a part of the data."""
    category = "General_Category"
    other = [of("8.0.0", f"{category}/{name}") for name in ("Control", "Format", "Private_Use")]
    forward, backward = composing(of)
    return "\n".join(
        [
            '''"""Tables of the other Unicode versions that tokenizers 0.23.3 uses.

Generated by tools/build_unicode_tables.py; do not edit.

Derived from the Unicode Character Database (see NOTICE), in the form of ``tables``.
The version of each table was measured over all code points.
"""

from __future__ import annotations
''',
            "#: General category P in Unicode 8.0, for the pre-tokenizer Punctuation.",
            f"PUNCTUATION = {literal(ranges(of('8.0.0', f'{category}/Punctuation')))}\n",
            "#: Code points unassigned in Unicode 9.0, the version by which text is normalised.",
            f"UNASSIGNED = {literal(ranges(of('9.0.0', f'{category}/Unassigned')))}\n",
            "#: General category N in Unicode 17.0, for the pre-tokenizer Digits.",
            f"NUMERIC = {literal(ranges(of('17.0.0', f'{category}/Number')))}\n",
            "#: Lower case of each upper-case letter in Unicode 17.0: ``41-5a+20`` is a range and",
            "#: its distance to lower case; ``/2`` takes every second code point of the range.",
            f"LOWERCASE = {literal(shifts(of('17.0.0', 'Simple_Case_Mapping/Lowercase')))}\n",
            "#: General categories Cc, Cf and Co in Unicode 8.0, for BertNormalizer.",
            f"OTHER = {literal(ranges({*other[0], *other[1], *other[2]}))}\n",
            "#: General category Mn in Unicode 8.0, for BertNormalizer.",
            f"NONSPACING = {literal(ranges(of('8.0.0', f'{category}/Nonspacing_Mark')))}\n",
            "#: General category M in Unicode 9.0, for StripAccents.",
            f"MARKS = {literal(ranges(of('9.0.0', f'{category}/Mark')))}\n",
            "#: Characters that compose with a later one in Unicode 9.0, and with an earlier one.",
            f"COMPOSES_FORWARD = {literal(ranges(forward))}",
            f"COMPOSES_BACKWARD = {literal(ranges(backward))}\n",
            "#: Classes of characters in grapheme clusters in Unicode 17.0 (see ``clusters``).",
            "CLUSTER_CLASSES = {",
            *(
                f'    "{name}": {literal(ranges(points), "    ")},'
                for name, points in cluster_classes(of).items()
            ),
            "}",
            "",
        ]
    )


def formatted(text: str, name: str) -> str:
    """A module's text as ruff formats it."""
    command = ["ruff", "format", "--quiet", "--stdin-filename", name, "-"]
    return subprocess.run(
        command, input=text, capture_output=True, check=True, encoding="utf-8"
    ).stdout


def generate() -> dict[Path, str]:
    """The text of each file."""
    with tempfile.TemporaryDirectory() as folder:
        packages = {version: fetch(Path(folder), version) for version in PACKAGES}
        data = read(packages[UNICODE_VERSION], READ_DATA, json.dumps(list(CATEGORIES)))
        texts = {
            TARGET: module(data),
            TOKENIZERS_TARGET: tokenizers_module(
                lambda version, path: read(packages[version], READ_ONE, path)
            ),
        }
    return {path: formatted(text, path.name) for path, text in texts.items()}


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
