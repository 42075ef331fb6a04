# backend/routes/cost: what each route is expected to take, and cuSPARSE.  What no route takes is in
# libshunt-formats.
VECTOR_COST_SOURCES = %D%/cost_forms.c %D%/vector_packed_cost.c
SRBCRS_INTEGER_COST_SOURCES = %D%/srbcrs_integer_cost.c
TILE_MIXED_COST_SOURCES = %D%/tile_mixed_cost.c
# Those that shunt calibrate fits; they need no kernel, but the shape of one.
FITTED_COST_SOURCES = %D%/bundle_cost.c %D%/cost_forms.c %D%/csr_cost.c %D%/original_cost.c \
  %D%/sorted_cost.c $(SORTED_SHAPE)
COST_SOURCES = $(FITTED_COST_SOURCES) %D%/vector_packed_cost.c \
  %D%/bsr_cost.c %D%/dense_cost.c %D%/dense_fma_cost.c %D%/dense_sums.c %D%/sparse24_cost.c \
  %D%/srbcrs_cost.c %D%/tile_cost.c %D%/vector_cost.c

if HAVE_CUDA
libshunt_formats_la_SOURCES += $(SRBCRS_INTEGER_COST_SOURCES) $(TILE_MIXED_COST_SOURCES)
endif
