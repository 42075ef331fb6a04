"""Report lines for the Python clients: "ok - ", "not ok - ", "skip - ", and the sum.

A client compares with float64.  Without --strict an error as large as cuSPARSE's own
rounding of partial sums passes; with it (the clients run so under Shunt), one rounding
of a float32 sum and no more.

  client_checks.py NAME SLOW FAST X   the outputs of two runs: NAME takes X times as long in SLOW
"""
import math
import sys
import traceback

STRICT = "--strict" in sys.argv

# Half a unit in the last place of each type, and the smallest half unit of all.
ROUNDING = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53,
            "complex64": 2.0**-23, "complex128": 2.0**-52}
TINY = {"float16": 2.0**-25}

counts = {"ok": 0, "not ok": 0, "skip": 0}


def report(good, text):
    word = "ok" if good else "not ok"
    counts[word] += 1
    print(f"{word} - {text}", flush=True)
    return good


def skip(text):
    counts["skip"] += 1
    print(f"skip - {text}", flush=True)


def limits(kind, want, scale, terms):
    """Allowed error of a sum of `terms` products whose absolute values add up to `scale`;
    `want` and `scale` are arrays of any library."""
    rounding = ROUNDING[kind]
    sums = ROUNDING[kind] if kind in ("float64", "complex64", "complex128") else 2.0**-24
    allowed = 1.01 * rounding * abs(want) + sums * scale * (4 + 2 * math.sqrt(terms))
    allowed = allowed + TINY.get(kind, 1e-300)
    return allowed if STRICT else allowed + 16 * rounding * scale


def is_refusal(why):
    """Whether the framework says that it does not do this (rather than that it failed)."""
    text = str(why)
    if "NOT_SUPPORTED" in text or "not implemented" in text:
        return True
    return "CUDA error" not in text and "CUSPARSE" not in text


def attempt(text, function, refusal=()):
    """function() reports for itself; what it raises is reported here.  `refusal`: exception
    types by which the framework itself may say that it does not do this."""
    try:
        function()
    except Exception as why:  # a client's every failure is a finding
        if isinstance(why, refusal) and is_refusal(why):
            skip(f"{text}: {str(why).splitlines()[0][:120]}")
            return
        traceback.print_exc()
        report(False, f"{text}: raised {sys.exc_info()[0].__name__}")


def value(path, name):
    """What a program's output names "value NAME=X"; the last one counts."""
    with open(path, encoding="utf-8") as f:
        lines = [line.split("=") for line in f if line.startswith(f"value {name}=")]
    return float(lines[-1][1]) if lines else math.nan


def faster(name, slow, fast, least):
    """The time `name` in the output `slow` is `least` times that in `fast` at least."""
    a, b = value(slow, name), value(fast, name)
    gain = a / b if b > 0 else math.nan
    report(gain >= float(least), f"{name}: {a:g} and {b:g}, {gain:.3f} times ({least} must be)")


def finish():
    print(f"{counts['ok']} passed, {counts['not ok']} failed, {counts['skip']} skipped", flush=True)
    sys.exit(1 if counts["not ok"] else 0)


if __name__ == "__main__":
    faster(*sys.argv[1:5])
    finish()
