#!/usr/bin/env python3
"""gained.py SHUNT FOLDER TOLERANCE COMMAND...: is what `shunt run --measure` says was gained what
was gained?

Runs COMMAND without Shunt, under it, and under it measuring, in turns, and compares the page's sum
with the difference of the loops' times, each over what the calls that were taken took in its own
run: a machine that others slow down slows these down, too.  The median of TURNS (2) turns counts.  The
command prints "value loop_us=" and "value loop_calls=" (without these, the loop makes all calls), or
petsc_loop's "result us=PER_STEP ... iterations=" line.  FOLDER receives page.html and report.json
of the last run.  CLIENT_PRELOAD=FILE: a library that is preloaded into all of them.  The last line
is "N passed, N failed".
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


def run(command):
    start = time.monotonic()
    preload = os.environ.get("CLIENT_PRELOAD")
    environment = dict(os.environ, **({"LD_PRELOAD": preload} if preload else {}))
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    took = 1e6 * (time.monotonic() - start)
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:])
        raise SystemExit(1)
    return loop_of(done.stdout) + (took,)


def decisions_of(report):
    for d in report["decisions"]:
        print(f"# {d['calls']} {d['route']} {d['gain']} saved {d['saved_us']} us, "
              f"{d['samples']} samples: {d['problem']}")


def read(object_file):
    """The report, and what the calls took that were taken."""
    with open(object_file) as f:
        report = json.load(f)
    return report, sum(d["us"] or 0 for d in report["decisions"] if d["route"] != "original")


def turn(command, page, object_file):
    """The page's sum over the truth, and what measuring took, as a share of the run."""
    plain = run(command)
    under = run(page + ["--"] + command)
    _, took = read(object_file)
    measuring = run(page + ["--measure", "--"] + command)
    report, took_measuring = read(object_file)
    decisions_of(report)
    calls = plain[1] or report["calls"]
    said = report["saved_us"] * calls / report["calls"]
    real = plain[0] - under[0]
    print(f"# loop: plain {plain[0]:.0f}, under Shunt {under[0]:.0f}, measuring "
          f"{measuring[0]:.0f} us; gained {real:.0f}, the page {said:.0f} ({report['gain']}); "
          f"{calls:.0f} of {report['calls']} calls")
    scale = took / took_measuring if took > 0 and took_measuring > 0 else 1
    return said * scale / real, (measuring[0] - under[0]) / measuring[2], report


def main():
    shunt, folder, tolerance, *command = sys.argv[1:]
    object_file = folder + "/report.json"
    page = [shunt, "run", "--report", folder + "/page.html", "--json", object_file]
    turns = [turn(command, page, object_file) for _ in range(int(os.environ.get("TURNS", "2")))]
    taken = [d for d in turns[-1][2]["decisions"] if d["route"] != "original"]
    measured = [d for d in taken if d["gain"] == "measured"]
    off = statistics.median(t[0] for t in turns) - 1
    cost = statistics.median(t[1] for t in turns)
    results = [(f"gained within {tolerance}: off by {off:+.3f}",
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
