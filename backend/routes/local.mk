# backend/routes: one file a format, one row each in table.c; cost/ is what each should take.
ROUTE_SOURCES = \
  %D%/bsr.c %D%/bundle.c %D%/csr.c %D%/csr_transposed.c %D%/dense.c %D%/keep_measures.c \
  %D%/rows_of_c.c %D%/sorted.c %D%/sparse24.c %D%/srbcrs.c %D%/tile.c %D%/vector.c \
  %D%/packed_cost.c %D%/packed_product.c %D%/table.c %D%/vector_packed.c
NO_ROUTES_SOURCES = %D%/no_routes.c

include %D%/cost/local.mk

if HAVE_CUDA
noinst_LTLIBRARIES += libshunt-core.la
libshunt_core_la_SOURCES = $(CORE_SOURCES) $(PLAN_SOURCES) $(ROUTE_SOURCES) $(COST_SOURCES) \
  $(CUBLAS_SOURCES) $(COST_TABLE_SOURCES)
nodist_libshunt_core_la_SOURCES = $(COST_BUILT_IN)
libshunt_core_la_LIBADD = libshunt-problem.la
endif
