# kernels: they compute; which of them runs is decided in backend.
include %D%/bsr/local.mk
include %D%/bundle/local.mk
include %D%/common/local.mk
include %D%/csr/local.mk
include %D%/dcsr/local.mk
include %D%/dense/local.mk
include %D%/guard/local.mk
include %D%/semiring/local.mk
include %D%/sorted/local.mk
include %D%/sparse24/local.mk
include %D%/srbcrs/local.mk
include %D%/tile/local.mk
include %D%/vector/local.mk

# wgmma is code for compute capability 9.0 alone (sm_90a), so its kernels have files of their own.
%D%/%_wgmma.lo: NVCC_GENCODE = $(NVCC_GENCODE_WGMMA)
