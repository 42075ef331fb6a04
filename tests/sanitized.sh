#!/bin/sh
# sanitized.sh: the host code under AddressSanitizer and UndefinedBehaviorSanitizer (with the
# corpora of tests/fuzz), and what threads share under ThreadSanitizer.
#
#   SHUNT_SRCDIR, CC   the top of the tree (found from $0), the compiler (gcc)
#   SHUNT              the shunt command of a build: what it was configured with counts here, too
#   builddir           objects and programs go to builddir/sanitized, and stay there (build of this
#                      tree)
#   JOBS               how many compile beside each other (as many as there are processors)
#
# The programs are SANITIZED_TESTS and THREADED_TESTS of tests/unit/local.mk; with
# SHUNT_TEST_BUILDS=1 also SANITIZED_LOOPS, those of semirings, which take minutes to compile, and
# the threads of those loops (tests/graphblas/sanitize.sh).  Not here: kernels and what calls them,
# which the emulator runs under AddressSanitizer.
#
# The objects also count which lines run, and so do the shunt command and libshunt-graphblas.so,
# which are built once more for that and run by tests of theirs (tests/coverage.py): the share is
# printed, and by file it lies in builddir/sanitized/coverage.
set -u
top=${SHUNT_SRCDIR:-$(cd "$(dirname "$0")/.." && pwd)}
CC=${CC:-gcc}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
builddir=${builddir:-$top/build}
build=
[ -z "${SHUNT:-}" ] || build=$(cd "$(dirname "$SHUNT")" && pwd)
mkdir -p "$builddir/sanitized" || exit 2
work=$(cd "$builddir/sanitized" && pwd) || exit 2
# Without the real matrices: they take long, and other tests read them.
unset SHUNT_DATA MAKEFLAGS MFLAGS MAKELEVEL LD_PRELOAD SHUNT_FAULT SHUNT_REPORT SHUNT_LOG

. "$top/tests/checks.sh"

printf 'int main(void) { return 0; }\n' >"$work/probe.c"
# can FLAGS...: is a program built with them, and does it run?
can() {
  $CC "$@" -o "$work/probe" "$work/probe.c" >"$work/out" 2>&1 &&
    "$work/probe" >>"$work/out" 2>&1
}
# Lines are counted as well, where the compiler can.
counts=
can --coverage && counts=--coverage

# All of their types and operators are inlined: -O1 takes minutes a file, and calls that would tell
# what undefined behaviour was found a third of the time: it ends the program, and AddressSanitizer
# tells where.
traps="-fsanitize-undefined-trap-on-error"
loops="kernels/semiring/semiring_avx2.lo kernels/semiring/semiring_avx512.lo
  kernels/semiring/semiring_baseline.lo"
# build NAME FLAGS LIST: a build with these flags of the programs that the variable LIST has; of the
# same folder as another, where only LIST and --coverage differ.
build() {
  mkdir -p "$work/$1" || return 1
  cd "$work/$1" || return 1
  if [ ! -f config.status ]; then
    set -- "$1" "$2" "$3" "$([ ! -x "$build/config.status" ] || "$build/config.status" --config)"
    eval "\"$top/configure\" $4 --srcdir='$top'" \
      "CFLAGS='-g1 -O1' 'CC=$CC $2'" >configure.log 2>&1 || return 1
  fi
  find . -name '*.gcda' -exec rm -f {} +
  make -s Makefile >make.log 2>&1 && make -s print-programs LIST="$3" >programs &&
    { [ "$3" != SANITIZED_LOOPS ] ||
      make -s -k -j"$jobs" "CC=$CC $2 $traps" CFLAGS='-g1 -O0' $loops >>make.log 2>&1; } &&
    make -s -k -j"$jobs" "CC=$CC $2" $(cat programs) >>make.log 2>&1
}

# run PROGRAM: its lines are counted; what a sanitizer finds is one that fails.
run() {
  ASAN_OPTIONS=allocator_may_return_null=1:protect_shadow_gap=0:handle_sigill=1 \
    "./$1" >"$work/out" 2>&1
  status=$?
  passed=$((passed + $(grep -c '^ok' "$work/out")))
  skipped=$((skipped + $(grep -c '^skip' "$work/out")))
  bad=$(grep -c '^not ok' "$work/out")
  failed=$((failed + bad))
  if [ $status = 0 ] && ! grep -qE 'runtime error|Sanitizer:' "$work/out"; then
    ok "$2: $1"
  else
    not_ok "$2: $1 ends with $status"
  fi
}

# sanitize NAME FLAGS LIST WHAT
sanitize() {
  if ! can $2; then
    skip "$CC has no $4"
  elif ! build "$1" "$2 ${5:-}" "$3"; then
    cat "$work/$1/configure.log" "$work/$1/make.log" 2>/dev/null |
      grep -E 'error:|undefined reference|\*\*\*' >"$work/out"
    not_ok "the tests are built with $4"
  else
    for program in $(cat programs); do run "$program" "$4"; done
  fi
}

# Without CUDA and sanitizers; the loops of semirings take minutes to compile at -O1.
build_counted() {
  mkdir -p "$work/counted" && cd "$work/counted" || return 1
  [ -f config.status ] ||
    "$top/configure" --without-cuda --srcdir="$top" CFLAGS='-g1 -O0' "CC=$CC --coverage" \
      >configure.log 2>&1 || return 1
  find . -name '*.gcda' -exec rm -f {} +
  make -s -j"$jobs" CFLAGS='-g1 -O1' shunt >make.log 2>&1 &&
    make -s -j"$jobs" libshunt-graphblas.la >>make.log 2>&1 ||
    { cat configure.log make.log; return 1; }
}
# Few of the random products and changes: all of them run elsewhere.
run_counted() {
  env SHUNT="$work/counted/shunt" SHUNT_GRAPHBLAS_SO="$work/counted/.libs/libshunt-graphblas.so" \
    srcdir="$top" CC="$CC" COUNTS=1 PROPERTY_CASES=1500 LARGE_CASES=30 MUTATE_STEPS=2000 \
    THREAD_SECONDS=1 builddir="$work/counted" sh "$top/tests/$1"
}
count_more() {
  check "the command and the library for GraphBLAS are built with lines counted" build_counted
  cd "$work" || return
  for script in unit/tool/test_doctor unit/tool/test_inspect unit/tool/test_module \
    unit/tool/test_page unit/tool/test_report unit/tool/test_tool graphblas/run; do
    check "lines counted: tests/$script.sh" run_counted $script.sh
  done
}

coverage() {
  python3 "$top/tests/coverage.py" "$work/address" "$work/counted" >"$work/coverage" &&
    tail -1 "$work/coverage" | grep -q '^# [0-9.]* % of [1-9][0-9]* lines of host code'
}
# Of all that is counted; tests with GraphBLAS have their part in it.
nine_tenths_ran() { tail -1 "$work/coverage" | awk '{ print; exit $2 < 90 }'; }

export OMP_WAIT_POLICY=passive GCOV_ERROR_FILE=/dev/null UBSAN_OPTIONS=print_stacktrace=1
export SHUNT_FUZZ_STEPS="${SHUNT_FUZZ_STEPS:-20}"
export SHUNT_SRCDIR="$top"
sanitize address "-fsanitize=address,undefined -fno-sanitize-recover=all" SANITIZED_TESTS \
  "AddressSanitizer and UndefinedBehaviorSanitizer" "$counts"
if [ -z "$counts" ] || ! command -v gcov >/dev/null || ! command -v python3 >/dev/null; then
  skip "lines are counted by gcov and python3"
elif [ -f "$work/address/programs" ]; then
  count_more
  check "the lines that ran are counted" coverage
  tail -1 "$work/coverage"
  # Without CUDA the way of a cuSPARSE call is not there to run.
  [ -z "${GRAPHBLAS_LIBS:-}" ] || [ ! -f "${SHUNT_CUSPARSE_SO:-}" ] ||
    check "nine tenths of them ran" nine_tenths_ran
fi
if [ "${SHUNT_TEST_BUILDS:-}" = 1 ]; then
  sanitize address "-fsanitize=address,undefined -fno-sanitize-recover=all" SANITIZED_LOOPS \
    "AddressSanitizer and UndefinedBehaviorSanitizer"
  if can -fsanitize=thread; then
    check "ThreadSanitizer: the loops of semirings" \
      env CC="$CC" TMPDIR="$work" ONLY=loops sh "$top/tests/graphblas/sanitize.sh"
  else
    skip "$CC has no ThreadSanitizer"
  fi
else
  skip "SHUNT_TEST_BUILDS=1 asks for the loops of semirings"
fi
sanitize thread "-fsanitize=thread" THREADED_TESTS "ThreadSanitizer"
finish
