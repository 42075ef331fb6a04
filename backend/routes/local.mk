# backend/routes: one file a format, one row each in table.c.
ROUTE_SOURCES = \
  %D%/bsr.c %D%/bundle.c %D%/csr.c %D%/dense.c %D%/sparse24.c %D%/tile.c %D%/vector.c \
  %D%/packed_product.c %D%/table.c %D%/vector_packed.c
NO_ROUTES_SOURCES = %D%/no_routes.c

if HAVE_CUDA
noinst_LTLIBRARIES += libshunt-core.la
libshunt_core_la_SOURCES = $(CORE_SOURCES) $(PLAN_SOURCES) $(ROUTE_SOURCES) $(CUBLAS_SOURCES)
libshunt_core_la_LIBADD = libshunt-problem.la
endif
