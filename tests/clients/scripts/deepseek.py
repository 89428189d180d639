"""The references for DeepSeek's requests: encoding_dsv32.py, and the package deepseek-recipe.

The file that is named has lists of requests; what is printed is the text of each, as JSON, or null
if the reference refuses it.
"""

import importlib.util
import json
import sys

import deepseek_recipe as recipe

with open(sys.argv[1]) as file:
    cases = json.load(file)
spec = importlib.util.spec_from_file_location("encoding_dsv32", cases["v3.2"]["file"])
encoding_dsv32 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(encoding_dsv32)


def of_v3_2(request):
    messages = request["messages"]
    if messages[0]["role"] != "system":
        messages = [{"role": "system", "content": ""}, *messages]
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
    first = {**messages[0], "tools": request.get("tools"), "response_format": schema}
    mode = "thinking" if request["thinking"] else "chat"
    return encoding_dsv32.encode_messages([first, *messages[1:]], mode)


def of_v4(request, model, encoding):
    thinking = {"type": "enabled" if request["thinking"] else "disabled"}
    body = {"model": model, **request, "thinking": thinking}
    converted = recipe.ChatCompletionRequest(body).convert(recipe.ConversionOptions())
    return encoding.render_conversation(converted.conversation).prompt


for request in cases["v3.2"]["requests"]:
    try:
        print(json.dumps(of_v3_2(request)))
    except (encoding_dsv32.DS32EncodingError, AssertionError, ValueError):
        print("null")
for model, encoding in (
    ("DeepSeek-V4-Pro", recipe.DeepseekV4Encoding()),
    ("DeepSeek-V4.1-Flash", recipe.DeepseekV41Encoding()),
):
    for request in cases["v4"]["requests"]:
        try:
            print(json.dumps(of_v4(request, model, encoding)))
        except (recipe.ConversionError, ValueError):
            print("null")
