# backend/loader: what this process has loaded.
LOADER_SOURCES = %D%/callers.c %D%/library.c %D%/loaded.c
