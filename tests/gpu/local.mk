# tests/gpu: programs for a machine with a GPU.  Built here by plain compiler calls, carried there, run
# by check_gpu.sh.  A test is a file test_*.cu (or .c, for routes, whose headers are C) in a folder.
GPU_TESTS = $(patsubst $(srcdir)/%.cu,%,$(wildcard $(srcdir)/%D%/*/test_*.cu))
GPU_ROUTE_TESTS = $(patsubst $(srcdir)/%.c,%,$(wildcard $(srcdir)/%D%/*/test_*.c))
GPU_BLACKBOX = $(patsubst %,%D%/blackbox/%,stale stale_bsr stale_epochs parity determinism faults \
  early_reader extend frozen host_time tune)
GPU_TORTURE = $(patsubst %,%D%/torture/%,large layers many_streams many_problems ranks recovery \
  service switches little)

# What will not run (--enable-fast-compile) is not optimized.
NVCC_TEST = $(NVCC) $(NVCC_TEST_ARCH) $(NVCC_FAST) -std=c++17 $(if $(NVCC_FAST),-O0,-O2) \
  -I$(top_srcdir) -I$(top_builddir) -MMD -MP -MF $@.d -MT $@
GPU_LIBS = libshunt-formats.la libshunt-graphblas-gpu.la libshunt-native.la \
  libshunt-semiring.la libshunt-core.la libshunt-host.la
GPU_ARCHIVES = $(GPU_LIBS:%.la=.libs/%.a)
-include $(shell find %D% tests/bench -name '*.d' 2>/dev/null)

# The kernels of `shunt bench --ablation` come with their test; the native API's engine is C.
ABLATION_CU = $(wildcard $(srcdir)/tests/bench/ablation/*.cu)
ABLATION_OBJECTS = $(ABLATION_CU:$(srcdir)/%.cu=%.o)
ABLATION_TESTS = $(addprefix %D%/ablation/,test_ablation test_ablation_integers test_ablation_tiles)
$(ABLATION_OBJECTS): %.o: $(srcdir)/%.cu
	$(V_NVCC)$(MKDIR_P) $(@D) && $(NVCC_TEST) -c -o $@ $<
$(ABLATION_TESTS): $(ABLATION_OBJECTS)
$(ABLATION_TESTS): EXTRA_OBJECTS = $(ABLATION_OBJECTS)
NATIVE_CUDA_OBJECTS = %D%/native/cuda_engine.o %D%/native/cuda_integers.o
$(NATIVE_CUDA_OBJECTS): %D%/native/%.o: $(srcdir)/backend/native/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(CFLAGS) -I$(top_srcdir) $(CUDA_CPPFLAGS) -c -o $@ $<
%D%/native/test_native_gpu %D%/native/test_native_integers_gpu: $(NATIVE_CUDA_OBJECTS)
%D%/native/test_native_gpu %D%/native/test_native_integers_gpu: EXTRA_OBJECTS = \
  $(NATIVE_CUDA_OBJECTS)

$(GPU_TESTS): %: %.cu $(GPU_LIBS)
	$(V_NVCC)$(MKDIR_P) $(@D) && $(NVCC_TEST) -Xlinker --as-needed -Xlinker -Map=$@.linked \
	  -o $@ $< $(EXTRA_OBJECTS) \
	  $(GPU_ARCHIVES) $(CUDA_LIBS) $(ZLIB_LIBS) -lgomp -lcusparse
$(GPU_ROUTE_TESTS): %: %.c $(GPU_LIBS)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(CFLAGS) -I$(top_srcdir) $(CUDA_CPPFLAGS) -MMD -MP \
	  -MF $@.d -MT $@ -Wl,-Map=$@.linked -o $@ $< $(GPU_ARCHIVES) $(CUDA_LIBS) $(ZLIB_LIBS) $(OPENMP_CFLAGS) -lm
$(GPU_BLACKBOX) $(GPU_TORTURE): %: %.cu
	$(V_NVCC)$(MKDIR_P) $(@D) && $(NVCC_TEST) -cudart shared -o $@ $< -lcusparse
%D%/blackbox/quiet_preload.so: %D%/blackbox/quiet_preload.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(CFLAGS) -shared -fPIC $(CUDA_CPPFLAGS) \
	  -isystem $(CUDA_DIR)/extras/CUPTI/include -o $@ $< -ldl -lpthread

if HAVE_CUDA
gpu-tests: $(GPU_TESTS) $(GPU_ROUTE_TESTS) $(GPU_BLACKBOX) $(GPU_TORTURE) %D%/blackbox/quiet \
  %D%/blackbox/short_program %D%/blackbox/quiet_preload.so \
  tests/bench/ablation_bench
check-gpu: all gpu-tests clients
	sh $(top_srcdir)/%D%/check_gpu.sh $(abs_top_builddir) $(abs_top_builddir)/gpu-logs
else
gpu-tests check-gpu:
	@echo "built without CUDA: no GPU programs"
endif
.PHONY: gpu-tests check-gpu
CLEANFILES += $(addsuffix .linked,$(GPU_TESTS) $(GPU_ROUTE_TESTS)) $(GPU_TESTS) $(GPU_ROUTE_TESTS) $(GPU_BLACKBOX) $(GPU_TORTURE) %D%/blackbox/quiet \
  %D%/blackbox/short_program %D%/blackbox/quiet_preload.so \
  $(NATIVE_CUDA_OBJECTS) $(ABLATION_OBJECTS)
