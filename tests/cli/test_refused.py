"""What the commands refuse: a table of arguments, and what is said of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import list_encoding_names, load
from compat_bpe.encodings.published import BASELINES
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import SentencePieceSettings, WordPieceSettings, train, train_bpe
from compat_bpe.train.sentencepiece.trainer import save_trained_sentencepiece
from tests.cli.running import cases, check_refused, command, write
from tests.examples import rows

SMALL = Path(__file__).parents[2] / "fixtures" / "gpt2_small"
DOGS = "the dog and the cat\n" * 30
FILES: dict[str, str | bytes] = {
    "a.txt": "hello world",
    "a.json": "{}",
    "bad.txt": b"abc\xff",
    "empty.txt": "",
    "latin.txt": b"caf\xe9\n",
    "notes.txt": "\n",
    "picture.png": b"PNG\0",
    "broken/tokenizer.json": "{",
    "corpus/en/a.txt": DOGS,
    "corpus/zh.txt": "世界你好\n" * 3,
    "corpus/x.tsv": "a\t1\n",
    "old.tsv": "a\t1\n",
    "bad.tsv": "a\t1\nb\t-1\n",
    "two.tsv": "a\t1\nb c\t1\n",
    "empty.tsv": "chunk\tcount\n",
    "chat.json": '[{"role": "user", "content": "hello"}]',
    ".compat-bpe.toml": '[check]\n[[check.rules]]\nfiles = ["*.md"]\nmax = 10\n',
    "hidden/.hidden": "a",
    "binary/a.png": b"\0",
    "named/a.txt": "a",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that all refusals share, as no command changes anything."""
    folder = tmp_path_factory.mktemp("refused")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write(FILES)
        save_tokenizer_json(train(["a b"], WordPieceSettings(9)), folder / "wordpiece.json")
        words = SentencePieceSettings(5, "word", hard_vocab_limit=False)
        save_trained_sentencepiece(train(["a b"], words), "word")
        save_tiktoken(load(SMALL), folder / "mine.tiktoken")
        save_gpt2(train_bpe([DOGS], 260), folder / "encoder.json", folder / "vocab.bpe")
    return folder


@pytest.fixture(autouse=True)
def _in_shared(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared)


#: What comes before the arguments, and the rest of them, and what is said of each.
REFUSED = {
    "": rf"""
nonsense → onsense
--nonsense → onsense
count --nonsense → onsense
conut → compat-bpe: there is no command 'conut' (did you mean 'count'?); see compat-bpe -h.
xyz → there is no command 'xyz'
help trian → there is no command 'trian' (did you mean 'train'?)
help count more → compat-bpe count has no commands
corpus count → 'count'
notes.txt → ; to count the file or folder of that name: compat-bpe count notes.txt
completion cmd → 'cmd' is not one of 'bash', 'zsh', 'fish'
lsp --tcp localhost:9257 → No such option
--nosuch → compat-bpe: No such option
count --modle gpt-4 → --model
lsp more → unexpected extra argument
x\x1b[2J → \\x1b[2J
count --max \x1b[2J → \\x1b[2J
split -n1 a \x1b[2J → \\x1b[2J
caf\udce9 → caf\\udce9
encode caf\udce9 → caf\udce9: No such file
encode -e caf\udce9 → caf\\udce9
show -m caf\udce9 → caf\\udce9
models caf\udce9 → caf\\udce9
encode -e gpt2 --allowed-special caf\udce9 → caf\\udce9
truncate -e gpt2 -n \udce9 → \\udce9
encode -e gpt-4o → compat-bpe: unknown encoding 'gpt-4o': that is a model; use -m gpt-4o
encode -e gpt-4o-2099 →
    compat-bpe: unknown encoding 'gpt-4o-2099': that is a model; use -m gpt-4o-2099
encode -m o200k_base →
    compat-bpe: unknown model 'o200k_base': that is an encoding; use -e o200k_base
encode -m a.json → compat-bpe: unknown model 'a.json': that is a file or folder; use -e a.json
encode -m gpt-9 → compat-bpe: unknown model 'gpt-9' (did you mean 'gpt-5' or 'gpt-4' or
    'gpt-2'?); compat-bpe models lists them
encode -m zzzzzzzz → compat-bpe: unknown model 'zzzzzzzz'; compat-bpe models lists them
encode -e o200k_bse → compat-bpe: unknown encoding 'o200k_bse' (did you mean 'o200k_base' or
    'cl100k_base' or 'r50k_base'?); no file has this name either
encode -e b.json → compat-bpe: unknown encoding 'b.json'; no file has this name either; the
    encodings are {", ".join([*list_encoding_names(), *BASELINES])}
encode -e ./b.json → compat-bpe: ./b.json: No such file or directory
count -m gpt-4p missing → compat-bpe: unknown model 'gpt-4p' (did you mean 'gpt-4' or 'gpt-4o'
count -e o200k missing → 'o200k_base'
count -e '' missing → compat-bpe: unknown encoding ''
count -e 'a\nb' missing → compat-bpe: unknown encoding 'a\\nb'
encodings -e o200k → compat-bpe: unknown encoding 'o200k'
encode -e gpt2 --allowed-special <|endoftxt|> →
    compat-bpe: gpt2 has no special token '<|endoftxt|>' (did you mean '<|endoftext|>'?)
encode -e gpt2 --add-special-tokens →
    compat-bpe: gpt2 has no tokens that are added to every text
models --families gpt-4o →
    compat-bpe: 'gpt-4o' is built in (encoding o200k_base); it needs no files
models --limits → --limits needs --json.
models --limits --json --families → --limits is for models
models gpt-9 → compat-bpe: unknown model 'gpt-9'
count https://example.com/a.txt?x=1 → compat-bpe: https://example.com/a.txt?x=1: No such file or
    directory; URLs are not fetched: curl -L URL | compat-bpe count
corpus counts https://example.com/a → curl -L URL | compat-bpe corpus counts
count 'How many tokens is this?' →
    compat-bpe: How many tokens is this?: No such file or directory; for a text, use -c TEXT
show 'How many tokens is this?' →
    No such file or directory; for a text, use echo TEXT | compat-bpe show
count *.zip → compat-bpe: *.zip: No such file or directory; no file matches this pattern
encode corpus → compat-bpe: corpus: Is a directory; encode reads a single
    file; count accepts a directory
decode corpus → compat-bpe: corpus: Is a directory; decode reads a single file
show corpus/ → compat-bpe: corpus/: Is a directory; give the files in it, such as corpus/*
truncate -n 5 corpus → Is a directory; truncate reads a single file; split --files accepts a
    directory
split -n 5 --json corpus → compat-bpe: corpus: Is a directory; --files accepts a directory
encode *.tsv → matches 4 files; encode reads only one.
decode *.tsv → matches 4 files; decode reads only one.
truncate -n 9 *.tsv → matches 4 files; truncate reads only one.
split -n 9 --json *.tsv → is a second PATH
encode missing → compat-bpe: missing: No such file or directory
count --include .txt corpus → compat-bpe: no files to count in corpus: nothing matches --include
    '.txt'; to match by ending: '*.txt'
train -n 300 -o v --include .txt corpus →
    nothing matches --include '.txt'; to match by ending: '*.txt'
train -n 300 -o v a.txt picture.png → compat-bpe: picture.png: binary: NUL byte at offset 3;
    --errors skip leaves such files out
train -n 300 -o v picture.png → compat-bpe: picture.png: binary: NUL byte at offset 3
encode --packed --format json <<< a → --packed excludes --format, --json and --offsets
encode --offsets --packed <<< a → --packed excludes
encode --json --packed <<< a → --packed excludes
encode --offsets --format lines <<< a → --offsets writes JSON
encode --json --format lines <<< a → --format and --json exclude each other
encode --add-special-tokens --offsets -e wordpiece.json →
    --offsets and --add-special-tokens exclude each other
show --ids --html <<< a → --ids, --merges, --json and --html exclude each other
show --json --ids <<< a → --ids, --merges, --json and --html exclude each other
show --json --html <<< a → --ids, --merges, --json and --html exclude each other
show --merges --ids a → --ids, --merges, --json and --html exclude each other, except --merges
    with --json or --html.
show --merges \udce9 → the text is not UTF-8.
truncate → Missing option '-n'
truncate -n -1 → -1 is not in the range
truncate -n 1 --keep middle → 'middle' is not one of
truncate -n 1 --marker \udce9 → Invalid value for '--marker': the text is not UTF-8.
truncate -n 1 --marker '\\x' → Invalid value for '--marker': unknown escape \\x; the
split -n 5 → say where the parts go
split -n 5 -0 --json → say where the parts go
split -n 5 -0 -o x → say where the parts go
split -n 5 --separator '' -o x → say where the parts go
split --json → Missing option '-n'
split -n 0 --json → 0 is not in the range
split -n 0k --json → 0 is not in the range
split -n 5 --json a b → 'b' is a second PATH; pass --files to
split -n 5 --json --hidden → options about files need --files
split -n 5 --json --files → --files needs a PATH
split -n 5 --json --files --overlap 1 a → --files and --overlap exclude
split -n 9 --notebooks source --json a.txt → need --files
split -n 5 --separator \udce9 → the text is not UTF-8
split -n 5 --separator '\\d' → unknown escape \\d; the escapes are \\n, \\t, \\r, \\0 and
split -n 5 --separator 'a\\' → unknown escape \\; the escapes are
split -n 5 --json --overlap 5 → compat-bpe: overlap is 5; it must be
split -n 1 --json -e gpt2 <<< 😀 → compat-bpe:
split -m claude-sonnet-4-5 --estimate -n 5 --overlap 6 --json <<< 'some words' →
    overlap is 6; it must be 0 or more and less than the limit, 5
split -m claude-sonnet-4-5 --estimate -n 5 --json --files a.txt named/a.txt →
    limit is 5, but
split -n 60 --files --errors strict --json binary → no files to split in binary: all files were
    skipped
split -n 60 --files --json hidden → no files to split in hidden: 1 hidden (see --hidden)
split -n 60 --files --json --include *.md named → nothing matches --include '*.md'
""",
    "count": r"""
--context -c x → --context needs --model: an encoding has no context
--context -c x -m o1-x → the limits of model 'o1-x' are not known
--context --total-only -m gpt-4o → --total-only and --context exclude
--messages - a.txt → --messages and PATH exclude each other.
--messages - --tree → --messages and --tree exclude each other.
--messages → Option '--messages' requires an argument. See compat-bpe count -h.
--messages none → none: No such file or directory
--messages chat.json --as-of soon → as_of: 'soon' is not a date such as 2025-06-30
--messages chat.json --factor 2 --parts -m gpt-4o → exclude each other
--parts chat.json → --parts needs --messages
--as-of 2025-06-30 chat.json → --as-of needs --messages
-q -v a.txt → exclude each other.
--total-only --tree a.txt → exclude each other.
--total-only --json a.txt → exclude each other.
--total-only --top 1 a.txt → exclude each other.
--total-only --percent a.txt → exclude each other.
--json --percent a.txt → exclude each other.
--depth 0 a.txt → needs --
-0 a.txt → needs --
--per-file a.txt → needs --
--string '' --tree → --string and
-c hello a → --string and
-c hello - → --string and
-c hello --files-from a → --string and
-c \udcff → not UTF-8
--encoding-of-file base64 a.txt → unknown text encoding 'base64'
--include [a . → '[a' matches nothing: '[a' ends within a set
--include {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} . → more than 256 patterns
--pattern gpt2 <<< a → --pattern is for a vocabulary file without a pattern of its own
-e gpt2 --pattern gpt2 <<< a →
    --pattern is for a vocabulary file without a pattern of its own
-e mine.tiktoken <<< a → compat-bpe: mine.tiktoken: a rank file does not say how text is split
-e mine.tiktoken --pattern llama-3 <<< a → compat-bpe: unknown pattern 'llama-3'
-e ./nowhere <<< a → compat-bpe: ./nowhere: No such file or directory
-e broken <<< a → tokenizer.json: line 1: not JSON:
--files-from - <<< a\n-\n → compat-bpe: standard input: it holds the list of
    files, so it cannot be in that list
--files-from gone → compat-bpe: gone: No such file or directory
--files-from nulls → compat-bpe: nulls: No such file or directory
<<< a\0 → compat-bpe: standard input: binary: NUL byte at offset 1
-m claude-sonnet-4-5 -c x → no public tokenizer is known
-m claude-sonnet-4-5 -c x → ; --estimate estimates it
--estimate -m grok-4 -c x → it cannot be estimated
--estimate -m qwen3:8b -c x → uses the tokenizer of Qwen 3, which is not included
--estimate -m gpt9 -c x → unknown model 'gpt9'
--estimate -m claude-3-opus --pattern llama3 -c x → --pattern is for a vocabulary file
--estimate -m claude-2 --context -c x → the limits of model 'claude-2' are not known
-m grok-4 --factor 1.2 a.txt → it cannot be estimated
-m gpt-4o -m claude-sonnet-4-5 corpus → --estimate estimates it
-m gpt-4o -m gpt9 corpus → unknown model 'gpt9'
-m gpt-4o -e gpt2 --factor 2 corpus → --factor and several --model
-m a -m b --messages a.txt --parts → --parts and several --model
-m gpt2 -e gpt2 corpus → --model gpt2 and --encoding gpt2 exclude each other
-m gpt-4o -e gpt2 --context corpus → --context needs --model
--price 1 --price 2 corpus → --price is given 2 times, and --model
-m gpt-4o -e gpt2 --pattern llama3 corpus → --pattern is for
--format csv --tree corpus → --format and --tree exclude each other
--format csv --json corpus → --format and --json exclude each other
--format table --json corpus → --format and --json exclude each other
--format json --total-only corpus → --total-only and --json exclude each other
""",
    "report": r"""
-e no_such_encoding corpus → unknown encoding 'no_such_encoding'
-e gpt2 -e ./none.tiktoken corpus → ./none.tiktoken: No such file
-m no-such-model corpus → unknown model 'no-such-model'
--pattern gpt2 corpus → --pattern is for a vocabulary file
--terms none.txt corpus → none.txt: No such file
--terms - <<< dog → exclude each other
--html none/page.html corpus → none/page.html: there is no directory
--html corpus corpus → corpus: the path is a directory
--group-field lang --by file corpus → --by file and --group-field exclude each other
--summary --json corpus → --summary and --json exclude each other
--include *.nope corpus →
    compat-bpe: no files to read in corpus: nothing matches --include '*.nope'
'no such path' → no such path: No such file
bad.txt → bad.txt: not UTF-8: byte 0xff at offset 3
-e gpt2 empty.txt → there is no text in empty.txt
-e gpt2 - → there is no text in standard input
""",
    "corpus counts": r"""
corpus -o c.csv → c.csv: the name must end in .tsv, .tsv.gz
corpus -o old.tsv → old.tsv: the file exists; --force overwrites it
corpus -o corpus/x.tsv --force → corpus/x.tsv: the file is one of the inputs
--merge old.tsv -o old.tsv --force → old.tsv: the file is one of the inputs
--merge bad.tsv -o c.tsv → bad.tsv:2: the count is -1; it must be 0
--merge notes.txt → notes.txt: the name of a file of counts ends in .tsv
--merge none.tsv → none.tsv: No such file or directory
--merge old.tsv --pattern gpt2 → --pattern is for texts, not for --merge.
corpus --json → --json needs --output.
corpus --weight fr=1 → there is a weight for 'fr', but no such text
corpus --pattern ( → the pattern cannot be used
corpus --pattern gpt2 --model unigram → --pattern is for --model bpe
corpus --normalizer nfc → --normalizer and --pre-tokenizer are for other
corpus --like notes.txt → notes.txt
none -o c.tsv → none: No such file or directory
""",
    "extend -e gpt2": r"""
-o new → compat-bpe: Give -n, --terms or both.
-n 1 -o . → compat-bpe: .: the folder is not empty; --force writes into it
-n 1 -o no/where → compat-bpe: no/where: there is no folder
-n 1 -o new none.txt → compat-bpe: none.txt: No such file or directory
--terms none -o new → compat-bpe: none: No such file or directory
--terms latin.txt -o new → compat-bpe: latin.txt: not UTF-8: byte 0xe9
-n 1 -o new --name a/b → 'a/b' cannot be the name of a file
""",
    "train": r"""
-o out → compat-bpe: Give --vocab-size, --merges or --patience.
-n 300 → Missing option '-o' / '--output'
corpus -n 300 -o corpus → corpus: the folder is not empty; --force
corpus -n 300 -o no/where → no/where: there is no folder
corpus -o out -n 200 → a vocabulary of 200 is too small
corpus -o out -n 300 --special a → the special token 'a' is written like
corpus -o out -n 300 --special the → the special token 'the' is also the result
corpus -o out -n 300 --pattern cl100k → unknown pattern 'cl100k' (did you
corpus -o out -n 300 --pattern (a → the pattern cannot be used:
corpus -o out -n 300 --weight fr=2 → there is a weight for 'fr', but no such text
corpus -o out -n 300 --weight zh → 'zh' is not GROUP=NUMBER
corpus -o out -n 300 --weight zh=-1 → 'zh=-1' is not GROUP=NUMBER
corpus -o out -n 300 --weight zh=1 --weight zh=2 → has two weights
corpus -o out -n 300 --mask nowhere → nowhere: No such file or directory
corpus -o out -n 300 --validation 1 → 1.0 is not in the range
corpus -o out -n 300 --name a/b → 'a/b' cannot be the name of a file
-o out -n 300 nowhere → nowhere: No such file or directory
-o out -n 300 bad.txt → bad.txt: not UTF-8: byte 0xff at offset 3
-o out -n 300 empty.txt → there is no text to learn from
picture.png no.txt -n 270 -o out --errors skip → the corpus has no text
-o out -n 300 --counts bad.tsv → bad.tsv:2: the count is -1; it must be 0 or more
-o out -n 300 --counts two.tsv → two.tsv:2: 'b c' is not one chunk of the pattern 'gpt2'
-o out -n 300 --counts c.csv → c.csv: the name of a file of counts ends in
-o out -n 300 --counts none.tsv → none.tsv: No such file or directory
-o out -n 300 --counts two.tsv --model sentencepiece-unigram → cannot be learned from counts
-o out -n 300 --counts empty.tsv → there is no text to learn from
-o out -n 300 --counts - - → Standard input cannot be both
""",
    "train corpus -o out": r"""
--model wordpiece -n 9 --pattern gpt2 → --pattern is not for --model wordpiece, only for bpe.
-n 300 --limit-alphabet 9 →
    --limit-alphabet is not for --model bpe, only for wordpiece, character-bpe.
--model word-level --merges 3 →
    --merges is not for --model word-level, only for bpe, wordpiece, character-bpe.
-n 300 --continuing-subword-prefix @ →
    --continuing-subword-prefix is not for --model bpe, only for
-n 300 --normalizer bert → --normalizer is not for --model bpe, only for wordpiece, character-bpe,
    unigram,
--model wordpiece -n 9 --end-of-word-suffix @ → a WordPiece model has no mark for the end of a word
--model bytes -n 9 → vocab_size is not for bytes: all 256 of them
--model wordpiece → Give --vocab-size, --merges or --patience.
--model wordpiece -n 9 --post-processor bert →
    the post-processor needs '[CLS]': name it as a special token
-n 300 --like encoder.json → a tokenizer.json cannot describe
-n 300 --like missing.json → missing.json: No such file or directory
--model unigram → Give --vocab-size.
--model wordpiece -n 9 --max-piece-length 3 →
    --max-piece-length is not for --model wordpiece, only for unigram, sentencepiece-bpe,
-n 300 --sub-iterations 3 →
    --sub-iterations is not for --model bpe, only for unigram, sentencepiece-unigram.
--model unigram -n 30 --max-piece-length 2000 →
    '--max-piece-length': 2000 is not in the range 1<=x<=1024
-n 300 --byte-fallback → --byte-fallback is not for --model bpe, only for character-bpe,
    sentencepiece-bpe, sentencepiece-unigram.
--model sentencepiece-bpe → Give --vocab-size.
--model sentencepiece-bpe -n 90 --user-symbols '' → the symbol '' is not a text
--model sentencepiece-bpe -n 90 --seed-size 3 →
    --seed-size is not for --model sentencepiece-bpe, only for unigram, sentencepiece-unigram.
--model sentencepiece-bpe -n 90 --weight a=2 →
    --weight is not for --model sentencepiece-bpe, only for bpe,
--model sentencepiece-unigram -n 90 --shrinking-factor 0.1 →
    shrinking_factor is 0.1; it must be 0.5 to 0.95
--model sentencepiece-unigram -n 45 --input-sentence-size 100 → must be 0 or more than 100
--model sentencepiece-bpe -n 90 --like wordpiece.json →
    --like: wordpiece.json is not a model of SentencePiece, which sentencepiece-bpe needs
--like word.model -n 90 → models of words and characters can only be trained in
--like word.model --model wordpiece -n 90 → a tokenizer.json cannot describe
--model sentencepiece-bpe -n 9 → raise it, or lower character_coverage
-n 300 --format sentencepiece → is not a model of SentencePiece
--patience 2 → --patience and --check-every need --validation.
-n 300 --check-every 2 → --patience and --check-every need --validation.
-n 300 --min-improvement 0.1 → --min-improvement needs --patience.
--check-every 2 --min-improvement 0.1 → --min-improvement needs --patience.
--validation 0.5 → Give --vocab-size, --merges or --patience.
--model unigram -n 99 --check-every 2 STOP → --check-every is not for --model unigram, only for bpe,
    wordpiece, character-bpe, word-level, characters, sentencepiece-bpe. Bytes per token are checked
    before each
--model sentencepiece-unigram -n 99 --check-every 2 STOP →
    sentencepiece-bpe. Bytes per token are checked before each round of pruning.
--model bytes STOP → sentencepiece-unigram. Bytes per token do not depend on its size.
--model unigram --validation 0.2 --patience 1 → Give --vocab-size.
--model wordpiece -n 99 --min-score 1 →
    min_score is for the rule likelihood; min_frequency is for the other
--patience 1 --validation 0.000000001 → convergence needs held-out text, and there is none
--checkpoint out --merges 5 → need separate folders
--checkpoint out/kept --merges 5 → need separate folders
--checkpoint . --merges 5 → need separate folders
--checkpoint corpus/kept --merges 5 → corpus contains this folder
--checkpoint kept --model sentencepiece-bpe -n 99 →
    --checkpoint is not available for SentencePiece
--checkpoint named --merges 5 → the folder has other files (a.txt) and no checkpoint
""",
    "check": r"""
--init --base x → exclude each other
--init --json → exclude each other
--fix-limits --json → exclude each other
--json --format table → exclude each other
--all --format sarif → --all
--growth 3 → --growth needs --base
--base HEAD --growth -3 → -3
--base HEAD --growth x% → x%
--format xml → 'xml' is not one of
""",
}
STOP = "--patience 2 --min-improvement 0.05 --check-every 4 --validation 0.2"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{before} {line}", said)
        for before, table in REFUSED.items()
        for line, said in rows(table, 2)
    ],
)
def test_what_is_refused(line: str, said: str) -> None:
    check_refused(line.replace("STOP", STOP), said)


@pytest.mark.parametrize("wrong", ["128,000", "8 k", "1.5", "0.0001k", "x", "5kk"])
def test_a_number_of_tokens_that_is_none(wrong: str) -> None:
    said = f"'{wrong}' is not a number of tokens, such as 8000"
    limits = ("count --max", "truncate --max", "split --overlap", "check --growth")
    for option in (*limits, "train --vocab-size", "extend --number"):
        check_refused(f"{option} '{wrong}'", said)


def test_prices_and_factors() -> None:
    for value in "-1 1e3 $2  1. 1,5 nan \u0661 1234567".split(" "):
        check_refused(f"count '--price={value}' -c x", "from 0 to 999999.999999")
    for value in "0 0.0000001 -1 1e999999 nan inf 1,18  1. 99999 \u0661".split(" "):
        check_refused(f"count '--factor={value}' -c x", "is not a number from 0.000001 to")


@cases(r"""
'' → not JSON:
\n → not JSON:
{ → not JSON:
[é] → not JSON:
\ufeff{\udcff → not UTF-8: byte 0xff at offset 4; convert it
\udcff\udcfe{\0 → not UTF-8: UTF-16 byte-order mark at offset 0;
3 → must be an object with messages, or a list of them
{} → must be an object with messages, or a list of them
[] → messages is empty: there must be at least one message
'{"messages": {}}' → messages: must be a list, not an object
'{"messages": [], "model": 3}' → model: must be a string
'[{"role": "user", "content": 3}]' → messages[0].content: must be a string or a list
'{"messages": [], "system": "x"}' → messages is empty: there must be at least one message
'{"messages": {}, "system": "x"}' → messages: must be a list
'{"messages": [{"role": "user", "content": 3}], "system": "x"}' → messages[0].content:
'{"messages": [], "model": "gpt9"}' → unknown model 'gpt9'
""")
def test_damaged_requests(line: str, said: str) -> None:
    check_refused(f"count --messages - <<< {line}", said)
    if "model" not in line:
        estimated = "count -m claude-sonnet-4-5 --estimate --messages - <<<"
        check_refused(f"{estimated} {line}", said)


def test_a_request_that_is_nested_too_deeply() -> None:
    deep = command("count --messages -", stdin="[" * 100_000)
    assert deep == (2, "", "compat-bpe: standard input: nested too deeply\n")


def test_a_path_that_is_just_missing() -> None:
    for plain in ("nothing.txt", "My documents.txt"):
        missing = f"compat-bpe: {plain}: No such file or directory\n"
        assert command("count", plain) == (2, "", missing)
    assert command("count", "a text. " * 99).err.endswith("for a text, use -c TEXT\n")
