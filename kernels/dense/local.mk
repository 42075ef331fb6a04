# kernels/dense: a dense copy of A.
DENSE_CUDA = %D%/dense_sddmm_sample.cu %D%/dense_sddmm_wgmma.cu %D%/dense_spmm_fma.cu \
  %D%/dense_spmm_wgmma.cu %D%/dense_spmm_wide_wgmma.cu
