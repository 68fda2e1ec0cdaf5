"""What the benchmarks have in common: where they work, how they measure, and how they report.

scripts/bench, scripts/bench-memory, scripts/bench-sparse, scripts/bench-python and scripts/bench-text each write their part of
docs/benchmarks.md.
"""

import argparse
import os
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = Path(os.environ.get("BENCH_WORK", ROOT / ".bench")).resolve()
PYTHON = WORK / "venv/bin/python"


def versions():
    """The packages of the virtual environment."""
    listed = subprocess.run([PYTHON, "-m", "pip", "list", "--format", "freeze"], capture_output=True, text=True, check=True)
    return dict(line.split("==", 1) for line in listed.stdout.splitlines() if "==" in line)


def environment(packages):
    """Makes a virtual environment that has these packages, or adds what one lacks."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", WORK / "venv"], check=True)
    missing = [name for name in packages if name not in versions()]
    if missing:
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *missing], check=True)


def program():
    """The release build of priory."""
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/priory"


def busy_seconds():
    """Processor seconds that the whole machine has spent so far."""
    ticks = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def watch_memory(pid, peaks):
    """Notes the highest memory of a process, again and again until it ends. What wait4 reports will not do: it counts
    this script's own memory, which the process has for a moment before it becomes another program."""
    try:
        while True:
            status = Path(f"/proc/{pid}/status").read_text()
            peaks.append(int(status.split("VmHWM:")[1].split()[0]) * 1024)
            time.sleep(0.005)
    except (OSError, IndexError):
        pass  # it has ended


def measure(command, nice=0, feed=None):
    """Wall and processor seconds, peak memory in MB, and processors kept busy by others; or why there are none."""

    def prioritise():
        if nice:  # a session is a scheduling group of its own, which has a priority of its own
            Path("/proc/self/autogroup").write_text(str(nice))
            os.setpriority(os.PRIO_PROCESS, 0, nice)

    os.sync()  # who syncs what it has written is not to wait for what others have left to the disk
    with open(WORK / "output", "wb") as output, open(WORK / "errors", "wb") as errors:
        busy, start = busy_seconds(), time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            preexec_fn=prioritise,
        )
        if feed:
            threading.Thread(target=feed, args=[process.stdin], daemon=True).start()
        peaks = [0]
        watcher = threading.Thread(target=watch_memory, args=[process.pid, peaks])
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        said = (WORK / "errors").read_text(errors="replace").replace(f"{WORK}/", "")
        return said.strip().splitlines()[-1:] or ["failed"]
    cpu = usage.ru_utime + usage.ru_stime
    foreign = max(0.0, busy_seconds() - busy - cpu) / wall
    return wall, cpu, peaks[-1] / 1e6, foreign


def run(chosen, repeat, nice):
    """The fastest round of each, or the reason why there is none."""
    results = {}
    for turn in range(repeat):
        for table, name, command, rows in chosen:
            result = measure(command, nice)
            if rows is not None and isinstance(result, tuple):
                seen = int((WORK / "output").read_text())
                result = result if seen == rows else [f"saw {seen} rows of {rows}"]
            shown = " ".join(f"{x:.2f}" for x in result) if isinstance(result, tuple) else result[0]
            print(f"{turn + 1}/{repeat} {table}: {name}: {shown}", file=sys.stderr, flush=True)
            best = results.get((table, name))
            if not isinstance(best, tuple) or isinstance(result, tuple) and result[0] < best[0]:
                results[table, name] = result
    return results


def markdown(results, data):
    """A table for each file. Ratios are to the first that was measured: above 1 took longer."""
    lines = []
    for table in dict.fromkeys(table for table, _ in results):
        size = (data / table).stat().st_size
        first = next(name for of, name in results if of == table)
        ours = results[table, first]
        lines += ["", f"### {table}, {size / 1e6:.0f} MB", ""]
        lines += [f"| | wall s | to {first} | MB/s | CPU s | peak MB | others' CPUs |"]
        lines += ["|---|--:|--:|--:|--:|--:|--:|"]
        for (_, name), result in ((key, value) for key, value in results.items() if key[0] == table):
            if not isinstance(result, tuple):
                lines.append(f"| {name} | {result[0]} |")
                continue
            wall, cpu, peak, foreign = result
            ratio = f"{wall / ours[0]:.2f}" if isinstance(ours, tuple) else ""
            rate = size / 1e6 / wall
            lines.append(f"| {name} | {wall:.2f} | {ratio} | {rate:.0f} | {cpu:.2f} | {peak:.0f} | {foreign:.1f} |")
    return lines


def machine(packages, repeat, nice):
    """What the figures depend on."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), platform.machine())
    total = int(Path("/proc/meminfo").read_text().split()[1]) / 1e6
    known = versions()
    word = lambda *command: subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return [
        f"- {model}, {os.cpu_count()} CPUs, {total:.0f} GB, Linux {platform.release()}",
        f"- priory at {word('git', 'rev-parse', '--short', 'HEAD')}, {word('rustc', '--version').split('(')[0].strip()}; "
        + ", ".join([f"Python {platform.python_version()}"] + [f"{name} {known.get(name, '?')}" for name in packages]),
        f"- {time.strftime('%Y-%m-%d')}; fastest of {repeat} rounds, page cache warm, each tool with all CPUs unless it says otherwise"
        + (f"; what is measured has the priority {nice} over other programs" if nice else ""),
    ]


def arguments(parser, of_what):
    """Flags that all benchmarks of programs have."""
    parser.add_argument("--scale", type=float, default=1.0, help=f"{of_what}, as a share of all")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the fastest counts")
    parser.add_argument("--output", type=Path, help="write the report here as well")
    parser.add_argument("--priory", type=Path, help="the program [default: build it]")
    parser.add_argument("--nice", type=int, default=0, help="priority of what is measured; below zero needs root")
    parser.add_argument("--peer", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs="+", help=argparse.SUPPRESS)


def words(rows):
    """Counts of words that are as frequent as words are, of which each class prefers some."""
    import numpy as np
    import scipy.sparse as sp

    many, classes = 100_000, 20
    random = np.random.default_rng(3)
    y = random.integers(0, classes, rows)
    lengths = np.maximum(5, random.gamma(4, 145 / 4, rows)).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    share = np.cumsum(1 / (np.arange(many) + 2.7))
    ids = np.minimum(np.searchsorted(share / share[-1], random.random(ends[-1])), many - 1).astype(np.int32)
    own = np.flatnonzero(random.random(ends[-1]) < 0.05)
    preferred = random.integers(200, 30_000, (classes, 500))
    ids[own] = preferred[np.repeat(y, lengths)[own], (500 * random.random(len(own)) ** 2).astype(int)]
    X = sp.csr_matrix((np.ones(len(ids)), ids, ends), shape=(rows, many))
    X.sum_duplicates()
    return X, y


def write_section(path, heading, text):
    """Replaces the section with this heading of the second level, or what stands before all of them if there is none, and
    leaves the others as they are."""
    before = path.read_text() if path.exists() else ""
    parts = ["## " + part if i else part for i, part in enumerate(before.split("\n## "))]
    headings = [part.split("\n", 1)[0] if i else None for i, part in enumerate(parts)]
    text = text.strip("\n") + "\n"
    if heading is None:
        parts[0] = text
    elif f"## {heading}" in headings:
        parts[headings.index(f"## {heading}")] = f"## {heading}\n\n{text}"
    else:
        parts.append(f"## {heading}\n\n{text}")
    path.write_text("\n".join(part.strip("\n") + "\n" for part in parts))
