"""The limits of models, as they were read at an address on a day; data only.

Each row has the tokens of the context (request and reply together), those of a request, those of a
reply, and the names of the models with these limits. Most are those of the table that litellm
1.109.1 brings. Services change: the maker of a model has the last word.
"""

from __future__ import annotations

from typing import Optional

#: The day on which the table was last compared with its sources.
DATE = "2026-11-22"

_Row = tuple[int, int, Optional[int], str]

_LITELLM = "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json"
_GPT_OSS = (
    "https://github.com/huggingface/transformers/blob/main/src/transformers/models/gpt_oss/"
    "configuration_gpt_oss.py"
)

#: The address of a source → its rows.
TABLE: dict[str, tuple[_Row, ...]] = {
    _LITELLM: (
        (1_050_000, 1_050_000, 128_000, "gpt-5.5 gpt-5.5-pro gpt-5.4 gpt-5.4-pro"),
        (400_000, 272_000, 128_000, "gpt-5.4-mini gpt-5.4-nano gpt-5.3-codex gpt-5.2 gpt-5.2-pro"),
        (400_000, 272_000, 128_000, "gpt-5.2-codex gpt-5.1 gpt-5-codex gpt-5 gpt-5-mini"),
        (400_000, 272_000, 128_000, "gpt-5-nano"),
        (400_000, 400_000, 128_000, "gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-codex-mini"),
        (128_000, 128_000, 16_384, "gpt-5.3-chat-latest gpt-5.2-chat-latest gpt-5.1-chat-latest"),
        (128_000, 128_000, 16_384, "gpt-5-chat-latest gpt-4o gpt-4o-mini gpt-4o-search-preview"),
        (128_000, 128_000, 16_384, "gpt-4o-mini-search-preview"),
        (128_000, 128_000, 4_096, "gpt-4o-2024-05-13 gpt-4-turbo gpt-4-1106-preview"),
        (1_047_576, 1_047_576, 32_768, "gpt-4.1 gpt-4.1-mini gpt-4.1-nano"),
        (200_000, 200_000, 100_000, "o1 o1-pro o3 o3-pro o3-mini o4-mini o3-deep-research"),
        (200_000, 200_000, 100_000, "o4-mini-deep-research"),
        (8_192, 8_192, 4_096, "gpt-4"),
        (16_385, 16_385, 4_096, "gpt-3.5-turbo gpt-3.5-turbo-16k"),
        (8_192, 8_192, 4_096, "gpt-3.5-turbo-instruct"),
        (16_384, 16_384, 4_096, "davinci-002 babbage-002"),
        (8_191, 8_191, 0, "text-embedding-3-small text-embedding-3-large text-embedding-ada-002"),
        (1_000_000, 1_000_000, 393_216, "deepseek-v4-flash deepseek-v4-pro"),
    ),
    _GPT_OSS: ((131_072, 131_072, None, "gpt-oss-120b gpt-oss-20b"),),
    "https://github.com/openai/gpt-2/blob/master/src/model.py": (
        (1_024, 1_024, None, "gpt2 gpt-2"),
    ),
}
