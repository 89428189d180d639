"""transformers: an encoding of tiktoken's, converted to a tokenizer of its own."""

import json
import sys

import tiktoken
from tokenizers import Tokenizer
from transformers.convert_slow_tokenizer import TikTokenConverter
from transformers.integrations.tiktoken import convert_tiktoken_to_fast

with open(sys.argv[1]) as file:
    texts = json.load(file)
for name in ("gpt2", "cl100k_base"):
    encoding = tiktoken.get_encoding(name)
    convert_tiktoken_to_fast(encoding if name == "gpt2" else name, name)
    converted = Tokenizer.from_file(f"{name}/tokenizer.json")
    print(name, converted.get_vocab_size())
    for text in texts:
        tokens = converted.encode(text).ids
        print(tokens)
        print(tokens == encoding.encode(text, allowed_special="all"))
vocabulary, merges = TikTokenConverter().extract_vocab_merges_from_model(
    "gpt2/tiktoken/tokenizer.model"
)
print(sorted(vocabulary.items())[:100], merges[:100], len(merges))
