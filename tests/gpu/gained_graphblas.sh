#!/bin/sh
# gained_graphblas.sh BUILD [TOLERANCE]: is what `shunt run --measure` says was gained the
# difference between runs without and with Shunt, for programs of GraphBLAS?  (gained.py; 0.1)
#
#   STEPS   of ALS (4000), of the convolution a third: a shorter run has few samples
#   TURNS   of runs without Shunt, under it, and measuring (5)
#
# With one thread, side by side, by the time that each has computed for (cpu_clock.c), as other
# programs make clocks useless.  A graph convolution of 2,708 nodes, from SHUNT_DATA or made here, and ALS.
set -u
[ $# -ge 1 ] && [ -x "$1/shunt" ] || {
  echo "usage: gained_graphblas.sh BUILD [TOLERANCE]" >&2
  exit 2
}
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$here/../checks.sh"
unset LD_PRELOAD SHUNT_ROUTES SHUNT_REPORT SHUNT_MEASURE SHUNT_CONFIG
# By the host engine alone: the processor's time says nothing of a GPU's.
export CUDA_VISIBLE_DEVICES=
export OMP_NUM_THREADS=1 CLIENT_LOOP=1 CLIENT_PRELOAD="$work/cpu_clock.so" PYTHONDONTWRITEBYTECODE=1
if [ ! -x "$build/tests/clients/graphblas_gcn" ]; then
  skip "BUILD has no GraphBLAS programs: make clients"
  finish
fi
${CC:-cc} -O2 -shared -fPIC -o "$CLIENT_PRELOAD" "$here/cpu_clock.c" || exit 2
graph=${SHUNT_DATA:-}/mtx/cora.mtx.gz
if [ ! -f "$graph" ]; then
  graph=$work/graph.mtx
  awk 'BEGIN { srand(1); n = 2708; print "%%MatrixMarket matrix coordinate pattern general"
    print n, n, 5 * n
    for (i = 1; i <= n; i++) for (k = 0; k < 5; k++) print i, 1 + int(n * rand() * rand()) }' \
    >"$graph"
fi
# gained NAME COMMAND...
gained() {
  name=$1
  shift
  python3 "$here/gained.py" "$build/shunt" "$work" "$tolerance" "$@" >"$work/said" 2>&1
  grep '^#' "$work/said"
  while read -r line; do
    case $line in
    "ok "*) ok "$name: ${line#ok }" ;;
    "not ok "*) not_ok "$name: ${line#not ok }" /dev/null ;;
    esac
  done <"$work/said"
  grep -q ' passed, ' "$work/said" || not_ok "$name ends" "$work/said"
}
tolerance=${2:-0.1} steps=${STEPS:-4000} TURNS=${TURNS:-5} TOGETHER=${TOGETHER:-1}
export TURNS TOGETHER
gained "graph convolution" "$build/tests/clients/graphblas_gcn" "$graph" 64 $((steps / 3))
gained "alternating least squares" "$build/tests/clients/graphblas_als" \
  "$here/../clients/demo.smtx.gz" 32 "$steps"
finish
