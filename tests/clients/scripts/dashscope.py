"""dashscope: Qwen's tokenizer, from its own rank file."""

import json
import sys

from dashscope.tokenizers import get_tokenizer

with open(sys.argv[1]) as file:
    texts = json.load(file)
tokenizer = get_tokenizer("qwen-turbo")
for text in texts:
    tokens = tokenizer.encode(text)
    print(tokens)
    print(ascii(tokenizer.decode(tokens)))
    print(tokenizer.encode(text, allowed_special=set(), disallowed_special=()))
try:
    tokenizer.encode(texts[6], allowed_special=set(), disallowed_special={"<|im_start|>"})
except ValueError as error:
    print(type(error), str(error).splitlines()[0])
