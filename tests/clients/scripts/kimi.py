"""The reference for Kimi's tools: the file that its tokenizer declares them by.

The file that is named has lists of tools; what is printed is the declaration of each list, as JSON,
or null if the reference refuses it.
"""

import importlib.util
import json
import logging
import sys

with open(sys.argv[1]) as file:
    cases = json.load(file)
logging.disable()
spec = importlib.util.spec_from_file_location("kimi_tools", cases["file"])
module = sys.modules["kimi_tools"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for tools in cases["tools"]:
    try:
        print(json.dumps(module.encode_tools_to_typescript_style(tools)))
    except Exception:
        print("null")
