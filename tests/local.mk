# tests: `make check` needs no GPU, `make check-gpu` does.
include %D%/unit/local.mk
include %D%/fuzz/local.mk
include %D%/gpu/local.mk
include %D%/clients/local.mk
include %D%/bench/local.mk

# The longest first, for make -j: none is left to run alone at the end.
shell_tests = %D%/emulator/run.sh %D%/sanitized.sh %D%/builds/packages.sh
if HAVE_GRAPHBLAS
shell_tests += %D%/graphblas/run.sh
endif
shell_tests += %D%/builds/clang.sh %D%/builds/toy_format.sh %D%/builds/archs.sh
if HAVE_CUDA
shell_tests += %D%/loader/run.sh %D%/loader/unserved.sh
endif
if HAVE_GRAPHBLAS
shell_tests += %D%/loader/graphblas.sh
endif
shell_tests += $(unit_scripts) %D%/packaging/cuda.sh %D%/lint.sh %D%/format.sh %D%/house.sh
TESTS = $(shell_tests) $(check_PROGRAMS)
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
# OpenMP's threads wait asleep: those that spin take the processors from the one that all of them
# wait for, and took two thirds of the time of test_support.sh.
AM_TESTS_ENVIRONMENT = \
  OMP_WAIT_POLICY=passive; export OMP_WAIT_POLICY; \
  SHUNT='$(abs_top_builddir)/shunt'; export SHUNT; \
  SHUNT_SRCDIR='$(abs_top_srcdir)'; export SHUNT_SRCDIR; \
  CC='$(CC)'; export CC; CUDA_INCLUDE='$(CUDA_DIR)/include'; export CUDA_INCLUDE; \
  builddir='$(abs_top_builddir)/tests/loader/work'; export builddir; \
  srcdir='$(abs_top_srcdir)'; export srcdir; \
  SHUNT_CUSPARSE_SO='$(abs_top_builddir)/.libs/libshunt-cusparse.so'; export SHUNT_CUSPARSE_SO; \
  SHUNT_GRAPHBLAS_SO='$(abs_top_builddir)/.libs/libshunt-graphblas.so'; export SHUNT_GRAPHBLAS_SO; \
  SHUNT_GRAPHBLAS_A='$(abs_top_builddir)/libshunt-graphblas.a'; export SHUNT_GRAPHBLAS_A; \
  GRAPHBLAS_CPPFLAGS='$(GRAPHBLAS_CPPFLAGS)'; export GRAPHBLAS_CPPFLAGS; \
  GRAPHBLAS_LIBS='$(GRAPHBLAS_LIBS)'; export GRAPHBLAS_LIBS; \
  OPENMP_CFLAGS='$(OPENMP_CFLAGS)'; export OPENMP_CFLAGS; \
  SHUNT_LIBSHUNT_SO='$(abs_top_builddir)/.libs/libshunt.so'; export SHUNT_LIBSHUNT_SO; \
  SHUNT_DLSYM_SO='$(abs_top_builddir)/.libs/libshunt-dlsym.so'; export SHUNT_DLSYM_SO;
