#!/bin/sh
# run.sh: the kernels' tests (tests/gpu) on the CPU, by the emulator; and the emulator's own.
#
#   CXX, CC, MAKE, PYTHON   compilers, GNU make, python3
#   builddir       objects and programs go to builddir/emulated, and stay there (TMPDIR)
#   SEEDS          the orders of threads and blocks that each test runs with ("1"; of one's own: "1 2")
#   TESTS          which of tests/gpu (all that are listed below)
#   JOBS           how many compile, and run, beside each other (as many as there are processors)
#   TEST_SECONDS   of one run of one test, at most (1500)
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
top=$(cd "$here/../.." && pwd) || exit 2
CXX=${CXX:-g++}
CC=${CC:-gcc}
MAKE=${MAKE:-make}
PYTHON=${PYTHON:-python3}
builddir=${builddir:-${TMPDIR:-/tmp}}
seeds=${SEEDS:-1}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p "$builddir/emulated" || exit 2
work=$(cd "$builddir/emulated" && pwd) || exit 2
rm -rf "$work/logs"
mkdir "$work/logs" || exit 2

passed=0
failed=0
skipped=0
ok() { passed=$((passed + 1)); echo "ok - $1"; }
not_ok() {
  failed=$((failed + 1))
  echo "not ok - $1"
  [ ! -s "$2" ] || grep -v '^ok' "$2" | head -40 | cut -c1-500 | sed 's/^/#   /'
}
skip() { skipped=$((skipped + 1)); echo "skip - $1"; }
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] || exit 1
  exit 0
}

# ---- what each test is made of -------------------------------------------------------------------
vector="kernels/vector/vector_csr_spmm.cu kernels/vector/vector_csr_spmm_bf16.cu kernels/vector/vector_csr_spmm_f16.cu
  kernels/vector/vector_csr_spmm_f32.cu kernels/vector/vector_csr_spmm_f64.cu"
csr="kernels/csr/csr_spmm.cu kernels/csr/csr_spmm_bf16.cu kernels/csr/csr_spmm_f16.cu
  kernels/csr/csr_spmm_f32.cu kernels/csr/csr_spmm_f64.cu kernels/csr/csr_spmm_i8.cu"
sddmm="kernels/csr/csr_sddmm_operands.cu kernels/csr/csr_sddmm_panel.cu kernels/csr/csr_sddmm_rows.cu
  kernels/dense/dense_sddmm_sample.cu kernels/vector/vector_csr_sddmm.cu kernels/guard/combine.cu"
packed="kernels/vector/vector_packed_spmm.cu kernels/vector/vector_packed_spmm_bf16.cu kernels/vector/vector_packed_spmm_f16.cu kernels/vector/vector_packed_spmm_tf32.cu
  kernels/common/tensor_map.cu kernels/vector/host_vector_packed_spmm.c"
dcsr="conv/dcsr/dcsr_layout.c conv/dcsr/dcsr_check.c conv/dcsr/host_dcsr_from_csr.c conv/dcsr/dcsr_hardware_model.c"
tile="conv/tile/tile_from_csr.cu conv/tile/tile_layout.c conv/tile/host_tile_from_csr.c conv/tile/host_tile_order.c conv/tile/host_tile_to_csr.c"
ablation="tests/bench/ablation/vector_fpu.cu tests/bench/ablation/vector_wmma.cu"
attention="kernels/vector/attention/attention.cu kernels/vector/attention/attention_f16.cu
  kernels/vector/attention/attention_bf16.cu kernels/vector/attention/host_attention.c
  kernels/vector/attention/host_attention_parallel.c"
parts="kernels/vector/attention/attention_sddmm.cu kernels/vector/attention/attention_softmax.cu kernels/vector/attention/host_attention_sddmm.c
  kernels/vector/attention/host_attention_softmax.c"
native="backend/native/cuda_engine.c backend/native/pack.c backend/native/operands.c
  backend/native/spmm.c backend/native/sddmm.c backend/native/softmax.c backend/native/attention.c
  backend/native/host_engine.c backend/plan/fault.c"
sources_of() {
  case $1 in
  test_ablation) echo "$ablation $packed kernels/common/dense_copy.cu conv/vector/host_vector_from_csr.c" ;;
  test_attention) echo "$attention conv/vector/host_vector_from_csr.c" ;;
  test_attention_parts) echo "$parts conv/vector/host_vector_from_csr.c" ;;
  test_native_gpu)
    echo "$native $attention $parts $packed conv/vector/host_vector_from_csr.c conv/vector/vector_from_csr.cu" \
      "kernels/common/dense_copy.cu" ;;
  test_dcsr_format)
    echo "conv/dcsr/dcsr_from_csr.cu conv/common/sort.cu conv/dcsr/dcsr_layout.c conv/dcsr/dcsr_check.c" \
      "conv/dcsr/host_dcsr_from_csr.c" ;;
  test_graphblas_gpu)
    echo "$csr kernels/common/dense_copy.cu backend/graphblas/gpu/fill.cu" \
      $(cd "$top" && find backend/graphblas/gpu -name '*.c' && ls backend/options/*.c kernels/semiring/*.c) \
      "backend/plan/fault.c backend/plan/log.c backend/plan/batches.c" \
      "backend/plan/problem.c backend/plan/reason.c backend/routes/no_routes.c" ;;
  test_bundle_spmm | test_bundle_stale)
    echo "kernels/bundle/bundle_spmm.cu kernels/bundle/bundle_spmm_f32.cu kernels/bundle/bundle_spmm_f64.cu" \
      "kernels/common/dense_copy.cu kernels/guard/combine.cu conv/bundle/host_bundle_from_csr.c conv/bundle/bundle_from_csr.cu" \
      "conv/bundle/bundle_layout.c" ;;
  test_dcsr_spmm | test_dcsr_csc_online)
    echo "$dcsr $csr kernels/dcsr/dcsr_sums.cu kernels/dcsr/host_dcsr_sums.c kernels/dcsr/dcsr_csc_online.cu" \
      "kernels/dcsr/dcsr_spmm_rows.cu kernels/dcsr/dcsr_spmm_strips.cu kernels/dcsr/host_dcsr_spmm.c" \
      "kernels/bundle/bundle_spmm.cu kernels/bundle/bundle_spmm_f32.cu kernels/bundle/bundle_spmm_f64.cu" \
      "kernels/common/dense_copy.cu kernels/guard/combine.cu conv/bundle/host_bundle_from_csr.c conv/bundle/bundle_from_csr.cu" \
      "conv/bundle/bundle_layout.c" ;;
  test_tile_format) echo "$tile" ;;
  test_tile_spmm)
    echo "$tile kernels/tile/tile_spmm.cu kernels/tile/tile_spmm_f16.cu kernels/tile/tile_spmm_bf16.cu" \
      "kernels/common/tensor_map.cu kernels/common/dense_copy.cu kernels/tile/host_tile_spmm.c" ;;
  test_ablation_tiles)
    echo "$(sources_of test_tile_spmm) tests/bench/ablation/tile_steps.cu" ;;
  test_sparse24_spmm)
    echo "conv/sparse24/sparse24_from_csr.cu conv/sparse24/host_sparse24_from_csr.c conv/sparse24/sparse24_layout.c kernels/sparse24/sparse24_spmm_wgmma.cu kernels/sparse24/sparse24_spmm_i8_wgmma.cu" \
      "kernels/sparse24/sparse24_spmm_in_place_wgmma.cu" \
      "kernels/common/tensor_map.cu kernels/csr/host_csr_spmm.c kernels/sparse24/host_sparse24_spmm.c $csr" \
      "kernels/common/dense_copy.cu kernels/guard/fingerprint.cu" ;;
  test_sparse24_route)
    echo "backend/routes/sparse24.c backend/routes/packed_product.c backend/plan/graph_overlap.c backend/plan/cost.c" \
      "backend/plan/fault.c backend/plan/problem.c kernels/guard/combine.cu" \
      "kernels/csr/csr_spmm_transposed.cu $(sources_of test_sparse24_spmm)" ;;
  test_csr_spmm | test_csr_spmm_cuts) echo "$csr kernels/common/dense_copy.cu" ;;
  test_vector_csr_spmm) echo "$vector kernels/common/dense_copy.cu" ;;
  test_repair)
    echo "$csr kernels/common/dense_copy.cu kernels/guard/fingerprint.cu" \
      "kernels/guard/host_fingerprint.c" ;;
  test_dense_spmm_wgmma)
    echo "kernels/dense/dense_spmm_wgmma.cu kernels/dense/dense_spmm_wide_wgmma.cu kernels/common/tensor_map.cu $csr kernels/common/dense_copy.cu" \
      "kernels/guard/fingerprint.cu" ;;
  test_csr_spmm_transposed)
    echo "kernels/csr/csr_spmm_transposed.cu kernels/guard/fingerprint.cu" \
      "kernels/csr/host_csr_spmm_transposed.c" ;;
  test_dense_sddmm)
    echo "$sddmm kernels/dense/dense_sddmm_wgmma.cu kernels/common/tensor_map.cu kernels/common/dense_copy.cu" ;;
  test_csr_sddmm) echo "$sddmm kernels/common/dense_copy.cu" ;;
  test_conv)
    echo "conv/coo/coo_to_csr.cu conv/dense/dense_from_csr.cu conv/profile/profile.cu conv/coo/host_coo_to_csr.c" \
      "conv/dense/host_dense_from_csr.c conv/profile/host_profile.c conv/profile/structure.c" ;;
  test_fingerprint) echo "kernels/guard/fingerprint.cu kernels/guard/host_fingerprint.c" ;;
  test_bsr_spmm)
    echo "kernels/bsr/bsr_spmm.cu kernels/bsr/bsr_spmm_bf16.cu kernels/bsr/bsr_spmm_f16.cu kernels/bsr/bsr_spmm_f32.cu kernels/bsr/bsr_spmm_f64.cu" \
      "kernels/bsr/host_bsr_spmm.c kernels/common/dense_copy.cu" ;;
  test_row_clusters)
    echo "conv/vector/row_clusters.cu conv/vector/host_vector_row_clusters.c conv/common/sort.cu" \
      "conv/vector/vector_measure.cu conv/vector/host_vector_measure.c conv/vector/vector_from_csr.cu" \
      "conv/vector/host_vector_from_csr.c" ;;
  test_vector_format) echo "conv/vector/vector_from_csr.cu conv/vector/host_vector_from_csr.c" ;;
  test_vector_packed_spmm)
    echo "$packed kernels/common/dense_copy.cu conv/vector/vector_from_csr.cu conv/vector/host_vector_from_csr.c" ;;
  test_vector_packed_tf32) echo "$vector $(sources_of test_vector_packed_spmm)" ;;
  test_vector_packed_proved)
    sources_of test_vector_packed_spmm
    echo "$csr kernels/vector/vector_packed_spmm_proved.cu kernels/guard/fingerprint.cu" ;;
  test_tile_proved)
    echo "$(sources_of test_tile_spmm) $(sources_of test_vector_packed_spmm) $csr kernels/tile/tile_spmm_proved.cu" \
      "kernels/guard/fingerprint.cu" ;;
  test_dense_parts) sources_of test_csr_sddmm ;;
  test_graphblas_gpu_*) sources_of test_graphblas_gpu ;;
  test_repair_together) sources_of test_repair ;;
  test_csr_spmm_contract | test_csr_spmm_split) sources_of test_csr_spmm ;;
  esac
}
all="test_csr_spmm test_csr_spmm_cuts test_vector_csr_spmm test_repair test_csr_spmm_transposed test_csr_sddmm test_dense_sddmm test_conv
  test_fingerprint test_dense_spmm_wgmma test_vector_format test_vector_packed_spmm test_tile_proved test_vector_packed_proved test_vector_packed_tf32 test_dcsr_format test_dcsr_spmm
  test_dcsr_csc_online test_tile_format test_tile_spmm test_sparse24_spmm test_sparse24_route
  test_ablation test_ablation_tiles test_attention test_attention_parts test_native_gpu test_bsr_spmm test_row_clusters
  test_bundle_spmm test_bundle_stale
  test_graphblas_gpu test_graphblas_gpu_faults test_graphblas_gpu_resident test_repair_together
  test_dense_parts test_csr_spmm_contract test_csr_spmm_split"
tests=${TESTS:-$all}

# make_all GOAL... [VARIABLE=...]: of emulate.mk; what needs no other thing goes on after a failure.
make_all() {
  "$MAKE" -s -k -j"$jobs" -Otarget -f "$here/emulate.mk" B="$work" CXX="$CXX" CC="$CC" \
    PYTHON="$PYTHON" "$@"
}

# ---- the emulator itself -----------------------------------------------------------------------
if ! "$MAKE" --version 2>/dev/null | grep -q GNU || ! command -v "$PYTHON" >/dev/null; then
  skip "the emulator is built by GNU make and python3"
  finish
fi
echo 'int main() { return 0; }' >"$work/logs/probe.cpp"
if ! "$CXX" -std=c++17 -fsanitize=address,alignment -o "$work/logs/probe" "$work/logs/probe.cpp" \
  >"$work/logs/probe.log" 2>&1 || ! "$work/logs/probe"; then
  skip "$CXX has no AddressSanitizer"
  finish
fi
if ! make_all NAMES="test_emulator wrong_kernels" SOURCES_test_emulator=tests/emulator/test_emulator.cu \
  SOURCES_wrong_kernels=tests/emulator/wrong_kernels.cu program \
  >"$work/logs/test_emulator.build" 2>&1; then
  not_ok "test_emulator compiles" "$work/logs/test_emulator.build"
  finish
fi

# The kernels' tests are compiled and run while the emulator's own go on.
for name in $tests; do
  main=$(cd "$top" && find tests/gpu -name "$name.cu" -o -name "$name.c")
  # shellcheck disable=SC2046
  echo "SOURCES_$name =" "$main" $(sources_of "$name")
done >"$work/logs/sources.mk"
make_all LIST="$work/logs/sources.mk" NAMES="$tests" SEEDS="$seeds" \
  TEST_SECONDS="${TEST_SECONDS:-1500}" runs >"$work/logs/build" 2>&1 &
kernels=$!

# count LOG: the lines of a program that prints its own.
count() {
  passed=$((passed + $(grep -c '^ok' "$1")))
  failed=$((failed + $(grep -c '^not ok' "$1")))
  skipped=$((skipped + $(grep -c '^skip' "$1")))
}
# finds NAME SEED TEXT: the wrong kernel NAME ends the program, and the output says TEXT.
finds() {
  log=$work/logs/wrong
  if SHUNT_EMULATOR_SECONDS=3 SHUNT_EMULATOR_SEED=$2 "$work/wrong_kernels" "$1" \
    >"$log" 2>&1; then
    not_ok "a wrong kernel ($1) is not found, seed $2" "$log"
  elif grep -q "$3" "$log"; then
    ok "found: $1: $3, seed $2"
  else
    not_ok "a wrong kernel ($1) ends without a word on \"$3\"" "$log"
  fi
}
for seed in $seeds; do
  log=$work/logs/test_emulator.$seed
  SHUNT_EMULATOR_SEED=$seed "$work/test_emulator" >"$log" 2>&1 ||
    [ "$(grep -c '^not ok' "$log")" -gt 0 ] || not_ok "test_emulator ends, seed $seed" "$log"
  grep '^not ok' "$log"
  count "$log"
  finds "rotate" "$seed" "wrong result"
  finds "no wait" "$seed" "wrong result"
done
seed=${seeds%% *}
finds "barrier" "$seed" "deadlock: 32 threads wait for __barrier_sync_count; 32 .* __syncthreads"
finds "lane missing" "$seed" "deadlock: 1 threads wait for __syncthreads; 31 .* __syncwarp"
finds "lanes differ" "$seed" "while lanes"
finds "never arrives" "$seed" "nobody gets on: 32 threads"
finds "global" "$seed" "heap-buffer-overflow"
finds "shared" "$seed" "use-after-poison"
finds "dynamic" "$seed" "use-after-poison"
finds "misaligned" "$seed" "misaligned address"
finds "misaligned copy" "$seed" "not a multiple of 16"
finds "bounds" "$seed" "__launch_bounds__"
finds "half a warp" "$seed" "a warp of which only lanes"
finds "endless" "$seed" "an endless loop"
if "$work/wrong_kernels" "rotate right" >"$work/logs/wrong" 2>&1; then
  ok "with its barrier the same kernel is right"
else
  not_ok "with its barrier the same kernel is right" "$work/logs/wrong"
fi

# ---- the kernels -------------------------------------------------------------------------------
wait "$kernels"
for name in $tests; do
  [ -e "$work/logs/$name.$seed" ] || {
    not_ok "$name compiles" "$work/logs/build"
    continue
  }
  for seed in $seeds; do
    log=$work/logs/$name.$seed
    count "$log"
    status=$(sed -n 's/^status //p' "$log" | tail -1)
    bad=$(grep -c '^not ok' "$log")
    echo "# $name, seed $seed: $(grep -c '^ok' "$log") checks"
    grep -E '^(not ok|skip)' "$log"
    [ "$bad" = 0 ] || grep '^#' "$log" | head -20
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
      not_ok "$name, seed $seed, ends with $status" "$log"
    fi
  done
done
finish
