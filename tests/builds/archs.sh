#!/bin/sh
# archs.sh: what depends on the architecture compiles for compute capability 8.0, 10.0 and 12.0,
# down to machine code, as only the assembler reads inline PTX.  There kernels of wgmma are left
# out, and what stands in for them must be whole.  The rest is the same C++ everywhere.  A minute of
# a core.
. "${SHUNT_SRCDIR:-.}/tests/builds/build.sh"
nvcc=${CUDA_INCLUDE:-/usr/local/cuda/include}/../bin/nvcc
[ -x "$nvcc" ] || skip "nvcc is not installed"
"$nvcc" --list-gpu-code | grep -q -x sm_120 || skip "this nvcc does not know these architectures"

# Optimized as little as is fast: it never runs.
compile() {
  $cache"$nvcc" -std=c++17 -I"$top" -Xcicc -O1 -Xptxas -O0 \
    -gencode arch=compute_80,code=sm_80 -gencode 'arch=compute_100,code=[sm_100,sm_120]' \
    -c -o out.o "$1"
}
kernels=$top/kernels
for file in "$kernels"/*/*_wgmma.cu "$kernels/common/tensor_map.cu" \
  "$kernels/guard/fingerprint.cu" "$kernels/tile/tile_mixed_spmm_f16.cu" \
  "$kernels/csr/csr_spmm_f32.cu" "$kernels/bundle/bundle_spmm_f64.cu" \
  "$kernels/vector/vector_packed_spmm_f16.cu" "$kernels/vector/vector_csr_spmm.cu"; do
  check "${file#"$top/"}, for 8.0, 10.0 and 12.0" compile "$file"
done
finish
