# conv/dcsr: CSR, CSC, COO -> densified CSR, and models of it.
CONV_DCSR_CUDA = %D%/dcsr_from_csr.cu
CONV_DCSR_HOST = %D%/dcsr_check.c %D%/dcsr_hardware_model.c %D%/dcsr_layout.c %D%/dcsr_traffic.c \
  %D%/host_dcsr_from_csr.c
