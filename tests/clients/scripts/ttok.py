"""ttok: counts, truncates, encodes, decodes, and the errors of its command line."""

import json
import sys

from click.testing import CliRunner
from ttok.cli import cli


def run(*args, text=None):
    result = CliRunner().invoke(cli, args, input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result
    print(args, result.exit_code, ascii(result.output))


with open(sys.argv[1]) as file:
    texts = json.load(file)
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
