# kernels/bsr: square blocks: BSR and Blocked-ELL.
BSR_CUDA = %D%/bsr_spmm.cu %D%/bsr_spmm_bf16.cu %D%/bsr_spmm_f16.cu %D%/bsr_spmm_f32.cu \
  %D%/bsr_spmm_f64.cu %D%/bsr_spmm_i8.cu
BSR_HOST = %D%/host_bsr_spmm.c
