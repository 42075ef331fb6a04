# kernels/common: what the kernels of all formats share.
COMMON_CUDA = %D%/dense_copy.cu %D%/tensor_map.cu
