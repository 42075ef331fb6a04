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
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
# All but what list_mutators.py makes.
find backend conv kernels tests \( -name '*.c' -o -name '*.h' -o -name '*.cu' \
  -o -name '*.cuh' -o -name '*.cpp' \) ! -path backend/graphblas/epoch/mutators.h |
  sort >"$work/files"
# Many at once, as clang-format takes longer to start than to read one; what it says names them.
xargs -n 50 "$format" --dry-run -Werror <"$work/files" >"$work/said" 2>&1
status=$?
bad=$(sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: .*/\1/p' "$work/said" | sort -u)
good=$(($(wc -l <"$work/files") - $(echo "$bad" | grep -c .)))
if [ $status != 0 ] && [ -z "$bad" ]; then
  cat "$work/said"
  bad="what $format read"
fi
[ -z "$bad" ] || echo "$bad" | sed "s|.*|not ok - &: $format -i &|"
echo "ok - $good files are formatted"
echo "$((good > 0)) passed, $(echo "$bad" | grep -c .) failed"
[ -z "$bad" ]
