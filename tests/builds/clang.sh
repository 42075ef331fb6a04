#!/bin/sh
# clang.sh: the host code builds with clang, warnings as errors, and its inner loops are right.
# -Wno-pass-failed: clang vectorizes fewer loops than gcc, and says so.  -ffp-contract=fast: as gcc
# has it; sums of groups of rows are compared bit by bit with those of one row.
. "${SHUNT_SRCDIR:-.}/tests/builds/build.sh"
command -v clang >/dev/null 2>&1 || skip "clang is not installed"
tests="tests/unit/semiring/test_semiring_spmm tests/unit/semiring/test_semiring_sddmm
  tests/unit/semiring/test_semiring_masked tests/unit/semiring/test_semiring_bundles
  tests/unit/csr/test_csr_host_spmm tests/unit/conv/test_read tests/unit/tool/test_bench_blocks"
check "configure" "$top/configure" --without-cuda CC="${cache}clang" CXX="${cache}clang++" \
  CFLAGS="-O2 -Werror -Wno-pass-failed -ffp-contract=fast"
check "every library and program" make -j"$jobs" all
# shellcheck disable=SC2086
check "tests" make -j"$jobs" $tests
for name in $tests; do
  check "$(basename "$name")" "./$name"
done
finish
