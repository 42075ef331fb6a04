#!/bin/sh
# build_library.sh OUT [COMPILER FLAGS...]: libshunt-graphblas.so with the host engine alone, built
# by plain compiler calls with flags of one's own (sanitizers), from the lists in the local.mk's.
set -eu
out=$1
shift
top=$(cd "$(dirname "$0")/../.." && pwd)
# listed FOLDER LIST: the .c files of one list.
listed() {
  sed -n "/^$2 *=/,/[^\\\\]\$/p" "$top/$1/local.mk" | tr ' \\' '\n\n' | grep '\.c$' |
    sed "s,%D%,$1,"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in $(listed backend/graphblas GRAPHBLAS_SOURCES) \
  $(listed kernels/semiring SEMIRING_HOST) \
  $(listed kernels/semiring/masked SEMIRING_MASKED) \
  $(listed backend/options OPTION_SOURCES) $(listed backend/plan HOST_PLAN_SOURCES) \
  $(listed backend/plan libshunt_problem_la_SOURCES) $(listed backend/loader LOADER_SOURCES) \
  $(listed backend/routes NO_ROUTES_SOURCES) \
  backend/graphblas/library_loaded.c tests/graphblas/limit_loops.c; do
  object=$work/$(echo "$source" | tr / _).o
  # The inner loops are one source many times over, on which gcc may take minutes.
  case "$source $*" in
  *semiring_avx*address* | *semiring_baseline*address*) less=-O0 ;;
  *semiring_avx*) less=-O1 ;;
  *) less= ;;
  esac
  # shellcheck disable=SC2086
  ${CC:-cc} -std=gnu11 -g -O2 -fPIC -fvisibility=hidden -fopenmp "$@" $less -I"$top" \
    -c "$top/$source" -o "$object" || exit 1
done
${CC:-cc} -shared -fopenmp "$@" -o "$out" "$work"/*.o \
  -Wl,--version-script="$top/backend/graphblas/exports.map" -lm -ldl -lpthread
