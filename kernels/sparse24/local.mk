# kernels/sparse24: 2:4 structured sparsity.
SPARSE24_CUDA = %D%/sparse24_spmm_i8_wgmma.cu %D%/sparse24_spmm_in_place_wgmma.cu \
  %D%/sparse24_spmm_wgmma.cu
SPARSE24_HOST = %D%/host_sparse24_spmm.c
