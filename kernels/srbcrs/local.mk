# kernels/srbcrs: integers in strides of 32 V x 1 vectors.
SRBCRS_CUDA = %D%/srbcrs_spmm.cu %D%/srbcrs_spmm_proved.cu %D%/srbcrs_spmm_strips.cu \
  %D%/srbcrs_spmm_strips_proved.cu %D%/srbcrs_spmm_whole.cu
# What no route takes: other widths, SDDMM, scaled results.
SRBCRS_INTEGER_CUDA = %D%/srbcrs_integer_spmm.cu %D%/srbcrs_integer_spmm_12.cu \
  %D%/srbcrs_integer_spmm_16.cu %D%/srbcrs_integer_spmm_4.cu %D%/srbcrs_integer_spmm_8.cu \
  %D%/attention/srbcrs_attention.cu %D%/attention/srbcrs_attention_real.cu \
  %D%/attention/srbcrs_quantise.cu %D%/srbcrs_sddmm.cu %D%/attention/srbcrs_softmax.cu
SRBCRS_HOST = %D%/attention/host_srbcrs_attention.c %D%/host_srbcrs_integer_spmm.c \
  %D%/attention/host_srbcrs_quantise.c %D%/host_srbcrs_sddmm.c %D%/attention/host_srbcrs_softmax.c \
  %D%/host_srbcrs_spmm.c
