#!/bin/sh
# run.sh: the kernels' tests (tests/gpu) on the CPU, by the emulator; and the emulator's own.
#
#   CXX, CC, MAKE, PYTHON   compilers, GNU make, python3
#   builddir       objects and programs go to builddir/emulated, and stay there (build of this tree)
#   SEEDS          the orders of threads and blocks that each test runs with ("1"; of one's own:
#                  "1 2")
#   TESTS          which of tests/gpu (all that can run here)
#   JOBS           how many compile, and run, beside each other (as many as there are processors)
#   TEST_SECONDS   of one run of one test, at most (6000)
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
top=$(cd "$here/../.." && pwd) || exit 2
CXX=${CXX:-g++}
CC=${CC:-gcc}
MAKE=${MAKE:-make}
PYTHON=${PYTHON:-python3}
builddir=${builddir:-$top/build}
seeds=${SEEDS:-1}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p "$builddir/emulated" || exit 2
work=$(cd "$builddir/emulated" && pwd) || exit 2
rm -rf "$work/logs"
mkdir "$work/logs" || exit 2

. "$top/tests/checks.sh"

# ---- the tests -----------------------------------------------------------------------------------
# All of tests/gpu/*/test_* but those that cannot run here:
#   test_vector_ordered   times products of a real size, from which the planner learns that another
#                         order of the rows pays
cannot_run="test_vector_ordered"
# The longest first, so that none is left to run alone at the end.
longest="test_sparse24_spmm test_vector_packed_proved test_graphblas_gpu test_tile_proved"
all=$(echo "$longest" && cd "$top" && for source in tests/gpu/*/test_*.cu tests/gpu/*/test_*.c; do
  name=${source##*/}
  name=${name%.*}
  case " $cannot_run $longest " in
  *" $name "*) ;;
  *) echo "$name" ;;
  esac
done)
# shellcheck disable=SC2086
tests=$(echo ${TESTS:-$all})

# make_all GOAL... [VARIABLE=...]: of emulate.mk; what needs no other thing goes on after a failure.
make_all() {
  "$MAKE" -s -k -j"$jobs" -Otarget -f "$here/emulate.mk" B="$work" CXX="$CXX" CC="$CC" \
    PYTHON="$PYTHON" "$@"
}

# ---- the emulator itself -----------------------------------------------------------------------
if ! "$MAKE" --version 2>/dev/null | grep -q GNU || ! command -v "$PYTHON" >/dev/null; then
  skip "the emulator is built by GNU make and python3"
  finish
fi
echo 'int main() { return 0; }' >"$work/logs/probe.cpp"
if ! $CXX -std=c++17 -fsanitize=address,alignment -o "$work/logs/probe" "$work/logs/probe.cpp" \
  >"$work/logs/probe.log" 2>&1 || ! "$work/logs/probe"; then
  skip "$CXX has no AddressSanitizer"
  finish
fi
if ! make_all NAMES="test_emulator wrong_kernels" \
  SOURCE_test_emulator=tests/emulator/test_emulator.cu \
  SOURCE_wrong_kernels=tests/emulator/wrong_kernels.cu ARCHIVE= program \
  >"$work/logs/test_emulator.build" 2>&1; then
  not_ok "test_emulator compiles" "$work/logs/test_emulator.build"
  finish
fi

# The kernels' tests are compiled and run while the emulator's own go on.
make_all NAMES="$tests" SEEDS="$seeds" TEST_SECONDS="${TEST_SECONDS:-6000}" runs \
  >"$work/logs/build" 2>&1 &
kernels=$!

# count LOG: the lines of a program that prints its own.
count() {
  passed=$((passed + $(grep -c '^ok' "$1")))
  failed=$((failed + $(grep -c '^not ok' "$1")))
  skipped=$((skipped + $(grep -c '^skip' "$1")))
}
# finds NAME SEED TEXT: the wrong kernel NAME ends the program, and the output says TEXT.
finds() {
  log=$work/logs/wrong
  if SHUNT_EMULATOR_SECONDS=3 SHUNT_EMULATOR_SEED=$2 "$work/wrong_kernels" "$1" \
    >"$log" 2>&1; then
    not_ok "a wrong kernel ($1) is not found, seed $2" "$log"
  elif grep -q "$3" "$log"; then
    ok "found: $1: $3, seed $2"
  else
    not_ok "a wrong kernel ($1) ends without a word on \"$3\"" "$log"
  fi
}
for seed in $seeds; do
  log=$work/logs/test_emulator.$seed
  SHUNT_EMULATOR_SEED=$seed "$work/test_emulator" >"$log" 2>&1 ||
    [ "$(grep -c '^not ok' "$log")" -gt 0 ] || not_ok "test_emulator ends, seed $seed" "$log"
  grep '^not ok' "$log"
  count "$log"
  finds "rotate" "$seed" "wrong result"
  finds "no wait" "$seed" "wrong result"
done
seed=${seeds%% *}
finds "barrier" "$seed" "deadlock: 32 threads wait for __barrier_sync_count; 32 .* __syncthreads"
finds "lane missing" "$seed" "deadlock: 1 threads wait for __syncthreads; 31 .* __syncwarp"
finds "lanes differ" "$seed" "while lanes"
finds "never arrives" "$seed" "nobody gets on: 32 threads"
finds "global" "$seed" "heap-buffer-overflow"
finds "shared" "$seed" "use-after-poison"
finds "dynamic" "$seed" "use-after-poison"
finds "misaligned" "$seed" "misaligned address"
finds "misaligned copy" "$seed" "not a multiple of 16"
finds "bounds" "$seed" "__launch_bounds__"
finds "half a warp" "$seed" "a warp of which only lanes"
finds "endless" "$seed" "an endless loop"
if "$work/wrong_kernels" "rotate right" >"$work/logs/wrong" 2>&1; then
  ok "with its barrier the same kernel is right"
else
  not_ok "with its barrier the same kernel is right" "$work/logs/wrong"
fi

# ---- the kernels -------------------------------------------------------------------------------
wait "$kernels"
for name in $tests; do
  [ -e "$work/logs/$name.$seed" ] || {
    not_ok "$name compiles" "$work/logs/build"
    continue
  }
  for seed in $seeds; do
    log=$work/logs/$name.$seed
    count "$log"
    status=$(sed -n 's/^status //p' "$log" | tail -1)
    bad=$(grep -c '^not ok' "$log")
    echo "# $name, seed $seed: $(grep -c '^ok' "$log") checks"
    grep -E '^(not ok|skip)' "$log"
    [ "$bad" = 0 ] || grep '^#' "$log" | head -20
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
      not_ok "$name, seed $seed, ends with $status" "$log"
    fi
  done
done
finish
