"""transformers: folders of its classes that have no ``tokenizer.json``."""

import json
import sys

from transformers import AutoTokenizer, logging

logging.set_verbosity_error()
for folder in sys.argv[1:]:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        made = json.loads(tokenizer.backend_tokenizer.to_str())
    except (AttributeError, TypeError, ValueError) as error:
        made = repr(error)
    print(json.dumps(made))
