"""Configurations: what they may say, what is wrong, those that are extended and those shown."""

from __future__ import annotations

import os
import re
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.check import configuration as module
from compat_bpe.check.configuration import Counting, configuration_of
from compat_bpe.check.measure import matching
from compat_bpe.check.rules import Configuration, Limit, Part, Rule, SectionRule, choose
from compat_bpe.check.source import (
    NAME,
    PYPROJECT,
    ConfigurationError,
    Place,
    Source,
    find_configuration,
    read_source,
)
from compat_bpe.files.documents import markdown_sections
from compat_bpe.files.walk import Found


def read(text: str, folder: Path | None = None) -> Configuration:
    return configuration_of(Source(str((folder or Path("/x")) / ".compat-bpe.toml"), text))


RULE = '[[check.rules]]\nfiles = ["*.md"]\n'


def counted_by(rule: Rule) -> str:
    """The name of the encoding that counts for a rule."""
    assert rule.counted_by is not None
    return rule.counted_by.encoding_name


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[check]\n", 1, "there are no rules: write [[check.rules]]"),
        ("check = 1\n", 1, "'check' is not a table"),
        ("[check]\nrule = 1\n" + RULE, 2, "there is no key 'rule' (did you mean 'rules'?)"),
        ("[check]\nzzz = 1\n" + RULE, 2, "there is no key 'zzz'; the keys are encoding, model"),
        ("[check]\nrules = 1\n", 2, "rules must be a list of tables: write [[check.rules]]"),
        ("[check]\nrules = [1]\n", 2, "rules must be a list of tables"),
        ("[[check.rules]]\nmax = 1\n", 1, 'a rule needs files: write files = ["*.md"]'),
        (RULE, 1, "a rule needs a limit: write max = 5000"),
        (RULE + "maxx = 1\n", 3, "there is no key 'maxx' (did you mean 'max'?)"),
        (
            RULE + 'max = "5kB"\n',
            3,
            'max must be a number of tokens from 0 on, or "5% of context", not',
        ),
        (RULE + "max = -1\n", 3, "not -1"),
        (RULE + "max = true\n", 3, "not True"),
        (RULE + "max = 1.5\n", 3, "not 1.5"),
        (RULE + "max = 9_999_999_999_999\n", 3, "not 9999999999999"),
        (RULE + f"max = 0x{'f' * 9000}\n", 3, "a number with too many digits"),
        (RULE + f"max = [0x{'f' * 9000}]\n", 3, "a value with a number with too many digits"),
        (RULE + 'max = "5% of context"\n', 3, "an encoding has no context: name the model"),
        (RULE + 'model = "gpt-4o"\nmax = "101% of context"\n', 4, "not '101% of context'"),
        (RULE + 'max = "5%"\n', 3, "not '5%'"),
        (RULE + 'max = 9\nwarn = "101%"\n', 4, 'warn must be at most "100%"'),
        (RULE + "max = 9\nwarn = 10\n", 4, "warn is above max, 9"),
        (RULE + 'max = 9\nwarn = "10% of context"\n', 4, 'or a share, as in "90%"'),
        (RULE + 'max = 9\nname = ""\n', 4, "name must be a text that is not empty"),
        (
            '[[check.rules]]\nmax = 1\nfiles = "*.md"\n',
            3,
            "files must be a list of texts, as in files = [",
        ),
        ("[[check.rules]]\nmax = 1\nfiles = []\n", 3, "files must be a list of texts"),
        ("[[check.rules]]\nmax = 1\nfiles = [1]\n", 3, "files must be a list of texts"),
        ('[[check.rules]]\nfiles = [\n"../*.md"]\nmax = 1\n', 2, "leaves the folder"),
        ('[[check.rules]]\nfiles = ["a[b"]\nmax = 1\n', 2, "is not a pattern"),
        ('[[check.rules]]\nfiles = ["a\\u0000"]\nmax = 1\n', 2, "a character that no path has"),
        ("[[check.rules]]\nfiles = ['" + "*a" * 501 + "']\nmax = 1\n", 2, "longer than 1,000"),
        (
            "[check]\n" + ("[[check.rules]]\nfiles = [" + "'a'," * 501 + "]\nmax = 1\n") * 2,
            1,
            "more than 1,000 globs",
        ),
        ("[check]\n" + (RULE + "max = 1\n") * 1001, 1, "more than 1,000 rules"),
        (RULE + 'encoding = "o200k"\nmax = 1\n', 3, "(did you mean 'o200k_base'"),
        (RULE + 'encoding = "/etc/passwd"\nmax = 1\n', 3, "a file or folder; use -e /etc/passwd"),
        (RULE + 'encoding = "hf:a/b"\nmax = 1\n', 3, "-e hf:a/b on the command line"),
        (RULE + 'model = "gpt-4p"\nmax = 1\n', 3, "unknown model 'gpt-4p' (did you mean"),
        (RULE + 'model = "claude-sonnet-4-5"\nmax = 1\n', 3, "claude-sonnet-4-5"),
        (RULE + 'model = "gpt-4o"\nencoding = "gpt2"\nmax = 1\n', 3, "exclude each other"),
        (RULE + 'sections = [{heading = "A"}]\n', 3, "a section needs both"),
        (RULE + "front_matter = -1\n", 3, "front_matter must be a number of tokens from 0 on"),
        (RULE + 'body = "5%"\n', 3, "body must be a number of tokens from 0 on"),
        (RULE + "frontmatter = 1\n", 3, "did you mean 'front_matter'"),
        (RULE + "[[check.rules.sections]]\nheading = 'A'\nmax = 1\nlevel = 7\n", 6, "from 1 to 6"),
        (RULE + "[[check.rules.sections]]\nhead = 'A'\nmax = 1\n", 4, "did you mean 'heading'"),
        (
            RULE + "sections = [" + "{heading='a', max=1}," * 101 + "]\n",
            3,
            "more than 100 sections",
        ),
        (RULE + 'max = 1\n[[check.exempt]]\nfiles = ["a"]\n', 4, "an exemption needs both"),
        (RULE + 'max = 1\n[[check.exempt]]\nreason = "x"\n', 4, "an exemption needs both"),
    ],
)
def test_what_is_wrong(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith(f"{os.path.join('/x', '.compat-bpe.toml')}:{line}: "), message
    assert words in message
    assert "\n" not in message
    assert len(message) < 700


@pytest.mark.parametrize(
    "text",
    [
        "[" + "a." * 250_000 + "a]\n" + "b=1\n" * 100,
        "a." * 500_000 + "a = 1\n",
        '  [[ "a" . ' + "'b' . " * 100_000 + "c]]\n",
        "x = {" + "a." * 250_000 + "a = 1}\n",
        '"\\"".' * 100_000 + "a = 1\n",
        'x = ["""\n""", {y = 1, ' + "a." * 100 + "a = 1}]",
    ],
)
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r":[23]: a key of more than 100 parts"):
        read("\n" + text)


@pytest.mark.parametrize(
    "text",
    [
        "[" + "a." * 99 + "a]\n",
        "x = '" + "a." * 1000 + "'\n",
        'x = """\n" ' + "a." * 1000 + '"""\n',
        "x = 1 # " + "a." * 1000 + "\n",
        "x = [" + "1.5, " * 1000 + "]\n",
        "a.b = 1.5\n" + "".join(f"a.c{number} = 1\n" for number in range(200)),
    ],
)
def test_other_dots_are_no_long_key(text: str) -> None:
    assert Source("/x/.compat-bpe.toml", text).table is None


@pytest.mark.parametrize(
    "text",
    ['"""x"' + '\\"""x"' * 150_000, '"""' * 300_001, "'" * 3 + '"' * 900_000, "=." * 500_000]
    + ["x = " + "[" * 100_000, "x = " + "[" * 9_000 + "]" * 9_000],
)
def test_what_is_no_toml_is_refused_soon(text: str) -> None:
    with pytest.raises(ConfigurationError, match="invalid TOML"):
        read(text)


def test_no_toml() -> None:
    with pytest.raises(ConfigurationError, match=r"invalid TOML: .*line 2"):
        read("[check]\nmax = \n")


def test_a_table_that_is_none_on_the_way() -> None:
    with pytest.raises(ConfigurationError, match=r"pyproject.toml:1: .*\[tool\]"):
        Source("pyproject.toml", "tool = 1\n")


def test_python_without_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("compat_bpe.check.source.import_module", missing)
    with pytest.raises(ConfigurationError, match="pip install tomli"):
        read(RULE)


def test_a_share_is_what_it_says() -> None:
    for percent in range(101):
        assert Part(None, float(percent) / 100).of(100) == percent


def test_values() -> None:
    found = read(
        '[check]\nmodel = "gpt-4o"\nwarn = "80%"\n'
        '[[check.rules]]\nname = "all"\nfiles = ["*.md", ".x/*"]\n'
        'max = "5% of context"\ntotal = "1.5M"\n'
        + RULE
        + 'encoding = "gpt2"\nwarn = "3k"\nmax = "4K"\ngrowth = "10%"\nexclude = ["a.md"]\n'
    )
    one, two = found.rules
    assert (one.name, counted_by(one)) == ("all", "o200k_base")
    assert (two.name, counted_by(two)) == ("*.md", "gpt2")
    assert one.largest is not None
    assert (one.largest.tokens, one.largest.share, one.largest.place.line) == (6400, True, 7)
    assert one.total is not None
    assert (one.warn.of(1000), one.total.tokens, one.total.share) == (800, 1_500_000, False)
    assert (two.warn.of(1000), two.growth and two.growth.of(55)) == (3000, 5)
    assert found.needs_hidden
    paths = ["a.md", "b/c.md", ".x/d.txt", ".y/e.md", "b/.z/f.md"]
    assert one.chosen(paths) == ["a.md", "b/c.md", ".x/d.txt"]
    assert two.chosen(paths) == ["b/c.md"]


@pytest.mark.parametrize("line", ['encoding = "my-own"', 'model = "claude-sonnet-4-5"', ""])
def test_what_the_command_line_names_replaces_what_does_not_ship(line: str) -> None:
    source = Source("/x/.compat-bpe.toml", f"[check]\n{line}\n{RULE}{line}\nmax = 1\n")
    (rule,) = configuration_of(source, Counting(None)).rules
    assert rule.counted_by is None


@pytest.mark.parametrize("lines", ['encoding = "a"\nmodel = "b"\n', "encoding = 1\n", 'model = ""'])
def test_what_the_command_line_replaces_is_checked_for_its_form(lines: str) -> None:
    source = Source("/x/.compat-bpe.toml", f"[check]\n{lines}\n{RULE}max = 1\n")
    with pytest.raises(ConfigurationError, match=r"exclude each other|must be a text"):
        configuration_of(source, Counting(None))


def test_what_is_left_out_may_be_hidden_without_being_called_so() -> None:
    found = read(
        '[[check.rules]]\nfiles = [".x/*", "*.md"]\nexclude = ["no.md"]\nmax = 1\n'
        '[[check.exempt]]\nfiles = ["a.md"]\nreason = "old"\n'
    )
    paths = [".x/a.md", ".x/no.md", "no.md", "a.md", ".y/a.md"]
    assert found.rules[0].chosen(paths) == [".x/a.md", "a.md"]
    exempt = choose(found, {path: Found(path, "", 0) for path in paths}).exempt
    assert exempt == {".x/a.md": "old", "a.md": "old"}


# Where it is


def test_the_nearest_one_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    deep = tmp_path / "repository/a/b"
    deep.mkdir(parents=True)
    outside = tmp_path / ".compat-bpe.toml"
    outside.write_text(RULE)

    def found() -> str | None:
        source = find_configuration(str(deep))
        return None if source is None else os.path.relpath(source.path, tmp_path)

    assert found() == ".compat-bpe.toml"
    (tmp_path / "repository/.git").mkdir()
    assert found() is None
    (tmp_path / "repository/pyproject.toml").write_text("[tool.compat-bpe.check]\n")
    assert found() == os.path.join("repository", "pyproject.toml")
    (deep / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert found() == os.path.join("repository", "pyproject.toml")
    (deep.parent / "pyproject.toml").write_text("[tool.compat-bpe.check]\n")
    (deep.parent / ".compat-bpe.toml").write_text("[check]\n")
    assert found() == os.path.join("repository", "a", ".compat-bpe.toml")


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_configuration_that_leads_outside(tmp_path: Path) -> None:
    inside = tmp_path / "repository/a"
    inside.mkdir(parents=True)
    (tmp_path / "repository/.git").mkdir()
    (tmp_path / "secret.toml").write_text("[check]\n")
    (inside / ".compat-bpe.toml").symlink_to("../../secret.toml")
    with pytest.raises(ConfigurationError, match="a link that leads outside"):
        find_configuration(str(inside))
    (inside / ".compat-bpe.toml").unlink()
    (tmp_path / "repository/shared.toml").write_text(RULE)
    (inside / ".compat-bpe.toml").symlink_to("../shared.toml")
    assert find_configuration(str(inside)) is not None


WORDS = st.sampled_from(
    ["[check]", "[[check.rules]]", "[[check.rules.sections]]", "[[check.exempt]]", "\n", " = ", "'"]
    + ["files", "max", "warn", "total", "growth", "model", "extends", "heading", "[", "]", "{", "}"]
    + ['"*.md"', '["*.md"]', '["a"]', "1", "-1", '"5%"', '"5% of context"', '"gpt-4o"', "true", ","]
    + ["[check.rules]", "check", ".", "reason", "1.5", "sections", "rules", "exempt", "level", "3"]
)


@given(st.lists(WORDS, max_size=25), st.booleans())
def test_whatever_it_is_it_is_read_or_refused(words: list[str], with_lines: bool) -> None:
    text = ("\n" if with_lines else " ").join(words)
    for beginning in ("", "[check]\n", RULE + "max = 1\n", RULE):
        with suppress(ConfigurationError):
            source = Source("/x/.compat-bpe.toml", beginning + text)
            if source.table is not None:
                configuration_of(source)


PAIRS = st.tuples(
    st.sampled_from(
        """
            files max warn total growth model sections name front_matter body
        """.split()
    ),
    st.sampled_from(
        ["1", "'5%'", "'5% of context'", "['*']", "[]", "{}", "[{}]", "true", "'gpt2'"]
    ),
)


@given(st.lists(PAIRS, unique_by=lambda pair: pair[0]))
def test_any_values_are_read_or_refused(pairs: list[tuple[str, str]]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in pairs)
    with suppress(ConfigurationError):
        read("[[check.rules]]\n" + text)


def test_a_configuration_has_a_size(tmp_path: Path) -> None:
    path = tmp_path / ".compat-bpe.toml"
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(ConfigurationError, match="larger than 1,048,576 bytes"):
        read_source(str(path))
    path.write_bytes(b"# \xff\n")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        read_source(str(path))


# Extending


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "repository"
    (top / "sub").mkdir(parents=True)
    (top / ".git").mkdir()
    (tmp_path / "outside.toml").write_text("[check]\n" + RULE + "max = 1\n")
    return top


def extending(repository: Path, name: str) -> Configuration:
    path = repository / "sub/.compat-bpe.toml"
    path.write_text(f"[check]\nextends = {name}\n{RULE}max = 3\n")
    return configuration_of(read_source(str(path)))


def test_extended_rules_come_first_and_own_defaults_win(repository: Path) -> None:
    (repository / "base.toml").write_text('[check]\nencoding = "gpt2"\nwarn = 1\n' + RULE + "max=1")
    (repository / "shared.toml").write_text('[check]\nextends = "base.toml"\nwarn = 2\n')
    found = extending(repository, '["../shared.toml", "../base.toml"]')
    assert [rule.largest and rule.largest.tokens for rule in found.rules] == [1, 3]
    assert {counted_by(rule) for rule in found.rules} == {"gpt2"}
    assert {rule.warn.tokens for rule in found.rules} == {2}
    assert found.folder == str(repository / "sub")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ('"../../outside.toml"', "is outside"),
        ('"/etc/passwd"', "is outside"),
        ('"link.toml"', "is outside"),
        ('"folder/outside.toml"', "is outside"),
        ('"missing.toml"', "No such file"),
        ('"../sub"', "directory"),
        ('".compat-bpe.toml"', "extends this file again"),
        ('"../empty.toml"', "has no table [check]"),
        ('"../again.toml"', "extends this file again"),
        ("1", "extends must be a list of texts"),
        ('["a\\u0000"]', "No such file"),
    ],
)
def test_what_cannot_be_extended(repository: Path, name: str, words: str) -> None:
    (repository / "sub/link.toml").symlink_to("../../outside.toml")
    (repository / "sub/folder").symlink_to("../..")
    (repository / "empty.toml").write_text("")
    (repository / "again.toml").write_text('[check]\nextends = ["sub/.compat-bpe.toml"]\n')
    with pytest.raises(ConfigurationError) as caught:
        extending(repository, name)
    assert words in str(caught.value)
    assert ".toml:2: " in str(caught.value)


def test_a_chain_has_a_length(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 5)
    for number in range(6):
        text = f'[check]\nextends = "{number + 1}.toml"\n'
        (repository / f"{number}.toml").write_text(text)
    (repository / "4.toml").write_text("[check]\n")
    assert extending(repository, '"../0.toml"').rules
    (repository / "4.toml").write_text('[check]\nextends = "5.toml"\n')
    with pytest.raises(ConfigurationError, match="more than 5 files are extended"):
        extending(repository, '"../0.toml"')


def test_rules_choose_by_heading_and_level() -> None:
    sections = markdown_sections("# Examples\n## Examples\n## Naïve / plain\n### Other\n")

    def chosen(heading: str, level: int | None = None) -> list[int]:
        rule = SectionRule(heading, level, Limit(1, Place("", 1, ())))
        return [one.line for one in matching(rule, sections)]

    assert chosen("Examples") == [1, 2]
    assert chosen("Examples", 2) == [2]
    assert chosen("*", 3) == [4]
    assert chosen("*plain") == [3]
    assert chosen("Na?ve / *") == [3]
    assert chosen("examples") == []


def test_a_set_of_all_characters_takes_little_memory() -> None:
    rule = SectionRule("[\x01-\U0010ffff]" * 100 + "*", None, Limit(1, Place("", 1, ())))
    tracemalloc.start()
    (found,) = matching(rule, markdown_sections("# " + "é" * 100 + "\n# b\n"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.line == 1
    assert peak < 1_000_000


@pytest.mark.parametrize("estimate", ["estimate = true\n" + RULE, RULE + "estimate = true\n"])
def test_an_estimate_is_made_where_the_configuration_says_so(estimate: str) -> None:
    model = 'model = "claude-opus-4-7"\nmax = 13\n'
    (rule,) = configuration_of(Source("/x/.compat-bpe.toml", f"[check]\n{estimate}{model}")).rules
    assert rule.counted_by is not None
    assert (rule.counted_by.encoding_name, rule.counted_by.tokens(35)) == ("characters", 13)
    with pytest.raises(ConfigurationError, match="; estimate = true estimates it"):
        configuration_of(Source("/x/.compat-bpe.toml", f"[check]\n{RULE}{model}"))
    with pytest.raises(ConfigurationError, match="estimate must be true or false, not 'yes'"):
        configuration_of(Source("/x/.compat-bpe.toml", f"[check]\nestimate='yes'\n{RULE}{model}"))


PAGE = Path(__file__).parents[2] / "docs/check.md"


def test_configurations(tmp_path: Path) -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    shared = "[check]\n[[check.rules]]\nfiles = ['a']\nmax = 1\n"
    (tmp_path / "shared.toml").write_text(shared)
    assert len(blocks) == 2
    small, large = (
        configuration_of(Source(str(tmp_path / name), text))
        for name, text in zip((PYPROJECT, NAME), blocks)
    )
    (rule,) = small.rules
    assert rule.counted_by is not None
    assert (rule.counted_by.encoding_name, rule.files) == ("o200k_base", ("skills/*.md",))
    assert [rule.largest and rule.largest.tokens for rule in large.rules] == [1, 5000, None, 20_000]
    assert [rule.total and rule.total.tokens for rule in large.rules] == [None, 25_600, None, None]
    assert [len(rule.sections) for rule in large.rules] == [0, 1, 0, 0]
    assert [rule.body and rule.body.tokens for rule in large.rules] == [None, None, 5000, None]
    assert [one.reason for one in large.exemptions] == ["is removed with version 2"]
