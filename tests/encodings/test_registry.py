"""The shipped encodings: loaded once, offline, by any number of threads."""

from __future__ import annotations

import threading
import zipfile
from pathlib import Path

import pytest

import compat_bpe
from compat_bpe import Encoding, encoding_for_model, get_encoding, list_encoding_names
from compat_bpe.encodings import registry
from tests.alone import ROOT, run_alone


def test_names() -> None:
    assert list_encoding_names() == [
        "gpt2",
        "r50k_base",
        "p50k_base",
        "p50k_edit",
        "cl100k_base",
        "o200k_base",
        "o200k_harmony",
        "deepseek_v3",
        "deepseek_r1",
        "deepseek_v4",
    ]
    for name in list_encoding_names():
        assert get_encoding(name).name == name
        assert get_encoding(name) is get_encoding(name)


@pytest.mark.parametrize("name", ["nope", "", None, ["gpt2"]])
def test_an_unknown_encoding_lists_those_there_are(name: object) -> None:
    with pytest.raises(ValueError, match=r"the encodings are gpt2, .*o200k_harmony"):
        get_encoding(name)  # type: ignore[arg-type]


def test_models() -> None:
    assert encoding_for_model("gpt-4") is get_encoding("cl100k_base")
    assert encoding_for_model("gpt-4o-mini") is get_encoding("o200k_base")
    with pytest.raises(KeyError):
        encoding_for_model("nope")


def test_many_threads_load_one_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    found: list[Encoding] = []
    barrier = threading.Barrier(8)

    def run() -> None:
        barrier.wait()
        found.append(get_encoding("cl100k_base"))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_unload() -> None:
    first = get_encoding("p50k_edit")
    compat_bpe.unload()
    assert get_encoding("p50k_edit") is not first
    assert first.encode("hello world") == get_encoding("p50k_edit").encode("hello world")


def test_the_standard_library_is_enough() -> None:
    code = (
        "import compat_bpe\n"
        "compat_bpe.get_encoding('o200k_base').decode(\n"
        "    compat_bpe.get_encoding('o200k_base').encode('naïve 字 😀'))\n"
        "names = {name.partition('.')[0] for name in sys.modules} - {'compat_bpe'}\n"
        "known = getattr(sys, 'stdlib_module_names', names)\n"
        "print(*sorted(name for name in names - set(known) if name[0] != '_'))\n"
    )
    assert run_alone(code, ROOT, "-W", "error").split() == []


def test_it_works_from_a_zip(tmp_path: Path) -> None:
    package = Path(compat_bpe.__file__).parent
    vendored = tmp_path / "vendored.zip"
    with zipfile.ZipFile(vendored, "w") as archive:
        for path in package.rglob("*"):
            if path.suffix in (".py", ".pack"):
                archive.write(path, path.relative_to(package.parent))
    code = (
        "import compat_bpe\n"
        "print(compat_bpe.__file__, compat_bpe.get_encoding('gpt2').encode('hello world'))"
    )
    printed = run_alone(code, vendored)
    assert "vendored.zip" in printed
    assert "[31373, 995]" in printed
    # And by several threads that are the first: modules come late, and perhaps twice at once.
    code = (
        "import threading, compat_bpe\n"
        "encoding = compat_bpe.get_encoding('gpt2')\n"
        "found = []\n"
        "text = 'na\xefve \u5b57 ' * 30_000\n"
        "def work():\n"
        "    found.append(encoding.decode(encoding.encode(text)) == text)\n"
        "    found.append(encoding.decode_batch([[995]]) == [' world'])\n"
        "threads = [threading.Thread(target=work) for _ in range(6)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(found.count(True), len(found))\n"
    )
    assert run_alone(code, vendored) == "12 12\n"
