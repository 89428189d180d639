"""``tekken.json``: Mistral's vocabularies since NeMo.

Text is split by the pattern in the file and merged by rank, as in tiktoken. The special tokens
have the first ids: the id of another token is its rank plus the number of special tokens. The
rules are those of ``Tekkenizer`` in mistral-common 1.13.1. The versions of the format differ in how
messages are written, and in who lists the special tokens; text is the same tokens in all of them.
"""

from __future__ import annotations

from binascii import a2b_base64

from . import RANK_LIMIT, missing_byte
from .checked_json import Json
from .ranked import Ranked

#: The most special tokens accepted. Real files have 1,000, most of them reserved.
_MOST_SPECIAL = 1 << 16

#: The versions there are, and if a file must list its special tokens: others may leave it to
#: ``_UNLISTED``. There is no version between those named (``TokenizerVersion``).
_MUST_LIST = {
    "v1": False,
    "v2": False,
    "v3": False,
    "v7": False,
    "v11": True,
    "v13": True,
    "v15": True,
}

#: The special tokens of files that do not list them, by id.
_UNLISTED = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)


def parse_tekken(file: Json) -> Ranked:
    """Return the vocabulary of a ``tekken.json``, with ids in place of ranks.

    Raises:
        ValueError: ``{file}: {place}: {reason}``; the file is damaged.
    """
    config = file["config"]
    special_count = config["default_num_special_tokens"].number()
    size = config["default_vocab_size"].number()
    vocab = file["vocab"]
    if special_count > _MOST_SPECIAL:
        config["default_num_special_tokens"].fail(f"must not be above {_MOST_SPECIAL}")
    if not 0 <= special_count <= size < RANK_LIMIT or size - special_count > len(vocab.sequence()):
        config.fail(
            f"{size} tokens, {special_count} of them special, "
            f"cannot be taken from a vocabulary of {len(vocab.sequence())}"
        )
    ranks: dict[bytes, int] = {}
    # A file may list more tokens than the vocabulary takes.
    for number, item in zip(range(size - special_count), vocab.items()):
        if item["rank"].number() != number:
            item["rank"].fail(f"must be {number}")
        encoded = item["token_bytes"].text()
        try:
            token = a2b_base64(encoded)  # skips what is no base64, as the reference does
        except ValueError as error:
            item["token_bytes"].fail(f"not base64: {error}")
        if token in ranks:
            item.fail(f"the token {token!r} comes twice")
        ranks[token] = special_count + number
    byte = missing_byte(ranks)
    if byte is not None:
        vocab.fail(f"there is no token for the single byte 0x{byte:02X}")
    return Ranked(config["pattern"], ranks, _special_tokens(file, special_count))


def _special_tokens(file: Json, count: int) -> dict[str, int]:
    """Return the special tokens and their ids, those that are only reserved included."""
    version = file["config"]["version"]
    must_list = _MUST_LIST.get(version.text())
    if must_list is None:
        version.fail(f"version {version.text()!r} is not known, only {', '.join(_MUST_LIST)}")
    listed = file.get("special_tokens")
    special: dict[str, int] = {}
    numbers: set[int] = set()
    if listed is None:
        if must_list:
            file.fail(f"there is no 'special_tokens', which version {version.text()} has")
        special.update(zip(_UNLISTED, range(count)))
    else:
        for item in listed.items():
            name, number = item["token_str"].text(), item["rank"].number()
            if not name or name in special or number in numbers or not 0 <= number < count:
                item.fail(f"the name {name!r} or the id {number} is not a new one below {count}")
            special[name] = number
            numbers.add(number)
    # All other special ids are reserved.
    reserved = {f"<SPECIAL_{number}>": number for number in range(len(special), count)}
    if (
        len({**special, **reserved}) != count
        or len({*special.values(), *reserved.values()}) != count
    ):
        file.fail(f"the special tokens do not have the ids from 0 to {count - 1}")
    return {**special, **reserved}
