"""What a release is made of agrees: versions, notes, addresses, lists, and pinned actions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from compat_bpe import __version__
from tools import build_llms, build_options, public_api
from tools.release import (
    FROM_CHECKOUT,
    INSTALLING,
    notes,
    places_of_address,
    places_of_version,
    section,
    set_address,
    set_index,
    set_version,
)

#: The command needs tomli where Python has no tomllib.
tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

ROOT = Path(__file__).parent.parent
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ADDRESS = "https://git.example.org/owner/name"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the files that have a version or an address."""
    if not (ROOT / "editors").exists():
        pytest.skip("a release is made from a checkout: the sdist has no editors/")
    files = {name for name, *_ in places_of_version("1", "2", "")}
    files |= {name for name, *_ in places_of_address("", None)}
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("module", [public_api, build_llms, build_options])
def test_generated_lists_are_current(module: object) -> None:
    """``python tools/public_api.py`` and the others write them."""
    for path, text in module.generate().items():  # type: ignore[attr-defined]
        assert path.read_text("utf-8") == text, f"{path} is not current: run {module}"


def test_every_public_name_is_found() -> None:
    text = public_api.TARGET.read_text("utf-8")
    for line in (
        "compat_bpe.get_encoding(encoding_name: str) -> Encoding\n",
        "compat_bpe.fit.Document.count: int\n",
        "compat_bpe.Encoding.count(self, text: str) -> int\n",
        "compat_bpe.tokenizer.Tokenizer.decode(",
        "\ncompatBpe/count\n",
    ):
        assert line in text
    with pytest.raises(LookupError, match="compat_bpe has no missing"):
        public_api._find("compat_bpe", "missing")


def test_the_version_is_the_same_everywhere(copy: Path) -> None:
    # Right after a release nothing is unreleased.
    heading = "\n## [Unreleased]\n"
    noted = CHANGELOG.replace(heading, f"{heading}\n- Something new.\n", 1)
    (copy / "CHANGELOG.md").write_text(noted, "utf-8")
    before = contents(copy)
    set_version(copy, "12.0.3", "2031-01-02")
    after = contents(copy)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {name for name, *_ in places_of_version("1", "2", "")}
    changelog = after["CHANGELOG.md"].decode()
    assert "\n## [Unreleased]\n\n## [12.0.3] - 2031-01-02\n" in changelog
    assert notes("v12.0.3", changelog, "12.0.3") == section(noted, "Unreleased")
    assert "\nversion: 12.0.3\ndate-released: 2031-01-02\n" in after["CITATION.cff"].decode()
    lock = json.loads(after["editors/vscode/package-lock.json"])
    assert (lock["version"], lock["packages"][""]["version"]) == ("12.0.3", "12.0.3")
    # And once more, from that.
    with pytest.raises(ValueError, match="says nothing of Unreleased"):
        notes(None, changelog)
    (copy / "CHANGELOG.md").write_text(changelog.replace("sed]\n", "sed]\n\n- A change.\n", 1))
    set_version(copy, "12.1.0", "2031-02-03")
    assert notes("v12.1.0", (copy / "CHANGELOG.md").read_text("utf-8"), "12.1.0") == "- A change.\n"
    assert (copy / "CITATION.cff").read_text("utf-8").count("date-released") == 1


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "1.0.0rc1", "01.0.0", "", __version__])
def test_what_is_no_new_version(copy: Path, version: str) -> None:
    before = contents(copy)
    with pytest.raises(ValueError, match=r"is no version|is the version already"):
        set_version(copy, version, "2031-01-02")
    assert contents(copy) == before


def test_a_version_that_is_missing_somewhere_changes_nothing(copy: Path) -> None:
    path = copy / "editors/vscode/package.json"
    path.write_text(path.read_text("utf-8").replace(__version__, "0.0.9"), "utf-8")
    before = contents(copy)
    with pytest.raises(ValueError, match=r"package\.json has 0 places"):
        set_version(copy, "12.0.3", "2031-01-02")
    assert contents(copy) == before


def test_notes_are_those_of_the_tag() -> None:
    changelog = "# C\n\n## [Unreleased]\n\n## [1.2.0] - x\n\n- a\n\n## [1.1.0]\n\n- b\n"
    assert notes("v1.2.0", changelog, "1.2.0") == "- a\n"
    assert notes("v1.1.0", changelog, "1.1.0") == "- b\n"
    for tag, version, problem in (
        ("v1.2.0", "1.2.1", r"the tag is v1\.2\.0, but compat_bpe/version\.py says 1\.2\.1"),
        ("1.2.0", "1.2.0", "the tag is 1"),
        ("v1.3.0", "1.3.0", r"no heading ## \[1\.3\.0\]; it has Unreleased, 1\.2\.0, 1\.1\.0"),
        (None, "1.2.0", "says nothing of Unreleased"),
    ):
        with pytest.raises(ValueError, match=problem):
            notes(tag, changelog, version)


def test_there_are_notes_for_now() -> None:
    is_released = f"\n## [{__version__}]" in CHANGELOG
    assert "\n- " in notes(f"v{__version__}" if is_released else None, CHANGELOG)


def test_the_address_is_written_once(copy: Path) -> None:
    set_address(copy, "https://old.example.org/a/b", "https://old.example.org/site/")
    set_address(copy, f"{ADDRESS}/")
    project = tomllib.loads((copy / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Source"] == ADDRESS
    assert project["scripts"] == {"compat-bpe": "compat_bpe.cli:program"}
    package = json.loads((copy / "editors/vscode/package.json").read_text("utf-8"))
    assert package["repository"]["url"] == f"{ADDRESS}.git"
    assert f"\nrepository-code: {ADDRESS}\n" in (copy / "CITATION.cff").read_text("utf-8")
    assert f"\nrepo_url: {ADDRESS}\n" in (copy / "mkdocs.yml").read_text("utf-8")
    assert not any(b"old.example.org" in data for data in contents(copy).values())


@pytest.mark.parametrize(
    "address", ["http://a.org/b", "a.org/b", "https://", 'https://a.org/"b', "https://a.org/b\n"]
)
def test_what_is_no_address(copy: Path, address: str) -> None:
    before = contents(copy)
    with pytest.raises(ValueError, match="is no address"):
        set_address(copy, address)
    assert contents(copy) == before


def test_where_the_package_is_installed_from_is_written_everywhere(tmp_path: Path) -> None:
    """Everywhere from a checkout, and after ``tools/release.py index`` from an index, or so now."""
    index = re.compile(r"pip\s+install\s+'?compat-bpe\b(?!-)")
    here = {}
    for pattern in INSTALLING:
        for path in ROOT.glob(pattern):
            text = path.read_text("utf-8")
            if path not in (Path(__file__), ROOT / "docs/releasing.md"):
                here[path.relative_to(ROOT)] = text
    places = {bool(FROM_CHECKOUT.search(text)) for text in here.values() if "pip install" in text}
    from_index = [str(path) for path, text in here.items() if index.search(text)]
    if not from_index:
        assert places == {True, False}
        for path, text in here.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, "utf-8")
        set_index(tmp_path)
        here = {path: (tmp_path / path).read_text("utf-8") for path in here}
        from_index = [str(path) for path, text in here.items() if index.search(text)]
    assert len(from_index) > 15
    assert not [path for path, text in here.items() if FROM_CHECKOUT.search(text)]


def test_the_source_distribution_has_all_files() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is one")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    tops = {name.partition("/")[0] for name in listed.split("\0") if name}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = set(project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"])
    always = {".gitignore", "LICENSE", "NOTICE", "README.md", "pyproject.toml"}  # by hatchling
    own_releases = {"editors", "web"}
    assert tops == included | always | own_releases
    assert not included & own_releases


def uses() -> list[tuple[str, str, str]]:
    """The file, and the action of each step that uses one, with its comment."""
    return [
        (path.name, *found)
        for path in [*WORKFLOWS, ROOT / "action.yml"]
        for found in re.findall(
            r"^ *(?:- )?uses: (\S+)(.*)$", path.read_text("utf-8"), re.MULTILINE
        )
    ]


def test_actions_are_pinned_by_their_commit() -> None:
    pins: dict[str, set[str]] = {}
    for file, action, comment in uses():
        if action.startswith("./"):
            continue
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), f"{file}: {action}"
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{file}: {action}{comment}"
        pins.setdefault(action.partition("@")[0], set()).add(action + comment)
    assert {name: len(pin) for name, pin in pins.items()} == dict.fromkeys(pins, 1)
    assert len(pins) >= 9


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_least_permissions_and_an_end(path: Path) -> None:
    head, _, jobs = path.read_text("utf-8").partition("\njobs:\n")
    assert "\npermissions: {}\n" in head
    assert "\nconcurrency:\n" in head
    for job in re.split(r"^  (?=\w+:$)", jobs, flags=re.MULTILINE)[1:]:
        assert "\n    permissions:" in job
        assert ("\n    uses: ./" in job) != ("\n    timeout-minutes: " in job)
        if "contents: write" in job or "id-token: write" in job:
            # What publishes has no cache that something else may have filled, and no source.
            assert "cache" not in job
            assert "actions/checkout" not in job
