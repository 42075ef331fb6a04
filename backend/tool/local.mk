# backend/tool: the shunt command.
bin_PROGRAMS = shunt
shunt_SOURCES = \
  %D%/demo.c %D%/inspect.c %D%/launch.c %D%/main.c %D%/model.c %D%/model_print.c %D%/run.c \
  %D%/run_report.c %D%/tool_matrix.c %D%/tool_memory.c %D%/tool_patterns.c %D%/tool_random.c \
  %D%/tool_text.c \
  %D%/bench/ablation.c %D%/bench/bench.c %D%/bench/case.c %D%/bench/check.c %D%/bench/host.c \
  %D%/bench/json.c %D%/bench/operands.c %D%/bench/report.c %D%/bench/suite.c \
  %D%/bench/summary.c
if HAVE_CUDA
noinst_LTLIBRARIES += libshunt-bench.la
libshunt_bench_la_SOURCES = %D%/bench/reference.cu
shunt_SOURCES += \
  %D%/bench/gpu.c %D%/bench/gpu_clusters.c %D%/bench/gpu_cublas.c %D%/bench/gpu_cusparse.c \
  %D%/bench/gpu_dcsr.c %D%/bench/gpu_formats.c %D%/bench/gpu_memory.c %D%/bench/gpu_peers.c \
  %D%/bench/gpu_shunt.c %D%/bench/gpu_time.c
shunt_LDADD = libshunt-bench.la libshunt-formats.la libshunt-core.la libshunt-host.la \
  $(CUDA_LIBS) $(ZLIB_LIBS) -lm
else
shunt_LDADD = libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm
endif
dist_man_MANS = %D%/man/shunt.1 %D%/man/shunt-cusparse.7 %D%/man/shunt-env.7 \
  %D%/man/shunt-graphblas.7
