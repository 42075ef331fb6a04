# backend/loader: what this process has loaded.
LOADER_SOURCES = %D%/callers.c %D%/library.c %D%/loaded.c

# Which build this is, in every library that is preloaded.
noinst_LTLIBRARIES += libshunt-note.la
libshunt_note_la_SOURCES = %D%/build_note.c
libshunt_note_la_CPPFLAGS = $(AM_CPPFLAGS) -DSHUNT_GENCODE='"$(NVCC_GENCODE) $(NVCC_FAST)"'
