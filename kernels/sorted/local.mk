# kernels/sorted: rows in the order of their lengths.
SORTED_CUDA = %D%/sorted_spmm.cu %D%/sorted_spmm_bf16.cu %D%/sorted_spmm_f16.cu \
  %D%/sorted_spmm_f32.cu %D%/sorted_spmm_f64.cu
SORTED_SHAPE = %D%/sorted_layers.c %D%/sorted_shape.c
