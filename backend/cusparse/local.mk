# backend/cusparse: what programs of cuSPARSE are preloaded with.  No DT_NEEDED but libc's family and
# libgomp, no versions.
PRELOAD_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,defs

if HAVE_CUDA
pkglib_LTLIBRARIES += libshunt-cusparse.la
libshunt_cusparse_la_SOURCES = $(LOADER_SOURCES) \
  %D%/bsr.c %D%/describe.c %D%/descriptor_table.c %D%/entry.c %D%/original.c \
  %D%/preprocess_epoch.c %D%/sddmm.c %D%/setters.c %D%/spmm.c %D%/strides.c %D%/trampolines.c
libshunt_cusparse_la_LIBADD = libshunt-core.la $(CUDA_LIBS)
libshunt_cusparse_la_LDFLAGS = $(PRELOAD_LDFLAGS) -Wl,--version-script=$(top_srcdir)/%D%/exports.map
libshunt_cusparse_la_DEPENDENCIES = libshunt-core.la %D%/exports.map
endif

# For programs that bind by dlsym on a handle.
if HAVE_DLSYM_OBJECT
pkglib_LTLIBRARIES += libshunt-dlsym.la
libshunt_dlsym_la_SOURCES = %D%/dlsym.c
libshunt_dlsym_la_LDFLAGS = $(PRELOAD_LDFLAGS) -Wl,--version-script=$(top_srcdir)/%D%/dlsym.map
libshunt_dlsym_la_DEPENDENCIES = %D%/dlsym.map
endif
