"""Programs that use tiktoken, each run on it and on this package: what they print is the same.

Both environments are made with pip, as a user would. Run with ``pytest -m clients tests/clients``;
``COMPAT_BPE_CLIENTS`` names a folder that keeps the environments for the next time.
"""

from __future__ import annotations

import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compat_bpe.encodings.published import PATTERNS
from compat_bpe.formats.settings_beside import AS_TOKENIZER_JSON
from compat_bpe.train import (
    ByteSettings,
    CharacterBpeSettings,
    CharacterSettings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
    train_bpe,
)
from compat_bpe.train.tokenizer_kind import TokenizerSettings
from compat_bpe.train.write import FORMATS, write_vocabulary
from tests.clients.environments import (
    TEXTS,
    TIKTOKEN,
    Environment,
    Wheels,
    make_environment,
    pip,
    with_this_package,
    with_tiktoken,
)

pytestmark = pytest.mark.clients

SDIST_SHA256 = "231dec90efcdccf1b565a1416107736f1e09b1a08fe736ef9d6363e626d03874"

# Name of a function of scripts/programs.py → what it needs, apart from tiktoken.
CLIENTS = {
    "dashscope": ["dashscope==2.0.2"],
    "langchain": ["langchain-text-splitters==1.1.3"],
    "litellm": ["litellm==1.100.0"],
    "llama_index": ["llama-index-core==0.14.25"],
    "semchunk": ["semchunk==4.1.1"],
    "transformers": ["transformers==5.23.0", "blobfile==3.2.0"],
    "ttok": ["ttok==1.0"],
}


@pytest.mark.parametrize("client", CLIENTS)
def test_client(
    client: str, environments: Path, wheels: Wheels, published: Path, tmp_path: Path
) -> None:
    requirements = CLIENTS[client]
    with ThreadPoolExecutor() as pool:  # they wait for pip
        real = pool.submit(
            with_tiktoken, environments / f"{client}-tiktoken", requirements, published
        )
        ours = pool.submit(
            with_this_package, environments / f"{client}-compat_bpe", requirements, wheels
        )
        pair = [real.result(), ours.result()]
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps(TEXTS))
    printed = []
    for number, environment in enumerate(pair):
        folder = tmp_path / str(number)
        folder.mkdir()
        printed.append(environment.script("programs", client, texts, cwd=folder))
    expected, actual = printed
    assert len(expected.splitlines()) >= len(TEXTS), "the script prints a line for each text"
    assert actual == expected


#: The last of the version before, which many have, and the newest.
TRANSFORMERS = ["transformers==4.57.1", "transformers==5.23.0"]
#: Special tokens by role; the first is what GPT-2's class adds unasked.
SPECIALS = {"eos": "<|endoftext|>", "bos": "<|begin|>", "pad": "[PAD]"}


@pytest.mark.parametrize("transformers", TRANSFORMERS)
def test_trained_vocabularies_in_transformers(
    transformers: str, environments: Path, tmp_path: Path
) -> None:
    texts = [text for text in TEXTS if text]
    with open(tmp_path / "texts.json", "w") as file:
        json.dump(texts, file)
    folders: list[str] = []
    expected = []
    for pattern in (*PATTERNS, "deepseek"):
        for formats in (tuple(FORMATS), ("tokenizer-json",), ("vocab-merges",)):
            if formats == ("vocab-merges",) and PATTERNS.get(pattern) != PATTERNS["gpt2"]:
                continue  # transformers has no class that splits so without tokenizer.json
            for roles in ({}, SPECIALS):
                folder = tmp_path / f"{pattern} {formats[0]} {len(formats)} {len(roles)}"
                special_tokens = ["<|x|>", *roles.values()] if roles else []
                made = train_bpe(texts, 400, pattern=pattern, special_tokens=special_tokens)
                write_vocabulary(folder, made, pattern=pattern, formats=formats, roles=roles)
                named = [
                    [roles.get(role), made._special_tokens.get(roles.get(role, ""))]
                    for role in ("bos", "eos", "unk", "pad")
                ]
                ids = [made.encode(text, allowed_special="all") for text in texts]
                folders.append(str(folder))
                expected.append([str(folder), 400, 399, named, ids])
    python = make_environment(environments / transformers, [transformers])
    environment = Environment(python, tmp_path)
    printed = environment.script(
        "auto_tokenizer", "trained", tmp_path / "texts.json", *folders, cwd=tmp_path
    )
    assert [json.loads(line) for line in printed.splitlines()] == expected


KINDS: dict[str, TokenizerSettings] = {
    "wordpiece": WordPieceSettings(
        200, special_tokens=["[CLS]", "[SEP]"], post_processor="bert", normalizer="bert-cased"
    ),
    "character-bpe": CharacterBpeSettings(200, normalizer="nfkc"),
    "character-bpe with a prefix": CharacterBpeSettings(200, prefix="##", suffix=""),
    "unigram": UnigramSettings(200, special_tokens=["<s>", "</s>"], post_processor="roberta"),
    "word-level": WordLevelSettings(60),
    "characters": CharacterSettings(60),
    "bytes": ByteSettings(special_tokens=["<s>"]),
}


@pytest.mark.parametrize("transformers", TRANSFORMERS)
def test_trained_tokenizers_of_all_kinds_in_transformers(
    transformers: str, environments: Path, tmp_path: Path
) -> None:
    texts = [text for text in TEXTS if text]
    unseen = [*texts, "An unseen text, naïve: 世界 \u200b😀 <s>[CLS] ##x </w>"]
    with open(tmp_path / "texts.json", "w") as file:
        json.dump(unseen, file)
    folders, expected = [], []
    for name, settings in KINDS.items():
        folder = tmp_path / name
        made = train(texts, settings, workers=1)
        unknown = settings.kind.unknown_token
        write_vocabulary(
            folder,
            made,
            pattern=AS_TOKENIZER_JSON,
            formats=["tokenizer-json"],
            roles={} if unknown is None else {"unk": unknown},
        )
        ids = [made.encode(text, allowed_special="all", add_special_tokens=True) for text in unseen]
        folders.append(str(folder))
        expected.append([str(folder), unknown, ids, [made.decode(numbers) for numbers in ids]])
    python = make_environment(environments / transformers, [transformers])
    environment = Environment(python, tmp_path)
    printed = environment.script(
        "auto_tokenizer", "kinds", tmp_path / "texts.json", *folders, cwd=tmp_path
    )
    assert [json.loads(line) for line in printed.splitlines()] == expected


@pytest.fixture(scope="session")
def tests_of_tiktoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tests of tiktoken's source distribution, and nothing else of it."""
    folder = tmp_path_factory.mktemp("tiktoken")
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{TIKTOKEN} --hash=sha256:{SDIST_SHA256}\n")
    options = ["--no-deps", "--no-binary", "tiktoken", "--require-hashes"]
    pip("download", *options, "--dest", folder, "-r", requirement)
    with tarfile.open(folder / "tiktoken-0.14.0.tar.gz") as archive:
        for member in archive.getmembers():
            path = Path(member.name)
            if member.isfile() and path.parts[1] == "tests":
                target = folder.joinpath(*path.parts[1:])
                target.parent.mkdir(exist_ok=True)
                content = archive.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
    return folder


def test_tests_of_tiktoken(environments: Path, wheels: Wheels, tests_of_tiktoken: Path) -> None:
    environment = with_this_package(
        environments / "tests-compat_bpe", ["pytest", "hypothesis"], wheels
    )
    names = sorted(path.name for path in (tests_of_tiktoken / "tests").glob("test_*.py"))
    assert len(names) == 6
    # The options are those of tiktoken's own CI; none of the tests needs the network here.
    options = ["-q", "-rA", "-p", "no:cacheprovider", "--import-mode=append"]
    printed = environment.run(
        "-m", "pytest", *options, tests_of_tiktoken / "tests", cwd=tests_of_tiktoken, timeout=900
    )
    summary = printed.splitlines()[-1]
    passed = int(summary.split()[0])
    assert passed >= 30, summary
    assert "skipped" not in summary
