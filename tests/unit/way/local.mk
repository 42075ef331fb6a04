# tests/unit/way: the whole way of a cuSPARSE call, on a device of the tests' own.
WAY_TESTS = %D%/test_way %D%/test_way_bench %D%/test_way_calls %D%/test_way_faults \
  %D%/test_way_memory %D%/test_way_service %D%/test_way_switches %D%/test_way_transposed
check_PROGRAMS += $(WAY_TESTS)

# What libshunt-cusparse.so is made of, but for the search for the original, and kernels' twins.
check_LTLIBRARIES += %D%/libway.la
%C%_libway_la_SOURCES = %D%/cusparse.c %D%/device.c %D%/streams.c \
  %D%/launchers/bsr.c %D%/launchers/bundle.c %D%/launchers/coo.c %D%/launchers/csr.c \
  %D%/launchers/csr_transpose.c %D%/launchers/dense.c %D%/launchers/guard.c \
  %D%/launchers/profile.c \
  %D%/launchers/row_clusters.c %D%/launchers/sorted.c %D%/launchers/sparse24.c \
  %D%/launchers/srbcrs.c \
  %D%/launchers/tile.c %D%/launchers/vector.c \
  $(libshunt_describe_la_SOURCES) backend/cusparse/entry.c backend/cusparse/measure.c \
  backend/cusparse/preprocess_epoch.c backend/cusparse/sddmm.c backend/cusparse/setters.c \
  backend/cusparse/spmm.c $(PLAN_SOURCES) $(ROUTE_SOURCES) $(COST_SOURCES) \
  $(SRBCRS_INTEGER_COST_SOURCES) $(TILE_MIXED_COST_SOURCES) $(CUBLAS_SOURCES) \
  $(COST_TABLE_SOURCES)
nodist_%C%_libway_la_SOURCES = $(COST_BUILT_IN)
%C%_libway_la_LIBADD = libshunt-problem.la libshunt-host.la
WAY_TEST_LIBS = %D%/libway.la $(ZLIB_LIBS) -lm -ldl -lrt -lpthread
%C%_test_way_LDADD = $(WAY_TEST_LIBS)
%C%_test_way_bench_LDADD = tests/unit/libtested-tool.a $(WAY_TEST_LIBS)
%C%_test_way_calls_LDADD = $(WAY_TEST_LIBS)
%C%_test_way_calls_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=shunt_problem_hash
%C%_test_way_faults_LDADD = $(WAY_TEST_LIBS)
%C%_test_way_memory_LDADD = $(WAY_TEST_LIBS)
%C%_test_way_service_LDADD = $(WAY_TEST_LIBS)
%C%_test_way_switches_LDADD = $(WAY_TEST_LIBS)
%C%_test_way_transposed_LDADD = $(WAY_TEST_LIBS)
