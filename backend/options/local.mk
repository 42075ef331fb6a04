# backend/options: what the user may set, and the files that the user names.
OPTION_SOURCES = %D%/config_file.c %D%/option_table.c %D%/options.c %D%/user_file.c
