# conv/csr: CSR -> the CSR of the transpose.
CONV_CSR_CUDA = %D%/csr_transpose.cu
CONV_CSR_SIZES = %D%/csr_transpose_layout.c
CONV_CSR_HOST = $(CONV_CSR_SIZES) %D%/host_csr_transpose.c
