# conv: one format into another, and what a pattern looks like.
include %D%/bundle/local.mk
include %D%/common/local.mk
include %D%/coo/local.mk
include %D%/csr/local.mk
include %D%/dcsr/local.mk
include %D%/dense/local.mk
include %D%/profile/local.mk
include %D%/read/local.mk
include %D%/sorted/local.mk
include %D%/sparse24/local.mk
include %D%/srbcrs/local.mk
include %D%/tile/local.mk
include %D%/vector/local.mk

noinst_LTLIBRARIES += libshunt-host.la libshunt-semiring.la

# The twins of kernels and conversions, and the readers of files.
libshunt_host_la_SOURCES = \
  $(BSR_HOST) $(CSR_HOST) $(DCSR_HOST) $(GUARD_HOST) $(SPARSE24_HOST) $(SRBCRS_HOST) \
  $(TILE_HOST) $(VECTOR_HOST) $(ATTENTION_HOST) \
  $(CONV_BUNDLE_HOST) $(CONV_COO_HOST) $(CONV_CSR_HOST) $(CONV_DCSR_HOST) $(CONV_DENSE_HOST) \
  $(CONV_PROFILE_HOST) $(CONV_READ_HOST) $(CONV_SORTED_HOST) $(CONV_SPARSE24_HOST) \
  $(CONV_SRBCRS_HOST) $(CONV_TILE_HOST) $(CONV_VECTOR_HOST) $(CONV_VECTOR_ORDER_HOST)
libshunt_host_la_LIBADD = $(ZLIB_LIBS)

libshunt_semiring_la_SOURCES = $(SEMIRING_HOST) $(CONV_PROFILE_SEMIRING)

if HAVE_CUDA
# What routes run, and the sizes that they ask for.
CORE_SOURCES = \
  $(BSR_CUDA) $(BUNDLE_CUDA) $(COMMON_CUDA) $(CSR_CUDA) $(DENSE_CUDA) $(GUARD_CUDA) \
  $(SORTED_CUDA) $(SPARSE24_CUDA) $(SRBCRS_CUDA) $(TILE_CUDA) $(VECTOR_CUDA) \
  $(VECTOR_PACKED_CUDA) \
  $(CONV_BUNDLE_CUDA) $(CONV_COMMON_CUDA) $(CONV_COO_CUDA) $(CONV_CSR_CUDA) $(CONV_DENSE_CUDA) \
  $(CONV_PROFILE_CUDA) $(CONV_SORTED_CUDA) $(CONV_SPARSE24_CUDA) $(CONV_SRBCRS_CUDA) \
  $(CONV_TILE_CUDA) \
  $(CONV_VECTOR_CUDA) $(CONV_VECTOR_ORDER_CUDA) \
  $(CONV_BUNDLE_SIZES) $(CONV_CSR_SIZES) $(CONV_SORTED_SIZES) $(CONV_SPARSE24_SIZES) \
  $(CONV_SRBCRS_SIZES) \
  $(CONV_TILE_SIZES) $(CONV_VECTOR_HOST) $(CONV_VECTOR_ORDER_HOST)

# What no route takes: `shunt bench`, the native API and the tests do.
noinst_LTLIBRARIES += libshunt-formats.la
libshunt_formats_la_SOURCES = $(ATTENTION_CUDA) $(DCSR_CUDA) $(SRBCRS_INTEGER_CUDA) \
  $(TILE_MIXED_CUDA) $(CONV_DCSR_CUDA)
endif
