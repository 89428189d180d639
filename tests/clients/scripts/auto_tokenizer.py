"""transformers: folders loaded by their configuration, as the first argument says.

``classes``: the ``tokenizer.json`` that it makes of the folder of one of its classes, or its error.
``trained``: of a trained vocabulary the number of ids, the greatest, those of the roles and those
of the texts, which decoded are these. ``kinds``: of a tokenizer of any kind the ids and decoded
texts. The second argument of the last two is the file of the texts.
"""

import json
import sys

from transformers import AutoTokenizer, logging

logging.set_verbosity_error()
ROLES = ("bos", "eos", "unk", "pad")


def classes(folder):
    try:
        return json.loads(AutoTokenizer.from_pretrained(folder).backend_tokenizer.to_str())
    except (AttributeError, TypeError, ValueError) as error:
        return repr(error)


def trained(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer(text)["input_ids"] for text in texts]
    for text, numbers in zip(texts, ids):
        assert tokenizer.decode(numbers) == text, (folder, text)
    roles = [
        [getattr(tokenizer, f"{role}_token"), getattr(tokenizer, f"{role}_token_id")]
        for role in ROLES
    ]
    return [folder, len(tokenizer), max(tokenizer.get_vocab().values()), roles, ids]


def kinds(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer(text)["input_ids"] for text in texts]
    return [folder, tokenizer.unk_token, ids, [tokenizer.decode(numbers) for numbers in ids]]


what, *folders = sys.argv[1:]
if what != "classes":
    with open(folders.pop(0)) as file:
        texts = json.load(file)
for folder in folders:
    print(json.dumps(globals()[what](folder)))
