"""mistral-common: files of Mistral's, each with its special tokens and the ids of some texts.

A folder stands for the file that mistral-common takes in it.
"""

import json
import os
import sys

from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer, is_sentencepiece
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from mistral_common.tokens.tokenizers.utils import get_one_valid_tokenizer_file

with open(sys.argv[1]) as file:
    texts = json.load(file)
for path in sys.argv[2:]:
    name = ""
    try:
        if os.path.isdir(path):
            name = get_one_valid_tokenizer_file(os.listdir(path))
        whole = os.path.join(path, name) if name else path
        if is_sentencepiece(whole):
            tokenizer = SentencePieceTokenizer(whole)
            special = {}
        else:
            tokenizer = Tekkenizer.from_file(whole)
            count = tokenizer.num_special_tokens
            special = {tokenizer.id_to_piece(number): number for number in range(count)}
        ids = [tokenizer.encode(text, bos=False, eos=False) for text in texts]
        print(json.dumps([name, tokenizer.n_words, special, ids]))
    except (AssertionError, ValueError) as error:
        print(json.dumps(repr(error)))
