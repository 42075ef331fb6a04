#!/bin/sh
# graphblas.sh: every way a program can come to GraphBLAS, with the installed library.
#
#   CC, GRAPHBLAS_CPPFLAGS, GRAPHBLAS_LIBS, OPENMP_CFLAGS   as configure found them
#   SHUNT_GRAPHBLAS_SO, SHUNT_GRAPHBLAS_A   the built libraries
#   SHUNT       the shunt command; unset: it is not tried
#   builddir    scratch files go to a folder in it, removed at the end (TMPDIR)
#   KEEP        set: leave the scratch files
set -u

CC=${CC:-cc}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
so=$SHUNT_GRAPHBLAS_SO
archive=${SHUNT_GRAPHBLAS_A:-}
shunt=${SHUNT:-}
builddir=${builddir:-${TMPDIR:-/tmp}}
mkdir -p "$builddir" || exit 2
work=$(mktemp -d "$(cd "$builddir" && pwd)/graphblas.XXXXXX") || exit 2
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
unset LD_PRELOAD SHUNT_FAULT SHUNT_ROUTES SHUNT_LOG SHUNT_LOG_FILE SHUNT_REPORT
cd "$work" || exit 2

. "$here/../checks.sh"

# ---- building --------------------------------------------------------------------

compile() {
  # shellcheck disable=SC2086
  $CC -O2 -g -std=gnu11 -Wall -Wextra -Werror -fPIC -I"$here" ${GRAPHBLAS_CPPFLAGS:-} "$@"
}
graphblas=${GRAPHBLAS_LIBS:--lgraphblas}
relink="-L$(dirname "$so") -Wl,-rpath,$(dirname "$so") -lshunt-graphblas"

# A second copy of the library under another name, as in a wheel: the name that it has
# in its own file is as long.
second_copy() {
  path=$(ldd ./linked | awk '/libgraphblas\.so/ { print $3 }') && name=$(basename "$path") &&
    other=$(echo "$name" | sed 's/graphblas/graphblaz/') &&
    LC_ALL=C sed "s/libgraphblas\.so/libgraphblaz.so/g" "$path" >"$other" &&
    compile -shared -o other.so "$here/graphblas_extension.c" "./$other" "-Wl,-rpath,$work" &&
    compile -shared -o own.so "$here/graphblas_extension.c" -DOWN "./$other" "-Wl,-rpath,$work"
}
build_all() {
  # shellcheck disable=SC2086
  compile -o linked "$here/graphblas_linked.c" $graphblas -ldl &&
    compile -o relinked "$here/graphblas_linked.c" $relink $graphblas -ldl &&
    compile -o wrapped "$here/graphblas_linked.c" -Wl,--wrap=GrB_mxm $relink $graphblas -ldl &&
    compile -o driver "$here/graphblas_driver.c" -ldl &&
    compile -shared -o returns.so "$here/graphblas_returns.c" -ldl &&
    compile -o pages "$here/graphblas_pages.c" $graphblas &&
    compile -o startup "$here/graphblas_startup.c" $graphblas &&
    compile -I"$here/../.." -o loaded "$here/graphblas_loaded.c" -ldl &&
    compile -I"$here/../.." -DSHUNT_WITHOUT_FIND_OBJECT -o loaded_old \
      "$here/graphblas_loaded.c" -ldl &&
    compile -shared -o extension.so "$here/graphblas_extension.c" $graphblas &&
    second_copy
}
# The archive cannot hold GrB_mxm itself, only its wrapper.
build_archived() {
  # shellcheck disable=SC2086
  compile -o archived "$here/graphblas_linked.c" -Wl,--wrap=GrB_mxm,--wrap=GxB_init "$archive" \
    $graphblas ${OPENMP_CFLAGS:--fopenmp} -lm -ldl -lpthread
}

# ---- running ---------------------------------------------------------------------

# taken N VARIABLE=... COMMAND...: runs well, and N products were taken.
taken() {
  expected=$1
  shift
  rm -f report
  env SHUNT_REPORT="$work/report" SHUNT_ROUTES=all "$@" || return 1
  got=$(awk -F '\t' '$1 ~ /^GrB_/ && $2 != "original" { n += $4 } END { print n + 0 }' report \
    2>/dev/null || echo 0)
  [ "$got" = "$expected" ] && return 0
  echo "$got products taken instead of $expected"
  cat report
  return 1
}
preload=LD_PRELOAD=$so
fails() { ! "$@"; }
# ends STATUS TEXT COMMAND...: the status, and the text on standard error.
ends() {
  status=$1 text=$2
  shift 2
  "$@" 2>err
  got=$?
  cat err
  [ $got = "$status" ] && grep -q -F -e "$text" err
}

# Same status, same output, nothing reported.
same_with_preload() {
  rm -f report
  "$@" >plain 2>&1
  status=$?
  env "$preload" SHUNT_REPORT="$work/report" SHUNT_LOG=dispatch "$@" >preloaded 2>&1
  [ $? = $status ] && cmp plain preloaded && [ ! -e report ]
}

# Every failure of Shunt's own ends in a right result.
every_fault() {
  seen=$(env "$preload" SHUNT_FAULT=0 SHUNT_REPORT="$work/faults" ./linked >/dev/null &&
    awk '/faults seen/ { print $4 }' faults)
  [ "${seen:-0}" -gt 20 ] || { echo "only ${seen:-0} places to fail"; return 1; }
  n=1
  while [ $n -le "$seen" ]; do
    env "$preload" SHUNT_FAULT=$n ./linked || { echo "fault $n of $seen"; return 1; }
    n=$((n + 1))
  done
}

# The least of several runs: what else runs here lengthens single ones.
least_of() {
  n=0
  while [ $n -lt 15 ]; do
    env "$@" OMP_NUM_THREADS=1 ./startup || return 1
    n=$((n + 1))
  done | sort -n | head -1
}
start_up() {
  without=$(least_of NOTHING=) && with=$(least_of "$preload") || return 1
  echo "$with us with Shunt, $without without, limit $1 more"
  [ $((with - without)) -le "$1" ]
}

if ! build_all >out 2>&1; then
  not_ok "the programs are built"
  echo "0 passed, 1 failed"
  exit 1
fi

check "program linked to GraphBLAS" taken 3 "$preload" ./linked
check "without Shunt" ./linked
check "SHUNT_ROUTES=none: nothing taken" taken 0 "$preload" SHUNT_ROUTES=none ./linked
check "SHUNT_DISABLE=1: nothing taken" taken 0 "$preload" SHUNT_DISABLE=1 ./linked
check "SHUNT_DISABLE=1: nothing reported" [ ! -e report ]
check "SHUNT_DISABLE=1: a program's own allocator" taken 0 \
  "$preload" SHUNT_DISABLE=1 ./linked malloc
check "SHUNT_DISABLE=1: two copies" taken 0 \
  "$preload" SHUNT_DISABLE=1 ./driver ./extension.so ./other.so
check "SHUNT_DISABLE=1: GraphBLAS returns to the program" env LD_PRELOAD="$so:./returns.so" \
  SHUNT_DISABLE=1 ./linked
check "while Shunt is on, it does not" fails env LD_PRELOAD="$so:./returns.so" SHUNT_ROUTES=none \
  ./linked
if [ -n "$shunt" ]; then
  export SHUNT_LIBDIR="$(dirname "$so")"
  check "shunt run --strict --require host" env SHUNT_ROUTES=host \
    "$shunt" run --strict --require host ./linked
  check "... is not met by another engine" ends 123 "no call ran on cuda" env SHUNT_ROUTES=host \
    "$shunt" run --require cuda ./linked
  check "... nor by declined calls" ends 123 "GrB_mxm was left to the original" \
    env SHUNT_ROUTES=none "$shunt" run --strict ./linked
fi
check "GrB_mxm by the library's handle: not seen, works" taken 0 "$preload" ./linked handle
check "a program's own allocator" taken 3 "$preload" ./linked malloc
check "before GrB_init: the original's error" taken 0 "$preload" ./linked early
check "extension, RTLD_LOCAL (Python)" taken 3 "$preload" ./driver ./extension.so
check "two copies, each with its own products" taken 6 "$preload" ./driver ./extension.so ./other.so
check "two copies, the second's allocator its own" taken 6 \
  "$preload" ./driver ./extension.so ./own.so
check "relinked with -lshunt-graphblas -lgraphblas" taken 3 ./relinked
check "relinked, own allocator" taken 3 ./relinked malloc
check "linked with -Wl,--wrap=GrB_mxm" taken 3 ./wrapped
if [ -n "$archive" ] && build_archived >out 2>&1; then
  check "linked with the archive and --wrap" taken 3 ./archived
  check "the archive, own allocator" taken 3 ./archived malloc
elif [ -n "$archive" ]; then
  not_ok "linking with the archive"
fi
check "every fault of Shunt's own leaves the result right" every_fault

check "objects are found as dladdr finds them" ./loaded
check "so they are without _dl_find_object" ./loaded_old
check "pages of code that share a place are no slower" env "$preload" ./pages
check "a process starts and ends within 5 ms more" start_up 5000

check "/bin/true is not changed" same_with_preload /bin/true
check "python3 is not changed" same_with_preload python3 -c 'import json; print(json.dumps([1, 2]))'
check "git is not changed" same_with_preload git -C "$here" rev-parse --show-toplevel

needs_only_libc() {
  readelf -d "$so" | awk '/NEEDED/ { print $NF }' |
    grep -Ev 'lib(c|m|dl|rt|pthread|gomp)\.so|ld-linux' |
    if read -r more; then echo "also needs $more"; false; fi
}
check "nothing needed but libc's family and libgomp" needs_only_libc
no_references() { ! nm -D --undefined-only "$so" | grep -E ' (w|U|v) (GrB|GxB|GB)_'; }
check "no reference to a symbol of GraphBLAS" no_references
no_versions() { ! readelf -V "$so" | grep -q 'Version definition'; }
check "no versions of its own" no_versions
only_theirs() {
  ! nm -D --defined-only "$so" | grep -Ev ' (GrB_|GxB_|__wrap_G|shunt_options_warned$)'
}
check "no other name is shown" only_theirs

finish
