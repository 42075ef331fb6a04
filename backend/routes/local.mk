# backend/routes: one file a format, one row each in table.c.
ROUTE_SOURCES = \
  %D%/bsr.c %D%/bundle.c %D%/csr.c %D%/csr_transposed.c %D%/dense.c %D%/sparse24.c \
  %D%/srbcrs.c %D%/tile.c %D%/vector.c %D%/packed_cost.c %D%/packed_product.c \
  %D%/table.c %D%/vector_packed.c
# What each is expected to take, and cuSPARSE; of what no route takes, in libshunt-formats.
VECTOR_COST_SOURCES = %D%/cost_forms.c %D%/vector_packed_cost.c
SRBCRS_INTEGER_COST_SOURCES = %D%/srbcrs_integer_cost.c
# Those that shunt calibrate fits; they need no kernel.
FITTED_COST_SOURCES = %D%/bundle_cost.c %D%/cost_forms.c %D%/csr_cost.c %D%/original_cost.c
COST_SOURCES = $(FITTED_COST_SOURCES) %D%/vector_packed_cost.c \
  %D%/bsr_cost.c %D%/dense_cost.c %D%/dense_fma_cost.c %D%/sparse24_cost.c \
  %D%/srbcrs_cost.c %D%/tile_cost.c %D%/vector_cost.c
NO_ROUTES_SOURCES = %D%/no_routes.c

if HAVE_CUDA
noinst_LTLIBRARIES += libshunt-core.la
libshunt_core_la_SOURCES = $(CORE_SOURCES) $(PLAN_SOURCES) $(ROUTE_SOURCES) $(COST_SOURCES) \
  $(CUBLAS_SOURCES) $(COST_TABLE_SOURCES)
nodist_libshunt_core_la_SOURCES = $(COST_BUILT_IN)
libshunt_core_la_LIBADD = libshunt-problem.la
libshunt_formats_la_SOURCES += $(SRBCRS_INTEGER_COST_SOURCES) %D%/tile_mixed_cost.c
endif
