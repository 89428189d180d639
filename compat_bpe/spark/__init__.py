"""Corpora on Spark: columns of tokens, counts of chunks, preparation, training and reports.

It needs PySpark 4 and PyArrow (``pip install '.[spark]'`` in a checkout of compat-bpe), which are
imported only when a function is called.
"""

from .columns import count_tokens as count_tokens
from .columns import encode as encode
from .columns import register as register
from .columns import split as split
from .columns import truncate as truncate
from .counts import chunk_counts as chunk_counts
from .counts import partition_counts as partition_counts
from .frames import ship as ship
from .frames import write_zip as write_zip
from .prepared import prepare as prepare
from .reports import report as report
from .training import train as train
