# conv/common: what several conversions share.
CONV_COMMON_CUDA = %D%/sort.cu
