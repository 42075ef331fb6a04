# kernels/semiring: the host engine of GraphBLAS; device/ the masked product on the GPU.
include %D%/masked/local.mk
SEMIRING_CUDA = %D%/device/masked_compact.cu %D%/device/masked_dot_cuda.cu
SEMIRING_HOST = %D%/device/host_masked_dot.c \
  %D%/semiring_avx2.c %D%/semiring_avx512.c %D%/semiring_baseline.c \
  %D%/semiring_choice.c %D%/frontier/frontier_product.c %D%/frontier/frontier_group.c \
  %D%/frontier/frontier_bits.c %D%/frontier/frontier_parents.c %D%/frontier/frontier_reads.c \
  %D%/frontier/frontier_single.c %D%/frontier/frontier_sums.c \
  %D%/frontier/frontier_twin.c %D%/frontier/frontier_words.c %D%/semiring_pack.c \
  %D%/semiring_samples.c %D%/semiring_scratch.c %D%/semiring_sddmm.c %D%/semiring_sort.c \
  %D%/semiring_spmm.c %D%/semiring_spread.c %D%/semiring_team.c %D%/semiring_twin.c \
  %D%/semiring_wait.c $(SEMIRING_MASKED)
