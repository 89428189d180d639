"""A name in place of an encoding, or no text, is an error that says so."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import fit, get_encoding, save
from compat_bpe.train import SentencePieceSettings, train
from compat_bpe.train.extend import extend
from compat_bpe.train.write import write_vocabulary

#: Arguments besides the encoding that are right.
MORE: dict[Any, tuple[Any, ...]] = {
    fit.Document: ("text",),
    fit.fits: ("text", 3),
    fit.longest_prefix: ("text", 3),
    fit.longest_suffix: ("text", 3),
    fit.fit_prompt: ("before", "after", 30),
    fit.fim_template: (),
    fit.fit_sections: ([fit.Section("text")], 3),
    fit.split_text: ("text", 3),
    fit.StreamCounter: (),
    fit.StreamEncoder: (),
    fit.count_stream: (["text"],),
    fit.encode_iter: (["text"],),
    fit.aencode_iter: (["text"],),
    fit.StreamDecoder: (),
    fit.decode_iter: ([1],),
    fit.truncate: ("text", 3),
}
ASYNCHRONOUS: set[Any] = {fit.acount_stream, fit.adecode_iter}


@pytest.mark.parametrize("name", ["o200k_base", Path("model/tokenizer.json")])
@pytest.mark.parametrize("function", MORE)
def test_a_name_is_no_encoding(function: Any, name: Any) -> None:
    with pytest.raises(TypeError, match=r"must be an Encoding, not the (name|path) .*get_encoding"):
        function(name, *MORE[function])


def test_all_functions_are_tested() -> None:
    taking = {
        one
        for one in vars(fit).values()
        if callable(one)
        and not (isinstance(one, type) and issubclass(one, Exception))
        and "encoding" in list(inspect.signature(one).parameters)[:1]
    }
    assert taking == {*MORE, *ASYNCHRONOUS}


@pytest.mark.parametrize("function", [save.save_tiktoken, save.save_tokenizer_json,
                                      save.save_sentencepiece])  # fmt: skip
def test_nor_is_it_saved(tmp_path: Path, function: Any) -> None:
    with pytest.raises(TypeError, match="must be an Encoding, not the name 'gpt2'"):
        function("gpt2", tmp_path / "file")
    with pytest.raises(TypeError, match="must be an Encoding"):
        save.save_gpt2("gpt2", tmp_path / "file", tmp_path / "other")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be an Encoding"):
        write_vocabulary(tmp_path / "out", "gpt2", pattern="gpt2")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_nor_is_it_extended() -> None:
    with pytest.raises(TypeError, match="must be an Encoding"):
        extend("gpt2", ["text"], 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [["a"], [], b"a", None, 3])
@pytest.mark.parametrize("options", [{}, {"allowed_special": "all"}, {"disallowed_special": ()}])
def test_what_is_no_text(text: Any, options: dict[str, Any]) -> None:
    model = train(["hug pug hugs", "hug pun bun"] * 9, SentencePieceSettings(24))
    tokenizer: Any = get_encoding("deepseek_v3")
    functions: list[Any] = [
        model.encode,
        model.encode_with_offsets,
        tokenizer.encode,
        tokenizer.encode_with_offsets,
    ]
    for function in functions:
        with pytest.raises(TypeError, match="str"):
            function(text, **options)
    if text is not None:
        with pytest.raises(TypeError, match="str"):
            tokenizer.encode_with_offsets("a", text, **options)
