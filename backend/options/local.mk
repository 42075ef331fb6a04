# backend/options: what the user may set, and the files that the user names.
USER_FILE_SOURCES = %D%/user_file.c %D%/user_folder.c
OPTION_SOURCES = %D%/config_file.c %D%/option_table.c %D%/options.c $(USER_FILE_SOURCES)
