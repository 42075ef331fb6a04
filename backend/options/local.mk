# backend/options: what the user may set, and the files that the user names.
OPTION_SOURCES = %D%/options.c %D%/user_file.c
