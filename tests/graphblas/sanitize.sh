#!/bin/sh
# sanitize.sh [SECONDS [CASES]]: the library and the host engine under ThreadSanitizer (threads.c
# for SECONDS, default 300), Address- and UndefinedBehaviorSanitizer (property.c, CASES random
# products, default 50000, and threads.c), and valgrind (a short property run; no leak may have
# the library in its stack).
#
# GraphBLAS itself and libgomp are not instrumented.  ThreadSanitizer does not see libgomp's
# barriers, so with it every user thread runs its parallel regions alone (OMP_NUM_THREADS=1):
# what is tested is calls from several threads at once, not the loops inside a call.
set -u
seconds=${1:-300}
cases=${2:-50000}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
passed=0
programs="case compare operand own_malloc original seen semiring side spoil tolerance types"

# build NAME FLAGS...: $work/NAME/{libshunt-graphblas.so,property,threads}
build() {
  name=$1
  shift
  mkdir -p "$work/$name"
  sh "$here/build_library.sh" "$work/$name/libshunt-graphblas.so" -Wl,-soname,libshunt-graphblas.so "$@" || return 1
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
  if "$@" >"$work/out" 2>&1 && ! grep -v 'failed to allocate' "$work/out" | grep -q -E 'Sanitizer|runtime error'; then
    echo "ok - $name: $(grep '^ok' "$work/out" | head -1 | cut -c6-)"
    passed=$((passed + 1))
  else
    echo "not ok - $name"
    grep -v '^ok' "$work/out" | head -60 | sed 's/^/#   /'
    failed=$((failed + 1))
  fi
}

export SHUNT_ROUTES=host
if build thread -fsanitize=thread; then
  OMP_NUM_THREADS=1 TSAN_OPTIONS="halt_on_error=0 suppressions=$here/tsan.supp" \
    check "ThreadSanitizer, threads" "$work/thread/threads" --pool 0 --seconds "$seconds"
else
  check "build with ThreadSanitizer" false
fi
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
    --num-callers=40 --log-file="$work/valgrind" "$work/plain/property" --cases 400 >"$work/out" 2>&1
  # Records of what lies in the library: leaks and bad accesses alike.
  awk -v RS='\n==[0-9]+== \n' '/libshunt-graphblas|backend\/graphblas|kernels\/host/ && /lost|Invalid|uninitialised/' \
    "$work/valgrind" >"$work/records"
  check "valgrind finished" grep -q 'ERROR SUMMARY' "$work/valgrind"
  check "valgrind: $(grep -c . "$work/records") lines about the library" test ! -s "$work/records"
  [ ! -s "$work/records" ] || head -60 "$work/records" | sed 's/^/#   /'
else
  echo "skip - no valgrind"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
