"""A double array of a file: checked, and made tables, which a small hostile one must not fill.

It is a trie over the bytes of UTF-8. Each unit of the array is 32 bits wide. The children of a
node are at its place xor its offset xor a byte. A leaf has a place in the text of replacements.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array

#: The bit of a unit that is a leaf, and the bit of one that has a leaf.
LEAF, HAS_LEAF = 1 << 31, 1 << 8
#: The most steps to read a map, for each unit of it: visits of nodes, and characters after them.
#: The maps of SentencePiece take fewer than two.
_MOST_STEPS = 8
#: The longest replacement in bytes, and the longest sequence in characters. Those of SentencePiece
#: have at most 33 and 18.
_LONGEST_REPLACEMENT, _LONGEST_SEQUENCE = 1 << 10, 1 << 8


def read_tables(units: array[int], text: bytes) -> tuple[dict[int, dict[str, int]], dict[int, str]]:
    """Return the nodes after each node by character, and what is written at a node.

    Raises:
        ValueError: a unit points outside the array or the text, or to what it must not point to;
            the trie has a loop; a sequence or a replacement is not UTF-8, or is too long; nodes
            are shared so often that the tables would be many times as large as the map.
    """
    _check(units, len(text))
    # The units that may be the child of a node, by the node's place xor its offset.
    children: dict[int, list[int]] = {}
    for place, unit in enumerate(units):
        if unit < LEAF and place:
            children.setdefault(place ^ unit & 0xFF, []).append(place)
    following: dict[int, dict[str, int]] = {}
    leaves: dict[int, int] = {}
    left = [0]
    steps = [_MOST_STEPS * len(units)]
    try:
        while left:
            node = left.pop()
            if node not in following:
                following[node] = nodes = _characters(units, children, node, steps)
                left += nodes.values()
                if units[node] & HAS_LEAF:
                    leaves[node] = units[node ^ offset(units[node])] & ~LEAF
        strings = {start: _replacement(text, start) for start in set(leaves.values())}
    except UnicodeDecodeError:
        raise ValueError("the character map has bytes that are not UTF-8") from None
    _check_loops(following)
    return following, {node: strings[start] for node, start in leaves.items()}


def _replacement(text: bytes, start: int) -> str:
    end = text.find(0, start, start + _LONGEST_REPLACEMENT + 1)
    if end < 0:
        raise ValueError(
            f"a replacement of the character map has more than {_LONGEST_REPLACEMENT} bytes"
        )
    return text[start:end].decode()


def _characters(
    units: array[int], children: dict[int, list[int]], node: int, steps: list[int]
) -> dict[str, int]:
    """Return the nodes that are one character below a node.

    Args:
        steps: the number of steps that are left, which is made smaller.

    Raises:
        UnicodeDecodeError: something below is not UTF-8.
        ValueError: no step is left.
    """
    nodes: dict[str, int] = {}
    left = [(node, b"")]
    while left:
        above, begun = left.pop()
        steps[0] -= 1
        for place in children.get(above ^ offset(units[above]), ()):
            data = begun + bytes((units[place] & 0xFF,))
            if len(data) == _length(data[0]):
                nodes[data.decode()] = place
            elif units[place] & HAS_LEAF or len(data) > 4:
                data.decode()  # It raises.
            else:
                left.append((place, data))
        if steps[0] < 0:
            raise ValueError("the trie of the character map shares its nodes too often")
    steps[0] -= len(nodes)
    return nodes


def _length(first: int) -> int:
    """Return the length of a character in bytes by its first byte; 1 for a wrong one."""
    return 1 + (0xC2 <= first <= 0xF4) + (0xE0 <= first <= 0xF4) + (0xF0 <= first <= 0xF4)


def offset(unit: int) -> int:
    """Return the offset of a unit, with which the places of its children are made."""
    return (unit >> 10) << ((unit & 1 << 9) >> 6)


def _check(units: array[int], length: int) -> None:
    """Raise ``ValueError`` for a unit that points to where it must not point to."""
    size = len(units)
    root = units[0]
    fine = not root & (LEAF | HAS_LEAF | 0xFF) and 0 < offset(root) < size
    for place, unit in enumerate(units if fine else ()):
        if unit >= LEAF:
            fine = unit - LEAF < length
        else:
            # A block has 256 units: if this is inside, the child of any byte is.
            to = place ^ (unit >> 10) << ((unit & 512) >> 6)
            fine = to < size and (not unit & HAS_LEAF or units[to] >= LEAF)
        if not fine:
            break
    if not fine:
        raise ValueError("the trie of the character map points outside itself")


def _check_loops(following: dict[int, dict[str, int]]) -> None:
    """Raise ``ValueError`` if a sequence would have no end or is too long."""
    parents = dict.fromkeys(following, 0)
    for following_nodes in following.values():
        for node in following_nodes.values():
            parents[node] += 1
    # The nodes whose longest sequence is of one length, then of one more.
    nodes = [node for node, count in parents.items() if not count]
    done = length = 0
    while nodes:
        if length > _LONGEST_SEQUENCE:
            raise ValueError(
                f"a sequence of the character map has more than {_LONGEST_SEQUENCE} characters"
            )
        done += len(nodes)
        length += 1
        left, nodes = nodes, []
        for above in left:
            for node in following[above].values():
                parents[node] -= 1
                if not parents[node]:
                    nodes.append(node)
    if done < len(following):
        raise ValueError("the trie of the character map has a loop")
