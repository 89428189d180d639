"""Conversations with a model: the tokens of a request, cut to a limit, and the limits of models."""

from .base import MessageCount as MessageCount
from .count import RequestPart as RequestPart
from .count import count_messages as count_messages
from .count import count_parts as count_parts
from .fit import FittedMessages as FittedMessages
from .fit import fit_messages as fit_messages
from .images import image_tokens as image_tokens
from .limits import ContextLimit as ContextLimit
from .limits import context_limit as context_limit
from .requests import count_request as count_request
from .template import ChatTemplate as ChatTemplate
from .template import load_chat_template as load_chat_template
