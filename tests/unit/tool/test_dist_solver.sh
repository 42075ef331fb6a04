#!/bin/sh
# test_dist_solver.sh: tests/clients/dist_solver.py on the host: its matrices against stencil and
# elements, in one rank and, where PyTorch is, in two; and that a difference of two runs is found.
set -u
client=${SHUNT_SRCDIR:?}/tests/clients/dist_solver.py
. "$SHUNT_SRCDIR/tests/unit/tool/check.sh"
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1

if ! python3 -c 'import numpy' 2>out; then
  skip "the solvers in parts: NumPy is missing"
  finish
fi
alone() { python3 "$client" --numpy --side 6 --columns 3 "$@"; }
in_two() {
  python3 -m torch.distributed.run --standalone --nproc-per-node 2 "$client" --numpy --side 6 \
    --columns 3 "$@"
}
compare() { python3 "$client" --compare "$@"; }

for matrix in laplace elastic; do
  check "$matrix: block CG" 'alone --matrix $matrix -o $matrix.txt'
  check "$matrix: LOBPCG" 'alone --matrix $matrix --solver lobpcg -o $matrix-lobpcg.txt'
done
if python3 -c 'import torch' 2>out; then
  check "block CG in two ranks" \
    'in_two --matrix elastic -o two.txt && compare two.txt elastic.txt 1e-6'
  check "LOBPCG in two ranks" \
    'in_two --solver lobpcg -o two.txt && compare two.txt laplace-lobpcg.txt 1e-6'
else
  skip "two ranks: PyTorch is missing"
fi
check "parts are timed" 'alone --parts >said && grep "^value combine_us=[0-9]" said'
check "a tolerance that is not reached fails" '! alone --tolerance 1e-30'
check "other iterations are found" \
  'awk "{ print \$1 + 2, \$2 }" laplace.txt >more.txt && ! compare more.txt laplace.txt 1e-6'
check "another norm is found" \
  'awk "{ print \$1, \$2 * 1.00001 }" laplace.txt >more.txt && ! compare more.txt laplace.txt 1e-6'
finish
