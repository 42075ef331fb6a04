# backend/loader: what this process has loaded.
LOADER_SOURCES = %D%/callers.c %D%/loaded.c
