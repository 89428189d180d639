"""The job to submit: its files, and executors that do not have the package."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import compat_bpe
from compat_bpe.cli import cli
from compat_bpe.corpus.counts_file import CountsReader
from compat_bpe.spark.job import main
from tests.spark.conftest import SETTINGS
from tests.spark.corpora import files_of, of_one_machine, real_corpora

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two real corpora in files, the second one compressed as JSON lines."""
    folder = tmp_path_factory.mktemp("files")
    found = []
    for name, some in real_corpora(60_000).items():
        found.append(folder / f"{name}.jsonl")
        lines = [json.dumps({"text": text, "lang": name}) for text in some]
        found[-1].write_text("\n".join(lines) + "\n")
    return found


def bare_python(folder: Path) -> Path:
    """A Python that has PyArrow, which Spark needs, and not this package."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "bare"], check=True)
    python = folder / "bare/bin/python"
    (site,) = (folder / "bare").glob("lib/python*/site-packages")
    for name in ("pyarrow", "numpy"):
        module = __import__(name)
        home = Path(module.__path__[0])
        for part in (home, home.with_name(f"{name}.libs")):
            if part.exists():
                (site / part.name).symlink_to(part)
    return python


def started(python: Path, *arguments: object) -> subprocess.Popen[str]:
    """A job on executors that run a Python of their own; a process group of its own."""
    paths = [path for path in os.environ["PATH"].split(os.pathsep) if path]
    others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    options = [part for item in SETTINGS.items() for part in ("--conf", "=".join(item))]
    script = Path(compat_bpe.__file__).parent / "spark/__main__.py"
    own = str(Path(sys.executable).parent)
    return subprocess.Popen(
        [f"{own}/spark-submit", "--master", "local[2]", *options, script, *map(str, arguments)],
        env={
            **others,
            "PATH": os.pathsep.join([own, *paths]),
            "PYSPARK_PYTHON": str(python),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        },
        cwd=python.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def submitted(python: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    with started(python, *arguments) as process:
        try:
            out, err = process.communicate(timeout=500)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def test_spark_submit_trains_what_the_command_trains(files: list[Path], tmp_path: Path) -> None:
    """The executors lack the package, so the job ships it."""
    python = bare_python(tmp_path)
    missing = subprocess.run(
        [python, "-c", "import pyarrow; import compat_bpe"],
        capture_output=True,
        cwd=tmp_path,  # the checkout has the package, too
    )
    assert b"No module named 'compat_bpe'" in missing.stderr
    options = ["-n", "500", "--name", "own", "--special", "<|end|>"]
    done = submitted(python, "train", "--ship", *options, "-o", tmp_path / "spark", *files)
    assert done.returncode == 0, done.stderr
    assert "500 tokens in" in done.stdout
    here = CliRunner().invoke(
        cli, ["train", *options, "-o", str(tmp_path / "here"), *map(str, files)]
    )
    assert here.exit_code == 0, here.output
    assert len(files_of(tmp_path / "here")) >= 7
    assert files_of(tmp_path / "spark") == files_of(tmp_path / "here")


def test_a_driver_that_is_killed(
    spark: SparkSession, files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is killed while its executors count: there is no result, and the job can be run again."""
    python = bare_python(tmp_path)
    # Its workers wait when they start.
    (site,) = (tmp_path / "bare").glob("lib/python*/site-packages")
    waits = tmp_path / "waits"
    (site / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "if 'pyspark.daemon' in sys.orig_argv:\n"
        f"    os.makedirs(os.path.join({str(waits)!r}, str(os.getpid())))\n"
        "    time.sleep(500)\n"
    )
    output = {"count": tmp_path / "counts.parquet", "train": tmp_path / "trained"}
    arguments = {
        "count": ["count", *map(str, files), "-o", str(output["count"])],
        "train": ["train", *map(str, files), "-n", "300", "-o", str(output["train"])],
    }
    jobs = [started(python, *one, "--ship") for one in arguments.values()]
    try:
        # One of each job: both have begun to count.
        while not (
            waits.exists()
            and len(list(waits.iterdir())) >= 2
            and (output["count"] / "_temporary").exists()
        ):
            for job in jobs:
                assert job.poll() is None, job.communicate()
            time.sleep(0.05)
    finally:
        for job in jobs:
            os.killpg(job.pid, signal.SIGKILL)
            job.communicate()
    # Nothing looks finished, and what is there is not taken for counts.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare", "counts.parquet", "waits"]
    assert [path.name for path in output["count"].iterdir()] == ["_temporary"]
    with pytest.raises(ValueError, match="a Spark job is writing this folder, or has failed"):
        CountsReader([str(output["count"])])
    assert main(arguments["count"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert main([*arguments["count"], "--force"]) == 0
    assert main(arguments["train"]) == 0
    found = {chunk: count for chunk, count, _ in CountsReader([str(output["count"])]).read()}
    assert found == of_one_machine(
        [text for some in real_corpora(60_000).values() for text in some]
    )
    assert compat_bpe.load(output["train"]).n_vocab == 300


def test_counts_in_files(spark: SparkSession, files: list[Path], tmp_path: Path) -> None:
    pattern = str(files[0].parent / "*.jsonl")
    expected = {
        (chunk, name): count
        for name, some in real_corpora(60_000).items()
        for chunk, count in of_one_machine(list(some)).items()
    }
    for output in (tmp_path / "counts.parquet", tmp_path / "counts.tsv.gz"):
        assert main(["count", pattern, "--group-field", "lang", "-o", str(output)]) == 0
        rows = list(CountsReader([str(output)]).read())
        assert {(chunk, group): count for chunk, count, group in rows} == expected
        assert len(rows) == len(expected)
    assert rows == sorted(rows)  # in UTF-8, which has the order of code points
    output = tmp_path / "x.jsonl"
    assert main(["count", *map(str, files), "--format", "text", "-o", str(output)]) == 0
    lines: list[Any] = [line for file in files for line in file.read_text("utf-8").splitlines()]
    assert {c: n for c, n, _ in CountsReader([str(output)]).read()} == of_one_machine(lines)


def test_report_in_a_page(
    spark: SparkSession,
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    paths = map(str, sorted(files))
    arguments = ["report", *paths, "-e", "gpt2", "--group-field", "lang", "--json"]
    here = CliRunner().invoke(cli, [*arguments, "--html", str(tmp_path / "here.html")])
    assert here.exit_code == 0, here.output
    assert main([*arguments, "--html", str(tmp_path / "spark.html")]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(here.stdout)
    assert (tmp_path / "spark.html").read_bytes() == (tmp_path / "here.html").read_bytes()


def test_errors_of_a_job(
    spark: SparkSession, files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    latin, jsonl, output = str(tmp_path / "latin.txt"), str(files[0]), str(tmp_path / "out")
    cases: list[tuple[list[str], str]] = [
        (["report", jsonl, "-e", "gpt3"], "unknown encoding 'gpt3'"),
        (["report", jsonl, "-e", "gpt2", "--field", "body"], "there is no column 'body'"),
        (["report", latin, "-e", "gpt2", "--field", "body"], "--field is for formats with columns"),
        (["report", latin, "-e", "gpt2"], "a text is not UTF-8: byte 0xe9 at offset 3"),
        (["report", latin, "-e", "gpt2", "--errors", "skip"], "there is no text in"),
        (["count", jsonl, "-o", output], "the name must end in .tsv"),
        (["train", jsonl, "-o", output], "Give --vocab-size or --merges."),
        (["train", jsonl, "-n", "300", "-o", output, "--weight", "en"], "is not GROUP=NUMBER"),
        (["train", jsonl, "-n", "300", "-o", str(tmp_path)], "the folder is not empty"),
        (["train", jsonl + "x", "-n", "300", "-o", output], "PATH_NOT_FOUND"),
        (["train", jsonl, "--model", "unigram", "--merges", "3", "-o", output], "is not for"),
    ]
    for arguments, message in cases:
        assert main(arguments) == 2, arguments
        said: Any = capsys.readouterr().err
        assert message in said, arguments
        assert said.startswith("compat_bpe.spark: ")
        assert said.count("\n") == 1
    assert not Path(output).exists()
