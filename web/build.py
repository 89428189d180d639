"""Make the folder of the page to publish: static files that any web server can serve.

It needs npm, which fetches Pyodide, and Node.js, which comes with it and compiles our Python.

    python web/build.py                  # into build/web
    python web/build.py FOLDER
    python web/build.py FOLDER --wheel compat_bpe-0.1.0-py3-none-any.whl
    python web/build.py FOLDER --address https://example.org/count/ --docs https://example.org/
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from html import escape
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compat_bpe import __version__
from compat_bpe.encodings.published import PUBLISHED
from web.counting_page.desk import Desk
from web.counting_page.tokenizers import packs as pack_names
from web.model_list import models
from web.runtime import LOCK, VERSION, put_runtime

HERE = Path(__file__).parent
PACKS = "compat_bpe/encodings/packs/"
#: Folders of the package that the page has no use for: nothing that it asks imports them.
_ABOVE = ("check", "cli", "columns", "corpus", "lsp", "mcp", "pyinstaller", "report", "spark")
LEFT_OUT = (*_ABOVE, "chat/sandbox", "tiktoken", "train")


def build(out: Path, wheel: Path | None = None, *, address: str = "", docs: str = "") -> None:
    """Make the page in a folder, which is emptied first.

    Args:
        out: the folder.
        wheel: the wheel of compat_bpe; made from the checkout unless given.
        address: where the page will be, with a slash: some previews of links need the whole
            address of the picture.
        docs: where the documentation is, for a link to it.

    Raises:
        OSError: Pyodide or a tool is missing.
        ValueError: ``out`` has something else in it, or Pyodide is another one.
    """
    if out.exists():
        if any(out.iterdir()) and not (out / "build.json").exists():
            raise ValueError(f"{out} has something else in it: it is not emptied")
        shutil.rmtree(out)
    shutil.copytree(HERE / "site", out)
    _link(out / "index.html", address, docs)
    pyodide = out / "pyodide"
    put_runtime(pyodide)
    _trim_lock(pyodide / LOCK)
    with tempfile.TemporaryDirectory() as temporary:
        made = _make_wheel(Path(temporary)) if wheel is None else wheel
        code, library = Path(temporary) / "code", Path(temporary) / "library"
        library.mkdir()
        packs = _unpack(made, code, out / "packs")
        shutil.copytree(HERE / "counting_page", code / "counting_page", ignore=_only_python)
        _run("node", str(HERE / "compile.mjs"), str(pyodide), str(code), str(library))
        first = set(json.loads((code / "first.json").read_bytes()))
        compiled = _files(code, ".pyc")
        (out / "package.bin").write_bytes(_bundle(compiled, first))
        (out / "rest.bin").write_bytes(_bundle(compiled, set(compiled) - first))
        _compress(pyodide / "python_stdlib.zip", _archive(_files(library, ".pyc")))
        _compress(pyodide / "pyodide.asm.wasm", (pyodide / "pyodide.asm.wasm").read_bytes())
        (out / "js" / "example.js").write_text(_example(out / "js" / "example.js"), "utf-8")
        (out / "models.json").write_text(json.dumps(models()), "utf-8")
        (out / "NOTICE.txt").write_bytes((HERE.parent / "NOTICE").read_bytes())
    _write_build(out, packs)


def _link(page: Path, address: str, docs: str) -> None:
    html = page.read_text("utf-8")
    html = html.replace('"preview.png"', f'"{escape(address)}preview.png"')
    link = f'<a href="{escape(docs)}">Documentation</a> · ' if docs else ""
    page.write_text(html.replace("<!-- documentation -->", link), "utf-8")


def _make_wheel(folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    _run(*pip, "--wheel-dir", str(folder), str(HERE.parent))
    return next(folder.glob("*.whl"))


def _run(*command: str) -> None:
    if subprocess.run(command, check=False).returncode:
        raise OSError(f"{command[0]} failed")


def _unpack(wheel: Path, code: Path, packs: Path) -> dict[str, str]:
    """Write the code of a wheel to one folder and its packs to another; return the packs' names."""
    packs.mkdir()
    left_out = tuple(f"compat_bpe/{folder}/" for folder in LEFT_OUT)
    found = {}
    with zipfile.ZipFile(wheel) as zipped:
        for name in zipped.namelist():
            if name.startswith(PACKS):
                data = zipped.read(name)
                # The name says the content, so that a browser may keep it for good.
                pack = name[len(PACKS) : -len(".pack")]
                found[pack] = f"packs/{pack}-{_digest(data)}.pack"
                (packs.parent / found[pack]).write_bytes(data)
                zipped.extract(name, code)  # to count with while it is compiled
            elif name.endswith(".py") and not name.startswith(left_out):
                zipped.extract(name, code)
    return found


def _only_python(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".py")]


def _files(folder: Path, ending: str = "") -> dict[str, bytes]:
    """Return the files of a folder by their names in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob(f"*{ending}"))
        if path.is_file()
    }


def _bundle(files: dict[str, bytes], wanted: set[str]) -> bytes:
    """Return some files as one: a list of names and sizes, then all contents."""
    chosen = {name: data for name, data in files.items() if name in wanted}
    names = json.dumps([[name, len(data)] for name, data in chosen.items()]).encode()
    whole = struct.pack("<I", len(names)) + names + b"".join(chosen.values())
    return gzip.compress(whole, 9, mtime=0)


def _archive(files: dict[str, bytes]) -> bytes:
    """Return files as a zip archive; not compressed, for the whole of it is, and better."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as zipped:
        for name, data in files.items():
            zipped.writestr(zipfile.ZipInfo(name), data)
    return made.getvalue()


def _compress(path: Path, data: bytes) -> None:
    """Put a compressed file in the place of one: few servers compress these.

    The ending is none of those for which some servers say that the browser must decompress it.
    """
    path.unlink()
    path.with_name(f"{path.name}.bin").write_bytes(gzip.compress(data, 9, mtime=0))


def _example(module: Path) -> str:
    """Return the script of the example with its figures and tokens, as the page will ask them."""
    script = module.read_text("utf-8")
    found = re.search(r"`(.*)`", script, re.DOTALL)
    assert found is not None
    text = found[1]
    desk = Desk()

    def ask(**question: object) -> Any:
        return json.loads(desk.answer(json.dumps(question)))["value"]

    ask(ask="choose", keys=["o200k_base"], special=False)
    figures = ask(ask="edit", start=0, end=0, text=text)
    size = len(text.encode("utf-16-le")) // 2
    (sides,) = ask(ask="blocks", ranges=[[0, size]])
    for name, value in (("FIGURES", figures), ("SIDES", sides)):
        made = json.dumps(value, separators=(",", ":"))
        script = script.replace(f"{name} = null;", f"{name} = {made};")
    return script


def _trim_lock(path: Path) -> None:
    """Leave no package of others in Pyodide's list: the page loads none."""
    lock = json.loads(path.read_bytes())
    path.write_text(json.dumps({**lock, "packages": {}}), "utf-8")


def _write_build(out: Path, packs: dict[str, str]) -> None:
    """Write the list of all files that the page needs to work offline, and its version."""
    files = _files(out)
    always = [
        name for name in files if not name.startswith(("packs/", "_headers", "sw.js", "preview"))
    ]
    version = _digest(b"".join(_digest(data).encode() for data in files.values()))
    made = {
        "version": version,
        "compat_bpe": __version__,
        "pyodide": VERSION,
        "encodings": pack_names(),
        "packs": packs,
        "early": list(PUBLISHED),  # what package.bin can count by: see in_pyodide.py
        "sizes": {
            name: len(data)
            for name, data in files.items()
            if name.endswith((".bin", ".pack")) and name != "rest.bin"
        },
        "files": always,
    }
    text = json.dumps(made, indent=1)
    (out / "build.json").write_text(text, "utf-8")
    # A browser looks for a new version by comparing the bytes of the service worker.
    worker = out / "sw.js"
    worker.write_text(worker.read_text("utf-8").replace("'BUILD'", json.dumps(made)), "utf-8")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def sizes(out: Path) -> dict[str, tuple[int, int]]:
    """Return the bytes of each part of a built page, raw and compressed by gzip."""
    parts = {
        "runtime": [*(out / "pyodide").iterdir()],
        "compat_bpe": [out / "package.bin"],
        "the rest": [out / "rest.bin"],
        "page": [p for p in out.rglob("*") if p.suffix in {".html", ".css", ".js", ".svg"}],
        **{path.name[: path.name.rindex("-")]: [path] for path in sorted(out.glob("packs/*"))},
    }
    return {
        part: (
            sum(path.stat().st_size for path in paths),
            sum(len(gzip.compress(path.read_bytes())) for path in paths),
        )
        for part, paths in parts.items()
    }


def main() -> None:
    """Build the page, and print the size of each part."""
    parser = argparse.ArgumentParser(description="Make the folder of the page to publish.")
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parent / "build" / "web")
    parser.add_argument(
        "--wheel", type=Path, help="the wheel of compat_bpe, if it is there already"
    )
    parser.add_argument("--address", default="", help="where the page will be, with a slash")
    parser.add_argument("--docs", default="", help="where the documentation is")
    given = parser.parse_args()
    try:
        build(given.folder, given.wheel, address=given.address, docs=given.docs)
    except (OSError, ValueError) as error:
        sys.exit(f"web/build.py: {error}")
    print(f"{given.folder}: bytes by part, and compressed")
    for part, (raw, packed) in sizes(given.folder).items():
        print(f"  {part:12} {raw:>12,} {packed:>12,}")


if __name__ == "__main__":
    main()
