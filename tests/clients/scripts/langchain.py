"""langchain-text-splitters: by tokens, and by characters measured in tokens."""

import json
import sys

from langchain_text_splitters import (
    CharacterTextSplitter,
    RecursiveCharacterTextSplitter,
    TokenTextSplitter,
)

with open(sys.argv[1]) as file:
    texts = json.load(file)
arguments = [{"encoding_name": "gpt2"}, {"encoding_name": "o200k_base"}, {"model_name": "gpt-4"}]
for argument in arguments:
    size = {"chunk_size": 12, "chunk_overlap": 3, "allowed_special": "all"}
    splitters = [
        TokenTextSplitter(**argument, **size),
        CharacterTextSplitter.from_tiktoken_encoder(separator=" ", **argument, **size),
        RecursiveCharacterTextSplitter.from_tiktoken_encoder(**argument, **size),
    ]
    for splitter in splitters:
        for text in texts:
            print(ascii(splitter.split_text(text)))
    documents = splitters[0].create_documents(texts)
    print(ascii([document.page_content for document in documents]))
try:
    TokenTextSplitter(encoding_name="gpt2").split_text(texts[6])
except ValueError as error:
    print(type(error), str(error).splitlines()[0])
