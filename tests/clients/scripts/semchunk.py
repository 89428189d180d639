"""semchunk: chunks by an encoding, by the name of a model or encoding, overlapping too."""

import json
import sys

import semchunk
import tiktoken

with open(sys.argv[1]) as file:
    texts = json.load(file)
for tokenizer in (tiktoken.get_encoding("o200k_base"), "gpt-4", "r50k_base"):
    for size in (8, 32):  # of less, semchunk makes overlapping chunks until it is too deep
        chunker = semchunk.chunkerify(tokenizer, size)
        for text in texts:
            if "<|" not in text:  # semchunk does not say what is allowed
                print(ascii(chunker(text)))
                print(ascii(chunker(text, offsets=True, overlap=0.5)))
        print(ascii(chunker([text for text in texts if "<|" not in text])))
    try:
        print(chunker(texts[6]))
    except ValueError as error:
        print(type(error), str(error).splitlines()[0])
