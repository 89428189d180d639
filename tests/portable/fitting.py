"""Text that is cut, edited, and put into prompts."""

from __future__ import annotations

from collections.abc import Iterator

from .place import TEXT, Check, Place

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is " + "a very long question, " * 20 + "this?"},
    {"role": "assistant", "content": "A question."},
    {"role": "user", "content": "And 世界?"},
]


def cuts(place: Place) -> Iterator[Check]:
    fit = place.module("fit")
    for name in ("cl100k_base", "deepseek_v3"):
        encoding = place.module().get_encoding(name)
        for keep in ("head", "tail", "ends"):
            for limit in (1, 7, 20):
                cut = encoding.truncate(TEXT, limit, keep=keep)
                yield Check(f"{name} {keep} {limit}", [cut.text, cut.count])
        parts = list(fit.split_text(encoding, TEXT * 3, 12, overlap=3))
        yield Check(f"{name} parts", [[part.start, part.end, part.count] for part in parts])
        lengths = [fit.longest_prefix(encoding, TEXT, limit) for limit in range(0, 60, 7)]
        yield Check(f"{name} prefixes", lengths)
        lengths = [fit.longest_suffix(encoding, TEXT, limit) for limit in range(0, 60, 7)]
        yield Check(f"{name} suffixes", lengths)
    kind = place.fixture("kinds/wordpiece.json")["tokenizer"]
    wordpiece = place.module().load(place.write("fit/tokenizer.json", kind))
    cut = wordpiece.truncate("low lower lowest, the highest mountain", 5)
    yield Check("wordpiece", [cut.text, cut.count])


def prompts(place: Place) -> Iterator[Check]:
    fit, chat = place.module("fit"), place.module("chat")
    encoding = place.module().get_encoding("o200k_base")
    template = "<before>{prefix}<after>{suffix}<between>"
    prompt = fit.fit_prompt(encoding, TEXT * 3, TEXT * 2, 50, template=template)
    yield Check("fit_prompt", [prompt.prefix, prompt.suffix, prompt.count])
    sections = [
        fit.Section("Fix the bug.\n", priority=3),
        fit.Section("one\ntwo\nthree\n" * 9, priority=1, cut="head"),
        fit.Section("def f(x):\n    return y\n", priority=2, cut="tail"),
    ]
    fitted = fit.fit_sections(encoding, sections, 30)
    yield Check("fit_sections", [fitted.text, fitted.count])
    for model in ("gpt-4o", "gpt-oss-20b", "deepseek-v3"):
        yield Check(f"count_messages {model}", int(chat.count_messages(MESSAGES, model=model)))
    left = chat.fit_messages(MESSAGES, 60, model="gpt-4o")
    yield Check("fit_messages", [left.messages, left.count])


def documents(place: Place) -> Iterator[Check]:
    """Documents that are edited many times, against the count of the whole text."""
    document_of = place.module("fit").Document
    for name, file in (("o200k_base", ""), ("unigram", "kinds/unigram.json")):
        if file:
            stored = place.fixture(file)["tokenizer"]
            encoding = place.module().load(place.write("document/tokenizer.json", stored))
        else:
            encoding = place.module().get_encoding(name)
        text = TEXT * 4
        document = document_of(encoding, text)
        state = 1
        for number in range(60):
            state = (state * 1103515245 + 12345) % 2**31
            start = state // 7 % (len(text) + 1)
            end = min(len(text), start + state // 1000 % 9)
            new = TEXT[state // 50 % len(TEXT) :][: state // 90000 % 12]
            document.replace(start, end, new)
            text = text[:start] + new + text[end:]
            if number % 6 == 0:
                yield Check(f"{name} {number}", document.count, encoding.count(text))
        yield Check(f"{name} text", document.text, text)
        yield Check(f"{name} range", document.count_range(3, 40))
        place_of = document.position(20, unit="utf-16")
        yield Check(f"{name} position", [place_of.line, place_of.column])
