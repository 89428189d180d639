"""llama-index-core: its tokenizer, its splitters by tokens and its counter of tokens."""

import json
import sys

import tiktoken
from llama_index.core import Document
from llama_index.core.callbacks import CBEventType, EventPayload, TokenCountingHandler
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.utilities.token_counting import TokenCounter
from llama_index.core.utils import get_tokenizer

with open(sys.argv[1]) as file:
    texts = json.load(file)
tokenizer = get_tokenizer()
encoding = tiktoken.encoding_for_model("gpt-4o")


def encode(text):
    return encoding.encode(text, disallowed_special=())


for text in texts:
    print(tokenizer(text))
    print(TokenCounter().get_string_tokens(text), TokenCounter(encode).get_string_tokens(text))
    for chosen in (None, encode):
        splitter = TokenTextSplitter(chunk_size=20, chunk_overlap=5, tokenizer=chosen)
        print(ascii(splitter.split_text(text)))
nodes = TokenTextSplitter(chunk_size=32, chunk_overlap=4).get_nodes_from_documents(
    [Document(text=text) for text in texts]
)
print(ascii([node.get_content() for node in nodes]))
handler = TokenCountingHandler(tokenizer=encode)
for text in texts:
    handler.on_event_end(CBEventType.EMBEDDING, {EventPayload.CHUNKS: [text, text]})
print(handler.total_embedding_token_count)
