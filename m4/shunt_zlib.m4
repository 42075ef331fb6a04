# SHUNT_CHECK_ZLIB
# ----------------
# zlib reads the gzip matrix files.  Sets ZLIB_LIBS.
AC_DEFUN([SHUNT_CHECK_ZLIB], [
  shunt_saved_libs=$LIBS
  AC_CHECK_HEADER([zlib.h], [], [AC_MSG_ERROR([zlib.h is missing (Debian: zlib1g-dev)])])
  AC_CHECK_LIB([z], [gzopen], [ZLIB_LIBS=-lz],
    [AC_MSG_ERROR([zlib is missing (Debian: zlib1g-dev)])])
  LIBS=$shunt_saved_libs
  AC_SUBST([ZLIB_LIBS])
])
