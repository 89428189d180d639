"""Conversations with a model: the tokens of a request, cut to a limit, and the limits of models."""

from .base import MessageCount as MessageCount
from .count import count_messages as count_messages
from .fit import FittedMessages as FittedMessages
from .fit import fit_messages as fit_messages
from .images import image_tokens as image_tokens
from .limits import ContextLimit as ContextLimit
from .limits import context_limit as context_limit
from .parts import RequestPart as RequestPart
from .parts import count_parts as count_parts
from .requests import count_request as count_request
from .template import ChatTemplate as ChatTemplate
from .template_files import load_chat_template as load_chat_template
