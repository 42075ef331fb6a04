# conv/sparse24: CSR <-> 2:4.
CONV_SPARSE24_CUDA = %D%/sparse24_from_csr.cu
CONV_SPARSE24_SIZES = %D%/sparse24_layout.c
CONV_SPARSE24_HOST = $(CONV_SPARSE24_SIZES) %D%/host_sparse24_from_csr.c
