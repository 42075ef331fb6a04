#!/bin/sh
# build_library.sh OUT [COMPILER FLAGS...]: libshunt-graphblas.so with the host engine alone, built
# by plain compiler calls with flags of one's own (sanitizers), from the lists in Makefile.am.
set -eu
out=$1
shift
top=$(cd "$(dirname "$0")/../.." && pwd)
# The .c files of one list.
listed() {
  sed -n "/^$1 *=/,/[^\\\\]\$/p" "$top/Makefile.am" | tr ' \\' '\n\n' | grep '\.c$'
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in $(listed GRAPHBLAS_SOURCES) $(cd "$top" && ls kernels/semiring/*.c) $(listed HOST_PLAN_SOURCES) \
  $(listed libshunt_problem_la_SOURCES) $(listed LOADER_SOURCES) \
  backend/graphblas/library_loaded.c tests/graphblas/limit_loops.c; do
  object=$work/$(echo "$source" | tr / _).o
  # The inner loops are one source many times over, on which gcc may take minutes.
  case "$source $*" in
  *semiring/avx*address* | *semiring/baseline*address*) less=-O0 ;;
  *semiring/avx*) less=-O1 ;;
  *) less= ;;
  esac
  # shellcheck disable=SC2086
  ${CC:-cc} -std=gnu11 -g -O2 -fPIC -fvisibility=hidden -fopenmp "$@" $less -I"$top" \
    -c "$top/$source" -o "$object" || exit 1
done
${CC:-cc} -shared -fopenmp "$@" -o "$out" "$work"/*.o \
  -Wl,--version-script="$top/backend/graphblas/exports.map" -lm -ldl -lpthread
