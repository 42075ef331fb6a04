# conv/dense: CSR <-> dense.
CONV_DENSE_CUDA = %D%/dense_from_csr.cu
CONV_DENSE_HOST = %D%/host_dense_from_csr.c
