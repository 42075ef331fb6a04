# SHUNT_CHECK_GRAPHBLAS
# ---------------------
# SuiteSparse:GraphBLAS, for tests only: the library needs none.  --with-graphblas=DIR
# names an installation (DIR/include, DIR/lib).  Sets GRAPHBLAS_CPPFLAGS, GRAPHBLAS_LIBS
# and HAVE_GRAPHBLAS.
AC_DEFUN([SHUNT_CHECK_GRAPHBLAS], [
  AC_ARG_WITH([graphblas],
    [AS_HELP_STRING([--with-graphblas=DIR],
       [GraphBLAS for the tests @<:@where the compiler looks@:>@])],
    [], [with_graphblas=check])
  GRAPHBLAS_CPPFLAGS=
  GRAPHBLAS_LIBS=-lgraphblas
  AS_CASE([$with_graphblas],
    [no|yes|check], [],
    [GRAPHBLAS_CPPFLAGS="-I$with_graphblas/include"
     GRAPHBLAS_LIBS="-L$with_graphblas/lib -Wl,-rpath,$with_graphblas/lib -lgraphblas"])
  shunt_saved_cppflags=$CPPFLAGS
  shunt_saved_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $GRAPHBLAS_CPPFLAGS"
  LIBS="$GRAPHBLAS_LIBS $LIBS"
  have_graphblas=no
  AS_IF([test "x$with_graphblas" != xno], [
    AC_CHECK_HEADER([GraphBLAS.h], [
      AC_MSG_CHECKING([for GxB_Matrix_Iterator_attach in -lgraphblas])
      AC_LINK_IFELSE(
        [AC_LANG_PROGRAM([[#include <GraphBLAS.h>]],
                         [[return GxB_Matrix_Iterator_attach (NULL, NULL, NULL) == GrB_SUCCESS;]])],
        [have_graphblas=yes])
      AC_MSG_RESULT([$have_graphblas])])])
  CPPFLAGS=$shunt_saved_cppflags
  LIBS=$shunt_saved_libs
  AS_IF([test $have_graphblas = no && test "x$with_graphblas" != xno &&
    test "x$with_graphblas" != xcheck],
    [AC_MSG_ERROR([no GraphBLAS 7 or later in $with_graphblas])])
  AC_SUBST([GRAPHBLAS_CPPFLAGS])
  AC_SUBST([GRAPHBLAS_LIBS])
  AM_CONDITIONAL([HAVE_GRAPHBLAS], [test $have_graphblas = yes])
])
