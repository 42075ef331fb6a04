# kernels/srbcrs: int8 in strides of 32 V x 1 vectors.
SRBCRS_CUDA = %D%/srbcrs_spmm.cu
SRBCRS_HOST = %D%/host_srbcrs_spmm.c
