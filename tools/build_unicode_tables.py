"""Write the Unicode tables in ``compat_bpe/unicode`` from the Unicode Character Database.

    python tools/build_unicode_tables.py [--check]

The data comes from the npm packages ``@unicode/unicode-…``, fetched by ``npm pack``, checked
against a pinned sha256 and read with ``node`` (their modules are JavaScript).

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
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.fetch_package import fetch_package
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

#: General categories, each with the two letters that patterns use.
CATEGORIES = """
Uppercase_Letter=Lu Lowercase_Letter=Ll Titlecase_Letter=Lt Modifier_Letter=Lm Other_Letter=Lo
Nonspacing_Mark=Mn Spacing_Mark=Mc Enclosing_Mark=Me Decimal_Number=Nd Letter_Number=Nl
Other_Number=No Connector_Punctuation=Pc Dash_Punctuation=Pd Open_Punctuation=Ps
Close_Punctuation=Pe Initial_Punctuation=Pi Final_Punctuation=Pf Other_Punctuation=Po
Math_Symbol=Sm Currency_Symbol=Sc Modifier_Symbol=Sk Other_Symbol=So Space_Separator=Zs
Line_Separator=Zl Paragraph_Separator=Zp Control=Cc Format=Cf Surrogate=Cs Private_Use=Co
"""
#: Binary properties, each with its other name, if it has one.
PROPERTIES = """
ASCII_Hex_Digit=AHex Alphabetic Bidi_Control=Bidi_C Case_Ignorable=CI Cased
Changes_When_Casefolded=CWCF Changes_When_Casemapped=CWCM Changes_When_Lowercased=CWL
Changes_When_Titlecased=CWT Changes_When_Uppercased=CWU Dash
Default_Ignorable_Code_Point=DI Deprecated=Dep Diacritic=Dia Emoji Emoji_Component=EComp
Emoji_Modifier=EMod Emoji_Modifier_Base=EBase Emoji_Presentation=EPres
Extended_Pictographic=ExtPict Extender=Ext Grapheme_Base=Gr_Base Grapheme_Extend=Gr_Ext
Grapheme_Link=Gr_Link Hex_Digit=Hex Hyphen IDS_Binary_Operator=IDSB IDS_Trinary_Operator=IDST
IDS_Unary_Operator=IDSU ID_Compat_Math_Continue ID_Compat_Math_Start ID_Continue=IDC ID_Start=IDS
Ideographic=Ideo Join_Control=Join_C Logical_Order_Exception=LOE Lowercase Math
Modifier_Combining_Mark=MCM Noncharacter_Code_Point=NChar Other_Alphabetic=OAlpha
Other_Default_Ignorable_Code_Point=ODI Other_Grapheme_Extend=OGr_Ext Other_ID_Continue=OIDC
Other_ID_Start=OIDS Other_Lowercase=OLower Other_Math=OMath Other_Uppercase=OUpper
Pattern_Syntax=Pat_Syn Pattern_White_Space=Pat_WS Prepended_Concatenation_Mark=PCM
Quotation_Mark=QMark Radical Regional_Indicator=RI Sentence_Terminal=STerm Soft_Dotted=SD
Terminal_Punctuation=Term Unified_Ideograph=UIdeo Uppercase Variation_Selector=VS
White_Space=WSpace
XID_Continue=XIDC XID_Start=XIDS
"""
#: The short names of scripts (ISO 15924).
SHORT_NAMES_OF_SCRIPTS = """
Adlam=Adlm Caucasian_Albanian=Aghb Ahom Anatolian_Hieroglyphs=Hluw Arabic=Arab Armenian=Armn
Avestan=Avst Balinese=Bali Bamum=Bamu Bassa_Vah=Bass Batak=Batk Bengali=Beng Bhaiksuki=Bhks
Bopomofo=Bopo Brahmi=Brah Braille=Brai Buginese=Bugi Buhid=Buhd Canadian_Aboriginal=Cans
Carian=Cari Chakma=Cakm Cham Cherokee=Cher Chorasmian=Chrs Common=Zyyy Coptic=Copt,Qaac
Cuneiform=Xsux Cypriot=Cprt Cypro_Minoan=Cpmn Cyrillic=Cyrl Deseret=Dsrt Devanagari=Deva
Dives_Akuru=Diak Dogra=Dogr Duployan=Dupl Egyptian_Hieroglyphs=Egyp Elbasan=Elba Elymaic=Elym
Ethiopic=Ethi Garay=Gara Georgian=Geor Glagolitic=Glag Gothic=Goth Grantha=Gran Greek=Grek
Gujarati=Gujr Gunjala_Gondi=Gong Gurmukhi=Guru Gurung_Khema=Gukh Han=Hani Hangul=Hang
Hanifi_Rohingya=Rohg Hanunoo=Hano Hatran=Hatr Hebrew=Hebr Hiragana=Hira Imperial_Aramaic=Armi
Inherited=Zinh,Qaai Inscriptional_Pahlavi=Phli Inscriptional_Parthian=Prti Javanese=Java
Kaithi=Kthi Kannada=Knda Katakana=Kana Kawi Kayah_Li=Kali Kharoshthi=Khar
Khitan_Small_Script=Kits Khmer=Khmr Khojki=Khoj Khudawadi=Sind Kirat_Rai=Krai Lao=Laoo Latin=Latn
Lepcha=Lepc Limbu=Limb Linear_A=Lina Linear_B=Linb Lisu Lycian=Lyci Lydian=Lydi Mahajani=Mahj
Makasar=Maka Malayalam=Mlym Mandaic=Mand Manichaean=Mani Marchen=Marc Masaram_Gondi=Gonm
Medefaidrin=Medf Meetei_Mayek=Mtei Mende_Kikakui=Mend Meroitic_Cursive=Merc
Meroitic_Hieroglyphs=Mero Miao=Plrd Modi Mongolian=Mong Mro=Mroo Multani=Mult Myanmar=Mymr
Nabataean=Nbat Nag_Mundari=Nagm Nandinagari=Nand New_Tai_Lue=Talu Newa Nko=Nkoo Nushu=Nshu
Nyiakeng_Puachue_Hmong=Hmnp Ogham=Ogam Ol_Chiki=Olck Ol_Onal=Onao Old_Hungarian=Hung
Old_Italic=Ital Old_North_Arabian=Narb Old_Permic=Perm Old_Persian=Xpeo Old_Sogdian=Sogo
Old_South_Arabian=Sarb Old_Turkic=Orkh Old_Uyghur=Ougr Oriya=Orya Osage=Osge Osmanya=Osma
Pahawh_Hmong=Hmng Palmyrene=Palm Pau_Cin_Hau=Pauc Phags_Pa=Phag Phoenician=Phnx
Psalter_Pahlavi=Phlp Rejang=Rjng Runic=Runr Samaritan=Samr Saurashtra=Saur Sharada=Shrd
Shavian=Shaw Siddham=Sidd SignWriting=Sgnw Sinhala=Sinh Sogdian=Sogd Sora_Sompeng=Sora
Soyombo=Soyo Sundanese=Sund Sunuwar=Sunu Syloti_Nagri=Sylo Syriac=Syrc Tagalog=Tglg
Tagbanwa=Tagb Tai_Le=Tale Tai_Tham=Lana Tai_Viet=Tavt Takri=Takr Tamil=Taml Tangsa=Tnsa
Tangut=Tang Telugu=Telu Thaana=Thaa Thai Tibetan=Tibt Tifinagh=Tfng Tirhuta=Tirh Todhri=Todr
Toto Tulu_Tigalari=Tutg Ugaritic=Ugar Vai=Vaii Vithkuqi=Vith Wancho=Wcho Warang_Citi=Wara
Yezidi=Yezi Yi=Yiii Zanabazar_Square=Zanb
"""


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

READ_PROPERTIES = """
import {readdirSync} from 'node:fs';
const points = async path => (await import(`${process.cwd()}/${path}/code-points.mjs`)).default;
const out = {properties: {}, blocks: {}, clusters: {}};
for (const name of JSON.parse(process.argv[1]))
    out.properties[name] = [...await points(`Binary_Property/${name}`)];
for (const [key, folder] of [['blocks', 'Block'], ['clusters', 'Grapheme_Cluster_Break']])
    for (const name of readdirSync(folder, {withFileTypes: true}))
        if (name.isDirectory()) out[key][name.name] = [...await points(`${folder}/${name.name}`)];
out.folds = [...await points('Case_Folding/F')];
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
    """Return a folder with what is in the package of a version."""
    package_version, sha256 = PACKAGES[version]
    target = folder / version
    target.mkdir()
    archive = fetch_package(f"@unicode/unicode-{version}@{package_version}", target)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{archive.name}: sha256 is {found}, expected {sha256}")
    with tarfile.open(archive) as tar:
        tar.extractall(target)
    return target / "package"


def read(package: Path, script: str, argument: str) -> Any:
    """Return what a script prints of the data in a package, run by node."""
    run = subprocess.run(
        ["node", "--input-type=module", "-e", script, argument],
        cwd=package,
        check=True,
        capture_output=True,
    )
    return json.loads(run.stdout)


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


def module(data: dict) -> str:  # type: ignore[type-arg]
    """Return the text of ``tables.py``."""
    categories = {short: data["categories"][name] for name, (short,) in _names(CATEGORIES).items()}
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


_HEAD = '''"""Unicode 16.0.0, %s: generated; do not edit.

Generated by tools/build_unicode_tables.py.

Derived from the Unicode Character Database (see NOTICE).
"""

from __future__ import annotations
'''


def _names(text: str) -> dict[str, list[str]]:
    """Return each name with its other names."""
    pairs = (item.partition("=") for item in text.split())
    return {name: others.split(",") if others else [] for name, _, others in pairs}


def table(name: str, comment: str, tables: dict[str, list[int]]) -> list[str]:
    """Return the lines of a dictionary of tables."""
    lines = (
        f'    "{one}": {literal(ranges(tables[one]), "    ")},'
        for one in sorted(tables)
        if tables[one]
    )
    return [f"#: {comment}", f"{name} = {{", *lines, "}", ""]


def oniguruma_modules(data: Any) -> tuple[str, str]:
    """Return the texts of the modules for what only Oniguruma asks.

    The names are those that it takes in tokenizers 0.23.3. ``InCB`` is left out: there it is
    neither of the property's values.
    """
    short = {
        other: name
        for known in (_names(PROPERTIES), _names(SHORT_NAMES_OF_SCRIPTS))
        for name, others in known.items()
        for other in others
    }
    for computed in ("LV", "LVT", "Other"):
        data["clusters"].pop(computed, None)
    text = "\n".join(
        [
            _HEAD % "what Oniguruma's names say",
            *table("PROPERTIES", "Binary properties.", data["properties"]),
            *table("BLOCKS", "Blocks.", {f"In_{one}": at for one, at in data["blocks"].items()}),
            *table(
                "CLUSTERS",
                "Values of Grapheme_Cluster_Break, without Hangul syllables.",
                data["clusters"],
            ),
            "#: Other names of properties and scripts.",
            "SHORT_NAMES = {",
            *(f'    "{other}": "{name}",' for other, name in sorted(short.items())),
            "}",
            "",
        ]
    )
    folds = "\n".join(
        [
            _HEAD % "characters that fold to several",
            "#: Full case folding (status F).",
            "FULL_FOLDS = {",
            *(f"    0x{point:04x}: {''.join(map(chr, to))!a}," for point, to in data["folds"]),
            "}",
            "",
        ]
    )
    return text, folds


def formatted(text: str, name: str) -> str:
    """Return a module's text as ruff formats it."""
    command = ["ruff", "format", "--quiet", "--stdin-filename", name, "-"]
    return subprocess.run(
        command, input=text, capture_output=True, check=True, encoding="utf-8"
    ).stdout


def generate() -> dict[Path, str]:
    """Return the text of each file."""
    with tempfile.TemporaryDirectory() as folder:
        packages = {version: fetch(Path(folder), version) for version in PACKAGES}
        package = packages[UNICODE_VERSION]
        data = read(package, READ_DATA, json.dumps(list(_names(CATEGORIES))))
        more = read(package, READ_PROPERTIES, json.dumps(list(_names(PROPERTIES))))
        properties, folds = oniguruma_modules(more)
        texts = {
            TARGET: module(data),
            TOKENIZERS_TARGET: tokenizers_module(
                lambda version, path: read(packages[version], READ_ONE, path)
            ),
            UNICODE / "tables_properties.py": properties,
            UNICODE / "tables_folds.py": folds,
        }
    return {path: formatted(text, path.name) for path, text in texts.items()}


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
