# kernels/csr: any CSR matrix.
CSR_CUDA = %D%/csr_sddmm_direct.cu %D%/csr_sddmm_operands.cu %D%/csr_sddmm_panel.cu \
  %D%/csr_sddmm_rows.cu %D%/csr_spmm.cu \
  %D%/csr_spmm_bf16.cu %D%/csr_spmm_c32.cu %D%/csr_spmm_c64.cu %D%/csr_spmm_f16.cu \
  %D%/csr_spmm_f32.cu %D%/csr_spmm_f64.cu %D%/csr_spmm_i8.cu %D%/csr_spmm_mixed.cu \
  %D%/csr_spmm_transposed.cu
CSR_HOST = %D%/host_csr_sddmm.c %D%/host_csr_spmm.c %D%/host_csr_spmm_complex.c \
  %D%/host_csr_spmm_transposed.c
