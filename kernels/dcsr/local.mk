# kernels/dcsr: densified CSR.
DCSR_CUDA = %D%/dcsr_csc_online.cu %D%/dcsr_spmm_rows.cu %D%/dcsr_spmm_strips.cu %D%/dcsr_sums.cu
DCSR_HOST = %D%/host_dcsr_spmm.c %D%/host_dcsr_sums.c
