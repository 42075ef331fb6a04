# tests/clients: programs as users write them, run as they are and under Shunt.
CUSPARSE_CLIENTS = $(patsubst %,%D%/%,capture device_full petsc_loop spmm_cusparse streams)
CUSPARSE_ALL = $(CUSPARSE_CLIENTS) tests/gpu/blackbox/quiet tests/gpu/blackbox/short_program \
  tests/bench/bsr_bench tests/bench/opening_costs tests/bench/prepared_bench
GRAPHBLAS_CLIENTS = $(patsubst %,%D%/graphblas_%,als bc gcn ktruss lobpcg msbfs pagerank tc)
CLIENT_CC = $(MKDIR_P) $(@D) && $(CC) $(CFLAGS) -I$(top_srcdir) -MMD -MP -MF $@.d -MT $@
-include $(shell find %D% -name '*.d' 2>/dev/null)

$(CUSPARSE_ALL): %: %.c
	$(AM_V_CC)$(CLIENT_CC) $(CUDA_CPPFLAGS) -o $@ $< $(CUDA_LDFLAGS) -lcusparse -lcudart -ldl -lm \
	  -lpthread
%D%/attention: %D%/attention.c libshunt.la
	$(AM_V_CC)$(CLIENT_CC) -DSHUNT_HAVE_CUDA $(CUDA_CPPFLAGS) -o $@ $< -L.libs -lshunt \
	  -Wl,-rpath,$(abs_top_builddir)/.libs $(CUDA_LDFLAGS) -lcudart -lm
$(GRAPHBLAS_CLIENTS): %: %.c libshunt-host.la
	$(AM_V_CC)$(CLIENT_CC) $(GRAPHBLAS_CPPFLAGS) -o $@ $< .libs/libshunt-host.a $(GRAPHBLAS_LIBS) \
	  $(ZLIB_LIBS) $(OPENMP_CFLAGS) -lm

all_clients =
if HAVE_GRAPHBLAS
all_clients += $(GRAPHBLAS_CLIENTS)
endif
if HAVE_CUDA
all_clients += $(CUSPARSE_CLIENTS) %D%/attention
endif
clients: $(all_clients)
.PHONY: clients
CLEANFILES += $(CUSPARSE_ALL) $(GRAPHBLAS_CLIENTS) %D%/attention
