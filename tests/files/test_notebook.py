"""The sources of notebooks, of all versions of the format and of none."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files import documents
from compat_bpe.files.documents import NotebookError, is_notebook, notebook_source

CODE = {"cell_type": "code", "source": ["import x\n", "x()"], "outputs": [{"text": "a" * 99}]}
WORDS = {"cell_type": "markdown", "source": "# Title\r\n", "attachments": {"a.png": {}}}
RAW = {"cell_type": "raw", "source": "raw"}
EMPTY = {"cell_type": "code", "source": []}
OLD = {"cell_type": "code", "input": ["y = ", "2"], "outputs": []}


@pytest.mark.parametrize(
    ("content", "source"),
    [
        ({"cells": [WORDS, EMPTY, CODE, RAW]}, "# Title\r\n\n\nimport x\nx()\n\nraw"),
        ({"cells": []}, ""),
        (
            {"worksheets": [{"cells": [OLD, WORDS]}, {"cells": [RAW]}]},
            "y = 2\n\n# Title\r\n\n\nraw",
        ),
        ({"cells": [RAW], "worksheets": 3}, "raw"),
        ({"cells": [{"source": "\ud83d\ude00 \ud800"}]}, "\U0001f600 \ufffd"),
    ],
)
def test_source(content: dict[str, Any], source: str) -> None:
    assert notebook_source(json.dumps(content)) == source
    assert notebook_source("\ufeff" + json.dumps(content, indent=1)) == source


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON: "),
        ('{"cells": [', "not JSON: "),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "cells: no list"),
        ("{}", "cells: no list"),
        ('{"cells": {}}', "cells: no list"),
        ('{"worksheets": []}', "cells: no list"),
        ('{"worksheets": [{"cells": []}, 3]}', "worksheets[1].cells: no list"),
        ('{"cells": [{"source": "a"}, 3]}', "cells[1]: no source"),
        ('{"cells": [{"source": ["a", 3]}]}', "cells[0]: no source"),
        ('{"cells": [{"source": null, "input": "a"}]}', "cells[0]: no source"),
        ('{"worksheets": [{"cells": [{}]}]}', "worksheets[0].cells[0]: no source"),
    ],
)
def test_what_is_no_notebook(text: str, reason: str) -> None:
    with pytest.raises(NotebookError, match=re.escape(reason)):
        notebook_source(text)


def test_a_large_one_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"cells": [RAW]})
    monkeypatch.setattr(documents, "LARGEST_NOTEBOOK", len(text) - 1)
    with pytest.raises(NotebookError, match="larger than"):
        notebook_source(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "worksheets", "source", "input", "x"]), inner, max_size=3
        )
    ),
)


@given(json_values)
def test_any_json_has_a_source_or_a_reason(value: Any) -> None:
    with suppress(NotebookError):
        notebook_source(json.dumps(value)).encode()


def test_names() -> None:
    assert is_notebook("a/B.IPYNB")
    assert not is_notebook("a.ipynb/b")
    assert not is_notebook(".ipynb")
