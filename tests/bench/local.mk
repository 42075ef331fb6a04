# tests/bench: what is timed besides `shunt bench`.
EXTRA_PROGRAMS = %D%/csrbin
GRAPHBLAS_BENCHES = %D%/rmat/graphblas_rmat \
  $(patsubst %,%D%/graphblas_%,host_bench gpu_bench gpu_pins graphs steps sweep)

%D%/ablation_bench: %D%/ablation_bench.cu $(ABLATION_OBJECTS) $(GPU_LIBS)
	$(V_NVCC)$(MKDIR_P) $(@D) && $(NVCC_TEST) -o $@ $< $(ABLATION_OBJECTS) $(GPU_ARCHIVES) \
	  $(CUDA_LIBS) $(ZLIB_LIBS) -lgomp
$(GRAPHBLAS_BENCHES): %: %.c libshunt-host.la
	$(AM_V_CC)$(CLIENT_CC) $(GRAPHBLAS_CPPFLAGS) -o $@ $< .libs/libshunt-host.a $(GRAPHBLAS_LIBS) \
	  $(ZLIB_LIBS) $(OPENMP_CFLAGS) -lm -ldl
%D%/rmat/masked_dot_bench: %D%/rmat/masked_dot_bench.c libshunt-graphblas-gpu.la
	$(AM_V_CC)$(CLIENT_CC) $(CUDA_CPPFLAGS) -o $@ $< .libs/libshunt-graphblas-gpu.a $(CUDA_LIBS) \
	  $(OPENMP_CFLAGS) -lm
CLEANFILES += %D%/ablation_bench %D%/rmat/masked_dot_bench $(GRAPHBLAS_BENCHES)
