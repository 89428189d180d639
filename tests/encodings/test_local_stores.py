"""Names that stand for files of other programs: Hugging Face, Ollama and LM Studio."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from functools import cache as cache_once
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import load
from compat_bpe.chat import count_messages, load_chat_template
from compat_bpe.encodings.local_stores import STORES, find_stored, in_hugging_face
from tests.cli.running import run
from tests.encodings.stores import FIRST, SECOND, SMALL, cached, manifest, needs_links
from tests.examples import shared_fixture

pytestmark = pytest.mark.usefixtures("home")

TEXT = "the tokens of a text"


def ids() -> list[int]:
    return load(SMALL).encode(TEXT)


def test_a_model_in_the_cache_of_hugging_face(home: Path) -> None:
    cached(home / ".cache" / "huggingface" / "hub")
    encoding = load("hf:acme/Small")
    assert encoding.encode(TEXT) == ids()
    assert encoding.name == "Small"
    assert load("hf:acme/Small", name="mine").name == "mine"
    assert load("hf:acme/Small@main").encode(TEXT) == ids()
    assert load(f"hf:acme/Small@{FIRST}").encode(TEXT) == ids()


def test_a_model_in_a_store_without_a_template(home: Path) -> None:
    main = cached(home / ".cache" / "huggingface" / "hub")
    with pytest.raises(ValueError, match="there is no chat template") as caught:
        load_chat_template("hf:acme/Small")
    assert str(caught.value).startswith(f"{main}: ")


def test_a_repository_without_an_owner(home: Path) -> None:
    cached(home / ".cache" / "huggingface" / "hub", "small")
    assert load("hf:small").encode(TEXT) == ids()


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"XDG_CACHE_HOME": "x"}, "x/huggingface/hub"),
        ({"XDG_CACHE_HOME": "x", "HF_HOME": "h"}, "h/hub"),
        ({"HF_HOME": "h", "HUGGINGFACE_HUB_CACHE": "old"}, "old"),
        ({"HUGGINGFACE_HUB_CACHE": "old", "HF_HUB_CACHE": "new"}, "new"),
        ({"HF_HUB_CACHE": "", "HF_HOME": "h"}, "h/hub"),
    ],
)
def test_the_variables_say_where_the_cache_is(
    variables: dict[str, str], folder: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, str(home / value) if value else "")
    cached(home / folder)
    assert load("hf:acme/Small").encode(TEXT) == ids()


def test_a_home_may_be_written_as_a_tilde_or_a_variable(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(home / "there")
    monkeypatch.setenv("HF_HUB_CACHE", os.path.join("~", "there"))
    assert in_hugging_face("acme/Small") == "hf:acme/Small"
    monkeypatch.setenv("PLACE", str(home))
    monkeypatch.setenv("HF_HUB_CACHE", os.path.join("$PLACE", "there"))
    assert in_hugging_face("acme/Small") == "hf:acme/Small"


@pytest.fixture
def cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(home / "hub"))
    return home / "hub"


def test_main_comes_before_what_is_newer(cache: Path) -> None:
    main = cached(cache)
    newer = cached(cache, commit=SECOND, ref="refs/pr/1")
    os.utime(main, (1, 1))
    assert find_stored("hf:acme/Small").path == str(main)
    assert find_stored("hf:acme/Small@refs/pr/1").path == str(newer)


def test_without_main_the_newest_is_taken(cache: Path) -> None:
    for commit, time in ((FIRST, 2_000_000_000), (SECOND, 1_000_000_000)):
        os.utime(cached(cache, commit=commit, ref=None), (time, time))
    (cache / "models--acme--Small" / "snapshots" / "tmp").mkdir()
    assert find_stored("hf:acme/Small").path.endswith(FIRST)
    # A ref to what is not there, as a broken download leaves it, and one that is no commit.
    refs = cache / "models--acme--Small" / "refs"
    refs.mkdir()
    for content in ("3" * 40, "../../../elsewhere", "", "1" * 39, "x" * 1000):
        (refs / "main").write_text(content)
        assert find_stored("hf:acme/Small").path.endswith(FIRST)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("hf:acme/Other", "`hf download acme/Other tokenizer.json tokenizer_config.json`"),
        ("hf:acme/Small@v2", "`hf download acme/Small --revision v2 tokenizer.json"),
        ("hf:acme/Empty", "`hf download acme/Empty tokenizer.json"),
        # What to fetch is what the table of families says.
        ("hf:Qwen/Qwen-7B", "`hf download Qwen/Qwen-7B qwen.tiktoken`"),
        (f"hf:acme/Small@{SECOND}", f"--revision {SECOND}"),
    ],
)
def test_what_is_not_there_says_what_fetches_it(name: str, command: str, cache: Path) -> None:
    cached(cache)
    empty = cached(cache, "acme/Empty")
    for file in empty.iterdir():
        file.unlink()
    (empty / "config.json").write_text("{}")
    with pytest.raises(FileNotFoundError) as caught:
        load(name)
    assert command in str(caught.value)
    assert str(cache) in str(caught.value)
    assert caught.value.filename == name


WRONG = [
    *("", "..", ".", "../x", "a/..", "a/../b", "/etc/passwd", "a//b", "a/b/c", "a\\b", "a/b\\c"),
    *("C:x", "C:/x", "a/b@", "a/b@..", "a/b@../../x", "a/b@/x", "a/b@x//y", "a/b\n", "a--b/c"),
    *("a/b--c", "a/.b", "a/b.", "-a/b", "~/x", "$HOME/x", "a/b@x:y", "a/b@x@..", "é/b", "a/b\0"),
    "a/" + "b" * 300,
]


@pytest.mark.parametrize("rest", WRONG)
@pytest.mark.parametrize("store", STORES)
def test_other_names_are_refused(store: str, rest: str, home: Path) -> None:
    # Three parts are a host, an owner and a name to Ollama, and "a--b" is nothing bad to it; LM
    # Studio takes a file behind the name.
    if store != "hf:" and rest in ("a/b/c", "a--b/c", "a/b--c"):
        return
    if store == "ollama:" and rest in ("C:x",):
        return  # the name C, the tag x
    with pytest.raises(ValueError, match=store) as caught:
        load(store + rest)
    assert "the name must be" in str(caught.value)


#: What is opened or listed, since a hook that looks on cannot be taken away again.
OPENED: list[str] = []


@cache_once
def watch() -> None:
    """Note from now on what is opened, but for the modules that are imported when needed."""
    for name in ("hf:acme/none", "ollama:none", "lmstudio:acme/none"):
        with suppress(OSError):
            find_stored(name)
    events = ("open", "os.listdir", "os.scandir")
    sys.addaudithook(lambda event, args: OPENED.append(str(args[0])) if event in events else None)


@given(st.sampled_from(STORES), st.text("ab./\\:@-_~$ \0", max_size=12))
@shared_fixture()
def test_no_name_leads_outside(home: Path, store: str, rest: str) -> None:
    watch()
    OPENED.clear()
    with pytest.raises((FileNotFoundError, ValueError)):
        find_stored(store + rest)
    assert [path for path in OPENED if not Path(path).resolve().is_relative_to(home)] == []


@needs_links
def test_links_out_of_the_cache_are_refused(cache: Path, home: Path) -> None:
    snapshot = cached(cache)
    (home / "secret.json").write_text("{}")
    link = snapshot / "tokenizer_config.json"
    link.unlink(missing_ok=True)
    link.symlink_to(home / "secret.json")
    with pytest.raises(ValueError, match=r"a link to .*secret\.json, which is not in"):
        load("hf:acme/Small")
    link.unlink()
    assert load("hf:acme/Small").encode(TEXT) == ids()
    # Into another repository is out, too; and so is a folder.
    other = cached(cache, "acme/Other")
    link.symlink_to(other / "merges.txt")
    with pytest.raises(ValueError, match="a link to"):
        load("hf:acme/Small")
    link.unlink()
    link.symlink_to(home)
    with pytest.raises(ValueError, match="a link to"):
        load("hf:acme/Small")


@needs_links
def test_a_repository_that_is_a_link_is_refused(cache: Path, home: Path) -> None:
    cached(home / "elsewhere")
    cache.mkdir()
    (cache / "models--acme--Small").symlink_to(home / "elsewhere" / "models--acme--Small")
    with pytest.raises(ValueError, match="a link to"):
        load("hf:acme/Small")


@needs_links
def test_the_cache_itself_may_be_a_link(cache: Path, home: Path) -> None:
    cached(home / "elsewhere")
    cache.symlink_to(home / "elsewhere")
    assert load("hf:acme/Small").encode(TEXT) == ids()


def test_chat_templates_are_found_there(cache: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    shutil.copytree(SMALL, files)
    (files / "chat_template.jinja").write_text("{{ messages[0].content }}!")
    cached(cache, files=files)
    message = [{"role": "user", "content": TEXT}]
    assert load_chat_template("hf:acme/Small").render(message) == TEXT + "!"
    expected = len(load(SMALL).encode(TEXT + "!"))
    assert count_messages(message, encoding="hf:acme/Small") == expected
    request = tmp_path / "request.json"
    for body in (
        {"messages": message, "model": "acme/Small"},
        {"messages": message, "model": "gpt-4o"},
    ):
        request.write_text(json.dumps(body))
        options = ["-e", "hf:acme/Small"] if body["model"] == "gpt-4o" else []
        done = run("count", *options, "--messages", str(request))
        assert done[:2] == (0, b"%d\n" % expected)


def test_the_command(cache: Path, tmp_path: Path) -> None:
    cached(cache)
    expected = b"%d\n" % len(ids())
    for options in (["-e", "hf:acme/Small"], ["-m", "acme/Small"]):
        assert run("count", *options, "-c", TEXT) == (0, expected, "")
    assert run("count", "-m", "acme/Other", "-c", TEXT) == (
        2,
        b"",
        "compat-bpe: unknown model 'acme/Other'; compat-bpe models lists them; "
        "use -e hf:acme/Other if this is a Hugging Face repository\n",
    )
    status, out, err = run("count", "-e", "hf:acme/Other", "-c", TEXT)
    assert (status, out) == (2, b"")
    assert err.startswith("compat-bpe: hf:acme/Other: not in Hugging Face's cache, ")
    assert "`hf download acme/Other tokenizer.json tokenizer_config.json` fetches it\n" in err
    status, out, err = run("count", "-m", "qwen3:8b", "-c", TEXT)
    assert (status, out) == (2, b"")
    assert err.startswith(
        "compat-bpe: model 'qwen3:8b' uses the tokenizer of Qwen 3, which is not "
    )
    assert run("count", "-m", "hf:acme/Small", "-c", TEXT)[2] == (
        "compat-bpe: unknown model 'hf:acme/Small': that is a file or folder; use -e "
        "hf:acme/Small\n"
    )


def test_a_model_with_an_encoding_is_not_looked_for_in_the_cache(cache: Path) -> None:
    cached(cache, "openai/gpt-4o")
    with_cache = run("count", "-m", "openai/gpt-4o", "-c", TEXT)
    assert with_cache == run("count", "-m", "gpt-4o", "-c", TEXT)


def test_the_library_reports_a_vocabulary_of_the_cache(cache: Path, tmp_path: Path) -> None:
    cached(cache)
    (tmp_path / "corpus.txt").write_text(TEXT)
    status, out, err = run("report", "-e", "hf:acme/Small", str(tmp_path / "corpus.txt"))
    assert (status, err) == (0, "")
    assert b"hf:acme/Small" in out


def test_a_path_is_no_name_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if sys.platform != "win32":
        shutil.copytree(SMALL, tmp_path / "hf:small")
        assert load("./hf:small").encode(TEXT) == ids()
    assert find_stored("plain/path") == ("plain/path", "")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("ollama:llama3.2", "registry.ollama.ai/library/llama3.2/latest"),
        ("ollama:llama3.2:1b", "registry.ollama.ai/library/llama3.2/1b"),
        ("ollama:acme/llama3.2", "registry.ollama.ai/acme/llama3.2/latest"),
        ("ollama:hf.co/acme/Small-GGUF:Q4_K_M", "hf.co/acme/Small-GGUF/Q4_K_M"),
    ],
)
def test_ollama(name: str, place: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = manifest(home / ".ollama" / "models", place)
    expected = name.split(":")[1].split("/")[-1]
    assert find_stored(name) == (str(blob), expected)
    monkeypatch.setenv("OLLAMA_MODELS", str(home / "models"))
    with pytest.raises(FileNotFoundError, match="`ollama pull "):
        find_stored(name)
    manifest(home / "models", place)
    assert Path(find_stored(name).path).is_file()


#: The place of the manifest of ``ollama:m``.
LATEST = "registry.ollama.ai/library/m/latest"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"digest": "sha256:" + "0" * 64}, "is missing"),
        ({"digest": "sha256:../../x"}, r"layers\[1\].digest: must be sha256: and 64 digits"),
        ({"digest": "sha256:" + "A" * 64}, "64 digits"),
        ({"layers": []}, "layers: no layer is a model"),
        ({"layers": {}}, "layers: must be a list"),
        ({"layers": ["x"]}, r"layers\[0\]: must be an object"),
        ({"layers": [{}]}, "there is no 'mediaType'"),
        ({"layers": [{"mediaType": 1}]}, "must be a string"),
    ],
)
def test_damaged_manifests_of_ollama(changes: dict[str, Any], reason: str, home: Path) -> None:
    manifest(home / ".ollama" / "models", LATEST, **changes)
    with pytest.raises((OSError, ValueError), match=reason):
        load("ollama:m")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b" " * (2 << 20)])
def test_files_that_are_no_manifests(content: bytes, home: Path) -> None:
    root = home / ".ollama" / "models"
    manifest(root, LATEST)
    (root / "manifests" / LATEST).write_bytes(content)
    with pytest.raises(ValueError, match="latest"):
        load("ollama:m")


@needs_links
def test_a_blob_or_manifest_that_is_a_link_out_is_refused(home: Path) -> None:
    root = home / ".ollama" / "models"
    blob = manifest(root, LATEST)
    blob.unlink()
    (home / "secret").write_text("x")
    blob.symlink_to(home / "secret")
    with pytest.raises(ValueError, match="a link to"):
        load("ollama:m")
    path = root / "manifests" / "registry.ollama.ai" / "library" / "n"
    path.mkdir()
    (path / "latest").symlink_to(home / "secret")
    with pytest.raises(ValueError, match="a link to"):
        load("ollama:n")


@pytest.mark.parametrize("place", [".lmstudio/models", ".cache/lm-studio/models"])
def test_lm_studio(place: str, home: Path) -> None:
    folder = home / place / "acme" / "Small-GGUF"
    folder.mkdir(parents=True)
    for name in ("mmproj-Small-f16.gguf", "Small-Q4_K_M.gguf"):
        (folder / name).write_bytes(b"GGUF")
    path = str(folder / "Small-Q4_K_M.gguf")
    assert find_stored("lmstudio:acme/Small-GGUF") == (path, "Small-GGUF")
    assert find_stored("lmstudio:acme/Small-GGUF/Small-Q4_K_M.gguf").path == path
    (folder / "Small-Q8_0.gguf").write_bytes(b"GGUF")
    with pytest.raises(
        ValueError, match=r"Small-Q8_0.gguf\); choose one: lmstudio:acme/Small-GGUF/FILE"
    ):
        load("lmstudio:acme/Small-GGUF")
    with pytest.raises(FileNotFoundError, match="`lms get acme/Other`"):
        load("lmstudio:acme/Other")


def test_a_model_of_lm_studio_in_parts(home: Path) -> None:
    folder = home / ".lmstudio" / "models" / "acme" / "Large"
    folder.mkdir(parents=True)
    for number in (1, 2, 3):
        (folder / f"Large-0000{number}-of-00003.gguf").write_bytes(b"GGUF")
    assert find_stored("lmstudio:acme/Large").path.endswith("Large-00001-of-00003.gguf")


def test_a_folder_of_lm_studio_with_another_vocabulary(home: Path) -> None:
    shutil.copytree(SMALL, home / ".lmstudio" / "models" / "acme" / "Small")
    assert load("lmstudio:acme/Small").encode(TEXT) == ids()
