#!/bin/sh
# support.sh LIBRARY: prints, as JSON, which products of GraphBLAS the preload LIBRARY takes
# (support.c).  Exit status 77 where GraphBLAS 7 is not installed: other versions give results other
# forms, and the tables are of 7.
#
#   CC, GRAPHBLAS_CPPFLAGS, GRAPHBLAS_LIBS   compiler, where GraphBLAS is (-lgraphblas)
set -u
[ $# = 1 ] && [ -f "$1" ] || { echo "usage: support.sh LIBRARY" >&2; exit 2; }
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset SHUNT_ROUTES SHUNT_REPORT SHUNT_CONFIG SHUNT_DISABLE SHUNT_FAULT
# shellcheck disable=SC2086
compile() {
  ${CC:-cc} -O2 -std=gnu11 ${GRAPHBLAS_CPPFLAGS:-} -I"$here/../.." -o "$work/$1" "$2" $3 \
    ${GRAPHBLAS_LIBS:--lgraphblas} -ldl
}
printf '#include <GraphBLAS.h>\n%s\n' \
  'int main(void) { return !(GxB_IMPLEMENTATION_MAJOR == 7 && !GrB_init(GrB_NONBLOCKING)); }' \
  >"$work/probe.c"
compile probe "$work/probe.c" "" >/dev/null 2>&1 && "$work/probe" || exit 77
compile support "$here/support.c" "$here/../../backend/tool/support/support_table.c" || exit 1
: >"$work/log"
LD_PRELOAD=$library SHUNT_LOG=dispatch SHUNT_LOG_FILE=$work/log "$work/support" "$work/log"
