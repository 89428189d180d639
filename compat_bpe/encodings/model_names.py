"""The encoding of each model, in the spellings of services; imported once a model is named.

The table for OpenAI's models is that of tiktoken 0.14.0. The order of the prefixes matters, since
the first one that fits is taken.

The parts of a spelling are those of LiteLLM 1.109.1 (``provider/…/model``), Amazon Bedrock
(``us.vendor.model-v1:0``), Vertex AI (``model@date``), OpenRouter (``vendor/model:free``), Ollama
(``host/library/model:tag``) and OpenAI (``ft:model:organisation::id``). A part that is in no table
here is not cut off, so a name with an unknown part is an unknown model.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .families import Family


def _encodings(rows: str) -> dict[str, str]:
    """Return names and their encodings; each row has an encoding and its names."""
    table = {}
    for row in rows.strip().splitlines():
        encoding, *names = row.split()
        table.update(dict.fromkeys(names, encoding))
    return table


#: The name of a model → the name of its encoding. ``gpt-35-turbo`` is as Azure spells it.
MODEL_TO_ENCODING: dict[str, str] = _encodings("""
    o200k_base o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o
    cl100k_base gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002
    cl100k_base text-embedding-ada-002 text-embedding-3-small text-embedding-3-large
    p50k_base text-davinci-003 text-davinci-002
    r50k_base text-davinci-001 text-curie-001 text-babbage-001 text-ada-001
    r50k_base davinci curie babbage ada
    p50k_base code-davinci-002 code-davinci-001 code-cushman-002 code-cushman-001
    p50k_base davinci-codex cushman-codex
    p50k_edit text-davinci-edit-001 code-davinci-edit-001
    r50k_base text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001
    r50k_base text-similarity-ada-001 text-search-davinci-doc-001 text-search-curie-doc-001
    r50k_base text-search-babbage-doc-001 text-search-ada-doc-001 code-search-babbage-code-001
    r50k_base code-search-ada-code-001
    gpt2 gpt2 gpt-2
""")

#: The prefix of the name of a dated, fine-tuned or otherwise derived model → its encoding. No full
#: name in tiktoken's table has ``o200k_harmony``.
MODEL_PREFIX_TO_ENCODING: dict[str, str] = _encodings("""
    o200k_base o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o-
    cl100k_base gpt-4- gpt-3.5-turbo- gpt-35-turbo-
    o200k_harmony gpt-oss-
    o200k_base ft:gpt-4o
    cl100k_base ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002
""")

#: The name of a model that tiktoken does not know → its encoding. ``gpt-oss`` is Ollama's;
#: ``gpt-realtime``, ``gpt-audio`` and their ``-mini`` follow gpt-4o-realtime and gpt-4o-audio;
#: ``codex-mini`` is made of o4-mini; ``-basic`` is Fireworks', ``-turbo`` DeepInfra's.
#: ``deepseek-chat`` and ``deepseek-reasoner`` are names of DeepSeek's service; they meant V4 last.
#: Plain text has the same number of tokens in each of DeepSeek's encodings.
OTHER_MODEL_TO_ENCODING: dict[str, str] = _encodings("""
    o200k_harmony gpt-oss
    o200k_base gpt-realtime gpt-realtime-mini gpt-audio gpt-audio-mini
    o200k_base codex-mini codex-mini-latest
    gpt2 gpt2-medium gpt2-large gpt2-xl
    deepseek_v4 deepseek-chat deepseek-reasoner
    deepseek_r1 deepseek-r1 deepseek-r1-zero deepseek-r1-671b deepseek-r1-basic deepseek-r1-turbo
    deepseek_r1 deepseek-ai/DeepSeek-R1 deepseek-ai/DeepSeek-R1-Zero
""")
#: The prefix of the name of a model that tiktoken does not know, or takes for another model
#: (``ft:gpt-4.1`` for gpt-4) → its encoding. ``deepseek-chat-v3`` is OpenRouter's.
#: ``deepseek-r1-`` is not here, since it also begins the names of distilled models, which have
#: another model's vocabulary.
OTHER_MODEL_PREFIX_TO_ENCODING: dict[str, str] = _encodings("""
    o200k_base ft:gpt-4.1
    deepseek_v3 deepseek-chat-v3 deepseek-v3
    deepseek_r1 deepseek-r1-0
    deepseek_v4 deepseek-v4
    deepseek_v3 deepseek-ai/DeepSeek-V3
    deepseek_r1 deepseek-ai/DeepSeek-R1-0
    deepseek_v4 deepseek-ai/DeepSeek-V4
""")
# The patterns below are compiled when a name is looked up: most commands are given an encoding.
#: Suffixes of these prefixes: versions, variants of the maker and of services, and dates.
_VARIANT = (
    r"(?i)\d{0,3}([.p-]?[1-9])?"
    r"([-.](base|chat|exp|fast|flash|eu|pro|reasoner|speciale|spot|terminus|thinking|turbo|us|"
    r"vision|\d{3,8}))*"
)
#: The owner of a table → its names and prefixes, in the order of the search.
_TABLES = {
    "compat-bpe": (OTHER_MODEL_TO_ENCODING, OTHER_MODEL_PREFIX_TO_ENCODING),
    "tiktoken": (MODEL_TO_ENCODING, MODEL_PREFIX_TO_ENCODING),
}
#: A name that contains this has another model's vocabulary, even if a prefix fits:
#: ``deepseek-ai/DeepSeek-R1-0528-Qwen3-8B`` has that of Qwen 3.
_OF_ANOTHER = r"(?i)distill|qwen|llama|alpaca|mistral|gemma"

#: The models that Ollama has under their own names → a pattern of their tags. Any other tag means
#: another model: Ollama's ``deepseek-r1`` is a distilled one unless the tag has 671b.
_OLLAMA_TAGS = {
    r"gpt-oss(-safeguard)?": r".*",
    r"deepseek-v(3|3\.1|3\.2|4-flash|4-pro)": r".*",
    r"deepseek-r1": r"671b.*",
}


def model_names() -> list[str]:
    """Return the names of all known models, without prefixes.

    >>> "gpt-4o" in model_names()
    True
    """
    return [*MODEL_TO_ENCODING, *OTHER_MODEL_TO_ENCODING]


def resolve_model(model_name: str) -> str | Family | None:
    """Return the encoding or the family of a model by its name.

    Returns:
        The name of an encoding that ships; or the family of the model, ``NeedsFile`` or
        ``NotPublic``, which has what counts its tokens; or None if the model is not known.

    >>> resolve_model("azure/eu/gpt-4o"), resolve_model("qwen3:8b").name
    ('o200k_base', 'Qwen 3')
    """
    encoding_name = MODEL_TO_ENCODING.get(model_name)
    if encoding_name is not None:
        return encoding_name
    # Imported here: most programs use the names in the tables.
    from .families import family_of

    encoding_name = _listed(respelled(model_name))
    if encoding_name is not None:
        return encoding_name
    spelling = spelling_of(model_name)
    if spelling is None:
        return None
    if _has_tag(spelling.model, spelling.tag):
        encoding_name = _listed(spelling.model) or _listed(spelling.undated)
        if encoding_name is not None:
            return encoding_name
    return family_of(spelling.model, spelling.tag) or family_of(spelling.undated, spelling.tag)


def plain_model_name(model_name: str) -> str:
    """Return a model's name as its maker writes it, if the model has an encoding here.

    >>> plain_model_name("azure/eu/GPT-4o"), plain_model_name("ft:gpt-4o:acme")
    ('gpt-4o', 'ft:gpt-4o:acme')
    """
    name = respelled(model_name)
    if _listed(name) is None and isinstance(resolve_model(model_name), str):
        spelling = spelling_of(model_name)
        if spelling is not None:
            return spelling.model
    return name


def openai_encoding_name(model_name: str) -> str:
    """Return the name of an OpenAI model's encoding; the result is tiktoken's for every name.

    Raises:
        KeyError: no name and no prefix fits; the message lists similar names.

    >>> openai_encoding_name("gpt-4o"), openai_encoding_name("ft:gpt-3.5-turbo:acme::1")
    ('o200k_base', 'cl100k_base')
    """
    key = _find(model_name, MODEL_TO_ENCODING, MODEL_PREFIX_TO_ENCODING)
    if key is None:
        from ..unicode.text import did_you_mean  # only errors need it

        raise KeyError(
            f"unknown model {model_name!r}{did_you_mean(model_name, MODEL_TO_ENCODING)}; "
            "if you know its encoding, pass that to get_encoding"
        )
    return MODEL_TO_ENCODING.get(key) or MODEL_PREFIX_TO_ENCODING[key]


def rule_of(model_name: str) -> str:
    """Return the reason for a model's encoding, in words; empty if it has no encoding here.

    >>> rule_of("gpt-4o"), rule_of("azure/gpt-41-2099")
    ('tiktoken lists it', "as 'gpt-4.1-2099': tiktoken has the prefix 'gpt-4.1-'")
    """
    spelling = spelling_of(model_name)
    names = [model_name, respelled(model_name), *(spelling or ())[::2]]
    for name in dict.fromkeys(names):
        entry = _entry(name)
        if entry is not None:
            whose, key = entry
            rule = f"{whose} lists it" if key == name else f"{whose} has the prefix {key!r}"
            return rule if name == model_name else f"as {name!r}: {rule}"
    return ""


def _listed(model_name: str) -> str | None:
    """Return the encoding of a name that is in the tables; None if it is in none."""
    entry = _entry(model_name)
    if entry is None:
        return None
    names, prefixes = _TABLES[entry[0]]
    return names.get(entry[1]) or prefixes[entry[1]]


def _entry(model_name: str) -> tuple[str, str] | None:
    """Return the owner of the table that has a name, and the name or prefix in the table."""
    for whose, (names, prefixes) in _TABLES.items():
        key = _find(model_name, names, prefixes)
        if key is None:
            continue
        if re.search(_OF_ANOTHER, model_name):
            return None
        # tiktoken accepts any name with one of its prefixes. The other tables have real models.
        of_tiktoken = key in MODEL_PREFIX_TO_ENCODING or key.startswith("ft:")
        if key == model_name or of_tiktoken or re.fullmatch(_VARIANT, model_name[len(key) :]):
            return whose, key
    return None


def _has_tag(model: str, tag: str) -> bool:
    """Return True if a name has no tag of Ollama's, or a tag of the same model."""
    return not tag or any(
        re.fullmatch(name, model) and re.fullmatch(tags, tag) for name, tags in _OLLAMA_TAGS.items()
    )


def _find(model_name: str, names: dict[str, str], prefixes: dict[str, str]) -> str | None:
    """Return the name or the prefix in a table that fits a name; None if none does."""
    if model_name in names:
        return model_name
    return next((prefix for prefix in prefixes if model_name.startswith(prefix)), None)


class Spelling(NamedTuple):
    """A model's name without the additions of services.

    Args:
        model: the plain name, in small letters.
        tag: Ollama's tag behind a colon, such as ``"20b"`` or ``"latest"``; empty without one.
        undated: the plain name without the date at its end, if it has one.
    """

    model: str
    tag: str
    undated: str


#: The parts before a name for the service or the maker of a model, in small letters: services and
#: makers; makers as Hugging Face spells them; Ollama, its hosts and the namespace of its own
#: models; regions of Azure.
_SERVED_BY_TEXT = """
    @cf @hf @oi abliteration accounts ai21 aiand aihubmix aiml aleph_alpha alibaba amazon
    amazon-nova anthropic anyscale aws azure azure_ai azure_openai azure_text baseten bedrock
    bedrock_converse bedrock_mantle bigmodel cerebras chat chatgpt claude_platform cloudflare
    codestral cohere cohere_chat converse crusoe dashscope databricks deepinfra deepseek
    deepseek-ai featherless_ai fireworks fireworks_ai friendliai gemini github github_copilot
    global global-standard gmi google gradient_ai groq heroku hf.co hostinger_router huggingface
    huggingface.co huggingfacetb hyperbolic inferenceapis invoke kyma lambda_ai lemonade libertai
    litellm_proxy llamagate lm_studio meta meta-llama meta_llama mistral mistralai models moonshot
    moonshotai nebius novita nscale nvidia nvidia_nim oci openai openai-community opencode
    opencode_go openinfer openrouter ovhcloud perplexity publicai publishers qwen qwen_ai_platform
    qwencloud replicate responses routers sagemaker sail sambanova scaleway snowflake streamlake
    tencent tensormesh text-completion-openai together together_ai togethercomputer
    vercel_ai_gateway vertex_ai volcengine wandb watsonx x-ai xai xai-org z-ai zai zai-org
    01-ai ai21labs allenai baai baidu bigcode bytedance-seed codellama cohereforai coherelabs ibm
    ibm-granite internlm lgai-exaone microsoft minimax minimaxai nomic-ai stepfun-ai thudm tiiuae
    xiaomimimo
    library ollama ollama.com ollama_chat registry.ollama.ai
    apac eu us us-gov
"""
_SERVED_BY = frozenset(_SERVED_BY_TEXT.split())
_OLLAMA = frozenset(("ollama", "ollama_chat", "ollama.com", "registry.ollama.ai"))
#: Bedrock's regions and the terms of its commitments.
_REGION = r"(us|eu|ap|ca|sa|me|af|il|mx)(-gov)?-[a-z]+-\d|(1|6)-month-commitment"

#: Bedrock and Oracle write ``vendor.model``; Bedrock writes the regions of a profile before it.
_VENDOR = (
    r"(?:(?:global|us|eu|apac|jp|au|ca|in|us-gov)\.)?"
    r"(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|"
    r"nvidia|openai|qwen|writer|xai|zai)\.(?=[a-z])"
)
#: ``-v2:0``, ``-1:0`` and ``-v2:0:51k`` behind the names of Bedrock's models.
_BEDROCK_VERSION = r"-v?\d+:\d+(:[0-9a-z]+)?$"
#: ``codestral@2405`` names a version. Anything else behind Vertex AI's ``@`` is a date or
#: ``latest``.
_VERTEX_VERSION = r"@(\d{4})(-\d+)?$"
#: Variants and routes of OpenRouter; they change the service, not the model.
_ROUTE = r":(free|batch|thinking|extended|beta|nitro|floor|exacto|online)$"
#: The names of models at Databricks, at Snowflake and DigitalOcean, and of Fireworks' at Azure.
_AGENT = r"(databricks|openai|anthropic|fw)-(?=[a-z])"
_DATE = r"-20\d\d-?[01]\d-?[0-3]\d$"
_PLAIN = r"[a-z0-9][a-z0-9._:@-]*"
#: Other spellings of OpenAI's models → its own. Those with ``gpt-4-`` would be taken for GPT-4:
#: GitHub Copilot says that the tokenizer of its ``gpt-4-o-preview`` is o200k_base.
_RESPELLED = (
    (r"gpt-4-?1(?=[-:@]|$)", "gpt-4.1"),  # of Azure; gpt-4-1106 has a date
    (r"gpt-4[.-]5(?=[:@]|$)", "gpt-4.5-preview"),
    (r"gpt-4-5(?=-)", "gpt-4.5"),
    (r"gpt-4-o(-preview)?(?=[-:@]|$)", "gpt-4o"),
    (r"text-embedding-ada-002-v2$", "text-embedding-ada-002"),  # as OpenAI's usage has it
    (r"text-embedding-3-small-inference$", "text-embedding-3-small"),  # GitHub Copilot's
)
#: OpenAI's first models had names of one word. Behind a provider, such a name may be any model:
#: LiteLLM's ``azure/ada`` makes embeddings.
_ONE_WORD = frozenset(("ada", "babbage", "curie", "davinci"))
#: The longest name that is looked up. A longer one is an unknown model.
_LONGEST = 256


def respelled(model: str) -> str:
    """Return OpenAI's own spelling of a plain name; other names are returned unchanged.

    >>> respelled("gpt-41-mini"), respelled("gpt-4-turbo")
    ('gpt-4.1-mini', 'gpt-4-turbo')
    """
    for pattern, name in _RESPELLED:
        if re.match(pattern, model):
            return re.sub(pattern, name, model, count=1)
    return model


def spelling_of(name: str) -> Spelling | None:
    """Return a model's plain name; None if a part of the spelling is not known.

    >>> spelling_of("openrouter/openai/gpt-4o-mini:free")
    Spelling(model='gpt-4o-mini', tag='', undated='gpt-4o-mini')
    >>> spelling_of("someone/gpt-4o")
    """
    if len(name) > _LONGEST or not name.isascii():
        return None
    *services, model = name.lower().split("/")
    if not all(part in _SERVED_BY or re.fullmatch(_REGION, part) for part in services):
        return None
    if not re.fullmatch(_PLAIN, model):
        return None
    if model.startswith("ft:"):
        model = model[3:].partition(":")[0]
    vendor = re.match(_VENDOR, model)
    if vendor is not None:
        model = re.sub(_BEDROCK_VERSION, "", model[vendor.end() :])
        if vendor.group(1) == "deepseek":
            # "deepseek.r1-v1:0" and "deepseek.v3.1" have the maker's name only once.
            model = f"deepseek-{model}"
    model = re.sub(_VERTEX_VERSION, r"-\1", model).partition("@")[0]
    while re.search(_ROUTE, model):
        model = re.sub(_ROUTE, "", model)
    model = re.sub(_AGENT, "", model, count=1) if re.match(_AGENT, model) else model
    model, _, tag = model.partition(":")
    if not tag and not _OLLAMA.isdisjoint(services):
        tag = "latest"
    if model.endswith("-maas"):  # served by Vertex AI
        model = model[:-5]
    if not model or model in _ONE_WORD:
        return None
    return Spelling(respelled(model), tag, respelled(re.sub(_DATE, "", model)))
