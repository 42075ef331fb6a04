# conv/vector: CSR <-> packed column vectors, and orders of rows that make more of them.
CONV_VECTOR_CUDA = %D%/vector_from_csr.cu
CONV_VECTOR_ORDER_CUDA = %D%/row_clusters.cu %D%/vector_measure.cu
CONV_VECTOR_HOST = %D%/host_vector_from_csr.c
CONV_VECTOR_ORDER_HOST = %D%/host_vector_measure.c %D%/host_vector_row_clusters.c
