"""The plain name of a model in the spellings of services: with providers, variants, dates.

The parts of a spelling are those of LiteLLM 1.109.1 (``provider/…/model``), Amazon Bedrock
(``us.vendor.model-v1:0``), Vertex AI (``model@date``), OpenRouter (``vendor/model:free``), Ollama
(``host/library/model:tag``) and OpenAI (``ft:model:organisation::id``). What stands in no table
here is not cut off, so that a name which is not understood leads to nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Spelling(NamedTuple):
    """A model's name without what services add to it.

    Args:
        model: the plain name, in small letters.
        tag: what Ollama has behind a colon: ``"20b"`` or ``"latest"``; else empty.
        undated: the plain name without the date at its end, if it has one.
    """

    model: str
    tag: str
    undated: str


#: The parts before a name that say who serves a model, or who made it, in small letters: services
#: and makers; makers as Hugging Face spells them; Ollama, its hosts and the namespace of its own
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
_REGION = re.compile(r"(us|eu|ap|ca|sa|me|af|il|mx)(-gov)?-[a-z]+-\d|(1|6)-month-commitment")

#: Bedrock and Oracle write ``vendor.model``; Bedrock writes the regions of a profile before it.
_VENDOR = re.compile(
    r"(?:(?:global|us|eu|apac|jp|au|ca|in|us-gov)\.)?"
    r"(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|"
    r"nvidia|openai|qwen|writer|xai|zai)\.(?=[a-z])"
)
#: ``-v2:0``, ``-1:0`` and ``-v2:0:51k`` behind the names of Bedrock's models.
_BEDROCK_VERSION = re.compile(r"-v?\d+:\d+(:[0-9a-z]+)?$")
#: ``codestral@2405`` names a version; all else behind Vertex AI's ``@`` is a date or ``latest``.
_VERTEX_VERSION = re.compile(r"@(\d{4})(-\d+)?$")
#: Variants and routes of OpenRouter; they change the service, not the model.
_VARIANT = re.compile(r":(free|batch|thinking|extended|beta|nitro|floor|exacto|online)$")
#: The names of models at Databricks, at Snowflake and DigitalOcean, and of Fireworks' at Azure.
_AGENT = re.compile(r"(databricks|openai|anthropic|fw)-(?=[a-z])")
_DATE = re.compile(r"-20\d\d-?[01]\d-?[0-3]\d$")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._:@-]*")
#: Other spellings of OpenAI's models → its own. Those with ``gpt-4-`` would be taken for GPT-4:
#: GitHub Copilot says that the tokenizer of its ``gpt-4-o-preview`` is o200k_base.
_RESPELLED = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"gpt-4-?1(?=[-:@]|$)", "gpt-4.1"),  # of Azure; gpt-4-1106 has a date
        (r"gpt-4[.-]5(?=[:@]|$)", "gpt-4.5-preview"),
        (r"gpt-4-5(?=-)", "gpt-4.5"),
        (r"gpt-4-o(-preview)?(?=[-:@]|$)", "gpt-4o"),
        (r"text-embedding-ada-002-v2$", "text-embedding-ada-002"),  # as OpenAI's usage has it
        (r"text-embedding-3-small-inference$", "text-embedding-3-small"),  # GitHub Copilot's
    )
)
#: OpenAI's first models had one word as their names. Behind a provider that may be any model:
#: LiteLLM's ``azure/ada`` makes embeddings.
_ONE_WORD = frozenset(("ada", "babbage", "curie", "davinci"))
#: The longest name that is looked at; all that is longer is none.
_LONGEST = 256


def respelled(model: str) -> str:
    """Return OpenAI's own spelling of a plain name; any other as it is.

    >>> respelled("gpt-41-mini"), respelled("gpt-4-turbo")
    ('gpt-4.1-mini', 'gpt-4-turbo')
    """
    for pattern, name in _RESPELLED:
        if pattern.match(model):
            return pattern.sub(name, model, count=1)
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
    if not all(part in _SERVED_BY or _REGION.fullmatch(part) for part in services):
        return None
    if not _PLAIN.fullmatch(model):
        return None
    if model.startswith("ft:"):
        model = model[3:].partition(":")[0]
    vendor = _VENDOR.match(model)
    if vendor is not None:
        model = _BEDROCK_VERSION.sub("", model[vendor.end() :])
        if vendor.group(1) == "deepseek":
            # "deepseek.r1-v1:0" and "deepseek.v3.1" do not say the maker twice.
            model = f"deepseek-{model}"
    model = _VERTEX_VERSION.sub(r"-\1", model).partition("@")[0]
    while _VARIANT.search(model):
        model = _VARIANT.sub("", model)
    model = _AGENT.sub("", model, count=1) if _AGENT.match(model) else model
    model, _, tag = model.partition(":")
    if not tag and not _OLLAMA.isdisjoint(services):
        tag = "latest"
    if model.endswith("-maas"):  # served by Vertex AI
        model = model[:-5]
    if not model or model in _ONE_WORD:
        return None
    return Spelling(respelled(model), tag, respelled(_DATE.sub("", model)))
