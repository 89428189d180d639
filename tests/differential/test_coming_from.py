"""Each row of docs/coming-from.md: the call here gives what the call of the other package gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import sentencepiece
import tiktoken
import tokenizers

import compat_bpe
from compat_bpe.chat import count_messages
from compat_bpe.fit import decode_iter, encode_iter
from compat_bpe.save import save_sentencepiece, save_tokenizer_json
from compat_bpe.tokenizer import SentencePiece
from compat_bpe.train import WordPieceSettings, train
from tests.differential.reference import Pair
from tests.docs_pages import ROOT, run, unigram_model
from tests.docs_pages import environment as environment
from tests.docs_pages import folder as folder
from tests.docs_pages import project as project

PAGE = ROOT / "docs/coming-from.md"
TEXT = "the cat sat on the mat."


def rows(package: str) -> list[tuple[str, str]]:
    """The call of a package and ours, of each row of its table."""
    page = PAGE.read_text("utf-8")
    table = page.partition(f"<!-- rows of {package} -->\n\n")[2].partition("\n\n")[0]
    _, _, *lines = table.splitlines()
    found = [tuple(re.findall(r"`(.+?)`", line.replace("\\|", "|"))) for line in lines]
    assert found
    assert all(len(row) == 2 for row in found), found
    return found


def check(package: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """Check that both calls of each row give the same."""
    for their_call, our_call in rows(package):
        expected = eval(their_call, {**TEXTS, **theirs})
        found = eval(our_call, {**TEXTS, **ours})
        assert found == expected, f"{their_call} gives {expected!r}, {our_call} {found!r}"
        assert found not in ([], "", None), our_call


TEXTS = {"text": TEXT, "texts": [TEXT, "a cat"], "compat_bpe": compat_bpe}


def test_tiktoken(get_pair: Callable[[str], Pair]) -> None:
    both = get_pair("o200k_base")
    ids = {"ids": both.theirs.encode(TEXT)}
    check("tiktoken", {"tiktoken": tiktoken, "enc": both.theirs, **ids}, {"enc": both.ours, **ids})


def test_tokenizers(tmp_path: Path) -> None:
    path = str(tmp_path / "tokenizer.json")
    settings = WordPieceSettings(40, special_tokens=["[CLS]", "[SEP]"], post_processor="bert")
    save_tokenizer_json(train([TEXT], settings), path)
    theirs = tokenizers.Tokenizer.from_file(path)
    names = {"path": path, "ids": theirs.encode(TEXT).ids}
    check(
        "tokenizers",
        {"Tokenizer": tokenizers.Tokenizer, "tok": theirs, **names},
        {"tok": compat_bpe.load(path), **names},
    )


def test_sentencepiece(tmp_path: Path) -> None:
    path = str(tmp_path / "spiece.model")
    save_sentencepiece(SentencePiece("t5", unigram_model()), path)
    theirs = sentencepiece.SentencePieceProcessor(model_file=path)
    names = {"path": path, "ids": theirs.encode(TEXT)}
    check(
        "sentencepiece",
        {"SentencePieceProcessor": sentencepiece.SentencePieceProcessor, "sp": theirs, **names},
        {"sp": compat_bpe.load(path), **names},
    )


def test_gpt_tokenizer(get_pair: Callable[[str], Pair]) -> None:
    """JavaScript: the results of its calls are written here, with tiktoken's ids."""
    enc, theirs = get_pair("o200k_base")
    ids = theirs.encode(TEXT)
    messages = [{"role": "user", "content": "hello"}]
    expected = [ids, TEXT, len(ids), False, ids, TEXT, 8]
    names = {**TEXTS, "enc": enc, "ids": ids, "messages": messages, "encode_iter": encode_iter}
    names.update({"decode_iter": decode_iter, "count_messages": count_messages})
    assert [eval(call, names) for _, call in rows("gpt-tokenizer")] == expected


def test_ttok(
    folder: Path, environment: Mapping[str, str], get_pair: Callable[[str], Pair]
) -> None:
    """What ttok's calls print is made by tiktoken."""
    text = (folder / "book.txt").read_text("utf-8")
    both = get_pair("cl100k_base").theirs, get_pair("o200k_base").theirs
    ids = both[0].encode(text)
    (folder / "ids.txt").write_text(" ".join(map(str, ids)))
    expected = {
        "ttok": str(len(ids)),
        "ttok -m gpt-4o": str(len(both[1].encode(text))),
        "ttok -t 10": both[0].decode(ids[:10]),
        "ttok --encode": " ".join(map(str, ids)),
        "ttok --decode": text,
    }
    for theirs, ours in rows("ttok"):
        done = run(["bash", "-o", "pipefail", "-c", f"{ours} 2>/dev/null"], folder, environment)
        assert done.returncode == 0, ours
        wanted = expected.get(theirs.partition(" < ")[0])
        if wanted is not None:
            assert done.stdout.strip() == wanted.strip(), ours
        else:
            assert "--tokens" in theirs
            assert done.stdout.replace("|", "").replace("\\n", "") == text
