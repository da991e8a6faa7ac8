"""Messages in the forms of agents, as their APIs take them, in their plain form."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

texts = st.text(max_size=20)
some_text = st.text(min_size=1, max_size=20)
names = st.text("abcdefghij_", min_size=1, max_size=8)
base64s = st.sampled_from(["", "aGk=", "AAAA"])
media = st.sampled_from(["image/png", "image/jpeg"])
arguments = st.dictionaries(names, st.one_of(texts, st.integers(-9, 9), st.none()), max_size=3)


def text_part() -> st.SearchStrategy[Json]:
    return st.builds(lambda text: {"type": "text", "text": text}, texts)


urls = st.one_of(
    st.builds(lambda kind, data: f"data:{kind};base64,{data}", media, base64s),
    st.just("https://example.org/a.png"),
)
chat_images = st.builds(
    lambda url, more: {"type": "image_url", "image_url": {"url": url, **more}},
    urls,
    st.sampled_from([{}, {"detail": "low"}]),
)
chat_calls = st.builds(
    lambda identity, name, text: {
        "id": identity,
        "type": "function",
        "function": {"name": name, "arguments": text},
    },
    names,
    names,
    st.one_of(arguments.map(json.dumps), arguments.map(lambda a: json.dumps(a, indent=1)), texts),
)
chat_messages = st.one_of(
    st.builds(
        lambda content, more: {"role": "user", "content": content, **more},
        st.one_of(texts, st.lists(st.one_of(text_part(), chat_images), max_size=3)),
        st.sampled_from([{}, {"name": "ann"}]),
    ),
    st.builds(
        lambda content, calls, thinking: {
            "role": "assistant",
            "content": content,
            **({"reasoning_content": thinking} if thinking else {}),
            **({"tool_calls": calls} if calls else {}),
        },
        st.one_of(st.none(), some_text, st.lists(text_part(), min_size=2, max_size=3)),
        st.lists(chat_calls, max_size=2),
        texts,
    ),
    st.builds(
        lambda identity, content: {"role": "tool", "tool_call_id": identity, "content": content},
        names,
        st.one_of(texts, st.lists(text_part(), min_size=2, max_size=3)),
    ),
)

cache = st.sampled_from([{}, {"cache_control": {"type": "ephemeral"}}])


def _with_cache(block: Json, more: Json) -> Json:
    return {**block, **more}


block_texts = st.builds(_with_cache, text_part(), cache)
block_images = st.builds(
    lambda source, more: {"type": "image", "source": source, **more},
    st.one_of(
        st.builds(
            lambda kind, data: {"type": "base64", "media_type": kind, "data": data}, media, base64s
        ),
        st.just({"type": "url", "url": "https://example.org/a.png"}),
        st.just({"type": "file", "file_id": "f1"}),
    ),
    cache,
)
documents = st.just({"type": "document", "source": {"type": "text", "data": "x"}})
said = st.one_of(block_texts, block_images, documents)


def _plain(blocks: list[Json]) -> Any:
    """One text without anything else is written as a text."""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return blocks


tool_results = st.builds(
    lambda identity, blocks, error, more: {
        "type": "tool_result",
        "tool_use_id": identity,
        **({"content": _plain(blocks)} if blocks else {}),
        **({"is_error": True} if error else {}),
        **more,
    },
    names,
    st.lists(st.one_of(block_texts, block_images), max_size=2),
    st.booleans(),
    cache,
)
answers = st.one_of(
    block_texts,
    st.builds(
        lambda text, sign: {"type": "thinking", "thinking": text, "signature": sign}, texts, names
    ),
    st.builds(lambda data: {"type": "redacted_thinking", "data": data}, names),
    st.builds(
        lambda identity, name, given: {
            "type": "tool_use",
            "id": identity,
            "name": name,
            "input": given,
        },
        names,
        names,
        arguments,
    ),
)
anthropic_users = st.one_of(
    texts.map(lambda text: {"role": "user", "content": text}),
    st.builds(
        lambda results, blocks: {"role": "user", "content": [*results, *blocks]},
        st.lists(tool_results, max_size=2),
        st.lists(said, max_size=2),
    ),
)
anthropic_answers = st.lists(answers, min_size=1, max_size=3).map(
    lambda blocks: {"role": "assistant", "content": _plain(blocks)}
)
anthropic_histories = st.lists(st.tuples(anthropic_users, anthropic_answers), max_size=3).map(
    lambda pairs: [message for pair in pairs for message in pair]
)
