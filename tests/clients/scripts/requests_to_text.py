"""The references for requests: files of DeepSeek and Kimi, and the package deepseek-recipe.

The file that is named has lists of cases, by the name of what makes text of them; what is printed
is the text of each, as JSON, or null if the reference refuses it.
"""

import importlib.util
import json
import logging
import sys
from functools import partial


def module_of(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_v3_2(request, module):
    messages = request["messages"]
    if messages[0]["role"] != "system":
        messages = [{"role": "system", "content": ""}, *messages]
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
    first = {**messages[0], "tools": request.get("tools"), "response_format": schema}
    mode = "thinking" if request["thinking"] else "chat"
    return module.encode_messages([first, *messages[1:]], mode)


def of_v4(request, model, encoding):
    thinking = {"type": "enabled" if request["thinking"] else "disabled"}
    body = {"model": model, **request, "thinking": thinking}
    converted = recipe.ChatCompletionRequest(body).convert(recipe.ConversionOptions())
    return encoding.render_conversation(converted.conversation).prompt


def show(make, cases, refusals):
    for case in cases:
        try:
            print(json.dumps(make(case)))
        except refusals:
            print("null")


with open(sys.argv[1]) as file:
    cases = json.load(file)
logging.disable()
if "kimi" in cases:
    kimi = module_of("kimi_tools", cases["kimi"]["file"])
    show(kimi.encode_tools_to_typescript_style, cases["kimi"]["tools"], Exception)
if "v3.2" in cases:
    v3_2 = module_of("encoding_dsv32", cases["v3.2"]["file"])
    refusals = (v3_2.DS32EncodingError, AssertionError, ValueError)
    show(partial(of_v3_2, module=v3_2), cases["v3.2"]["requests"], refusals)
if "v4" in cases:
    import deepseek_recipe as recipe

    for model, encoding in (
        ("DeepSeek-V4-Pro", recipe.DeepseekV4Encoding()),
        ("DeepSeek-V4.1-Flash", recipe.DeepseekV41Encoding()),
    ):
        refusals = (recipe.ConversionError, ValueError)
        show(partial(of_v4, model=model, encoding=encoding), cases["v4"]["requests"], refusals)
