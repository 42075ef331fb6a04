# kernels/vector: V x 1 column vectors, in place and packed; attention.
VECTOR_CUDA = %D%/vector_csr_sddmm.cu %D%/vector_csr_spmm.cu %D%/vector_csr_spmm_bf16.cu \
  %D%/vector_csr_spmm_f16.cu %D%/vector_csr_spmm_f32.cu %D%/vector_csr_spmm_f64.cu \
  %D%/vector_packed_spmm_proved.cu
VECTOR_PACKED_CUDA = %D%/vector_packed_spmm.cu %D%/vector_packed_spmm_bf16.cu \
  %D%/vector_packed_spmm_f16.cu %D%/vector_packed_spmm_tf32.cu
VECTOR_HOST = %D%/host_vector_packed_spmm.c

# Attention on a pattern of column vectors: for the native API, no route takes it.
ATTENTION_CUDA = %D%/attention/attention.cu %D%/attention/attention_bf16.cu \
  %D%/attention/attention_f16.cu %D%/attention/attention_sddmm.cu \
  %D%/attention/attention_softmax.cu
ATTENTION_HOST = %D%/attention/host_attention.c %D%/attention/host_attention_parallel.c \
  %D%/attention/host_attention_sddmm.c %D%/attention/host_attention_softmax.c
