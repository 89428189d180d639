"""Counts the objects of clients, and what the clients send for them; prints "done".

The services are a server in this process: it keeps each request, and gives the reply that is due.
"""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

os.environ["no_proxy"] = "127.0.0.1"

import anthropic
import litellm
import openai
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)

from compat_bpe.chat import count_messages, count_parts, count_request, fit_messages

SENT = []
REPLIES = []


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        SENT.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = json.dumps(REPLIES.pop(0)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


service = HTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=service.serve_forever, daemon=True).start()
ADDRESS = f"http://127.0.0.1:{service.server_port}"

SYSTEM = "Be brief."
QUESTION = "What's the weather like in Tromsø?"
ARGUMENTS = {"city": "Tromsø", "day": None}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "weather", "description": "Get the weather.", "parameters": SCHEMA}
TOOLS = [{"type": "function", "function": FUNCTION}]
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def same(one, other):
    assert (one, one.note) == (other, other.note), (one, one.note, other, other.note)
    assert one > 30


def completion():
    function = {"name": "weather", "arguments": json.dumps(ARGUMENTS, ensure_ascii=False)}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call], "annotations": []}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o"}
    return {**head, "choices": [choice], "usage": usage}


def conversation(create):
    """A conversation with a reply of the client's in it, and what the client sends of it."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    REPLIES[:] = [completion(), completion()]
    reply = create(messages)
    messages.append(reply.choices[0].message)
    messages.append({"role": "tool", "tool_call_id": "call_1", "content": "Light wind."})
    messages.append({"role": "user", "content": [{"type": "text", "text": "And here?"}, IMAGE]})
    create(messages)
    return messages, SENT[-1], reply


def check_completions(create):
    messages, sent, reply = conversation(create)
    assert not isinstance(messages[2], dict)
    assert sent["messages"][2]["tool_calls"][0]["function"]["name"] == "weather"
    for model in ("gpt-4o", "gpt-5", "gpt-oss-20b", "deepseek-v3.2", "deepseek-v4-flash"):
        found = count_messages(messages, model=model, tools=TOOLS)
        same(found, count_messages(sent["messages"], model=model, tools=TOOLS))
        same(found, count_request(sent, model=model))
        assert "1 image not counted" in found.note
        parts = count_parts(messages, model=model, tools=TOOLS)
        assert sum(part.tokens for part in parts) == found
        fitted = fit_messages(messages, found, model=model, tools=TOOLS)
        same(fitted.count, found)
        assert fitted.messages[2]["tool_calls"] == sent["messages"][2]["tool_calls"]
    same(
        count_messages(messages, model="claude-sonnet-4-5", tools=TOOLS, estimate=True),
        count_request(sent, model="claude-sonnet-4-5", estimate=True),
    )
    reason = ""
    try:
        count_messages([reply], model="gpt-4o")
    except ValueError as error:
        reason = str(error)
    assert reason.endswith(": give its choices[0].message"), reason


def with_openai():
    client = openai.OpenAI(api_key="none", base_url=ADDRESS, max_retries=0)
    check_completions(
        lambda messages: client.chat.completions.create(
            model="gpt-4o", messages=messages, tools=TOOLS
        )
    )
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "weather"}
    call["arguments"] = json.dumps(ARGUMENTS)
    text = {"type": "output_text", "text": "I look.", "annotations": []}
    said = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    reasoning = {"type": "reasoning", "id": "r", "summary": []}
    response = {"id": "r", "object": "response", "created_at": 1, "model": "gpt-4o"}
    response["output"] = [reasoning, {**said, "content": [text]}, {**call, "status": "completed"}]
    REPLIES[:] = [response, response]
    tools = [{"type": "function", **FUNCTION, "strict": False}]
    given = [{"role": "user", "content": QUESTION}]
    arguments = {"model": "gpt-4o", "instructions": SYSTEM, "tools": tools}
    given += client.responses.create(input=given, **arguments).output
    given.append({"type": "function_call_output", "call_id": "c", "output": "Light wind."})
    client.responses.create(input=given, **arguments)
    found = count_request({"input": given, **arguments})
    same(found, count_request(SENT[-1]))
    assert "not counted: input[1] (reasoning)" in found.note


def with_litellm():
    check_completions(
        lambda messages: litellm.completion(
            model="openai/gpt-4o",
            messages=messages,
            tools=TOOLS,
            api_base=ADDRESS,
            api_key="none",
            max_retries=0,
        )
    )
    thought = litellm.Message(
        role="assistant",
        content="x",
        reasoning_content="hm",
        thinking_blocks=[{"type": "thinking", "thinking": "hm", "signature": "s"}],
    )
    found = count_messages([thought], model="claude-sonnet-4-5", estimate=True)
    plain = {"role": "assistant", "content": "x", "reasoning_content": "hm"}
    expected = count_messages([plain], model="claude-sonnet-4-5", estimate=True)
    assert (found, found.note) == (expected, expected.note)


def with_anthropic():
    client = anthropic.Anthropic(api_key="none", base_url=ADDRESS, max_retries=0)
    use = {"type": "tool_use", "id": "t", "name": "weather", "input": ARGUMENTS}
    thinking = {"type": "thinking", "thinking": "Where is that?", "signature": "s" * 99}
    reply = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    reply["content"] = [thinking, {"type": "text", "text": "I look."}, use]
    reply |= {"stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}
    REPLIES[:] = [reply, reply]
    tool = {"name": "weather", "description": "Get the weather.", "input_schema": SCHEMA}
    arguments = {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [tool]}
    arguments["system"] = [{"type": "text", "text": SYSTEM}]
    messages = [{"role": "user", "content": QUESTION}]
    answer = client.messages.create(messages=messages, **arguments)
    messages.append({"role": "assistant", "content": answer.content})
    source = {"type": "url", "url": "https://example.com/a.png"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "Light wind."}
    messages.append({"role": "user", "content": [result, {"type": "image", "source": source}]})
    client.messages.create(messages=messages, **arguments)
    found = count_request({"messages": messages, **arguments}, estimate=True)
    same(found, count_request(SENT[-1], estimate=True))
    assert "1 image not counted: messages[2].content[1] (image)" in found.note
    whole = [messages[0], answer, messages[2]]
    same(found, count_request({"messages": whole, **arguments}, estimate=True))
    # Another model is asked by other requests: what these have beside texts is named.
    found = count_request({"messages": whole, **arguments}, model="gpt-4o")
    places = "messages[1].content[0] (thinking), messages[1].content[2] (tool_use)"
    assert f"not counted: {places}, messages[2].content[0] (tool_result)" in found.note
    assert "1 image not counted" in found.note


def with_langchain():
    calls = [{"name": "weather", "args": ARGUMENTS, "id": "c"}]
    use = {"type": "tool_use", "id": "c", "name": "weather", "input": ARGUMENTS}
    text = {"type": "text", "text": "I look."}
    messages = [
        SystemMessage(SYSTEM),
        HumanMessage(QUESTION, name="ann"),
        AIMessage([text, use], tool_calls=calls),
        ToolMessage("Light wind.", tool_call_id="c"),
        AIMessageChunk("", tool_calls=calls),
        ToolMessage("Strong wind.", tool_call_id="c"),
        HumanMessage([text, IMAGE]),
    ]
    sent = convert_to_openai_messages(messages)
    for model in ("gpt-4o", "gpt-oss-20b", "deepseek-v4-flash"):
        found = count_messages(messages, model=model)
        same(found, count_messages(sent, model=model))
        same(fit_messages(messages, found, model=model).count, found)


with_openai()
with_litellm()
with_anthropic()
with_langchain()
print("done")
