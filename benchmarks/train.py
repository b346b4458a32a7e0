"""Training speed: ptcli against a peer script, in real tokens (no padding) a second of processor time.

    python benchmarks/train.py --text TEXT --peer PEER.py                   # hours; on a quiet machine
    python benchmarks/train.py --text TEXT --peer PEER.py --quick           # the two cells that have a bar
    python benchmarks/train.py --text TEXT --profile --shapes 4x256         # where ptcli's time goes; no peer

The sentences of TEXT (a file or a folder) are the examples, one a row ("varied": rows of the peer are padded, those of
ptcli are packed), or are laid end to end ("full": no row is padded). Both sides have one tokenizer, one thread, no
dropout, the same rows a step, 15 % masks and AdamW; each measurement is a process of its own; sides take turns, and the
ratio is the median over rounds. On a GPU it is wall time.

A peer script takes --mode loop|trainer --text --tokenizer --layers --hidden --heads --seq --batch --steps --warmup
--threads --dtype --varied on|off --group-by-length --dropout --device, and prints one JSON line with
real_tokens_per_cpu_s, real_tokens_per_s and fill.

Before anything is timed, ptcli's packed rows must give each scored position the loss it has alone in a padded row.
"""

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIRST = 5  # steps that are not timed: memory is made, loops are compiled
EXACT = 1e-5
BARS = {("4x256", "varied", 30522): 5.0, ("4x256", "full", 8192): 1.4, ("4x256", "full", 30522): 1.4}


def main():
    arguments = parse()
    if arguments.own:
        print(json.dumps(run_own(json.loads(arguments.own))), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        lines = write_lines(arguments.text, folder / "lines.txt", most=arguments.lines)
        print(f"{lines:,} sentences; {' '.join(sys.argv[1:])}", flush=True)
        rows = []
        for vocab in arguments.vocab:
            tokenizer, size = make_tokenizer(folder, vocab)
            for shape, kind in ((shape, kind) for shape in arguments.shapes for kind in arguments.kinds):
                if arguments.quick and BARS.get((shape, kind, vocab)) is None:
                    continue
                cell = {"shape": shape, "kind": kind, "vocab": vocab, "lines": str(folder / "lines.txt")}
                measured = measure(cell | {"tokenizer": str(tokenizer), "size": size}, arguments)
                rows.append((cell, size, measured))
        if not arguments.profile:
            print(table(rows, arguments), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--text", help="a file or a folder of text")
    add("--peer", help="the script to compare with")
    add("--peer-python", default=sys.executable, help="the Python that has what the peer imports")
    add("--shapes", nargs="+", default=["4x256", "4x512"], help="layers x width; heads of 64")
    add("--vocab", nargs="+", type=int, default=[8192, 30522])
    add("--kinds", nargs="+", choices=["varied", "full"], default=["varied", "full"])
    add(
        "--precisions",
        nargs="+",
        choices=["fp32", "bf16"],
        default=["fp32", "bf16"],
        help="ptcli's; the first is compared",
    )
    add("--peer-precision", choices=["fp32", "bf16"], default="fp32")
    add("--modes", nargs="+", choices=["loop", "trainer", "grouped"], default=["loop", "trainer", "grouped"])
    add("--rounds", type=int, default=3)
    add("--steps", type=int, default=20)
    add("--rows", type=int, default=32, help="in a step")
    add("--length", type=int, default=128)
    add("--lines", type=int, default=40_000, help="sentences that are read at most")
    add("--device", choices=["cpu", "cuda"], default="cpu")
    add("--compile", action="store_true", help="ptcli with torch.compile, as a variant of its own")
    add("--quick", action="store_true", help="the cells that have a bar")
    add("--profile", action="store_true", help="ptcli alone, and its slowest operations")
    add("--own", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.own and not arguments.text:
        parser.error("--text is needed: a file or a folder")
    return arguments


# ----------------------------------------------------------------------------------------------- both sides


def measure(cell, arguments):
    """Variant -> figures of each round. The first round's ptcli also checks that packed rows are exact."""
    variants = {f"ptcli {precision}": {"precision": precision} for precision in arguments.precisions}
    if arguments.compile:
        variants[f"ptcli {arguments.precisions[-1]} compiled"] = {
            "precision": arguments.precisions[-1],
            "compile": True,
        }
    modes = [mode for mode in arguments.modes if arguments.peer and not (mode == "grouped" and cell["kind"] == "full")]
    found = {name: [] for name in [*([] if arguments.profile else modes), *variants]}
    for turn in range(arguments.rounds if not arguments.profile else 1):
        for name in found:
            begun = time.perf_counter()
            own = variants.get(name)
            figures = peer(cell, name, arguments) if own is None else call_own(cell, own, turn == 0, arguments)
            found[name].append(figures)
            print(
                f"{cell['shape']} V={cell['size']:,} {cell['kind']:<6} {name:<20} "
                f"{figures[key(arguments)]:>10,.0f} tokens/s, {figures['fill']:6.1%} full, "
                f"{figures['peak_rss_MB']:,.0f} MB{work(figures, arguments)} ({time.perf_counter() - begun:.0f} s)",
                flush=True,
            )
    return found


def work(figures, arguments):
    """Operations a second, where the model's are known."""
    flops = figures.get("flops_per_token")
    return "" if flops is None else f", {flops * figures[key(arguments)] / 1e12:,.2f} TFLOP/s"


def key(arguments):
    return "real_tokens_per_cpu_s" if arguments.device == "cpu" else "real_tokens_per_s"


def shape_of(cell):
    layers, hidden = map(int, cell["shape"].split("x"))
    return layers, hidden, max(1, hidden // 64)


def peer(cell, mode, arguments):
    layers, hidden, heads = shape_of(cell)
    settings = {
        "mode": "loop" if mode == "grouped" else mode,
        "text": cell["lines"],
        "tokenizer": cell["tokenizer"],
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "seq": arguments.length,
        "batch": arguments.rows,
        "steps": arguments.steps,
        "warmup": FIRST,
        "threads": 1,
        "dtype": arguments.peer_precision,
        "varied": "on" if cell["kind"] == "varied" else "off",
        "dropout": 0.0,
        "device": arguments.device,
    }
    command = [arguments.peer_python, arguments.peer, *(f"--{name}={value}" for name, value in settings.items())]
    return last_json(command + (["--group-by-length"] if mode == "grouped" else []))


def call_own(cell, variant, checks, arguments):
    asked = {
        **cell,
        **variant,
        "checks": checks and arguments.device == "cpu" and variant["precision"] == "fp32",
        "profile": arguments.profile,
        **{name: getattr(arguments, name) for name in ("steps", "rows", "length", "device")},
    }
    return last_json([sys.executable, __file__, "--own", json.dumps(asked)], shows=arguments.profile)


def last_json(command, shows=False):
    """What a script printed as its last line; what it printed before is shown where asked."""
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, env=one_thread, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
    *before, last = done.stdout.strip().splitlines()
    if shows:
        print("\n".join(before), flush=True)
    return json.loads(last)


def table(rows, arguments):
    """Markdown: tokens a second (median over rounds), and how many times as fast as each of the peer's modes."""
    per = "CPU-second" if arguments.device == "cpu" else "second"
    lines = ["", f"Real tokens a {per}, medians of {arguments.rounds}; behind them, ptcli's first precision over it."]
    names = list(dict.fromkeys(name for _, _, measured in rows for name in measured))
    names.sort(key=lambda name: name.startswith("ptcli"))
    lines += [
        "",
        f"| model | vocabulary | rows | {' | '.join(names)} | bar |",
        "|---|--:|---|" + "--:|" * (len(names) + 1),
    ]
    for cell, size, measured in rows:
        own = [one[key(arguments)] for one in measured[f"ptcli {arguments.precisions[0]}"]]
        cells = []
        ratios = {}
        for name in names:
            if name not in measured:
                cells.append("")
                continue
            speeds = [one[key(arguments)] for one in measured[name]]
            ratios[name] = statistics.median(a / b for a, b in zip(own, speeds, strict=True))
            ratio = "" if name.startswith("ptcli") else f" ({ratios[name]:.2f}x)"
            cells.append(f"{statistics.median(speeds):,.0f}{ratio}")
        bar = BARS.get((cell["shape"], cell["kind"], cell["vocab"]))
        judged = "" if bar is None or "loop" not in ratios else f"{bar:g}x: {'yes' if ratios['loop'] >= bar else 'NO'}"
        lines.append(f"| {cell['shape']} | {size:,} | {cell['kind']} | {' | '.join(cells)} | {judged} |")
    return "\n".join(lines)


# ----------------------------------------------------------------------------------------------- data


def write_lines(text, path, *, most):
    """A sentence a line, of four words or more; the number of lines."""
    from ptcli.corpus.sentences import sentence_spans
    from ptcli.corpus.text import Text

    count = 0
    with path.open("w", encoding="utf-8") as file:
        for document in Text(path=text).documents():
            for begin, end in sentence_spans(document.text, "en"):
                line = " ".join(document.text[begin:end].split())
                if line.count(" ") >= 3 and count < most:
                    file.write(line + "\n")
                    count += 1
            if count == most:
                return count
    return count


def make_tokenizer(folder, vocab):
    """The folder of a tokenizer that both sides load, and its size: a small text gives less than is asked."""
    from ptcli.corpus.text import Text
    from ptcli.tokenizer.wordpiece import WordPiece

    corpus = Text(path=str(folder / "lines.txt"), documents="line")
    tokenizer = WordPiece(vocab_size=vocab).build(corpus, cache=folder / "cache")
    tokenizer.save(folder / f"tokenizer-{vocab}")
    return folder / f"tokenizer-{vocab}", tokenizer.vocabulary.size


# ----------------------------------------------------------------------------------------------- ptcli's side


def words_of(asked):
    layers, hidden, heads = shape_of(asked)
    return [
        "corpus=text",
        f"corpus.path={asked['lines']}",
        "corpus.documents=line",
        "tokenizer=pretrained",
        f"tokenizer.path={asked['tokenizer']}",
        f"packing={'best_fit' if asked['kind'] == 'varied' else 'stream'}",
        f"model.num_layers={layers}",
        f"model.hidden_size={hidden}",
        f"model.num_heads={heads}",
        f"model.intermediate_size={4 * hidden}",
        "model.dropout=0",
        "model.attention_dropout=0",
        f"max_length={asked['length']}",
        f"batch.size={asked['rows']}",
        f"budget.steps={asked['steps'] + FIRST}",
        f"log.every={FIRST}",
        "eval.fraction=0",
        "save.every=0",
        f"trainer.device={asked['device']}",
        f"trainer.precision={asked['precision']}",
        f"trainer.compile={str(asked.get('compile', False)).lower()}",
        "trainer.threads=1",
    ]


def run_own(asked):
    """One run by the command that a user types, its console replaced by a clock."""
    import torch

    from ptcli.cli import main as ptcli
    from ptcli.logger.logger import Sink
    from ptcli.run import job

    words = words_of(asked)
    worst = packed_is_padded(words) if asked["checks"] else None
    assert worst is None or worst < EXACT, f"packed rows differ from padded ones by {worst}"
    seen = []

    class Clock(Sink):
        def log(self, step, metrics):
            if "train/tokens" in metrics:
                seen.append((time.process_time(), time.perf_counter(), metrics["train/tokens"], metrics))

        def say(self, text):
            print(text, file=sys.stderr)

    job.Console = Clock
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if asked["device"] == "cuda" else []
    profiler = torch.profiler.profile(activities=kinds) if asked["profile"] else contextlib.nullcontext()
    with tempfile.TemporaryDirectory() as runs, profiler:
        assert ptcli(["pretrain", *words, f"run.dir={runs}"]) == 0
    if asked["profile"]:
        by = "self_cpu_time_total" if asked["device"] == "cpu" else "self_cuda_time_total"
        print(profiler.key_averages().table(sort_by=by, row_limit=25, max_name_column_width=60))
    (cpu, wall, tokens, _), (cpu_end, wall_end, tokens_end, last) = seen[0], seen[-1]
    return {
        "real_tokens_per_cpu_s": (tokens_end - tokens) / (cpu_end - cpu),
        "real_tokens_per_s": (tokens_end - tokens) / (wall_end - wall),
        "fill": last["train/fill"],
        "loss": last["train/loss"],
        "flops_per_token": flops_per_token(words, asked["size"]),
        "packed_less_padded": worst,
        "peak_rss_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def flops_per_token(words, vocab_size):
    """Forward and backward: matrix products of the layers, and of the head at the positions that are scored."""
    from ptcli.assembly.model import check_parts
    from ptcli.config.compose import compose

    config = compose("pretrain", words).config
    step = check_parts(config, vocab_size=vocab_size)
    matrices = step.model.embeddings.tokens.weight.numel()
    matrices += sum(p.numel() for p in step.objective.parameters() if p.ndim > 1)
    return 3 * (step.model.flops_per_token(config.max_length) + config.mask.ratio * 2 * matrices)


def packed_is_padded(words):
    """The largest difference between a scored position's loss in a packed row, and alone in a padded one; fp32."""
    import torch

    from ptcli.assembly.data import make_data, training_loader
    from ptcli.assembly.model import make_model
    from ptcli.assembly.text import prepare_text
    from ptcli.config.compose import compose

    config = compose("pretrain", words).config
    store = prepare_text(config)
    vocabulary = store.tokenizer().vocabulary
    data = make_data(config, store, vocabulary)
    torch.manual_seed(0)
    step = make_model(config, vocabulary.size, data.pair).eval()
    steps = training_loader(config, data, model=step.model, micro_size=config.batch.size, static_length=False).steps()
    batch = next(steps).micro_batches[0]
    steps.close()
    with torch.no_grad():
        packed, padded = (
            step.objective(step.model, one).positions["masked_lm"]
            for one in (batch, alone(batch, pad_token_id=vocabulary.pad_token_id))
        )
    return float((packed - padded).abs().max())


def alone(batch, *, pad_token_id):
    """The same examples, each in a row of its own, padded; in the order of their rows."""
    import torch

    ids = batch["sequence_ids"]
    places = [
        (ids[row] == number).nonzero().flatten() for row in range(len(ids)) for number in ids[row].unique() if number
    ]
    rows = [row for row in range(len(ids)) for number in ids[row].unique() if number]
    length = max(map(len, places))
    fill = {"input_ids": pad_token_id, "labels": -100, "pair_labels": -100}
    made = {
        name: torch.stack(
            [
                torch.nn.functional.pad(values[row, place], (0, length - len(place)), value=fill.get(name, 0))
                for row, place in zip(rows, places, strict=True)
            ]
        )
        for name, values in batch.items()
        if values.ndim == 2
    }
    made["sequence_ids"] = (made["sequence_ids"] > 0).long()
    made["label_positions"] = (made["labels"].flatten() != -100).nonzero().flatten()
    made["pair_positions"] = batch["pair_positions"][:0]
    return made


if __name__ == "__main__":
    main()
