# backend/graphblas: what programs of GraphBLAS are preloaded with, or relinked to.
include %D%/gpu/local.mk

GRAPHBLAS_SOURCES = \
  %D%/choose.c %D%/commit.c %D%/engine.c %D%/entry.c \
  %D%/frontier/frontier.c %D%/frontier/frontier_cost.c %D%/frontier/frontier_glance.c \
  %D%/frontier/frontier_host.c %D%/frontier/frontier_original.c %D%/gain.c %D%/layout.c \
  %D%/library.c %D%/mask.c %D%/masked_cost.c %D%/masked_dot.c %D%/measure.c %D%/memory.c \
  %D%/operand.c %D%/product.c %D%/read.c %D%/report.c %D%/sddmm.c %D%/semiring.c \
  %D%/settings.c %D%/spmm.c

pkglib_LTLIBRARIES += libshunt-graphblas.la
libshunt_graphblas_la_SOURCES = $(GRAPHBLAS_SOURCES) %D%/library_loaded.c $(LOADER_SOURCES)
libshunt_graphblas_la_LIBADD = libshunt-semiring.la libshunt-note.la
libshunt_graphblas_la_LDFLAGS = $(PRELOAD_LDFLAGS) \
  -Wl,--version-script=$(top_srcdir)/%D%/exports.map
EXTRA_libshunt_graphblas_la_DEPENDENCIES = %D%/exports.map
if HAVE_CUDA
libshunt_graphblas_la_LIBADD += libshunt-graphblas-gpu.la libshunt-core.la $(CUDA_LIBS)
else
libshunt_graphblas_la_SOURCES += $(HOST_PLAN_SOURCES) $(NO_ROUTES_SOURCES)
libshunt_graphblas_la_LIBADD += libshunt-problem.la
endif

# The same for static programs: the host engine, and -Wl,--wrap=GrB_mxm instead of a preload.
pkglib_LIBRARIES = libshunt-graphblas.a
libshunt_graphblas_a_SOURCES = $(GRAPHBLAS_SOURCES) %D%/library_static.c \
  $(HOST_PLAN_SOURCES) $(NO_ROUTES_SOURCES) $(libshunt_problem_la_SOURCES)
libshunt_graphblas_a_CPPFLAGS = $(AM_CPPFLAGS) -USHUNT_HAVE_CUDA -DGRB_STATIC
# The kernels as they are in the library: they compile for long, and know of neither macro.
libshunt_graphblas_a_LIBADD = \
  $(foreach s,$(SEMIRING_HOST) $(CONV_PROFILE_SEMIRING),$(dir $(s)).libs/$(notdir $(s:.c=.o)))
$(libshunt_graphblas_a_LIBADD): libshunt-semiring.la
