# tests/bench: what is timed besides `shunt bench`.
EXTRA_PROGRAMS = %D%/csrbin
GRAPHBLAS_BENCHES = $(patsubst %,%D%/graphblas_%,host_bench gpu_bench gpu_pins graphs steps sweep)

%D%/ablation_bench: %D%/ablation_bench.cu $(ABLATION_OBJECTS) $(GPU_LIBS)
	$(V_NVCC)$(MKDIR_P) $(@D) && $(NVCC_TEST) -o $@ $< $(ABLATION_OBJECTS) $(GPU_ARCHIVES) \
	  $(CUDA_LIBS) $(ZLIB_LIBS) -lgomp
$(GRAPHBLAS_BENCHES): %: %.c libshunt-host.la
	$(AM_V_CC)$(CLIENT_CC) $(GRAPHBLAS_CPPFLAGS) -o $@ $< .libs/libshunt-host.a $(GRAPHBLAS_LIBS) \
	  $(ZLIB_LIBS) $(OPENMP_CFLAGS) -lm -ldl
CLEANFILES += %D%/ablation_bench $(GRAPHBLAS_BENCHES)
