# kernels/semiring/masked: sparse times sparse under a sparse mask.
SEMIRING_MASKED = %D%/masked.c %D%/masked_dot.c %D%/masked_few.c %D%/masked_left.c \
  %D%/masked_pairs.c %D%/masked_reads.c %D%/masked_rows.c %D%/masked_saxpy.c \
  %D%/masked_saxpy_sums.c %D%/masked_starts.c %D%/masked_sums.c %D%/masked_symmetry.c \
  %D%/masked_twin.c
