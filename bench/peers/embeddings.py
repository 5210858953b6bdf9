"""An OpenAI-compatible endpoint on loopback with the embedded model, so that every system embeds alike."""

from __future__ import annotations

import base64
import sys

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.providers.wordllama import WordllamaEmbedder


def application() -> Starlette:
    """Return the application: `/v1/embeddings` with lists of texts, as floats or in base64."""
    embedder = WordllamaEmbedder()

    async def embeddings(request: Request) -> JSONResponse:
        body = await request.json()
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        vectors = await embedder.embed(texts)
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": base64.b64encode(one.astype(np.float32).tobytes()).decode() if packed else one.tolist(),
            }
            for place, one in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return JSONResponse({"object": "list", "model": body.get("model", ""), "data": data, "usage": usage})

    return Starlette(routes=[Route("/v1/embeddings", embeddings, methods=["POST"])])


if __name__ == "__main__":
    uvicorn.run(application(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
