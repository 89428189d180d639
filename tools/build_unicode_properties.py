"""Write ``compat_bpe/unicode/tables_properties.py``, for properties that only Oniguruma has.

    python tools/build_unicode_properties.py [--check]

The data is fetched as by ``build_unicode_tables.py``, and is of version 16.0.  The names are those
that Oniguruma takes in tokenizers 0.23.3; the differential tests compare each.  ``InCB`` is left
out: there it is neither of the property's values.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.build_unicode_tables import (  # noqa: E402
    UNICODE,
    UNICODE_VERSION,
    fetch,
    formatted,
    literal,
    ranges,
    read,
)
from tools.generated import write_or_check  # noqa: E402

TARGET = UNICODE / "tables_properties.py"

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
SCRIPTS = """
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

READ = """
import {readdirSync} from 'node:fs';
const points = async path => (await import(`${process.cwd()}/${path}/code-points.mjs`)).default;
const out = {properties: {}, blocks: {}, clusters: {}};
for (const name of JSON.parse(process.argv[1]))
    out.properties[name] = [...await points(`Binary_Property/${name}`)];
for (const [key, folder] of [['blocks', 'Block'], ['clusters', 'Grapheme_Cluster_Break']])
    for (const name of readdirSync(folder, {withFileTypes: true}))
        if (name.isDirectory()) out[key][name.name] = [...await points(`${folder}/${name.name}`)];
console.log(JSON.stringify(out));
"""


def names(text: str) -> dict[str, list[str]]:
    """Each name with its other names."""
    pairs = (item.partition("=") for item in text.split())
    return {name: others.split(",") if others else [] for name, _, others in pairs}


def table(name: str, comment: str, tables: dict[str, list[int]]) -> list[str]:
    """The lines of a dictionary of tables."""
    lines = (
        f'    "{one}": {literal(ranges(tables[one]), "    ")},'
        for one in sorted(tables)
        if tables[one]
    )
    return [f"#: {comment}", f"{name} = {{", *lines, "}", ""]


def generate() -> dict[Path, str]:
    """The text of the file."""
    properties = names(PROPERTIES)
    with tempfile.TemporaryDirectory() as folder:
        package = fetch(Path(folder), UNICODE_VERSION)
        data = read(package, READ, json.dumps(list(properties)))
    short = {
        other: name
        for known in (properties, names(SCRIPTS))
        for name, others in known.items()
        for other in others
    }
    for computed in ("LV", "LVT", "Other"):
        data["clusters"].pop(computed, None)
    text = "\n".join(
        [
            '''"""Unicode 16.0.0, what Oniguruma's names say: generated; do not edit.

Generated by tools/build_unicode_properties.py.

Derived from the Unicode Character Database (see NOTICE), in the form of ``tables``.
"""

from __future__ import annotations
''',
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
    return {TARGET: formatted(text, TARGET.name)}


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
