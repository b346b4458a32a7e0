"""Preparation against the run_mlm recipe: megabytes of text a CPU-second, memory and disk, in the same run.

    python benchmarks/prepare.py --data DATA --peer PEER.py

DATA is the folder with corpora/en (see README.md); PEER.py prepares a text as transformers' run_mlm does and prints one
JSON line (`--text --tokenizer --num-proc`). Without it only ptcli is measured. The tokenizers are trained on the text
first and not measured; so are the imports' compiled loops, which are made once for each user.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

TOKENIZERS = ("wordpiece", "bpe", "unigram")
VOCAB_SIZE = 30522


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--megabytes", type=float, default=19)
    parser.add_argument("--tokenizers", nargs="+", default=TOKENIZERS, choices=TOKENIZERS)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=1, help="the best of so many runs is told")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prepare") as name:
        folder = Path(name)
        text = folder / "text.txt"
        distinct = write_text(text, arguments.data, int(arguments.megabytes * 1e6))
        print(f"{machine()}; {text.stat().st_size / 1e6:.1f} MB of English, {distinct / 1e6:.1f} MB of it distinct")
        print(f"{'':26}{'MB/CPU-s':>9}{'MB/s':>8}{'MB memory':>11}{'MB disk':>9}")
        for tokenizer in arguments.tokenizers:
            saved = train(tokenizer, text, folder)
            if arguments.peer:
                best_of(
                    arguments.repeats, f"{tokenizer}: run_mlm", lambda saved=saved: peer(arguments.peer, text, saved)
                )
            for workers in arguments.workers:
                told = f"{tokenizer}: ptcli, {workers} worker" + "s" * (workers > 1)
                best_of(arguments.repeats, told, lambda saved=saved, n=workers: ours(text, saved, folder, n))


def best_of(repeats: int, name: str, measure) -> None:
    runs = [measure() for _ in range(repeats)]
    cpu, wall = (max(run[column] for run in runs) for column in (0, 1))
    print(f"{name:26}{cpu:9.2f}{wall:8.2f}{max(run[2] for run in runs):11.0f}{runs[0][3]:9.1f}", flush=True)


def ours(text: Path, saved: Path, folder: Path, workers: int) -> tuple[float, float, float, float]:
    """`ptcli prepare` as it is typed: MB a CPU-second and a second of the whole process, MB of memory and of disk."""
    words = ["tokenizer=pretrained", f"tokenizer.path={saved}", f"prepare.workers={workers}", "format=json"]
    small = folder / "small.txt"
    small.write_text("A few words. And more.\n\n" * 20)
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        environment = {**os.environ, "PTCLI_CACHE": cache, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "ptcli", "prepare", "corpus=text", *words]
        subprocess.run([*command, f"corpus.path={small}"], env=environment, cwd=folder, check=True, capture_output=True)
        cpu, wall, memory, said = measured([*command, f"corpus.path={text}"], environment, folder)
    size = text.stat().st_size / 1e6
    return size / cpu, size / wall, memory, json.loads(said)["bytes_on_disk"] / 1e6


def peer(script: Path, text: Path, saved: Path) -> tuple[float, float, float, float]:
    """The same of the recipe, as the script itself measures it."""
    command = [sys.executable, str(script.resolve()), "--text", str(text), "--tokenizer", str(saved), "--num-proc", "1"]
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    cpu, wall, memory, said = measured(command, environment, text.parent)
    size = text.stat().st_size / 1e6
    return size / cpu, size / wall, memory, json.loads(said.splitlines()[-1])["cache_disk_MB"]


def measured(command: list[str], environment: dict[str, str], folder: Path) -> tuple[float, float, float, str]:
    """CPU-seconds, seconds, and MB of the largest process, of a command and all it starts; and what it printed."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=environment, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}\n{errors.read()[-1000:]}")
        output.seek(0)
        said = output.read()
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss / 1e3, said


def train(name: str, text: Path, folder: Path) -> Path:
    """A tokenizer of that kind, trained on the text, in a folder that transformers reads too."""
    words = ["corpus=text", f"corpus.path={text}", f"tokenizer={name}", f"tokenizer.vocab_size={VOCAB_SIZE}"]
    environment = {**os.environ, "PTCLI_CACHE": str(folder / "trained")}
    # in a process of its own: what this one holds would count as memory of every process that it starts
    *_, said = measured([sys.executable, "-m", "ptcli", "prepare", *words, "format=json"], environment, folder)
    return Path(json.loads(said)["folder"]) / "tokenizer"


def write_text(file: Path, data: Path, size: int) -> int:
    """Novels, plays, articles, web pages, comments and speeches in turn, from the start again until there is enough.

    Returns how many bytes of it are distinct.
    """
    once = b"\n\n".join(part.strip() for part in parts(data / "corpora" / "en"))
    with file.open("wb") as output:
        while output.tell() < size:
            output.write(once[: size - output.tell()])
            output.write(b"\n\n")
    return min(len(once), size)


def parts(folder: Path):
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".txt", ".tokens"):
            yield path.read_text(encoding="utf-8-sig").encode()
        elif path.suffix == ".jsonl":
            with path.open(encoding="utf-8") as lines:
                yield "\n\n".join(json.loads(line)["text"] for line in lines if line.strip()).encode()
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".txt"):
                        content = archive.read(name)
                        try:
                            yield content.decode("utf-8").encode()
                        except UnicodeDecodeError:
                            yield content.decode("latin-1").encode()


def machine() -> str:
    """Processor, cores and date."""
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    return f"{names[0]}, {len(names)} cores, {time.strftime('%Y-%m-%d')}"


if __name__ == "__main__":
    main()
