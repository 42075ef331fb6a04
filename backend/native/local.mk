# backend/native: libshunt.so, the API of backend/shunt.h.
noinst_LTLIBRARIES += libshunt-native.la
libshunt_native_la_SOURCES = \
  %D%/attention.c %D%/host_engine.c %D%/host_integers.c %D%/integers_attention.c \
  %D%/integers_operations.c %D%/integers_pack.c %D%/operands.c %D%/pack.c %D%/sddmm.c \
  %D%/softmax.c %D%/spmm.c backend/plan/fault.c

include_HEADERS = backend/shunt.h
lib_LTLIBRARIES = libshunt.la
libshunt_la_SOURCES = $(CONV_SRBCRS_HOST) $(CONV_VECTOR_HOST) $(ATTENTION_HOST) $(SRBCRS_HOST) \
  $(VECTOR_HOST)
libshunt_la_LIBADD = libshunt-native.la
libshunt_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,-z,defs \
  -Wl,--version-script=$(top_srcdir)/%D%/exports.map
EXTRA_libshunt_la_DEPENDENCIES = %D%/exports.map
if HAVE_CUDA
libshunt_la_SOURCES += %D%/cuda_engine.c %D%/cuda_integers.c $(COMMON_CUDA) \
  $(VECTOR_PACKED_CUDA) $(SRBCRS_INTEGER_CUDA) $(CONV_SRBCRS_CUDA) $(CONV_VECTOR_CUDA) \
  $(ATTENTION_CUDA) $(SRBCRS_INTEGER_COST_SOURCES) $(VECTOR_COST_SOURCES)
nodist_libshunt_la_SOURCES = $(COST_BUILT_IN)
libshunt_la_LIBADD += $(CUDA_LIBS)
else
libshunt_la_SOURCES += %D%/no_cuda.c
endif
libshunt_la_LIBADD += -lm
