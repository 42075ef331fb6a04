# conv/srbcrs: CSR <-> strides of V x 1 vectors.
CONV_SRBCRS_CUDA = %D%/srbcrs_from_csr.cu
CONV_SRBCRS_SIZES = %D%/srbcrs_layout.c
CONV_SRBCRS_HOST = $(CONV_SRBCRS_SIZES) %D%/host_srbcrs_from_csr.c \
  %D%/host_srbcrs_spread.c %D%/host_srbcrs_to_csr.c
