# kernels/bundle: rows that share columns.
BUNDLE_CUDA = %D%/bundle_spmm.cu %D%/bundle_spmm_f32.cu %D%/bundle_spmm_f64.cu
