"""Published patterns, translated for ``re``, and the chunks that they split a text into.

The patterns of families of models are here. ``PATTERNS`` in ``encodings.published`` names them.
Those of OpenAI's encodings are from tiktoken 0.14 (``tiktoken_ext/openai_public.py``), verbatim.
"""

R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
#: GPT-2's as it was first published, also in whisper/tokenizer.py of openai-whisper 20250625 and
#: in ``ByteLevel`` of Hugging Face tokenizers.
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
#: From models/llama3/tokenizer.py in meta-llama/llama-models. It splits "\n\u3000" into two
#: chunks; the pattern of cl100k_base leaves it one.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
#: From tokenization_qwen.py of Qwen/Qwen-7B: Llama 3's, with one digit a chunk.
QWEN = LLAMA3.replace("{1,3}", "")
#: From tokenization_kimi.py of moonshotai/Kimi-K2-Instruct: that of o200k_base, with Han apart.
KIMI = r"[\p{Han}]+|" + O200K.replace("M}]", r"M}&&[^\p{Han}]]").replace("/", "")
#: The patterns of DeepSeek since V3: for numbers, for Chinese and Japanese, and for the rest.
DEEPSEEK = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
    "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)
#: From scripts/extend_tokenizer.sh in PythonNut/superbpe, for the second stage of SuperBPE. There,
#: the text between matches is a chunk, too; here it is matched. The last alternative never matches.
#: It shows the analysis that no text is left out.
SUPERBPE = (
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
    r"|(?:\p{L}|[^\S ]|[^\s\p{L}\p{N}](?![^\s\p{L}\p{N}])"
    r"| (?=[\p{L}\p{N}]|[^\s\p{L}\p{N}](?![^\s\p{L}\p{N}])))+|[\s\S]"
)
