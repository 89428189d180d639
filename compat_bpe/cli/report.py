"""``compat-bpe report``: what vocabularies make of a corpus."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

import click

from compat_bpe.cli.corpus_option import chosen_corpus, corpus_options
from compat_bpe.cli.encoding_option import chosen_encodings, encoding_options
from compat_bpe.cli.output import CommandError, write_line, write_message
from compat_bpe.cli.progress import Progress
from compat_bpe.cli.report_table import as_json, table_lines
from compat_bpe.cli.streams import read_all
from compat_bpe.train.corpus import CorpusFile, Errors
from compat_bpe.train.report import report_parts
