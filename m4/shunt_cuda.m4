# SHUNT_CHECK_CUDA
# ----------------
# Finds a CUDA toolkit: --with-cuda=DIR, then CUDA_HOME, CUDA_PATH, nvcc on PATH,
# /usr/local/cuda, and what bootstrap put into build/cuda.  --without-cuda builds the host engine
# and the tool only.
# --enable-fast-compile: for builds whose device code is never run.  nvcc takes a quarter of its
# time, and refuses what it would refuse else.
# Sets NVCC, CUDA_CPPFLAGS, CUDA_LIBS (static runtime), CUDA_LDFLAGS (for tests that
# link the shared libraries as programs do), NVCC_GENCODE, NVCC_GENCODE_WGMMA, NVCC_FAST, HAVE_CUDA.
AC_DEFUN([SHUNT_CHECK_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR],
      [CUDA toolkit @<:@CUDA_HOME, nvcc on PATH, /usr/local/cuda, build/cuda@:>@])],
    [], [with_cuda=check])
  AC_ARG_WITH([cuda-arch],
    [AS_HELP_STRING([--with-cuda-arch=LIST],
      [GPU architectures, such as 80,90; the last one also as PTX @<:@80,86,89,90@:>@])],
    [], [with_cuda_arch=80,86,89,90])
  AC_ARG_ENABLE([fast-compile],
    [AS_HELP_STRING([--enable-fast-compile],
      [compile device code fast, to slow code: where no GPU will run it])])
  AC_ARG_VAR([NVCC], [CUDA compiler])
  AC_ARG_VAR([NVCCFLAGS], [flags for the CUDA compiler @<:@-O3@:>@])

  shunt_cuda_dir=
  shunt_top=`cd "$srcdir" && pwd`
  AS_CASE([$with_cuda],
    [no], [],
    [yes|check], [
      shunt_nvcc=`command -v nvcc 2>/dev/null | $SED 's,/bin/nvcc$,,'`
      for shunt_dir in "$CUDA_HOME" "$CUDA_PATH" "$shunt_nvcc" /usr/local/cuda \
                       "$shunt_top/build/cuda"; do
        AS_IF([test -z "$shunt_cuda_dir" && test -n "$shunt_dir" && test -x "$shunt_dir/bin/nvcc"],
              [shunt_cuda_dir=$shunt_dir])
      done],
    [shunt_cuda_dir=$with_cuda])

  AS_IF([test "x$with_cuda" != xno && test -z "$shunt_cuda_dir" && test "x$with_cuda" != xcheck],
    [AC_MSG_ERROR([no CUDA toolkit found; give --with-cuda=DIR or --without-cuda])])
  AC_MSG_CHECKING([for a CUDA toolkit])
  have_cuda=no
  AS_IF([test -n "$shunt_cuda_dir"], [
    AS_IF([test -x "$shunt_cuda_dir/bin/nvcc" && test -f "$shunt_cuda_dir/include/cusparse.h"],
      [have_cuda=yes
       AC_MSG_RESULT([$shunt_cuda_dir])],
      [AC_MSG_RESULT([incomplete in $shunt_cuda_dir])
       AS_IF([test "x$with_cuda" != xcheck],
         [AC_MSG_ERROR([nvcc or cusparse.h missing below $shunt_cuda_dir])])])],
    [AC_MSG_RESULT([no])])

  AS_IF([test $have_cuda = yes], [
    : ${NVCC="$shunt_cuda_dir/bin/nvcc"}
    : ${NVCCFLAGS=-O3}
    shunt_cuda_lib=$shunt_cuda_dir/lib64
    AS_IF([test ! -d "$shunt_cuda_lib"], [shunt_cuda_lib=$shunt_cuda_dir/lib])
    CUDA_CPPFLAGS="-isystem $shunt_cuda_dir/include"
    CUDA_LDFLAGS="-L$shunt_cuda_lib"
    # Programs of the tests: the loader knows of other toolkits, not of this one.
    AS_IF([test "$shunt_cuda_dir" = "$shunt_top/build/cuda"],
      [CUDA_LDFLAGS="$CUDA_LDFLAGS -Wl,-rpath,$shunt_cuda_lib"])
    CUDA_STATIC=$shunt_cuda_lib/libcudart_static.a
    CUDA_LIBS="-L$shunt_cuda_lib -lcudart_static -ldl -lrt -lpthread"
    NVCC_FAST=
    NVCC_GENCODE=
    shunt_last=
    for shunt_arch in `echo "$with_cuda_arch" | tr ',' ' '`; do
      NVCC_GENCODE="$NVCC_GENCODE -gencode arch=compute_$shunt_arch,code=sm_$shunt_arch"
      shunt_last=$shunt_arch
    done
    NVCC_GENCODE="$NVCC_GENCODE -gencode arch=compute_$shunt_last,code=compute_$shunt_last"
    AS_CASE([,$with_cuda_arch,],
      [*,90,*], [NVCC_GENCODE_WGMMA="-gencode arch=compute_90a,code=sm_90a -DSHUNT_HAVE_WGMMA"],
      [NVCC_GENCODE_WGMMA=$NVCC_GENCODE])
    NVCC_TEST_ARCH="-arch=sm_$shunt_last"
    AS_IF([test "x$enable_fast_compile" = xyes],
      [AC_MSG_CHECKING([whether $NVCC can compile device code fast])
       AS_IF([$NVCC --help 2>/dev/null | grep Ofast-compile >/dev/null], [NVCC_FAST=-Ofc=max])
       AC_MSG_RESULT([${NVCC_FAST:-no}])])
    # The tests' device code is read, and not assembled: nearly all inline PTX is the kernels'.
    AS_IF([test -n "$NVCC_FAST"],
      [shunt_ptx=compute_$shunt_last
       NVCC_TEST_ARCH="-gencode arch=$shunt_ptx,code=$shunt_ptx"])
    AC_DEFINE([HAVE_CUDA], [1], [Built with a CUDA toolkit])
  ])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LDFLAGS])
  AC_SUBST([CUDA_LIBS])
  AC_SUBST([CUDA_STATIC])
  AC_SUBST([NVCC_GENCODE])
  AC_SUBST([NVCC_GENCODE_WGMMA])
  AC_SUBST([NVCC_TEST_ARCH])
  AC_SUBST([NVCC_FAST])
  AC_SUBST([CUDA_DIR], [$shunt_cuda_dir])
  AC_SUBST([CUDA_ARCH], [$with_cuda_arch])
  AM_CONDITIONAL([HAVE_CUDA], [test $have_cuda = yes])
])
