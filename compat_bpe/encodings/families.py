"""Families of models whose vocabularies do not ship, and what counts their tokens.

Each row of the table has the name of a family, the place of its tokenizer, and a pattern for the
plain names of its models (``model_names``), with Ollama's tags behind a colon. The first row that
matches is used. Models of one row have the same tokens for plain text; their special tokens may
differ. A name that matches no row is not known: a row has only names that determine a tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Union


class NeedsFile(NamedTuple):
    """A family whose tokenizer is published but does not ship.

    Args:
        name: the name of the family.
        repository: a repository of Hugging Face that has the files, as ``OWNER/NAME``; or the
            address of the file.
        files: the names of the files to fetch, with a space between two; empty for an address.
        models: the pattern of the models' plain names, matched at their beginnings.
    """

    name: str
    repository: str
    files: str
    models: str

    @property
    def taken_as(self) -> str | None:
        """The name for ``-e`` and ``load``; None if only the path of the file works."""
        return f"hf:{self.repository}" if self.files else None

    @property
    def source(self) -> str:
        """The command that fetches the files, or the address of the file."""
        return f"hf download {self.repository} {self.files}" if self.files else self.repository

    @property
    def where(self) -> str:
        """The files to fetch and their address, in words."""
        if not self.files:
            return self.repository
        names = " and ".join(self.files.split())
        return f"{names} of https://huggingface.co/{self.repository}"

    def of(self, model_name: str) -> NeedsFile:
        """Return the family with the model's own repository, if its maker has that name."""
        owner, _, name = model_name.partition("/")
        # Hugging Face's own names have capitals; services write the same names small.
        is_own = owner == self.repository.partition("/")[0] and re.fullmatch(r"[\w.-]*", name)
        return self._replace(repository=model_name) if is_own and name != name.lower() else self


class NotPublic(NamedTuple):
    """A family for which no public tokenizer is known.

    Args:
        name: the name of the family.
        counted_by: what counts its tokens instead.
        models: as in ``NeedsFile``.
        examples: names of some of its models, for suggestions.
    """

    name: str
    counted_by: str
    models: str
    examples: tuple[str, ...] = ()


Family = Union[NeedsFile, NotPublic]


_JSON = "tokenizer.json tokenizer_config.json"
_SP = "tokenizer.model tokenizer_config.json"
_USAGE = "the usage field of the service's reply has the count"

#: The families with a file at Hugging Face: name, repository, files and pattern, with two spaces
#: between; a pattern may be on a line of its own.
_ON_THE_HUB = r"""
    # DeepSeek's models before V3, and what it distilled into other makers' models: their
    # vocabularies are not that of R1. Ollama's "deepseek-r1" without "671b" is one of these, too.
    DeepSeek-R1 distilled into Llama 3  deepseek-ai/DeepSeek-R1-Distill-Llama-8B  json
        deepseek-r1-distill-llama|deepseek-r1:(70b|8b-llama)|deepseek-llama3
    DeepSeek-R1 distilled into Qwen 2.5  deepseek-ai/DeepSeek-R1-Distill-Qwen-7B  json
        deepseek-r1-distill-qwen-(1[.p]5|7|14|32)b|deepseek-r1:(1\.5|7|14|32)b|deepseek-r1-7b-qwen
    DeepSeek-R1 distilled into Qwen 3  deepseek-ai/DeepSeek-R1-0528-Qwen3-8B  json
        deepseek-r1-0528-(distill-)?qwen3|deepseek-r1:(latest|8b)
    DeepSeek Coder V2  deepseek-ai/DeepSeek-Coder-V2-Lite-Instruct  json  deepseek-coder-v2
    DeepSeek Coder  deepseek-ai/deepseek-coder-6.7b-instruct  json  deepseek-coder[-:]
    DeepSeek V2  deepseek-ai/DeepSeek-V2.5  json  deepseek-v2(?!\d)
    DeepSeek LLM  deepseek-ai/deepseek-llm-7b-chat  json  deepseek-llm
    DeepSeek OCR  deepseek-ai/DeepSeek-OCR  json  deepseek-ocr$
    # Qwen. Ollama's "qwen" is 1.5.
    Qwen 1  Qwen/Qwen-7B  qwen.tiktoken  qwen-(1[._p]?8|7|14|72)b
    Qwen 1.5  Qwen/Qwen1.5-7B-Chat  json  qwen-?1[.p_]5-|qwen:
    Qwen 2  Qwen/Qwen2-7B-Instruct  json  qwen-?v?2(?![\d.p_])
    Qwen 2.5  Qwen/Qwen2.5-7B-Instruct  json  qwen-?v?2[.p_]?5(?=[-:])|qwq-32b|qwen-qwq-32b|qwq:
    Qwen 3  Qwen/Qwen3-8B  json  qwen-?3(?![\d.p_])(?!-[5-9]-)
    Qwen 3.5  Qwen/Qwen3.5-27B  json  qwen-?3[.p_]?5(?=[-:])
    Qwen 3.6  Qwen/Qwen3.6-27B  json  qwen-?3[.p_]?6(?=[-:])
    Qwen 3.8  Qwen/Qwen3.8-27B  json  qwen-?3[.p_]?8(?=[-:])
    # Llama; Llama Guard 2 is a Llama 3.
    Llama 3  meta-llama/Llama-3.1-8B-Instruct  json
        (meta-)?llama-?v?3(?!\d)|llama-guard-?[23](?!\d)
    Llama 4  meta-llama/Llama-4-Scout-17B-16E-Instruct  json
        (meta-)?llama-?v?4(?!\d)|llama-guard-?4
    Llama 2  meta-llama/Llama-2-7b-hf  json  (meta-)?(textgeneration-)?llama-?v?2(?!\d)
    Code Llama  codellama/CodeLlama-7b-hf  json  code-?llama
    # Mistral; its names without a version are below.
    Mistral NeMo  mistralai/Mistral-Nemo-Instruct-2407  tekken  (open-)?mistral-nemo
    Mistral Small 3  mistralai/Mistral-Small-3.2-24B-Instruct-2506  tekken
        mistral-small-(24b|250[136]|3(\.[12]|-[12])?-24b|3\.[12])|mistral-small(3\.[12])?:
    Mistral Large 3  mistralai/Mistral-Large-3-675B-Instruct-2512  tekken
        mistral-large-(3(?!\d)|2512)
    Mistral Large 2  mistralai/Mistral-Large-Instruct-2407  sp
        mistral-large-(instruct-)?24(07|11)|mistral-large2
    Ministral 3  mistralai/Ministral-3-8B-Instruct-2512  tekken
        ministral-(3-)?(3|8|14)b-(instruct-)?2512|ministral-3-(3|8|14)b|ministral-3:
    Ministral  mistralai/Ministral-8B-Instruct-2410  tekken  ministral-8b-(instruct-)?2410
    Pixtral  mistralai/Pixtral-12B-2409  tekken  pixtral-12b
    Pixtral Large  mistralai/Pixtral-Large-Instruct-2411  sp  pixtral-large-(instruct-)?2411
    Devstral Small  mistralai/Devstral-Small-2505  tekken  devstral-small-25(05|07)
    Magistral Small  mistralai/Magistral-Small-2506  tekken  magistral-small-25(06|07|09)
    Voxtral  mistralai/Voxtral-Small-24B-2507  tekken  voxtral-(small|mini).*2507
    Mixtral 8x7B  mistralai/Mixtral-8x7B-Instruct-v0.1  json  (open-)?mixtral-8x7b
    Mixtral 8x22B  mistralai/Mixtral-8x22B-Instruct-v0.1  json  (open-)?mixtral-8x22b
    Mistral 7B v0.1 and v0.2  mistralai/Mistral-7B-Instruct-v0.2  json
        mistral-7b-(instruct-)?v0[.p][12]
    Mistral 7B v0.3  mistralai/Mistral-7B-Instruct-v0.3  json
        mistral-7b-(instruct-)?v0[.p]3|mistral:(latest|7b)$
    Codestral 22B  mistralai/Codestral-22B-v0.1  json  codestral(-22b|-2405|:)
    # Gemma.
    Gemma 4  google/gemma-4-E4B-it  json  gemma-?4(?!\d)
    Gemma 3n  google/gemma-3n-E4B-it  json  gemma-?3n
    Gemma 3  google/gemma-3-4b-it  json  gemma-?3(?=[-:]|$)
    Gemma 2  google/gemma-2-9b-it  json  gemma-?2(?=[-:]|$)
    CodeGemma  google/codegemma-7b-it  json  codegemma
    Gemma 1  google/gemma-7b-it  json  gemma(-1\.1)?(-[27]b|:)
    # Others, by maker.
    GLM 4.7 Flash  zai-org/GLM-4.7-Flash  json  glm-4[.p]7-flash
    GLM 4.5 to 4.7  zai-org/GLM-4.6  json  glm-4([.p][567]|-[567](?=-))(?!v)
    GLM 5  zai-org/GLM-5  json  glm-5(?![v\d]|-(turbo|code))
    GLM 4 0414  zai-org/GLM-4-32B-0414  json  glm-4-(9b|32b)-0414
    GLM 4 9B  zai-org/glm-4-9b-chat  sp  glm-4-9b|glm4:
    Kimi K2 and K3  moonshotai/Kimi-K2-Instruct  tiktoken.model tokenizer_config.json
        kimi-k(2([.p][567])?|3)(?=[-:]|$)
    Phi 4 mini  microsoft/Phi-4-mini-instruct  json  phi-?4-(mini|multimodal)
    Phi 4  microsoft/phi-4  json  phi-?4(?=[-:]|$)
    Phi 3.5  microsoft/Phi-3.5-mini-instruct  json  phi-?3\.5
    Phi 3 small  microsoft/Phi-3-small-8k-instruct  cl100k_base.tiktoken tokenizer_config.json
        phi-?3-small
    Phi 3  microsoft/Phi-3-mini-4k-instruct  json  phi-?3(?=[-:]|$)
    Phi 1 and 2  microsoft/phi-2  json  phi-?(1|1[._]5|2)(?=[-:]|$)
    Grok 2  xai-org/grok-2  tokenizer.tok.json  grok-2$
    Command R7B  CohereLabs/c4ai-command-r7b-12-2024  json  (c4ai-)?command-r7b
    Command R+  CohereLabs/c4ai-command-r-plus-08-2024  json  (c4ai-)?command-r-plus
    Command R  CohereLabs/c4ai-command-r-08-2024  json  (c4ai-)?command-r(?=[-:]|$)
    Command A  CohereLabs/c4ai-command-a-03-2025  json  (c4ai-)?command-a(-03-2025|:|$)
    Aya Expanse  CohereLabs/aya-expanse-8b  json  (c4ai-)?aya-expanse
    MiniMax M1  MiniMaxAI/MiniMax-M1-80k  json  minimax-m1
    MiniMax M2  MiniMaxAI/MiniMax-M2  json  minimax-m2(?=[-:.p]|$)
    MiniMax M3  MiniMaxAI/MiniMax-M3  json  minimax-m3(?=[-:]|$)
    Hunyuan A13B  tencent/Hunyuan-A13B-Instruct  hy.tiktoken tokenizer_config.json  hunyuan-a13b
    Hunyuan, dense  tencent/Hunyuan-7B-Instruct  json  hunyuan-(0\.5|1\.8|4|7)b
    Yi 1.5  01-ai/Yi-1.5-34B-Chat  json  yi-1\.5
    Yi  01-ai/Yi-34B  json  yi-(6|9|34)b(-|$)
    InternLM 3  internlm/internlm3-8b-instruct  sp  internlm-?3
    InternLM 2  internlm/internlm2_5-7b-chat  sp  internlm-?2
    Granite 4  ibm-granite/granite-4.0-h-small  json  granite-?4(?!\.[1-9])(?=[-.:]|$)
    Granite 3  ibm-granite/granite-3.3-8b-instruct  json  granite-?3(?=[-.:]|$)
    Nemotron Nano 2  nvidia/NVIDIA-Nemotron-Nano-9B-v2  json
        (nvidia-)?nemotron-nano-((9|12)b-v2|v2-12b)
    Nemotron 3 Nano  nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16  json
        (nvidia-)?nemotron-(3-nano|nano-3)(?!-omni)
    Nemotron 3 Super  nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8  json
        (nvidia-)?nemotron-(3-super|super-3)
    OLMo 2  allenai/OLMo-2-1124-7B-Instruct  json  olmo-?2
    Olmo 3  allenai/Olmo-3-7B-Instruct  json  olmo-?3(?!\.)
    Falcon 3  tiiuae/Falcon3-7B-Instruct  json  falcon-?3
    Falcon  tiiuae/falcon-7b  json  falcon-(7|40|180)b
    StarCoder 2  bigcode/starcoder2-15b  json  starcoder-?2
    Jamba  ai21labs/AI21-Jamba-1.5-Mini  json  (ai21-)?jamba-(1[.-]5|(mini|large)-1\.[56])
    DBRX  databricks/dbrx-instruct  json  dbrx
    ERNIE 4.5  baidu/ERNIE-4.5-21B-A3B-PT  json  ernie-4[.p]5-(0[.p]3b|21b|300b)
    Seed-OSS  ByteDance-Seed/Seed-OSS-36B-Instruct  json  seed-oss
    SmolLM 3  HuggingFaceTB/SmolLM3-3B  json  smollm-?3
    SmolLM 2  HuggingFaceTB/SmolLM2-1.7B-Instruct  json  smollm-?2
    EXAONE 4  LGAI-EXAONE/EXAONE-4.0-32B  json  exaone-?4
    Step 3.5  stepfun-ai/Step-3.5-Flash  json  step-3[.p]5
    MiMo V2  XiaomiMiMo/MiMo-V2-Flash  json  mimo-v2-flash
    Whisper, large-v3  openai/whisper-large-v3  json  whisper-large-v3
    Whisper  openai/whisper-large-v2  json  whisper(-1|-(tiny|base|small|medium|large(-v[12])?))?$
    BGE-M3  BAAI/bge-m3  json  bge-m3$
    Nomic Embed  nomic-ai/nomic-embed-text-v1.5  json  nomic-embed-text(-v1|:|$)
"""

#: The files of many repositories, by their short names in the table.
_FILES = {"json": _JSON, "sp": _SP, "tekken": "tekken.json"}


def _on_the_hub() -> Iterator[NeedsFile]:
    for row in _ON_THE_HUB.replace("\n        ", "  ").splitlines():
        if row and not row.startswith("    #"):
            name, repository, files, *pattern = row.strip().split("  ")
            yield NeedsFile(name, repository, _FILES.get(files, files), "".join(pattern))


_GEMMA_FILES = "https://github.com/google/gemma_pytorch/blob/"
_GEMMA_2 = "33b652c465537c6158f9a472ea5700e5e770ad3f/tokenizer/tokenizer.model"
_GEMMA_3 = (
    "014acb7ac4563a5f77c76d7ff98f31b568c16508/tokenizer/gemma3_cleaned_262144_v2.spiece.model"
)

#: The files that count Gemini's tokens, by the table for local counting in googleapis/python-genai
#: (``google/genai/_local_tokenizer_loader.py``, 04095a79); 1.0 and 1.5 are from an earlier table.
_GEMINI = (
    NeedsFile(
        "Gemini 2.0 to 3 (Gemma 3's)",
        _GEMMA_FILES + _GEMMA_3,
        "",
        r"gemini-(2[.-]5-(pro|flash|flash-lite)|2[.-]0-flash(-lite)?(-001)?|2[.-]5-pro-preview-0[56]-06|"
        r"2[.-]5-pro-exp-03-25|live-2[.-]5-flash|2[.-]5-flash-preview-0(5-20|4-17)|"
        r"2[.-]5-flash-lite-preview-06-17|3-(pro|flash)-preview)$",
    ),
    NeedsFile(
        "Gemini 3.1 and 3.5 (Gemma 4's)",
        "google/gemma-4-E4B-it",
        _JSON,
        r"gemini-(3[.-]5-flash|3[.-]1-flash-lite|3[.-]1-pro-preview)$",
    ),
    NeedsFile(
        "Gemini 1.0 and 1.5 (Gemma 2's)",
        _GEMMA_FILES + _GEMMA_2,
        "",
        r"gemini-(1[.-]0-pro|1[.-]5-(pro|flash))(-00[12])?$",
    ),
)

#: Alibaba's services are named like its open models, but without a size.
_ALIBABA = NotPublic(
    "Qwen's services at Alibaba",
    _USAGE,
    r"qw(en|q)(?!.*\d[bt]\b)[\w.-]*-(max|plus|turbo|flash|long|mt)(?=-|$)",
)

_NOT_PUBLIC = (
    NotPublic(
        "Claude's models",
        "Anthropic's POST /v1/messages/count_tokens counts a request",
        r"claude",
        ("claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5"),
    ),
    NotPublic(
        "Gemini's models that Google's SDK does not count locally",
        "the method countTokens of Google's API counts a request",
        r"gemini-[\d.]+-|gemini-(live|exp|pro|flash|embedding)",
        ("gemini-2.0-pro-exp", "gemini-pro-latest", "gemini-flash-latest"),
    ),
    NotPublic(
        "OpenAI's models that tiktoken 0.14.0 does not know",
        "OpenAI's POST /v1/responses/input_tokens counts a request",
        r"gpt-(6|image|realtime|audio|live|transcribe|chat-latest)(?=[-.]|$)|computer-use-preview|"
        r"gpt-(daybreak|rosalind)|chatgpt-image",
    ),
    NotPublic(
        "Grok's models since Grok 3",
        "xAI's POST /v1/tokenize-text gives the tokens",
        r"grok-[34c]",
        ("grok-3", "grok-4"),
    ),
    NotPublic(
        "Mistral's hosted models without an open version in the name",
        _USAGE,
        r"(mistral-(tiny|small|medium|large)|ministral-\d+b|codestral|(devstral|magistral)-"
        r"(small|medium)|pixtral-large)(-latest)?$|mistral-medium-(2505|3)$|codestral-25\d\d$",
    ),
    NotPublic(
        "Cohere's services",
        "Cohere's POST /v1/tokenize gives the tokens",
        r"command-(light|nightly)|(cohere-)?embed-(english|multilingual|v)",
    ),
    NotPublic("Amazon's models", _USAGE, r"nova-(lite|micro|pro|premier|2-)|titan-(text|embed)"),
    NotPublic("Moonshot's v1 models", _USAGE, r"moonshot-v1"),
    NotPublic("Hunyuan's services", _USAGE, r"hunyuan-(lite|standard|pro|turbo|t1)"),
    NotPublic("Doubao's models", _USAGE, r"doubao"),
    NotPublic("Perplexity's Sonar models", _USAGE, r"sonar(-|$)"),
    NotPublic("Writer's Palmyra models", _USAGE, r"palmyra-x"),
    NotPublic("Yi's services", _USAGE, r"yi-(large|lightning)"),
)

#: All families, in the order in which they are tried.
FAMILIES: tuple[Family, ...] = (
    _ALIBABA,
    *_on_the_hub(),
    NeedsFile(
        "Grok 1", "https://github.com/xai-org/grok-1/blob/main/tokenizer.model", "", r"grok-1$"
    ),
    *_GEMINI,
    *_NOT_PUBLIC,
)


def family_of(model: str, tag: str = "") -> Family | None:
    """Return the family of a model by its plain name; None if no row fits.

    Args:
        model: the plain name, in small letters.
        tag: Ollama's tag, if there is one.

    >>> family_of("qwen3", "8b").name
    'Qwen 3'
    """
    name = f"{model}:{tag}" if tag else model
    return next((one for one in FAMILIES if re.match(one.models, name)), None)
