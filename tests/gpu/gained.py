#!/usr/bin/env python3
"""gained.py SHUNT FOLDER TOLERANCE COMMAND...: is what `shunt run --measure` says was gained what
was gained?

Runs COMMAND without Shunt, under it, and under it measuring, in turns, every other turn the other
way round; with TOGETHER=1 the latter two beside the first, as often as it lasts for, so that what
slows the machine down slows all of them down.  Compares the page's sum with the difference of the
loops' times, each over what the calls that were taken took in its own run.
The median of TURNS (2) turns counts; what it may be off by itself follows from how far turns lie
apart, and it is told.  The command prints "value loop_us=" and "value loop_calls=" (without these,
the loop makes all calls), or petsc_loop's "result us=PER_STEP ... iterations=" line.  FOLDER
receives page.html and report.json of the last run.  CLIENT_PRELOAD=FILE: a library that is
preloaded into all of them.  The last line is "N passed, N failed".
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time


def loop_of(text):
    """Wall time of the loop in us, and its calls; 0: all of them."""
    found = dict(re.findall(r"^value (loop_us|loop_calls)=([0-9.]+)", text, re.M))
    if "loop_us" in found:
        return float(found["loop_us"]), float(found.get("loop_calls", 0))
    step = re.search(r"^result us=([0-9.]+) .*iterations=([0-9]+)", text, re.M)
    return float(step[1]) * int(step[2]), float(step[2])


def start(command):
    preload = os.environ.get("CLIENT_PRELOAD")
    environment = dict(os.environ, **({"LD_PRELOAD": preload} if preload else {}))
    return time.monotonic(), subprocess.Popen(command, stdout=subprocess.PIPE,
                                              stderr=subprocess.STDOUT, text=True, env=environment)


def end(started):
    """Wall time of the loop and its calls, and wall time of the program."""
    begin, process = started
    text = process.communicate()[0]
    took = 1e6 * (time.monotonic() - begin)
    if process.returncode != 0:
        print(text[-4000:])
        raise SystemExit(1)
    return loop_of(text) + (took,)


def run(command):
    return end(start(command))


def decisions_of(report):
    for d in report["decisions"]:
        print(f"# {d['calls']} {d['route']} {d['gain']} saved {d['saved_us']} us, "
              f"{d['samples']} samples: {d['problem']}")


def read(object_file):
    """The report, and what the calls took that were taken."""
    with open(object_file) as f:
        report = json.load(f)
    return report, sum(d["us"] or 0 for d in report["decisions"] if d["route"] != "original")


class Page:
    """Runs under Shunt, and what their reports say."""

    def __init__(self, shunt, folder, command):
        self.file = folder + "/report.json"
        self.page = [shunt, "run", "--report", folder + "/page.html", "--json", self.file]
        self.command = command

    def under(self):
        """The run, and what the calls took that were taken."""
        return run(self.page + ["--"] + self.command), read(self.file)[1]

    def measuring(self):
        return (run(self.page + ["--measure", "--"] + self.command),) + read(self.file)[::-1]


def one_by_one(page, number):
    """A run each, every other turn the other way round."""
    if number % 2:
        measuring, under = page.measuring(), page.under()
        return run(page.command), [under], [measuring]
    plain = run(page.command)
    return plain, [page.under()], [page.measuring()]


def side_by_side(page):
    """One without Shunt, and beside it, until it ends, those under it, in turns.  Only those count
    that ended before it: alone on the machine, the two are not slower by equal parts."""
    plain, under, measuring = start(page.command), [], []
    while plain[1].poll() is None:
        pair = page.under(), page.measuring()
        if plain[1].poll() is None or not under:
            under.append(pair[0])
            measuring.append(pair[1])
    return end(plain), under, measuring


def turn(page, number):
    """The page's sum over the truth, and what measuring took, as a share of the run."""
    together = os.environ.get("TOGETHER") == "1"
    plain, under, measuring = side_by_side(page) if together else one_by_one(page, number)
    said, error, loops = [], [], []
    mean_took, mean_loop = (statistics.mean(x) for x in
                            ([u[1] for u in under], [u[0][0] for u in under]))
    for loop, took, report in measuring:
        calls = plain[1] or report["calls"]
        scale = calls / report["calls"] * (mean_took / took if min(took, mean_took) > 0 else 1)
        said.append(report["saved_us"] * scale)
        error.append((report["error_us"] or 0) * scale)
        loops.append(loop[0])
    report = measuring[-1][2]
    decisions_of(report)
    real = plain[0] - mean_loop
    print(f"# loop: plain {plain[0]:.0f}, under Shunt {mean_loop:.0f}, measuring "
          f"{statistics.mean(loops):.0f} us; gained {real:.0f}; the page's, each over that: "
          + ", ".join(f"{s / real - 1:+.3f} +- {e / real:.3f}" for s, e in zip(said, error))
          + f" ({report['gain']})", flush=True)
    cost = (statistics.mean(loops) - mean_loop) / measuring[-1][0][2]
    return statistics.mean(said) / real, cost, report


def error_of(values):
    """Two standard errors of the median of these, from how far they lie from it."""
    middle = statistics.median(values)
    distance = statistics.mean(abs(v - middle) for v in values)
    return 2 * 1.25 * 1.25 * distance / len(values) ** 0.5


def main():
    shunt, folder, tolerance, *command = sys.argv[1:]
    page = Page(shunt, folder, command)
    turns = [turn(page, t) for t in range(int(os.environ.get("TURNS", "2")))]
    taken = [d for d in turns[-1][2]["decisions"] if d["route"] != "original"]
    measured = [d for d in taken if d["gain"] == "measured"]
    off = statistics.median(t[0] for t in turns) - 1
    cost = statistics.median(t[1] for t in turns)
    results = [(f"gained within {tolerance}: off by {off:+.3f} +- "
                f"{error_of([t[0] for t in turns]):.3f}, {len(turns)} turns",
                abs(off) <= float(tolerance)),
               (f"{len(measured)} of {len(taken)} decisions are measured", bool(measured)),
               (f"measuring costs {100 * cost:.2f} % of the run", cost <= 0.02)]
    for text, good in results:
        print(("ok " if good else "not ok ") + text)
    failed = sum(not good for _, good in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
