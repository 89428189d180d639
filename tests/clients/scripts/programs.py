"""Programs that use tiktoken: the one that is named first, on the texts of the file named next.

Each prints a line or more for each text. Only the program itself is installed beside tiktoken.
"""

import json
import sys


def refused(function, *arguments, **options):
    """Print the error of a call that must fail."""
    try:
        print(function(*arguments, **options))
    except ValueError as error:
        print(type(error), str(error).splitlines()[0])


def dashscope(texts):
    """Qwen's tokenizer, from its own rank file."""
    from dashscope.tokenizers import get_tokenizer

    tokenizer = get_tokenizer("qwen-turbo")
    for text in texts:
        tokens = tokenizer.encode(text)
        print(tokens)
        print(ascii(tokenizer.decode(tokens)))
        print(tokenizer.encode(text, allowed_special=set(), disallowed_special=()))
    disallowed = {"<|im_start|>"}
    refused(tokenizer.encode, texts[6], allowed_special=set(), disallowed_special=disallowed)


def langchain(texts):
    """By tokens, and by characters measured in tokens."""
    from langchain_text_splitters import (
        CharacterTextSplitter,
        RecursiveCharacterTextSplitter,
        TokenTextSplitter,
    )

    for argument in (
        {"encoding_name": "gpt2"},
        {"encoding_name": "o200k_base"},
        {"model_name": "gpt-4"},
    ):
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
    refused(TokenTextSplitter(encoding_name="gpt2").split_text, texts[6])


def litellm(texts):
    """Counts tokens of texts and of messages, encodes and decodes."""
    import litellm

    print(type(litellm.encoding).__module__, type(litellm.encoding).__name__)
    for text in texts:
        for model in ("gpt-4", "gpt-4o", "gpt-3.5-turbo-0613", "text-davinci-003", "unheard-of"):
            print(model, litellm.token_counter(model=model, text=text))
            message = {"role": "user", "content": text, "name": "someone"}
            print(model, litellm.token_counter(model=model, messages=[message, message]))
        tokens = litellm.encode(model="gpt-4", text=text)
        print(tokens, ascii(litellm.decode(model="gpt-4", tokens=tokens)))


def llama_index(texts):
    """Its tokenizer, its splitters by tokens and its counter of tokens."""
    import tiktoken
    from llama_index.core import Document
    from llama_index.core.callbacks import CBEventType, EventPayload, TokenCountingHandler
    from llama_index.core.node_parser import TokenTextSplitter
    from llama_index.core.utilities.token_counting import TokenCounter
    from llama_index.core.utils import get_tokenizer

    tokenizer = get_tokenizer()
    encoding = tiktoken.encoding_for_model("gpt-4o")

    def encode(text):
        return encoding.encode(text, disallowed_special=())

    handler = TokenCountingHandler(tokenizer=encode)
    for text in texts:
        print(tokenizer(text))
        print(TokenCounter().get_string_tokens(text), TokenCounter(encode).get_string_tokens(text))
        for chosen in (None, encode):
            splitter = TokenTextSplitter(chunk_size=20, chunk_overlap=5, tokenizer=chosen)
            print(ascii(splitter.split_text(text)))
        handler.on_event_end(CBEventType.EMBEDDING, {EventPayload.CHUNKS: [text, text]})
    nodes = TokenTextSplitter(chunk_size=32, chunk_overlap=4).get_nodes_from_documents(
        [Document(text=text) for text in texts]
    )
    print(ascii([node.get_content() for node in nodes]))
    print(handler.total_embedding_token_count)


def semchunk(texts):
    """Chunks by an encoding, by the name of a model or encoding, overlapping too."""
    import semchunk
    import tiktoken

    plain = [text for text in texts if "<|" not in text]  # it does not say what is allowed
    for tokenizer in (tiktoken.get_encoding("o200k_base"), "gpt-4", "r50k_base"):
        for size in (8, 32):  # of less, semchunk makes overlapping chunks until it is too deep
            chunker = semchunk.chunkerify(tokenizer, size)
            for text in plain:
                print(ascii(chunker(text)))
                print(ascii(chunker(text, offsets=True, overlap=0.5)))
            print(ascii(chunker(plain)))
        refused(chunker, texts[6])


def transformers(texts):
    """An encoding of tiktoken's, converted to a tokenizer of its own."""
    import tiktoken
    from tokenizers import Tokenizer
    from transformers.convert_slow_tokenizer import TikTokenConverter
    from transformers.integrations.tiktoken import convert_tiktoken_to_fast

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


def ttok(texts):
    """Counts, truncates, encodes, decodes, and the errors of its command line."""
    from click.testing import CliRunner
    from ttok.cli import cli

    def run(*args, text=None):
        result = CliRunner().invoke(cli, args, input=text)
        assert result.exception is None or isinstance(result.exception, SystemExit), result
        print(args, result.exit_code, ascii(result.output))

    for text in texts:
        for model in ("gpt-5", "gpt-4", "gpt2", "text-davinci-003"):
            run("-m", model, text=text)
            run("-m", model, "--encode", "--allow-special", text=text)
        run("--truncate", "7", "--allow-special", text=text)
        run("--tokens", "--allow-special", text=text)
    run("--decode", "15339", "1917", "-m", "gpt-4")
    run("--decode", "--tokens", "13225", "2375", "127", "200018")
    run("-m", "gpt-9000-unheard-of", "hello")
    run("-m", "no-such-model", "hello")
    run("--list-models")


with open(sys.argv[2]) as file:
    globals()[sys.argv[1]](json.load(file))
