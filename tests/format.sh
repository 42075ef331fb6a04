#!/bin/sh
# format.sh [TOP]: every C and CUDA file is as clang-format 14 and .clang-format have it.
# Other versions of clang-format differ in details; without version 14 this says so and passes.
cd "${SHUNT_SRCDIR:-${1:-.}}" || exit 2
format=
for name in clang-format-14 clang-format; do
  if "$name" --version 2>/dev/null | grep -q 'version 14\.'; then format=$name && break; fi
done
if [ -z "$format" ]; then
  echo "skip - clang-format 14 is not installed"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
bad=0
good=0
for file in $(find backend conv kernels tests \( -name '*.c' -o -name '*.h' -o -name '*.cu' \
  -o -name '*.cuh' -o -name '*.cpp' \) | sort); do
  case $file in
  backend/graphblas/epoch/mutators.h) continue ;; # made by list_mutators.py
  esac
  if "$format" --dry-run -Werror "$file" 2>/dev/null; then
    good=$((good + 1))
  else
    bad=$((bad + 1))
    echo "not ok - $file: $format -i $file"
  fi
done
echo "ok - $good files are formatted"
echo "$((good > 0)) passed, $bad failed"
[ "$bad" = 0 ]
