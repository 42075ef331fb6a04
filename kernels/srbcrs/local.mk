#kernels / srbcrs : integers in strides of 32 V x 1 vectors.
SRBCRS_CUDA = % D % / srbcrs_sddmm.cu % D % / srbcrs_spmm.cu SRBCRS_HOST =
                  % D % / host_srbcrs_sddmm.c % D % / host_srbcrs_spmm.c
