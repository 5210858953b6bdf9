"""A chat with memory in 30 lines, for any OpenAI-compatible model (OPENAI_API_KEY, OPENAI_BASE_URL, MODEL).

pip install typed-memory-client openai && python examples/chat_loop.py ana
"""

import os
import sys
from typing import Any

from openai import OpenAI

from typed_memory_client import remember


def main(user: str) -> None:
    """Answer each line that the user types; everything said is remembered for the next time."""
    model = remember(OpenAI(), user_id=user)
    recent = list[Any]()
    while said := input("> ").strip():
        recent.append({"role": "user", "content": said})
        answer = model.chat.completions.create(
            model=os.environ.get("MODEL", "gpt-5-mini"),
            messages=[{"role": "system", "content": "You are a helpful assistant."}, *recent[-20:]],
        )
        recent.append({"role": "assistant", "content": answer.choices[0].message.content or ""})
        print(recent[-1]["content"])


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "ana")
