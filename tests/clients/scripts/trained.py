"""transformers: trained vocabularies, loaded from their folders by the configuration there."""

import json
import sys

from transformers import AutoTokenizer

with open(sys.argv[1]) as file:
    texts = json.load(file)
for folder in sys.argv[2:]:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer(text)["input_ids"] for text in texts]
    # How many ids there are; the greatest; those of the roles; and of the texts.
    roles = [
        [getattr(tokenizer, f"{role}_token"), getattr(tokenizer, f"{role}_token_id")]
        for role in ("bos", "eos", "unk", "pad")
    ]
    greatest = max(tokenizer.get_vocab().values())
    print(json.dumps([folder, len(tokenizer), greatest, roles, ids]))
    for text, numbers in zip(texts, ids):
        assert tokenizer.decode(numbers) == text, (folder, text)
