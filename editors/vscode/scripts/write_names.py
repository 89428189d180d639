"""Write the names of models and encodings that the package knows into the extension.

They are the drop-downs of the settings, in ``package.json``, and the list of models that a click on
the count offers, in ``src/names.json``. Run it again when the package knows more.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from compat_bpe import encoding_name_for_model, list_encoding_names
from compat_bpe.chat.limits import known_limits
from compat_bpe.encodings.model_names import model_names

PLUGIN = Path(__file__).parents[1]


def names() -> dict[str, Any]:
    """Return the models, the encodings, and how many tokens models take; new models first."""
    models, contexts = [], {}
    limits = known_limits()
    for name in dict.fromkeys([*limits, *model_names()]):
        with suppress(KeyError):  # a model whose vocabulary is not in the package
            encoding_name_for_model(name)
            models.append(name)
            if name in limits:
                contexts[name] = limits[name].context
    return {"models": models, "encodings": list_encoding_names(), "contexts": contexts}


def with_names(package: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return ``package.json`` with the drop-downs of today."""
    settings = package["contributes"]["configuration"]["properties"]
    settings["compatBpe.model"]["enum"] = [None, *found["models"]]
    settings["compatBpe.encoding"]["enum"] = [None, *found["encodings"]]
    return package


def written(value: object) -> str:
    """Return JSON as it stands in the files."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    found = names()
    (PLUGIN / "src/names.json").write_text(written(found), "utf-8")
    path = PLUGIN / "package.json"
    path.write_text(written(with_names(json.loads(path.read_text("utf-8")), found)), "utf-8")
