"""Files, tokenizers, merges, messages and the link of the page in a real browser."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import tiktoken

import compat_bpe
from compat_bpe.chat import count_messages, count_request
from compat_bpe.encodings.published import load_ranks
from compat_bpe.formats.tiktoken import format_ranks
from tests.chat.images import address
from tests.formats.small_files import NAME, PATTERN, RANKS, WHOLE, grok
from tests.formats.small_gguf import gguf, gpt2, write
from tests.kinds import kind_path
from tests.web.page import Page
from tools.reference_files import reference_file

pytestmark = [pytest.mark.web, pytest.mark.usefixtures("references")]


def table(page: Page) -> list[list[str]]:
    cells = "[...row.children].map(cell => cell.innerText.trim())"
    found: list[list[str]] = page.run(f"return $$('#files-table tr').map(row => {cells})")
    return found


def wait_for_files(page: Page) -> None:
    page.wait(lambda: " counted" in page.text_of("files-said"))


def test_one_file_is_counted_as_it_is(page: Page) -> None:
    page.drop({"a.txt": b"one two"})
    page.wait(lambda: "1 file counted." in page.text_of("files-said"))


def test_files_over_the_limit_are_marked(page: Page) -> None:
    page.drop({"a.txt": b"one two", "b.txt": b"one two three four"})
    wait_for_files(page)
    page.choose("limit", 3)
    assert "2 files counted; 1 over the limit." in page.text_of("files-said")
    assert page.texts("#files-table .over") == ["4"]
    page.choose("limit", "")
    assert page.texts("#files-table .over") == []


def test_dropped_files_are_counted_as_they_are(page: Page) -> None:
    texts = {"a.txt": "one two three\r\n", "b.py": "print('hé')\n", "c.bin": "\0\1"}
    page.choose("other", "gpt2")
    page.drop({name: text.encode() for name, text in texts.items()})
    wait_for_files(page)
    ours, other = (tiktoken.get_encoding(name) for name in ("o200k_base", "gpt2"))
    counts = [
        [len(encoding.encode_ordinary(texts[name])) for encoding in (ours, other)]
        for name in ("a.txt", "b.py")
    ]
    totals = [sum(column) for column in zip(*counts)]
    assert [row for row in table(page) if row[0] in texts or row[0] == "Total"] == [
        ["a.txt", "15", *map(str, counts[0])],
        ["b.py", "13", *map(str, counts[1])],
        ["c.bin", "2", "binary: NUL byte at offset 0"],
        ["Total", "28", *map(str, totals)],
    ]
    assert "2 files counted, 1 not" in page.text_of("files-said")
    shares = page.run(
        "return $$('#files-table tbody tr').map("
        "row => parseFloat(row.children[2].style.getPropertyValue('--share')))"
    )
    assert [round(one) for one in shares] == [
        *(round(100 * count / totals[0]) for count, _ in counts),
        0,
    ]
    page.run("document.querySelectorAll('#files-table .sort')[2].click()")
    assert [row[0] for row in table(page)[1:4]] == ["a.txt", "b.py", "c.bin"] or counts[0] < counts[
        1
    ]
    page.run("$$('button.name').find(b => b.innerText === 'a.txt').click()")
    page.settle()
    assert page.value("text") == "one two three\n"
    assert "line ends" in page.text_of("notices")


def test_a_folder_is_counted_without_its_hidden_files(page: Page, tmp_path: Path) -> None:
    for name in ["src/one.py", "src/deep/two.py", "src/.git/config", "src/.env"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")
    page.drag(tmp_path / "src")
    wait_for_files(page)
    dropped = table(page)
    assert "2 hidden" in page.text_of("files-said")
    page.run("$('forget-files').click()")
    data = page.browser.devtools("DOM.getDocument")
    found = page.browser.devtools(
        "DOM.querySelector", nodeId=data["root"]["nodeId"], selector="#folder"
    )
    page.browser.devtools(
        "DOM.setFileInputFiles", nodeId=found["nodeId"], files=[str(tmp_path / "src")]
    )
    page.run("$('folder').dispatchEvent(new Event('change'))")
    wait_for_files(page)
    assert [row[0] for row in table(page)] == ["File", "src/deep/two.py", "src/one.py", "Total"]
    assert table(page) == dropped
    assert "2 hidden" in page.text_of("files-said")


KIND_TEXT = "Hello, hello  wörld! naïve 世界 👩\u200d👩 the end\n\nof it"


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "characters_byte_fallback"])
def test_a_dropped_tokenizer_json_becomes_an_encoding(page: Page, kind: str) -> None:
    path = Path(kind_path(kind))
    own = compat_bpe.load(path)
    page.type(KIND_TEXT)
    page.drop({"tokenizer.json": path.read_bytes()})
    assert page.own_counts() == [own.count(KIND_TEXT)]
    assert page.value("model").startswith("tokenizer.json")
    page.type("!")
    assert list(page.counts().values()) == [own.count(KIND_TEXT + "!")]
    # All of the text is there, also what no token stands for, and with the right ids.
    page.settle()
    shown = page.run(
        "const copy = $('tokens').cloneNode(true);"
        "copy.querySelectorAll('.mark, .code').forEach(one => one.remove());"
        "return copy.textContent"
    )
    assert "".join(shown.split()) == "".join((KIND_TEXT + "!").split())


def test_a_dropped_model_of_sentencepiece_becomes_an_encoding(page: Page) -> None:
    path = reference_file("botchan_unigram")
    text = "the cat and the dog  sat 世界"
    page.type(text)
    page.drop({path.name: path.read_bytes()})
    assert page.own_counts() == [compat_bpe.load(path).count(text)]
    page.show_tab("word")
    page.wait(lambda: "ids" in page.text_of("steps"))


def test_a_rank_file_is_asked_for_its_pattern(page: Page) -> None:
    ranks = dict(list(load_ranks("r50k_base").items())[:1000])
    page.type("hello world 12345")
    page.drop({"own.tiktoken": format_ranks(ranks)})
    page.choose_pattern("cl100k_base")
    pattern = compat_bpe.get_encoding("cl100k_base").pattern
    reference = tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    assert page.own_counts() == [len(reference.encode_ordinary("hello world 12345"))]


def test_a_text_that_a_vocabulary_cannot_spell_has_no_count(page: Page) -> None:
    page.type("ab")
    model = {"type": "Unigram", "vocab": [["a", -1.0], ["b", -1.0]]}  # with no unknown token
    page.drop({"tokenizer.json": json.dumps({"model": model}).encode()})
    page.wait(lambda: list(page.counts().values()) == [2])
    page.settle()
    page.type("c")
    page.wait_for("not-counted", "Not counted:")
    assert page.counts() == {}
    assert "Traceback" not in page.text_of("not-counted")
    page.press("Backspace")
    page.settle()
    assert list(page.counts().values()) == [2]


def test_the_cut_is_marked_where_no_token_is(page: Page) -> None:
    path = Path(kind_path("wordpiece"))
    page.type("the dog of the end")
    page.drop({"tokenizer.json": path.read_bytes()})
    page.wait(lambda: any(key.startswith("file:") for key in page.counts()))
    kept = compat_bpe.load(path).truncate("the dog of the end", 2)
    page.choose("limit", 2)
    assert page.before_cut().replace("·", " ") == "the dog of the end"[: kept.kept[0][1]]


def test_a_damaged_tokenizer_is_refused(page: Page) -> None:
    page.type("a")
    page.drop({"tokenizer.json": b'{"model": 1}'})
    page.wait(
        lambda: (
            "tokenizer.json" in page.text_of("notices") and "Reading" not in page.text_of("notices")
        )
    )
    assert page.counts() == {"o200k_base": 1}


def test_the_merges_of_a_word_are_shown(page: Page) -> None:
    page.choose("model", "gpt2")
    page.show_tab("word")
    page.run("$('word').value = 'hugs'; $('word').dispatchEvent(new Event('input'))")
    page.wait(lambda: "hugs" in page.text_of("steps"))
    pieces = "$$('.piece', step).map(one => one.textContent)"
    states = page.run(f"return $$('#steps li').map(step => {pieces})")
    encoding = tiktoken.get_encoding("gpt2")
    assert states[0] == list("hugs")
    assert states[-1] == [encoding.decode([one]) for one in encoding.encode("hugs")]
    ids = " ".join(map(str, encoding.encode("hugs")))
    assert ids in page.text_of("steps")


def test_messages_are_counted_with_their_roles(page: Page) -> None:
    page.show_tab("messages")
    page.wait(lambda: "token" in page.text_of("conversation-count"))
    for model in ["gpt-4o", "gpt-3.5-turbo", "deepseek-v3"]:
        page.choose("model", model)
        messages = [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": "What is a token?"},
        ]
        expected = f"{int(count_messages(messages, model=model))} tokens"
        page.wait_for("conversation-count", expected)
        parts = "[one.textContent, $$('.t', one).length]"
        shown = page.run(f"return $$('.of-message').map(one => {parts})")
        encoding = compat_bpe.encoding_for_model(model)
        assert shown == [[one["content"], encoding.count(one["content"])] for one in messages]


TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}
CALL = {
    "id": "1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"place": "Kyōto"}'},
}
FAR_IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
#: Requests as clients send them, and what the page shows beside their number.
REQUESTS: list[tuple[dict[str, Any], list[str]]] = [
    (
        {
            "model": "gpt-4",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Weather in Kyōto?"}]},
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "1", "content": "sunny"},
            ],
            "tools": [TOOL],
        },
        ["calls weather", "tool weather", "sunny"],
    ),
    (
        {
            "model": "gpt-4o",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "See"}, FAR_IMAGE]},
            ],
        },
        ["image", "1 image not counted", "See"],
    ),
    (
        {"model": "gpt-5-mini", "instructions": "Be brief.", "input": "Hello!"},
        ["Be brief.", "Hello!"],
    ),
    (
        {
            "model": "gpt-4.1",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Rain?"}]},
                {"type": "function_call", "call_id": "1", "name": "rain", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "no"},
            ],
        },
        ["Rain?", "calls rain", "no"],
    ),
    (
        {
            "model": "claude-sonnet-4-5",
            "system": "You are terse.",
            "messages": [{"role": "user", "content": "Hi"}],
        },
        ["You are terse.", "≈", "Anthropic says"],
    ),
]


@pytest.mark.parametrize(("request_", "shown"), REQUESTS, ids=lambda one: str(one)[:30])
def test_a_request_is_counted_as_services_take_it(
    page: Page, request_: dict[str, Any], shown: list[str]
) -> None:
    page.follow("model=gpt-4o&tab=messages")
    page.submit("request", json.dumps(request_))
    page.settle()
    page.settle()
    count = count_request(request_, estimate=True)
    page.wait_for("conversation-count", f"{int(count)} tokens")
    assert page.value("model") == request_["model"]
    values = page.run("return $$('#messages textarea').map(one => one.value).join()")
    said = page.text_of("panel-messages") + values
    for one in shown:
        assert one in said
    if count.note:
        assert count.note in said
    # Kept as it came.
    kept = page.run("return Object.entries(localStorage).find(([key]) => key.includes('messages'))")
    assert json.loads(kept[1]) == request_


def test_what_a_request_has_that_cannot_be_counted_is_said(page: Page) -> None:
    page.follow("model=gpt-4o&tab=messages")
    before = page.text_of("conversation-count")
    for wrong, reason in [
        ("{", "not JSON"),
        ("{}", "must be an object with messages"),
        ('[{"content": ""}]', "role"),
    ]:
        page.submit("request", wrong)
        page.wait_for("request-said", reason)
    assert page.text_of("conversation-count") == before
    messages = [{"role": "user", "content": "Hi"}]
    page.submit("request", json.dumps({"model": "my-own", "messages": messages}))
    page.wait_for("conversation-note", "counted as gpt-4o: unknown model 'my-own'")
    page.submit("request", json.dumps({"model": "gpt-4", "messages": messages}))
    page.wait(lambda: page.value("model") == "gpt-4")
    page.choose("model", "gpt-4o")
    page.wait_for("conversation-note", "the request is for gpt-4")
    page.choose("model", "r50k_base")
    page.wait_for("conversation-count", "choose a model whose format is known")
    assert "template=" not in page.text_of("panel-messages")


def test_the_text_of_a_message_changes_and_its_image_stays(page: Page) -> None:
    page.follow("model=gpt-4o&tab=messages")
    near = {"type": "image_url", "image_url": {"url": address()}}
    content = [{"type": "text", "text": "See"}, near]
    page.submit("request", json.dumps([{"role": "user", "content": content}]))
    page.wait_for("conversation-parts", "images")
    page.run(
        "const text = document.querySelector('#messages textarea'); text.value = 'Look there';"
        "text.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    content[0] = {"type": "text", "text": "Look there"}
    count = int(count_messages([{"role": "user", "content": content}], model="gpt-4o"))
    page.wait_for("conversation-count", f"{count} tokens")


def test_ids_become_text(page: Page) -> None:
    text = "hello 👩\u200d👩 world, 世界"
    ids = tiktoken.get_encoding("o200k_base").encode(text)
    page.show_tab("ids")

    def give(value: str) -> None:
        page.run("$('id-list').value = arguments[0]", value)
        page.run("$('id-list').dispatchEvent(new Event('input'))")

    give(str(ids))
    page.wait_for("ids-said", f"{len(ids)} tokens")
    assert page.texts("#decoded") == [text]
    cells = page.texts("#decoded .t")
    assert "👩\u200d👩" in "".join(cells)
    assert all(not cell.startswith("\u200d") for cell in cells)
    give("[1, 999999999]")
    page.wait_for("ids-said", "no token with the id 999999999")
    give("1, x2")
    page.wait_for("ids-said", '"x" is not an id')
    give(" ".join(map(str, ids)))
    page.wait_for("ids-said", f"{len(ids)} tokens")
    page.run("$('ids-to-text').click()")
    page.settle()
    assert page.value("text") == text
    assert page.counts() == {"o200k_base": len(ids)}


def test_the_table_of_files_is_saved_as_csv(page: Page) -> None:
    page.run(
        "window.blobs = []; const make = URL.createObjectURL;"
        "URL.createObjectURL = blob => { blobs.push(blob); return make(blob) }"
    )
    files = {'a, "b".txt': b"one two", "c.bin": b"\0"}
    page.choose("other", "gpt2")
    page.drop(files)
    wait_for_files(page)
    page.run("$('csv').click()")
    saved = page.run("return blobs[0].text()")
    rows = list(csv.reader(saved.splitlines()))
    assert rows == [
        ["file", "bytes", "o200k_base", "gpt2", "error"],
        ['a, "b".txt', "7", "2", "2", ""],
        ["c.bin", "1", "", "", "binary: NUL byte at offset 0"],
    ]


def test_the_link_carries_the_settings_and_the_text_only_if_asked(page: Page) -> None:
    page.choose("model", "cl100k_base")
    page.choose("other", "gpt2")
    page.choose("limit", 2)
    page.choose("spaces", True)
    page.type("secret & <b>text</b> 😀\n")
    page.run("$('share').click()")

    def link() -> dict[str, list[str]]:
        return parse_qs(urlsplit(page.value("link")).fragment)

    plain = {"encoding": ["cl100k_base"], "compare": ["gpt2"], "limit": ["2"], "spaces": ["1"]}
    assert link() == plain
    page.run("$('with-text').click()")
    assert link() == {**plain, "text": ["secret & <b>text</b> 😀\n"]}
    hash = "#" + urlsplit(page.value("link")).fragment
    page.run("$('with-text').click(); $('share').click()")
    page.open(hash)
    assert page.value("text") == "secret & <b>text</b> 😀\n"
    assert page.counts() == {
        name: len(tiktoken.get_encoding(name).encode_ordinary("secret & <b>text</b> 😀\n"))
        for name in ("cl100k_base", "gpt2")
    }
    assert json.loads(page.run("return JSON.stringify($('limit').value)")) == "2"


JS_RANKS = {"pat_str": PATTERN, "special_tokens": {}, "bpe_ranks": RANKS}
FILES = {
    "../../model.gguf": gguf(gpt2()),  # the folders are left out
    "tokenizer.model.v3": reference_file("botchan_unigram").read_bytes(),
    "tokenizer.tok.json": json.dumps(grok()).encode(),
    "o200k_base.json": json.dumps(JS_RANKS).encode(),
    NAME: WHOLE,
}


@pytest.mark.parametrize("name", FILES)
def test_dropped_files_of_other_programs_become_encodings(
    page: Page, tmp_path: Path, name: str
) -> None:
    data = FILES[name]
    path = tmp_path / Path(name).name
    path.write_bytes(data)
    text = "hello ab abc"
    page.type(text)
    page.drop({name: data})
    assert page.own_counts() == [compat_bpe.load(path).count(text)]


def test_of_a_large_gguf_file_only_the_beginning_is_read(page: Page, tmp_path: Path) -> None:
    path = write(tmp_path / "large.gguf", gpt2(), tensors=1)
    with path.open("r+b") as file:
        file.truncate(40 << 30)  # a hole: it takes no space
    page.type("hello hello")
    page.drag(path)
    assert page.own_counts() == [compat_bpe.load(path).count("hello hello")]


def test_a_gguf_file_that_does_not_say_how_text_is_split(page: Page, tmp_path: Path) -> None:
    path = write(tmp_path / "old.gguf", gpt2(pre=None))
    page.type("hello the12")
    page.drag(path)
    page.choose_pattern("llama3")
    expected = compat_bpe.load(path, pattern="llama3").count("hello the12")
    assert page.own_counts() == [expected]


def test_a_damaged_gguf_file_is_refused_by_place(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(gguf(gpt2())[:500])
    page.type("a")
    page.drag(path)
    page.wait_for("notices", "cut.gguf: byte ")
    assert page.counts() == {"o200k_base": 1}


def test_a_file_that_was_changed_after_it_was_chosen(page: Page, tmp_path: Path) -> None:
    """It is no longer to be read, and the page goes on."""
    path = tmp_path / "own.tiktoken"
    ranks = dict(list(load_ranks("r50k_base").items())[:300])
    path.write_bytes(format_ranks(ranks))
    page.type("a")
    page.drag(path)
    page.wait(lambda: not page.run("return $('pattern-form').hidden"))
    path.unlink()
    page.run("$('pattern').value = 'cl100k_base'; $('pattern-form').requestSubmit()")
    page.wait_for("notices", "own.tiktoken: cannot be read")
    page.type("b")
    assert page.counts() == {"o200k_base": 1}
