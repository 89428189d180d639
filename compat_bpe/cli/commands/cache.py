"""``compat-bpe cache``: the counts that are kept between runs."""

from __future__ import annotations

import click

from ...corpus.count_cache import LIMIT, CountCache, cache_folder
from ..app import option
from ..output import CommandError, plural, write_line


@click.command(short_help="Show or clear the cache of counts.")
@option("--folder", "Print only the folder of the cache, for instance to keep it between runs.")
@option("--clear", "Remove all counts.")
def cache(folder: bool, clear: bool) -> None:
    """Show where the counts are that are kept between runs, and how large they are.

    \b
    Examples:
      $ compat-bpe cache
      $ compat-bpe cache --clear

    count and check keep the counts of files if there are a megabyte of them or more, and the server
    for agents those of a folder. A count is found by a hash of the bytes of a file and of the
    vocabulary, never by a name or a time, so no count is out of date. The cache has no text and no
    names in it. What was not used for the longest time leaves when it is full.

    The folder is COMPAT_BPE_CACHE_DIR, or compat-bpe where the system has its caches. --no-cache of
    the other commands does without it.
    """
    if folder and clear:
        raise click.UsageError("--folder and --clear exclude each other.")
    place = cache_folder()
    if place is None:
        raise CommandError("there is no folder for caches here; COMPAT_BPE_CACHE_DIR names one")
    if folder:
        write_line(place)
        return
    kept = CountCache(place)
    if clear:
        try:
            kept.clear()
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror or error}") from None
        return
    size, counts = kept.size()
    write_line(f"folder: {place}")
    write_line(f"size: {size:,} bytes, of at most about {LIMIT:,}")
    if counts is None:
        raise CommandError(f"{kept.problem}; --clear removes it")
    write_line(plural(counts, "count"))
