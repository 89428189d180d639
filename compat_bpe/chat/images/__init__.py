"""Images in a request: their sizes, and the tokens that OpenAI's models take for them."""

from .count import image_tokens as image_tokens
