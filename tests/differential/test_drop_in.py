"""``compat_bpe.tiktoken`` has the modules, names, defaults and models of the real one."""

from __future__ import annotations

import base64
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.encodings import model_names as models
from compat_bpe.pipeline.byte_level import encode_bytes
from tests.differential.reference import Pair, outcome

#: What the real package has and this one does not, or not alike, each with the reason.
DIFFERENT = {
    **dict.fromkeys(
        """
            core.TYPE_CHECKING core.functools core.ThreadPoolExecutor registry.tiktoken
            registry.functools _educational.regex _educational.tiktoken _educational.collections
        """.split(),
        "an import of the module itself",
    ),
    "core._special_token_regex": "part of how it works",
    "core.raise_disallowed_special_token": "its parameter is called `name`",
    "registry.tiktoken_ext": "imported when it is asked for",
    "_educational.train_simple_encoding": "a demonstration that reads the module's own source",
}
MODULES = ["", *(module.name for module in pkgutil.iter_modules(tiktoken.__path__))]


def both_modules(name: str) -> tuple[Any, Any]:
    dotted = f".{name}" * bool(name)
    return (
        importlib.import_module(f"compat_bpe.tiktoken{dotted}"),
        importlib.import_module(f"tiktoken{dotted}"),
    )


def test_the_modules_are_those() -> None:
    assert set(MODULES) == {"", "_educational", "_tiktoken", "core", "load", "model", "registry"}


@pytest.mark.parametrize("module", MODULES)
def test_surface(module: str) -> None:
    ours, theirs = both_modules(module)
    missing = []
    for name, value in vars(theirs).items():
        if name.startswith("__") and name != "__version__":
            continue
        if f"{module}.{name}" in DIFFERENT or inspect.ismodule(value):
            continue
        if getattr(value, "__module__", "") in ("typing", "collections.abc", "__future__"):
            continue
        if not hasattr(ours, name):
            missing.append(name)
            continue
        found = getattr(ours, name)
        if inspect.isfunction(value):
            expected = inspect.signature(value).parameters
            parameters = inspect.signature(found).parameters
            assert [(p.name, p.kind, p.default) for p in parameters.values()] == [
                (p.name, p.kind, p.default) for p in expected.values()
            ], name
        elif isinstance(value, (str, dict)) and name.isupper() and name != "ENCODINGS":
            assert found == value or name == "ENCODING_CONSTRUCTORS", name
    assert missing == []


def test_every_exception_is_still_needed() -> None:
    for entry in DIFFERENT:
        module, _, name = entry.partition(".")
        assert hasattr(both_modules(module)[1], name), entry


def test_registry(get_pair: Callable[[str], Pair]) -> None:
    ours, theirs = both_modules("registry")
    assert ours.list_encoding_names() == theirs.list_encoding_names()
    for name in ours.list_encoding_names():
        pair = get_pair(name)
        assert ours.get_encoding(name)._special_tokens == pair.theirs._special_tokens
    for bad in ("nope", None, 5):
        assert outcome(lambda bad=bad: ours.get_encoding(bad)) is ValueError  # type: ignore[misc]
        assert outcome(lambda bad=bad: theirs.get_encoding(bad)) is ValueError  # type: ignore[misc]


def test_constructors(get_pair: Callable[[str], Pair]) -> None:
    get_pair("gpt2")
    ours = importlib.import_module("compat_bpe.tiktoken.openai_public")
    theirs = importlib.import_module("tiktoken_ext.openai_public")
    assert list(ours.ENCODING_CONSTRUCTORS) == list(theirs.ENCODING_CONSTRUCTORS)
    for name, constructor in theirs.ENCODING_CONSTRUCTORS.items():
        assert ours.ENCODING_CONSTRUCTORS[name]() == constructor()


@pytest.fixture
def rank_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([i])) + b" %d\n" % i for i in range(9)))
    return path


def test_load_tiktoken_bpe(
    rank_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours, theirs = both_modules("load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    assert ours.load_tiktoken_bpe(str(rank_file)) == theirs.load_tiktoken_bpe(str(rank_file))
    for content in (b"", b"\n\n", b"IQ== 0", b"IQ== 0 1\n", b"!\n", b"IQ== x\n", b"= 5\r\n"):
        rank_file.with_suffix(".x").write_bytes(content)
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
        path = str(rank_file.with_suffix(".x"))
        assert outcome(lambda: ours.load_tiktoken_bpe(path)) == outcome(  # noqa: B023
            lambda: theirs.load_tiktoken_bpe(path)  # noqa: B023
        )
    assert outcome(lambda: ours.load_tiktoken_bpe(path, "00")) == outcome(
        lambda: theirs.load_tiktoken_bpe(path, "00")
    )
    assert outcome(lambda: ours.load_tiktoken_bpe("/nowhere")) is FileNotFoundError


def test_the_cache_is_the_same(
    rank_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = rank_file.read_bytes()
    listings = []
    for number, load in enumerate(both_modules("load")):
        folder = tmp_path / f"cache{number}"
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        assert load.read_file_cached(str(rank_file)) == content
        (kept,) = folder.iterdir()
        kept.write_bytes(b"damaged")
        # Without a hash it is believed; with one it is fetched anew.
        assert load.read_file_cached(str(rank_file)) == b"damaged"
        digest = importlib.import_module("hashlib").sha256(content).hexdigest()
        assert load.read_file_cached(str(rank_file), digest) == content
        listings.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert listings[0] == listings[1]


def test_shipped_files_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, _ = both_modules("load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    host = "https://openaipublic.blob.core.windows.net"
    ranks = ours.load_tiktoken_bpe(
        f"{host}/encodings/p50k_base.tiktoken",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    )
    assert len(ranks) == 50280
    gpt2 = ours.data_gym_to_mergeable_bpe_ranks(
        f"{host}/gpt-2/encodings/main/vocab.bpe",
        f"{host}/gpt-2/encodings/main/encoder.json",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    )
    assert len(gpt2) == 50256


@pytest.mark.parametrize("clobber", [False, True])
@pytest.mark.parametrize("fits", [False, True])
def test_data_gym(
    clobber: bool, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = both_modules("load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    order = sorted(range(256), key=lambda byte: encode_bytes(bytes([byte])))
    encoder = {encode_bytes(bytes([byte])): i for i, byte in enumerate(order)}
    encoder.update({"he": 256, "hel": 257 if fits else 300, "<|endoftext|>": 258})
    files = [tmp_path / "vocab.bpe", tmp_path / "encoder.json"]
    files[0].write_text("#version: 0.2\nh e\nhe l\n", encoding="utf-8")
    files[1].write_text(json.dumps(encoder), encoding="utf-8")
    arguments = [*map(str, files), None, None, clobber]
    found = outcome(lambda: ours.data_gym_to_mergeable_bpe_ranks(*arguments))
    expected = outcome(lambda: theirs.data_gym_to_mergeable_bpe_ranks(*arguments))
    # What is an assertion there is a ValueError here.
    assert found == (ValueError if expected is AssertionError else expected)


def test_patched_readers_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, _ = both_modules("load")
    monkeypatch.setattr(ours, "read_file", lambda path: b"IQ== 7\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert ours.load_tiktoken_bpe("anything") == {b"!": 7}
    monkeypatch.setattr(ours, "read_file_cached", lambda path, sha: b"IQ== 8\n")
    assert ours.load_tiktoken_bpe("anything") == {b"!": 8}


def test_dump(tmp_path: Path) -> None:
    ours, theirs = both_modules("load")
    ranks = {b"b": 1, b"a": 0, b"\xff\x00": 5}
    path = str(tmp_path / "dumped")
    ours.dump_tiktoken_bpe(ranks, path)
    assert theirs.load_tiktoken_bpe(path) == ranks


def test_educational(capsys: pytest.CaptureFixture[str], get_pair: Callable[[str], Pair]) -> None:
    ours, theirs = both_modules("_educational")
    get_pair("gpt2")
    printed = []
    for module in (ours, theirs):
        for visualise in ("colour", "simple", None):
            enc = module.SimpleBytePairEncoding.from_tiktoken("gpt2")
            ids = enc.encode("hello naïve  world 字", visualise=visualise)
            assert enc.decode(ids) == "hello naïve  world 字"
            assert enc.decode_tokens_bytes(ids[:1]) == [b"hello"]
            ranks = module.bpe_train("low lower lowest newest widest" * 3, 270, r" ?\w+", visualise)
            print(ids, ranks)
        assert outcome(lambda m=module: m.bpe_train("a", 255, ".")) is ValueError  # type: ignore[misc]
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


reference = pytest.importorskip("tiktoken.model")


@pytest.mark.parametrize("table", ["MODEL_TO_ENCODING", "MODEL_PREFIX_TO_ENCODING"])
def test_tables_are_the_same_and_in_the_same_order(table: str) -> None:
    assert list(getattr(models, table).items()) == list(getattr(reference, table).items())


known = st.sampled_from([*reference.MODEL_TO_ENCODING, *reference.MODEL_PREFIX_TO_ENCODING])
changed = st.builds(
    lambda before, name, cut, after: before + name[:cut] + after,
    st.sampled_from(["", "", "ft:", " "]),
    known,
    st.one_of(st.none(), st.integers(-2, -1)),
    st.one_of(st.sampled_from(["", "-", "-mini", "o"]), st.text(max_size=4)),
)


@given(st.one_of(changed, st.text()))
def test_same_name_or_both_know_none(model: str) -> None:
    try:
        expected = reference.encoding_name_for_model(model)
    except KeyError:
        with pytest.raises(KeyError):
            models.openai_encoding_name(model)
    else:
        assert models.openai_encoding_name(model) == expected
