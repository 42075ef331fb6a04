#!/bin/sh
# lint.sh: clang-tidy (.clang-tidy) and cppcheck have nothing to say of the host code.
#
# Reads config.h of the build, and CUDA's headers.  A finding that is none is suppressed where it
# stands, with the reason; what no suppression at a place could tell:
#   invalidPointerCast   arrays of bytes are read as what they hold, whose type is known at run time
set -u
cd "${SHUNT_SRCDIR:-.}" || exit 2
build=$(dirname "${SHUNT:-./shunt}")
cuda=${CUDA_INCLUDE:-/usr/local/cuda/include}
jobs=$(nproc 2>/dev/null || echo 2)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. tests/checks.sh
sources() { find backend conv kernels -name '*.c'; }

# lint TOOL COMMAND...: standard output and errors hold no line "file:line: ...".
lint() {
  tool=$1
  shift
  if ! command -v "$tool" >/dev/null 2>&1; then
    skip "$tool is not installed"
    return
  fi
  "$@" >"$work/log" 2>&1
  grep -E '^[^ ]+:[0-9]+:' "$work/log" | sort -u >"$work/out"
  if [ -s "$work/out" ]; then
    not_ok "$tool finds nothing"
  elif ! grep -q '^done$' "$work/log"; then
    not_ok "$tool ends" "$work/log"
  else
    ok "$tool finds nothing in $(sources | wc -l) files"
  fi
}
tidy() {
  sources | xargs -P"$jobs" -n16 sh -c 'build=$1 cuda=$2; shift 2
    clang-tidy --quiet "$@" -- -std=gnu11 -I. -I"$build" -I"$cuda" -DHAVE_CONFIG_H \
      -DSHUNT_HAVE_CUDA -DPKGLIBDIR="\"/usr/lib/shunt\"" -fopenmp' sh "$build" "$cuda" &&
    echo 'done'
}
cpp() {
  cppcheck -j"$jobs" --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingInclude --suppress=invalidPointerCast -I. -I"$build" -D__x86_64__ \
    -DHAVE_CONFIG_H -DSHUNT_HAVE_CUDA '-DElfW(type)=Elf64_##type' '-DPKGLIBDIR="/usr/lib/shunt"' \
    --template='{file}:{line}: {severity} {id}: {message}' --file-filter='*.c' \
    backend conv kernels && echo 'done'
}

if [ -f "$build/config.h" ] && [ -f "$cuda/cuda_runtime_api.h" ]; then
  lint clang-tidy tidy
  lint cppcheck cpp
else
  skip "the host code is read with CUDA's headers, and a build without CUDA has none"
fi
finish
