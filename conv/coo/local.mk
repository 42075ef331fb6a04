# conv/coo: COO -> CSR.
CONV_COO_CUDA = %D%/coo_to_csr.cu
CONV_COO_HOST = %D%/host_coo_to_csr.c
