#!/bin/sh
# wheel_gpu.sh WHEEL: a wheel on a machine with a GPU, without the network and without the build:
# in a virtual environment that sees the machine's PyTorch, its programs are served.
#
#   PYTHON   the python3 that has torch (python3)
#   OUT      receives page.html and run.json of the PyTorch program (nowhere)
#
# What is in the wheel, and what needs no GPU, wheel.sh tests.
set -u
[ $# = 1 ] && [ -f "$1" ] || { echo "usage: wheel_gpu.sh WHEEL" >&2; exit 2; }
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_PRELOAD SHUNT_ROUTES SHUNT_REPORT SHUNT_LOG SHUNT_CONFIG SHUNT_DISABLE
. "$here/../checks.sh"

packages=$("$python" -c 'import os, torch
print(os.path.dirname(os.path.dirname(torch.__file__)) if torch.cuda.is_available() else "")' \
  2>/dev/null)
[ -n "$packages" ] || {
  skip "$python has no PyTorch that sees a GPU"
  finish
}
# Where ensurepip is not installed, the machine's pip installs into the environment.
environment() {
  "$python" -m venv "$work/venv" && [ -x "$bin/pip" ] && pip=$bin/pip && return
  rm -rf "$work/venv"
  "$python" -m venv --without-pip "$work/venv" && pip="$python -m pip --python $bin/python"
}
bin=$work/venv/bin
pip=
check "an empty virtual environment" environment
check "the wheel installs without the network" \
  $pip install -q --no-index --disable-pip-version-check "$wheel"
# What the environment lacks is the machine's: PyTorch and the libraries that come with it.
export PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME="$work/cache"
cd "$work" || exit 2

# A tenth of the columns, in vectors of 8 rows: Shunt takes it on every GPU that it supports.  Sums
# stay below 2048, so f16 holds them exactly.
cat >product.py <<'PYTHON'
import sys
import torch
mask = (torch.rand(256, 2048, device="cuda") < 0.1).repeat_interleave(8, 0)
dense = torch.randint(1, 4, (2048, 2048), device="cuda") * mask
a, b = dense.half().to_sparse_csr(), torch.randint(0, 3, (2048, 64), device="cuda").half()
for _ in range(40):
    c = a @ b
exact = torch.equal(c.double(), (dense.double() @ b.double()).half().double())
print("product", "right" if exact else "wrong", sys.argv[1:])
sys.exit(0 if exact else 3)
PYTHON
# taken LEAST FILE: so many calls, by what `shunt run --json` wrote.
taken() {
  "$python" -c 'import json, sys
run = json.load(open(sys.argv[2]))
print(run["calls"], "calls,", run["taken"], "taken,", run["status"])
sys.exit(not (run["taken"] >= int(sys.argv[1]) and run["status"] == 0))' "$@"
}
check "without Shunt the product is right" "$bin/python" product.py
check "shunt run" "$bin/shunt" run --report page.html --json run.json -- "$bin/python" product.py a
check "... takes its calls" taken 20 run.json
check "... and writes the page" grep -q '<title>' page.html
check "python -m shunt" "$bin/python" -m shunt --json module.json product.py a
check "... takes its calls" taken 20 module.json
check "shunt run -- python -c" "$bin/shunt" run --json code.json -- "$bin/python" -c \
  "$(cat product.py)"
check "... takes its calls" taken 20 code.json
check "--routes, --require" "$bin/shunt" run --routes vector --require vector -- \
  "$bin/python" product.py
check "a client of PyTorch, as strict as under Shunt" "$bin/shunt" run --json client.json -- \
  "$bin/python" "$here/../clients/torch_client.py" --strict
check "... takes its calls" taken 60 client.json
check "shunt doctor" "$bin/shunt" doctor -- "$bin/python" product.py
if [ -n "${OUT:-}" ]; then cp page.html run.json "$OUT"; fi
finish
