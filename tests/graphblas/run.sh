#!/bin/sh
# run.sh: libshunt-graphblas.so against GraphBLAS itself.
#
#   SHUNT_GRAPHBLAS_SO   the library to preload; unset: GraphBLAS is compared with itself
#   CC, GRAPHBLAS_CPPFLAGS, GRAPHBLAS_LIBS   compiler, where GraphBLAS is (-lgraphblas)
#   builddir             scratch files go to a folder in it, removed at the end (TMPDIR)
#   PROPERTY_CASES       random products (50000);  MUTATE_STEPS  changes (100000)
#   LARGE_CASES          random products of large operands (150)
#   THREAD_SECONDS       of threads.c (3)
#   PYTHON               that has suitesparse-graphblas, if any has (python3)
#   SHUNT_PROPERTY_ARGS  more arguments for property.c
#   COUNTS               of a library that counts its lines (tests/sanitized.sh): not what it costs,
#                        nor programs that are linked with its parts, nor what runs without it
set -u

CC=${CC:-cc}
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
library=${SHUNT_GRAPHBLAS_SO:-}
[ -z "$library" ] || library=$(cd "$(dirname "$library")" && pwd)/$(basename "$library")
builddir=${builddir:-${TMPDIR:-/tmp}}
mkdir -p "$builddir" || exit 2
work=$(mktemp -d "$(cd "$builddir" && pwd)/graphblas.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
unset LD_PRELOAD SHUNT_ROUTES SHUNT_LOG SHUNT_REPORT SHUNT_FAULT

. "$here/../checks.sh"
# Counts the lines of a program that prints its own.
report() {
  "$@" >"$work/out" 2>&1
  status=$?
  grep -E '^(ok|not ok|#)' "$work/out" | cut -c1-1000
  good=$(grep -c '^ok' "$work/out")
  bad=$(grep -c '^not ok' "$work/out")
  passed=$((passed + good))
  failed=$((failed + bad))
  if [ $status != 0 ] && [ "$bad" = 0 ]; then not_ok "$2 ends with $status"; fi
}
echo '#include <GraphBLAS.h>' >"$work/probe.c"
echo 'int main(void) { return GrB_init(GrB_NONBLOCKING); }' >>"$work/probe.c"
compile() {
  out=$1
  shift
  $CC -O2 -g -std=gnu11 -Wall -Wextra ${GRAPHBLAS_CPPFLAGS:-} -o "$work/$out" "$@" \
    ${GRAPHBLAS_LIBS:--lgraphblas} -lm -ldl -lpthread
}
if ! compile probe "$work/probe.c" >"$work/out" 2>&1 || ! "$work/probe"; then
  skip "GraphBLAS is not installed (libgraphblas-dev)"
  finish
fi

common="$here/operand.c $here/seen.c $here/types.c $here/original.c"
for program in property mutate threads cost vectors gainless regions; do
  sources="$here/$program.c $common"
  case $program in
  property)
    sources="$sources $here/case.c $here/compare.c $here/own_malloc.c $here/semiring.c $here/side.c"
    sources="$sources $here/spoil.c $here/tolerance.c"
    ;;
  cost) sources="$sources $here/instructions.c" ;;
  regions) sources="$here/omp/regions.c -rdynamic" ;;
  esac
  # shellcheck disable=SC2086
  if ! compile $program $sources >"$work/out" 2>&1; then
    not_ok "$program.c compiles"
    finish
  fi
done

# ---- the harness finds what it should ----------------------------------------------------------
if [ -z "${COUNTS:-}" ]; then
  report "$work/property" --self-test --cases 4000
  check "a stale operand is found" sh -c "! $work/mutate --steps 2000 --stale 1"
  check "a stale graph is found" sh -c "! $work/mutate --steps 2000 --stale 1 --graph 1"
fi

# ---- equal to the original ------------------------------------------------------------------
# A list of routes takes what it can, however small.
preloaded="env LD_PRELOAD=$library SHUNT_ROUTES=host"
taken=${library:+--taken 33}
cases=${PROPERTY_CASES:-50000}
# shellcheck disable=SC2086
{
  report $preloaded "$work/property" --cases "$cases" $taken ${SHUNT_PROPERTY_ARGS:-}
  report $preloaded "$work/property" --cases $((cases / 5)) --seed 2 --own-malloc $taken
  report $preloaded "$work/property" --cases "${LARGE_CASES:-150}" --large $taken
  report $preloaded "$work/mutate" --steps "${MUTATE_STEPS:-100000}"
  report $preloaded "$work/mutate" --steps $((${MUTATE_STEPS:-100000} / 2)) --graph 1
  report $preloaded "$work/threads" --seconds "${THREAD_SECONDS:-3}"
  report env LD_PRELOAD="$library" "$work/property" --cases $((cases / 5)) --seed 3
  report env LD_PRELOAD="$library" "$work/vectors"
  report env LD_PRELOAD="$library" "$work/gainless"
}

# Four programs on a graph of 512 nodes: their answers, which they check, with and without.
both_ways() {
  program=$1
  shift
  for preload in "" "$library"; do
    env OMP_NUM_THREADS=2 ${preload:+LD_PRELOAD="$preload" SHUNT_ROUTES=host} "$work/$program" \
      "$here/../clients/demo.smtx.gz" "$@" >"$work/out" 2>&1 &&
      grep -q '| ok |' "$work/out" || { cat "$work/out"; return 1; }
  done
}
graphs() {
  host=$(dirname "$library")/libshunt-host.a
  for client in tc ktruss bc msbfs; do
    compile $client -I"$here/../.." "$here/../clients/graphblas_$client.c" "$host" -fopenmp -lz \
      >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    both_ways "$client" || return 1
    [ $client != msbfs ] || both_ways $client 64 2 parents || return 1
  done
}
if [ -z "${COUNTS:-}" ] && [ -n "$library" ] && [ -f "$(dirname "$library")/libshunt-host.a" ]; then
  check "four graph programs answer alike with and without" graphs
fi

# The wheel's own GraphBLAS: the same results, and four products of five are taken.
wheel() {
  client="$python $here/../loader/graphblas_wheel.py"
  rm -f "$work/log"
  $client &&
    env ${library:+LD_PRELOAD="$library"} SHUNT_ROUTES=host SHUNT_LOG=dispatch \
      SHUNT_LOG_FILE="$work/log" $client || return 1
  [ -z "$library" ] || {
    cat "$work/log"
    [ "$(grep -c ',GrB_mxm,host,fits,' "$work/log")" = 4 ] &&
      [ "$(grep -c ',GrB_mxm,original,format,' "$work/log")" = 1 ]
  }
}
if "$python" -c 'import suitesparse_graphblas' >/dev/null 2>&1; then
  check "products of the wheel suitesparse-graphblas are the same, and taken" wheel
else
  skip "$python has no suitesparse-graphblas (PYTHON: another one)"
fi
[ -n "$library" ] || { skip "what needs the library: SHUNT_GRAPHBLAS_SO names none"; finish; }

# All threads are waited for once in a product, at most.
report env LD_PRELOAD="$library" SHUNT_ROUTES=host OMP_NUM_THREADS=4 "$work/regions"

# The log gives the real reason.
reason() {
  env LD_PRELOAD="$library" SHUNT_LOG=dispatch SHUNT_LOG_FILE="$work/log" "$work/gainless" &&
    grep -q "original,large,.*n64k1152921504606846976" "$work/log" || { cat "$work/log"; return 1; }
}
check "too many columns: the log says large" reason

# The report has a picture of each matrix, also where the call ended before it was read, but few of
# one size.
pictures() {
  rm -f "$work/report"
  env LD_PRELOAD="$library" SHUNT_REPORT="$work/report" "$work/gainless" >"$work/out" || return 1
  sed -n 's/^# matrix\t\(rows=[0-9]*\tcols=[0-9]*\).*\tdensity=[a-yA-E.]*$/\1/p' "$work/report" |
    sort | uniq -c | awk '{ n++; many += $1 > 4 } END { exit !(n > 2 && !many) }' ||
    { cat "$work/report"; return 1; }
  grep -q '^# matrix.rows=2100.cols=2100.nnz=[0-9]*.densest=.*density=' "$work/report"
}
check "the report has pictures of what was multiplied" pictures

# What the cuda engine does not compute is left because the host engine is switched off.
disabled() {
  rm -f "$work/log"
  env LD_PRELOAD="$library" SHUNT_ROUTES=cuda SHUNT_LOG=dispatch SHUNT_LOG_FILE="$work/log" \
    "$work/gainless" >"$work/out"
  for problem in any_pair:bool:m64n4000 plus_pair:uint32:m2000n2000; do
    grep -q "original,disabled,.*$problem" "$work/log" || { cat "$work/log"; return 1; }
  done
}
check "without the host engine: the log says disabled" disabled

# ---- costs nothing, changes nothing --------------------------------------------------------------
# At most 1200 instructions for a call that is handed on: 1021 take 170 to 190 ns.
[ -n "${COUNTS:-}" ] || report env LD_PRELOAD="$library" "$work/cost" 1200
unrelated() {
  [ -z "$(command -v "$2")" ] || {
    "$@" >"$work/plain" 2>&1
    plain=$?
    LD_PRELOAD=$library "$@" >"$work/preloaded" 2>&1
    [ $? = $plain ] && cmp "$work/plain" "$work/preloaded"
  }
}
check "preloading into true changes nothing" unrelated env /bin/true
check "preloading into python3 changes nothing" unrelated env python3 -c 'print(sum(range(10)))'
check "preloading into git changes nothing" unrelated env git --version
needed() { ! readelf -d "$library" | grep NEEDED | grep -i graphblas; }
undefined() { ! nm -D --undefined-only "$library" | grep -E ' G[rx]B_'; }
check "the library does not need GraphBLAS" needed
check "the library refers to none of its symbols" undefined
finish
