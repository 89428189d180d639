"""litellm: counts tokens of texts and of messages, encodes and decodes."""

import json
import sys

import litellm

with open(sys.argv[1]) as file:
    texts = json.load(file)
print(type(litellm.encoding).__module__, type(litellm.encoding).__name__)
for text in texts:
    for model in ("gpt-4", "gpt-4o", "gpt-3.5-turbo-0613", "text-davinci-003", "unheard-of"):
        print(model, litellm.token_counter(model=model, text=text))
        message = {"role": "user", "content": text, "name": "someone"}
        print(model, litellm.token_counter(model=model, messages=[message, message]))
    tokens = litellm.encode(model="gpt-4", text=text)
    print(tokens, ascii(litellm.decode(model="gpt-4", tokens=tokens)))
