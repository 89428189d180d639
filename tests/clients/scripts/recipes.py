"""The recipes of the documentation: what each block gives is used on real texts.

The arguments are the blocks, as JSON by the names of the packages, and the texts. Each block is run
as it stands; what it defines is then checked by the function of its name.
"""

import json
import random
import sys

import compat_bpe
from compat_bpe.chat import count_messages

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What's the weather like in Paris? <|endoftext|>"},
]
with open(sys.argv[1]) as file:
    blocks = json.load(file)
with open(sys.argv[2]) as file:
    texts = json.load(file)
encoding = compat_bpe.get_encoding("o200k_base")


def langchain(names):
    for limit, overlap in ((8, 0), (30, 7)):
        for boundary in ("char", "word", "line"):
            splitter = names["TokenSplitter"](encoding, limit, overlap, boundary)
            for text in texts:
                chunks = splitter.split_text(text)
                assert max(map(encoding.count, chunks), default=0) <= limit
                assert all(chunk in text for chunk in chunks), "no character is broken"
                assert overlap or "".join(chunks) == text
    documents = splitter.create_documents(texts, [{"number": at} for at in range(len(texts))])
    assert {document.metadata["number"] for document in documents} == {
        at for at, text in enumerate(texts) if text
    }


def haystack(names):
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.hooks.compaction.sliding_window import SlidingWindowCompactor
    from haystack.tools import Tool

    counter = names["ModelTokenCounter"]("gpt-4o")
    call = ToolCall("get_weather", {"city": "Paris"}, "1")
    messages = [
        ChatMessage.from_system(CHAT[0]["content"]),
        ChatMessage.from_user(CHAT[1]["content"]),
        ChatMessage.from_assistant(tool_calls=[call]),
        ChatMessage.from_tool("Sunny.", call),
    ]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = Tool("get_weather", "Get it.", parameters, function=print)
    function = {"name": "get_weather", "description": "Get it.", "parameters": parameters}
    arguments = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    plain = [
        *CHAT,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": arguments}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "Sunny."},
    ]
    assert counter.count(messages) == count_messages(plain, model="gpt-4o")
    tools = [{"type": "function", "function": function}]
    assert counter.count(messages, [tool]) == count_messages(plain, model="gpt-4o", tools=tools)
    assert counter.count([]) == 0
    again = type(counter).from_dict(counter.to_dict())
    assert again.count(messages) == counter.count(messages)
    long = [
        messages[0],
        *[ChatMessage.from_user("word " * 50), ChatMessage.from_assistant("y")] * 9,
    ]
    long.append(messages[1])
    shortened = SlidingWindowCompactor().compact(long, 200, counter)
    assert 2 < len(shortened) < len(long)
    assert counter.count(shortened) < 400


def llama_index(names):
    from llama_index.core.utils import get_tokenizer

    for text in texts:
        assert get_tokenizer()(text) == encoding.encode_ordinary(text)
        for chunk in names["splitter"].split_text(text):
            assert encoding.count(chunk) <= 20


def litellm(names):
    from litellm import token_counter

    for seed in range(20):
        chat = [{**CHAT[1], "content": text} for text in random.Random(seed).sample(texts, 3)]
        text = names["tokenizer"].template.render(chat)
        counted = token_counter(custom_tokenizer=names["custom"], text=text)
        assert counted == count_messages(chat, encoding="my-chat-model"), chat


def semchunk(names):
    from semchunk import chunkerify

    plain = chunkerify(encoding.count, 20)
    for text in texts:
        chunks = names["chunker"](text)
        assert chunks == plain(text)
        assert max(map(encoding.count, chunks), default=0) <= 20


def chonkie(names):
    from chonkie import SentenceChunker, TokenChunker

    tokenizer = names["EncodingTokenizer"](encoding)
    for text in filter(str.strip, texts):
        for chunk in names["chunker"](text):
            assert chunk.token_count == encoding.count(chunk.text)
        for chunk in SentenceChunker(tokenizer, chunk_size=40)(text):
            assert chunk.text in text
        chunks = TokenChunker(tokenizer, chunk_size=40)(text)
        assert sum(chunk.token_count for chunk in chunks) == encoding.count(text)


for package, block in blocks.items():
    namespace = {"__name__": package}
    exec(compile(block, package, "exec"), namespace)
    globals()[package](namespace)
    print(package)
