#!/usr/bin/env python3
"""report.py: what a run on a GPU found, and whether it is still about this source.

  report.py --write ROOT LOGS OUT.json     results of the logs in LOGS, with machine and digest
  report.py --join ROOT [--seen SEEN] [PROGRAM=WHY]... FILE...
                                           writes ROOT/tests/gpu/report.json from several OUT.json,
                                           without the programs named, which it names as left out;
                                           SEEN: what seen.py printed
  report.py --verify ROOT                  exit status 1 when report.json is about other source,
                                           with the files that the run did not see
  report.py --digest ROOT                  prints the digest
  report.py --expect REPORT RULE...        checks a SHUNT_REPORT file, one "ok - " line a rule
  report.py --compare PLAIN SHUNT RULE...  logs with lines "value NAME=NUMBER", one without and one
                                           with Shunt
  report.py --tuned FILE REPORT            did the calls of REPORT follow SHUNT_TUNE_FILE's answers
  report.py --merge PLAIN SHUNT OUT.json   torch_bench without and with Shunt, side by side

Logs: NAME.log holds a program's output, NAME.status its exit status and seconds.  Names
that begin with "original-" ran without Shunt; they are kept apart and not added up.

Rules: "rerouted CALL >= N" (calls that a route took), "route NAME >= N", "reason WORD >= N",
"original CALL <= N" (calls that went through), with any of >=, <=, ==; of --compare
"NAME >= N" about the value with Shunt less the one without.
"""
import datetime
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

FOLDERS = ("kernels", "conv", "backend", "tests/gpu")
NAMES, NAME = 32, 200  # of the checks that failed in one program: so many are kept, and so much of each
NO_SOURCES = (".o", ".lo", ".d", ".linked", ".1")  # what is built, and the man page
CUT_OFF = "cut off before its end"
RESULT = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")


# ---- digest ---------------------------------------------------------------------
def source_files(root):
    for folder in FOLDERS:
        for where, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(f for f in folders if f[0] != "." and f != "__pycache__")
            for name in sorted(files):
                if name[0] == "." or name == "report.json" or name.endswith(NO_SOURCES):
                    continue
                yield os.path.relpath(os.path.join(where, name), root)


def sources(root):
    """{path: sha256} of every source file."""
    found = {}
    for path in source_files(root):
        with open(os.path.join(root, path), "rb") as f:
            found[path] = hashlib.sha256(f.read()).hexdigest()
    return found


def digest(root):
    """sha256 over the sorted lines "path sha256" of every source file."""
    lines = sorted(f"{path} {sha}\n" for path, sha in sources(root).items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def differences(then, now):
    """What a run has not seen, a line each: changed, new and removed files."""
    lists = {"changed": [p for p in then if p in now and now[p] != then[p]],
             "new": [p for p in now if p not in then],
             "removed": [p for p in then if p not in now]}
    return [f"  {what} since: {path}" for what, paths in lists.items() for path in sorted(paths)]


def report_path(root):
    return os.path.join(root, "tests", "gpu", "report.json")


def verify(root):
    try:
        with open(report_path(root), encoding="utf-8") as f:
            report = json.load(f)
    except (OSError, ValueError) as why:
        print(f"tests/gpu/report.json: {why}")
        return 1
    print(f"tests/gpu/report.json of {report['date']}, {report['device']}: {report['passed']} "
          f"passed, {report['failed']} failed, {report['skipped']} skipped")
    for program, counts in report["programs"].items():
        for name in counts.get("failures", []):
            print(f"  failed in {program}: {name}")
    for program, why in report.get("left_out", {}).items():
        print(f"  left out: {program}: {why}")
    if report["digest"] == digest(root):
        return 1 if report["failed"] else 0
    print("it is about other source:")
    print("\n".join(differences(report["sources"], sources(root))))
    return 1


# ---- machine ----------------------------------------------------------------------
def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30,
                              check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def version_of_cusparse():
    script = ("import ctypes,sys\n"
              "try:\n l = ctypes.CDLL('libcusparse.so.12')\n"
              "except OSError:\n l = ctypes.CDLL('/usr/local/cuda/lib64/libcusparse.so.12')\n"
              "v = []\n"
              "for i in range(3):\n"
              " x = ctypes.c_int(); l.cusparseGetProperty(i, ctypes.byref(x)); v.append(x.value)\n"
              "print('.'.join(map(str, v)))\n")
    return output_of(sys.executable, "-c", script)


def machine():
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    name, _, driver = gpu.split("\n")[0].partition(", ")
    nvcc = output_of("nvcc", "--version") or output_of("/usr/local/cuda/bin/nvcc", "--version")
    cuda = re.search(r"release [\d.]+, V([\d.]+)", nvcc)
    return {"device": name, "driver": driver, "cuda": cuda.group(1) if cuda else "",
            "cusparse": version_of_cusparse()}


# ---- results ------------------------------------------------------------------------
def read_log(path):
    """Counts of one program; one that died counts as a failure."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    found = [RESULT.match(line) for line in text.splitlines()]
    found = [m for m in found if m]
    passed, failed, skipped = (int(x or 0) for x in found[-1].groups()) if found else (0, 0, 0)
    status, seconds = 0, 0.0
    try:
        with open(path[:-4] + ".status", encoding="utf-8") as f:
            words = f.read().split()
            status, seconds = int(words[0]), float(words[1])
    except (OSError, ValueError, IndexError):
        pass
    if not found or (status and not failed):
        failed += 1
    counts = {"passed": passed, "failed": failed, "skipped": skipped, "status": status,
              "seconds": seconds}
    names = [line[len("not ok - "):] for line in text.splitlines() if line.startswith("not ok - ")]
    if names:
        counts["failures"] = [name[:NAME] for name in names[:NAMES]]
    return counts


def add_up(report):
    for what in ("passed", "failed", "skipped"):
        report[what] = sum(p[what] for p in report["programs"].values())
    return report


def write(root, logs, out):
    programs, originals, left_out = {}, {}, {}
    for path in sorted(glob.glob(os.path.join(logs, "*.log"))):
        name = os.path.basename(path)[:-4]
        if not os.path.exists(path[:-4] + ".status"):
            left_out[name] = CUT_OFF
        else:
            (originals if name.startswith("original-") else programs)[name] = read_log(path)
    report = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
              "digest": digest(root), **machine(), "programs": programs, "originals": originals,
              "sources": sources(root)}
    if left_out:
        report["left_out"] = left_out
        print(f"{CUT_OFF}: {' '.join(left_out)}")
    add_up(report)
    with open(out, "w", encoding="utf-8") as f:
        json.dump(report, f, indent=1)
    bad = [n for n, p in programs.items() if p["failed"]]
    print(f"failed in: {' '.join(bad)}" if bad else "nothing failed")
    print(f"{report['passed']} passed, {report['failed']} failed, {report['skipped']} skipped")
    return 1 if report["failed"] else 0


# What builds and runs programs, and is not what they test.
RUNNERS = re.compile(r"tests/gpu/(report\.py|seen\.py|local\.mk|lanes\.sh|check_gpu\.sh|stage\.sh|"
                     r"phases/\w+\.sh)")


# Which programs see a source, where not all do: (pattern of the source, of the programs).
SEEN_BY = (
    (r"tests/gpu/\w+/(test_\w+)\.cu", r"\1"),
    (r"tests/gpu/blackbox/stale(_\w+)?\.cuh?", r"stale.*"),
    (r"tests/gpu/torture/.*", r"(layers|many-streams|many-problems|recovery|service).*"),
    (r"backend/graphblas/.*", r"test_graphblas_.*"),
)


def programs_that_see(source):
    for pattern, programs in SEEN_BY:
        found = re.fullmatch(pattern, source)
        if found:
            return found.expand(programs)
    return r".*"


def read_seen(path):
    """{test: {its sources}}, of what seen.py printed."""
    seen = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            test, source = line.split()
            seen.setdefault(test, set()).add(source)
    return seen


def sees(program, source, seen):
    test = re.sub(r"^(sanitize|racecheck|initcheck)-", "", program)
    if test in seen:
        return source in seen[test]
    return re.fullmatch(programs_that_see(source), test) is not None


def about_this_source(part, later, now, left_out, seen):
    """Whether a part's results count: every source that has changed since was seen by a later part,
    which ran all of this part's programs again that see it, or those are left out."""
    names = set(part["sources"]) | set(now)
    changed = [n for n in names if part["sources"].get(n) != now.get(n) and
               not RUNNERS.fullmatch(n) and not n.endswith(NO_SOURCES)]
    again = {program for p in later for program in p["programs"]} | set(left_out)

    def run_again(source):
        return (any(sees(program, source, seen) for program in again) and
                all(program in again for program in part["programs"]
                    if sees(program, source, seen)))

    return all(run_again(n) for n in changed)


def leave_out(whole, reasons):
    """Takes out results that say nothing about Shunt, and says why."""
    for name in reasons:
        if whole["programs"].pop(name, None) is None:
            sys.exit(f"report.py: no program is called {name}")
    whole["left_out"] = {name: why for name, why in {**whole["left_out"], **reasons}.items()
                         if name not in {**whole["programs"], **whole["originals"]}}
    if not whole["left_out"]:
        del whole["left_out"]


def join(root, words):
    """Later files replace earlier results of the same programs; all must be of this source."""
    parts, whole, now, seen = [], {}, sources(root), {}
    if words[:1] == ["--seen"]:
        seen, words = read_seen(words[1]), words[2:]
    reasons = dict(word.split("=", 1) for word in words if "=" in word)
    files = [word for word in words if "=" not in word]
    for name in files:
        with open(name, encoding="utf-8") as f:
            parts.append(json.load(f))
    for i, part in enumerate(parts):
        if not about_this_source(part, parts[i + 1:], now, reasons, seen):
            print(f"{files[i]} is about other source")
            return 1
        programs = {**whole.get("programs", {}), **part["programs"]}
        originals = {**whole.get("originals", {}), **part["originals"]}
        left_out = {**whole.get("left_out", {}), **part.get("left_out", {})}
        whole = {**whole, **part, "programs": programs, "originals": originals,
                 "left_out": left_out}
    whole.update(digest=digest(root), sources=now)
    leave_out(whole, reasons)
    with open(report_path(root), "w", encoding="utf-8") as f:
        json.dump(add_up(whole), f, indent=1)
        f.write("\n")
    return verify(root)


# ---- what was rerouted ----------------------------------------------------------------
def report_rows(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                field = line.rstrip("\n").split("\t")
                if line[0] != "#" and len(field) >= 4 and field[3].isdigit():
                    yield field[0], field[1], field[2], int(field[3])
    except OSError:
        return


def measure(rule, rows):
    """The number that a rule speaks of."""
    what, name = rule[0], rule[1]
    if what == "rerouted":
        return sum(n for call, route, _, n in rows if route != "original" and call == name)
    if what == "route":
        return sum(n for _, route, _, n in rows if route == name)
    if what == "reason":
        return sum(n for _, _, reason, n in rows if reason == name)
    if what == "original":
        return sum(n for call, route, _, n in rows if route == "original" and call == name)
    raise ValueError(f"unknown rule {rule}")


def expect(path, rules):
    rows = list(report_rows(path))
    failed = 0
    for text in rules:
        rule = text.split()
        value, bound = measure(rule, rows), int(rule[3])
        good = {">=": value >= bound, "<=": value <= bound, "==": value == bound}[rule[2]]
        print(f"{'ok' if good else 'not ok'} - {text}: {value}")
        failed += not good
    if failed:
        whys = {}
        for call, route, reason, n in rows:
            key = f"{call} {route} {reason}"
            whys[key] = whys.get(key, 0) + n
        for key in sorted(whys):
            print(f"# {whys[key]:8d} {key}")
    print(f"{len(rules) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def values_of(path):
    """{name: number} of the last line of each name."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return {name: float(number)
                for name, number in re.findall(r"^value (\w+)=([-+.\de]+)$", f.read(), re.M)}


def compare(plain_path, shunt_path, rules):
    plain, shunt = values_of(plain_path), values_of(shunt_path)
    failed = 0
    for text in rules:
        name, relation, bound = text.split()
        known = name in plain and name in shunt
        more = shunt[name] - plain[name] if known else float("nan")
        good = {">=": more >= float(bound), "<=": more <= float(bound)}[relation]
        print(f"{'ok' if good else 'not ok'} - {name}: {shunt.get(name)} with Shunt, "
              f"{plain.get(name)} without; more: {more:g} ({relation} {bound})")
        failed += not good
    print(f"{len(rules) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def tuned(path, report):
    """Every problem of the file was called in the report, and by the winner alone."""
    failed = count = 0
    with open(path, encoding="utf-8") as f:
        answers = [line.rstrip("\n").split("\t") for line in f if line[0] != "#"]
    with open(report, encoding="utf-8") as f:
        calls = [line.rstrip("\n").split("\t") for line in f if line[0] != "#"]
    for winner, us, original_us, problem in answers:
        routes = {c[1] for c in calls if c[5] == problem}
        good = routes == {winner}
        print(f"{'ok' if good else 'not ok'} - {winner} ({us} us, original {original_us}) takes "
              f"{problem}: {' '.join(sorted(routes))}")
        failed += not good
        count += 1
    good = count > 0
    print(f"{'ok' if good else 'not ok'} - {count} answers in the file")
    failed += not good
    print(f"{count + 1 - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


# ---- benchmark -----------------------------------------------------------------------
def key_of(row):
    return row["index"], row["group"], row["sparsity"], row["n"]


def merge(plain_path, shunt_path, out):
    with open(plain_path, encoding="utf-8") as f:
        plain = json.load(f)
    with open(shunt_path, encoding="utf-8") as f:
        shunt = json.load(f)
    before = {key_of(r): r for r in plain["products"]}
    rows, bar_missed, six_missed = [], 0, 0
    print("index group sparsity    N |  original  Shunt  dense  A read | x orig  of bar   eager x")
    for now in shunt["products"]:
        old = before.get(key_of(now))
        if not old or not old["graph_us"] or not now["graph_us"]:
            continue
        bar = 1.15 * min(old["graph_us"], old["dense_us"] + now["read_us"])
        row = {"index": now["index"], "group": now["group"], "sparsity": now["sparsity"],
               "n": now["n"], "original_us": old["graph_us"], "shunt_us": now["graph_us"],
               "original_out_us": old["out_us"], "shunt_out_us": now["out_us"],
               "dense_us": old["dense_us"], "read_us": now["read_us"], "bar_us": bar,
               "of_bar": now["graph_us"] / bar, "speedup": old["graph_us"] / now["graph_us"],
               "original_eager_us": old["eager_us"], "shunt_eager_us": now["eager_us"],
               "eager_speedup": old["eager_us"] / now["eager_us"],
               "original_worst_error": old["worst_error"],
               "shunt_worst_error": now["worst_error"]}
        rows.append(row)
        bar_missed += row["of_bar"] > 1
        six_missed += row["n"] >= 256 and row["sparsity"] <= 0.9 and row["speedup"] < 6
        print(f"{row['index']:>5} {row['group']:5d} {row['sparsity']:8.2f} {row['n']:4d} | "
              f"{row['original_us']:9.1f} {row['shunt_us']:6.1f} {row['dense_us']:6.1f} "
              f"{row['read_us']:7.1f} | {row['speedup']:6.2f} {row['of_bar']:7.2f} "
              f"{row['eager_speedup']:9.2f}")
    result = {"device": shunt["device"], "torch": shunt["torch"], "products": rows,
              "mlp_original_us": plain["mlp_us"], "mlp_shunt_us": shunt["mlp_us"],
              "mlp_dense_us": plain["mlp_dense_us"],
              "mlp_speedup": plain["mlp_us"] / shunt["mlp_us"]}
    with open(out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    print(f"bar missed in {bar_missed} of {len(rows)}; less than 6 x in {six_missed} (N >= 256, "
          f"sparsity <= 0.9); MLP {plain['mlp_us']:.0f} -> {shunt['mlp_us']:.0f} us, "
          f"{result['mlp_speedup']:.2f} x (dense {plain['mlp_dense_us']:.0f})")
    return 0


def main(words):
    if len(words) == 4 and words[0] == "--write":
        return write(*words[1:])
    if len(words) >= 3 and words[0] == "--join":
        return join(words[1], words[2:])
    if len(words) == 2 and words[0] == "--verify":
        return verify(words[1])
    if len(words) == 2 and words[0] == "--digest":
        print(digest(words[1]))
        return 0
    if len(words) >= 3 and words[0] == "--expect":
        return expect(words[1], words[2:])
    if len(words) >= 4 and words[0] == "--compare":
        return compare(words[1], words[2], words[3:])
    if len(words) == 3 and words[0] == "--tuned":
        return tuned(*words[1:])
    if len(words) == 4 and words[0] == "--merge":
        return merge(*words[1:])
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
