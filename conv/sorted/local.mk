# conv/sorted: CSR -> the order of its rows by length.
CONV_SORTED_CUDA = %D%/sorted_from_csr.cu
CONV_SORTED_SIZES = %D%/sorted_layout.c
CONV_SORTED_HOST = $(CONV_SORTED_SIZES) %D%/host_sorted_from_csr.c
