# backend/cusparse: what programs of cuSPARSE are preloaded with.  No DT_NEEDED but libc's family
# and libgomp, no versions.
PRELOAD_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,defs

if HAVE_CUDA
# What reads descriptors: also `shunt support` asks it.
noinst_LTLIBRARIES += libshunt-describe.la
libshunt_describe_la_SOURCES = %D%/bsr.c %D%/describe.c %D%/descriptor_table.c %D%/strides.c

pkglib_LTLIBRARIES += libshunt-cusparse.la
libshunt_cusparse_la_SOURCES = $(LOADER_SOURCES) \
  %D%/allocations.c %D%/entry.c %D%/measure.c %D%/original.c %D%/preprocess_epoch.c \
  %D%/sddmm.c %D%/setters.c %D%/spmm.c %D%/trampolines.c
libshunt_cusparse_la_LIBADD = libshunt-describe.la libshunt-core.la libshunt-note.la -L%D% \
  -lcudart_renamed -ldl -lrt -lpthread
libshunt_cusparse_la_LDFLAGS = $(PRELOAD_LDFLAGS) -Wl,--version-script=$(top_srcdir)/%D%/exports.map
libshunt_cusparse_la_DEPENDENCIES = libshunt-describe.la libshunt-core.la libshunt-note.la \
  %D%/exports.map %D%/libcudart_renamed.a

# The static runtime without the names that allocations.c exports.
%D%/libcudart_renamed.a: $(CUDA_STATIC) %D%/cudart_renames.txt
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	  $(OBJCOPY) --redefine-syms=$(srcdir)/%D%/cudart_renames.txt $(CUDA_STATIC) $@
CLEANFILES += %D%/libcudart_renamed.a
endif

# For programs that bind by dlsym on a handle.
if HAVE_DLSYM_OBJECT
pkglib_LTLIBRARIES += libshunt-dlsym.la
libshunt_dlsym_la_SOURCES = %D%/dlsym.c
libshunt_dlsym_la_LDFLAGS = $(PRELOAD_LDFLAGS) -Wl,--version-script=$(top_srcdir)/%D%/dlsym.map
libshunt_dlsym_la_LIBADD = libshunt-note.la
libshunt_dlsym_la_DEPENDENCIES = libshunt-note.la %D%/dlsym.map
endif
