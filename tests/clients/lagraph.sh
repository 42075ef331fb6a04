#!/bin/sh
# lagraph.sh FOLDER [TESTS]: LAGraph's own tests, plain and under the preload: the same outcomes.
#
#   FOLDER               where LAGraph was built by cmake against the GraphBLAS installed
#   TESTS                a regular expression of ctest's; all without
#   SHUNT_GRAPHBLAS_SO   the library to preload
#   LAGRAPH_ROUNDS       times each, in turns (1); the least CPU time of each is told
#
# LAGraph 1.1.4 and 1.1.5 build against Debian's GraphBLAS with
# -DGRAPHBLAS_LIBRARY=.../libgraphblas.so and -DGRAPHBLAS_INCLUDE_DIR=/usr/include.
set -u
folder=${1:-}
library=${SHUNT_GRAPHBLAS_SO:-}
if [ -z "$folder" ] || [ ! -f "$folder/CTestTestfile.cmake" ]; then
  echo "skip - no folder in which LAGraph was built"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
if [ ! -f "$library" ]; then
  echo "skip - SHUNT_GRAPHBLAS_SO names no library"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
library=$(cd "$(dirname "$library")" && pwd)/$(basename "$library")
work=$(mktemp -d "${TMPDIR:-/tmp}/lagraph.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# run NAME [VARIABLE=VALUE]: each test's outcome to NAME.outcomes, seconds to NAME.seconds.  The
# preload is for the tests, not for ctest: they are started through the environment all the same.
run() {
  name=$1
  shift
  (cd "$folder" && env "$@" ctest ${tests:+-R "$tests"} 2>&1; times) >"$work/$name.log"
  sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\) [.]*\**\(.*\) [0-9.]* sec.*/\1 \2/p' \
    "$work/$name.log" | tr -d ' ' | sort >"$work/$name.outcomes"
  # The last line of `times`: user and system time of all that was started, 0m0.00s 0m0.00s.
  tail -1 "$work/$name.log" | tr 'ms' '  ' | awk '{ print 60 * ($1 + $3) + $2 + $4 }' \
    >>"$work/$name.seconds"
}

tests=${2:-}
round=0
while [ $round -lt "${LAGRAPH_ROUNDS:-1}" ]; do
  run plain LD_PRELOAD=
  run preloaded LD_PRELOAD="$library"
  round=$((round + 1))
done
count=$(wc -l <"$work/plain.outcomes")
least() { sort -n "$work/$1.seconds" | head -1; }
echo "# $count tests, CPU time $(least plain) s plain, $(least preloaded) s preloaded"
if [ "$count" -gt 0 ] && cmp -s "$work/plain.outcomes" "$work/preloaded.outcomes"; then
  echo "ok - LAGraph's tests end as without the preload"
  echo "1 passed, 0 failed"
  exit 0
fi
echo "not ok - LAGraph's tests end differently"
diff "$work/plain.outcomes" "$work/preloaded.outcomes" | sed 's/^/#   /'
echo "0 passed, 1 failed"
exit 1
