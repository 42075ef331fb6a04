# conv/bundle: CSR -> the lists of rows that share columns.
CONV_BUNDLE_CUDA = %D%/bundle_from_csr.cu
CONV_BUNDLE_SIZES = %D%/bundle_layout.c
CONV_BUNDLE_HOST = $(CONV_BUNDLE_SIZES) %D%/host_bundle_from_csr.c
