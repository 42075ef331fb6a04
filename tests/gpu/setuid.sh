#!/bin/sh
# setuid.sh LIBRARY CUDA: a setuid program on a GPU, linked to libshunt-cusparse.so, as LD_PRELOAD
# does not reach one.  Its results are right, and no file is made that the environment names.
#
# Compiled here, as such a program finds its libraries by paths within it alone.
set -u
library=$1 cuda=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$top/tests/checks.sh"

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(id -u)" != 0 ] || ! as_nobody true 2>/dev/null || ! command -v "${CC:-cc}" >/dev/null; then
  skip "needs root, setpriv and a compiler"
  finish
fi
cp "$library" "$work/libshunt-cusparse.so" && chmod 755 "$work" && cd "$work" || exit 2

build() {
  ${CC:-cc} -O1 -std=gnu11 -I"$top" -I"$cuda/include" -o program "$top/tests/clients/petsc_loop.c" \
    -Wl,--no-as-needed ./libshunt-cusparse.so -L"$cuda/lib64" -lcusparse -lcudart -ldl -lm \
    -lpthread -Wl,--disable-new-dtags,-rpath,"$work:$cuda/lib64"
}
# multiplies [AS]: the program, with variables that name files in a folder that all may write.
multiplies() {
  rm -rf named && mkdir named && chmod 777 named || return
  "$@" env SHUNT_REPORT="$work/named/report" SHUNT_LOG=dispatch SHUNT_LOG_FILE="$work/named/log" \
    SHUNT_TUNE=1 SHUNT_TUNE_FILE="$work/named/tune" ./program mesh:24x3 -n 32 -t f32
}
reported() { multiplies && cat named/report && grep -q '^cusparseSpMM.*csr' named/report; }
silent() { multiplies as_nobody && ls named && [ -z "$(ls named)" ]; }
preloads() { "$@" env LD_PRELOAD=/none/such.so ./program 2>&1 | grep -q 'cannot be preloaded'; }
secure() { preloads && ! preloads as_nobody; }

check "it builds" build
check "linked to Shunt: its products are taken, which the report says" reported
chown 0:0 program && chmod 4755 program
check "setuid: the loader takes it for one" secure
check "setuid: results are right, and no file is made" silent
finish
