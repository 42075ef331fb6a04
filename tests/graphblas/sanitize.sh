#!/bin/sh
# sanitize.sh [SECONDS [CASES]]: the library and the host engine under ThreadSanitizer (the engine's
# unit tests, and threads.c for SECONDS, default 300), Address- and UndefinedBehaviorSanitizer
# (property.c, CASES random products, default 50000, and threads.c), and valgrind (a short property
# run; no leak may have the library in its stack).  Only the first part: ONLY=loops, a minute of one
# processor, without GraphBLAS; only threads.c: ONLY=threads.
#
# The loops inside a call: the products under a sparse mask and steps of searches by their unit
# tests, on omp_threads.c in libgomp's place, whose barriers ThreadSanitizer does not see.  Calls
# from several threads at once: threads.c, where GraphBLAS and libgomp are not instrumented, so
# every thread runs its parallel regions alone (OMP_NUM_THREADS=1).
set -u
seconds=${1:-300}
cases=${2:-50000}
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
passed=0
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}
programs="case compare operand own_malloc original seen semiring side spoil tolerance types"

# build NAME FLAGS...: $work/NAME/{libshunt-graphblas.so,property,threads}
build() {
  name=$1
  shift
  mkdir -p "$work/$name"
  sh "$here/build_library.sh" "$work/$name/libshunt-graphblas.so" \
    -Wl,-soname,libshunt-graphblas.so "$@" || return 1
  for program in property threads mutate; do
    sources=$here/$program.c
    for s in $programs; do sources="$sources $here/$s.c"; done
    ${CC:-cc} -std=gnu11 -g -O1 "$@" ${GRAPHBLAS_CPPFLAGS:-} -o "$work/$name/$program" $sources \
      -Wl,--no-as-needed -L"$work/$name" -lshunt-graphblas -Wl,-rpath,"$work/$name" \
      ${GRAPHBLAS_LIBS:--lgraphblas} -lm -ldl -lpthread || return 1
  done
}
# check NAME COMMAND...: the command succeeds and no sanitizer has found anything (that there is no
# memory for a product which asks for 8 TB is no finding).
check() {
  name=$1
  shift
  if "$@" >"$work/out" 2>&1 && ! grep -v 'failed to allocate' "$work/out" |
    grep -q -E 'Sanitizer|runtime error'; then
    echo "ok - $name: $(grep '^ok' "$work/out" | head -1 | cut -c6-)"
    passed=$((passed + 1))
  else
    echo "not ok - $name"
    grep -v '^ok' "$work/out" | head -60 | sed 's/^/#   /'
    failed=$((failed + 1))
  fi
}

# compile OBJECT SOURCE FLAGS...
compile() {
  object=$1
  source=$2
  shift 2
  ${CC:-cc} -std=gnu11 -g -I"$top" "$@" -c "$top/$source" -o "$work/loops/$object"
}
# Tests and twins have one thread and do most of the work: they are not instrumented.
instrument() { compile "$@" -fsanitize=thread; }
# loops: $work/loops/{race,test_semiring_*}, on omp_threads.c
loops() {
  mkdir -p "$work/loops/kernels"
  instrument omp.o tests/graphblas/omp/omp_threads.c -O1 || return 1
  instrument race.o tests/graphblas/omp/omp_race.c -O1 -fopenmp || return 1
  ${CC:-cc} -fsanitize=thread -o "$work/loops/race" "$work/loops/race.o" "$work/loops/omp.o" \
    -lpthread || return 1
  for source in "$top"/kernels/semiring/*.c "$top"/kernels/semiring/*/*.c; do
    case $source in
    *_twin.c) how="compile -O2" ;;
    *semiring_avx* | *semiring_baseline*) how="instrument -O0" ;;
    *) how="instrument -O1" ;;
    esac
    ${how% *} "kernels/$(basename "$source").o" "${source#"$top"/}" "${how#* }" -fopenmp || return 1
  done
  for test in masked frontier sddmm; do
    wrap=
    [ $test != frontier ] || wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=free
    compile $test.o tests/unit/semiring/test_semiring_$test.c -O2 || return 1
    ${CC:-cc} -fsanitize=thread $wrap -o "$work/loops/test_semiring_$test" "$work/loops/$test.o" \
      "$work/loops"/kernels/*.o "$work/loops/omp.o" -lm -lpthread || return 1
  done
}
# On a busy machine threads may follow each other, and then do not race.
found() {
  for _ in 1 2 3 4 5; do
    "$@" 2>&1 | grep -q 'ThreadSanitizer: data race' && return
  done
  return 1
}

export SHUNT_ROUTES=host
if [ "${ONLY:-loops}" = loops ]; then
  if loops >"$work/log" 2>&1; then
    check "ThreadSanitizer finds a loop that races" found "$work/loops/race"
    check "and none that does not" "$work/loops/race" apart
    for test in masked frontier sddmm; do
      TSAN_OPTIONS=allocator_may_return_null=1 \
        check "ThreadSanitizer, test_semiring_$test" "$work/loops/test_semiring_$test" 60
    done
  else
    check "build the kernels with ThreadSanitizer" sh -c "cat '$work/log'; false"
  fi
  [ -z "${ONLY:-}" ] || finish
fi
if build thread -fsanitize=thread; then
  OMP_NUM_THREADS=1 TSAN_OPTIONS="halt_on_error=0 suppressions=$here/tsan.supp" \
    check "ThreadSanitizer, threads" "$work/thread/threads" --pool 0 --seconds "$seconds"
else
  check "build with ThreadSanitizer" false
fi
[ -z "${ONLY:-}" ] || finish
if build address -fsanitize=address,undefined -fno-sanitize-recover=undefined; then
  export ASAN_OPTIONS=detect_leaks=0:handle_segv=0:allocator_may_return_null=1
  export UBSAN_OPTIONS=print_stacktrace=1
  check "Address and UB, property" "$work/address/property" --cases "$cases" --taken 33
  for loops in 0 1; do # of the baseline, of AVX2: what has run is this machine's best
    SHUNT_LOOPS=$loops check "Address and UB, property, loops $loops" "$work/address/property" \
      --cases $((cases / 5)) --seed $((10 + loops)) --taken 33
  done
  check "Address and UB, large" "$work/address/property" --cases 100 --large --taken 33
  check "Address and UB, mutate" "$work/address/mutate" --steps 20000
  check "Address and UB, threads" "$work/address/threads" --seconds 10
else
  check "build with AddressSanitizer" false
fi
if command -v valgrind >/dev/null && build plain; then
  OMP_NUM_THREADS=2 valgrind --leak-check=full --show-leak-kinds=definite,indirect \
    --num-callers=40 --log-file="$work/valgrind" "$work/plain/property" --cases 400 \
    >"$work/out" 2>&1
  # Records of what lies in the library: leaks and bad accesses alike.
  awk -v RS='\n==[0-9]+== \n' '/libshunt-graphblas|backend\/graphblas|kernels\/semiring/ &&
    /lost|Invalid|uninitialised/' "$work/valgrind" >"$work/records"
  check "valgrind finished" grep -q 'ERROR SUMMARY' "$work/valgrind"
  check "valgrind: $(grep -c . "$work/records") lines about the library" test ! -s "$work/records"
  [ ! -s "$work/records" ] || head -60 "$work/records" | sed 's/^/#   /'
else
  echo "skip - no valgrind"
fi
finish
