# tests/unit: one folder at a time, without a GPU.
check_PROGRAMS = \
  %D%/calibrate/test_fit %D%/calibrate/test_measure %D%/costs/test_estimates %D%/costs/test_tables \
  %D%/bundle/test_bundle %D%/conv/test_conv %D%/conv/test_density_sparse %D%/conv/test_read \
  %D%/csr/test_csr_host_complex \
  %D%/csr/test_csr_host_sddmm %D%/csr/test_csr_host_spmm %D%/dcsr/test_dcsr \
  %D%/dcsr/test_dcsr_hardware_model %D%/dcsr/test_dcsr_traffic %D%/dcsr/test_dcsr_twin \
  %D%/graphblas/test_arenas %D%/graphblas/test_frontier_cost \
  %D%/graphblas/test_kept_memory %D%/graphblas/test_masked_seconds \
  %D%/native/test_native %D%/native/test_native_integers %D%/native/test_native_integers_rows \
  %D%/native/test_native_refused %D%/options/test_options \
  %D%/plan/test_log_density %D%/plan/test_log_gain %D%/plan/test_log_python %D%/plan/test_timeline \
  %D%/semiring/test_semiring_bundles %D%/semiring/test_semiring_frontier \
  %D%/semiring/test_semiring_masked %D%/semiring/test_semiring_masked_memory \
  %D%/semiring/test_semiring_masked_reads \
  %D%/semiring/test_semiring_sddmm %D%/semiring/test_semiring_spmm \
  %D%/semiring/test_semiring_team %D%/sorted/test_sorted %D%/sparse24/test_sparse24 \
  %D%/srbcrs/test_srbcrs %D%/srbcrs/test_srbcrs_attention \
  %D%/tile/test_tile %D%/tile/test_tile_refused %D%/tile/test_tile_twin \
  %D%/tool/test_bench_blocks %D%/tool/test_bench_summary %D%/tool/test_bench_turn \
  %D%/vector/test_row_clusters %D%/vector/test_vector_attention %D%/vector/test_vector_sddmm_share \
  %D%/vector/test_vector_attention_random %D%/vector/test_vector_host_format
LDADD = libshunt-host.la $(ZLIB_LIBS) -lm

# What tests link of backend is compiled once, and lies in two archives: the objects of libraries,
# and those of the command.  The linker takes from them what a test needs and does not bring itself,
# as a stand-in.  Those that ThreadSanitizer runs (THREADED_TESTS) name their sources.
TESTED = %D%/libtested-tool.a %D%/libtested.la
check_LIBRARIES = %D%/libtested-tool.a
%C%_libtested_tool_a_SOURCES = \
  backend/tool/bench/blocks.c backend/tool/bench/case.c backend/tool/bench/each_case.c \
  backend/tool/bench/operands.c backend/tool/bench/summary.c backend/tool/bench/turned.c \
  backend/tool/calibrate/fit.c backend/tool/calibrate/least_squares.c \
  backend/tool/calibrate/lines.c backend/tool/calibrate/timings.c \
  backend/tool/calibrate/validate.c $(REPORT_SOURCES) \
  backend/tool/tool_matrix.c backend/tool/tool_memory.c backend/tool/tool_networks.c \
  backend/tool/tool_patterns.c backend/tool/tool_progress.c backend/tool/tool_random.c \
  backend/tool/tool_text.c
check_LTLIBRARIES = %D%/libtested.la
%C%_libtested_la_SOURCES = backend/graphblas/frontier/frontier_cost.c \
  backend/graphblas/frontier/frontier_host.c backend/graphblas/frontier/frontier_original.c \
  backend/graphblas/gpu/cost.c backend/graphblas/gpu/masked/masked_seconds.c \
  backend/graphblas/memory.c backend/native/no_cuda.c $(HOST_PLAN_SOURCES) \
  $(NO_ROUTES_SOURCES) $(COST_SOURCES) $(COST_TABLE_SOURCES) $(CONV_PROFILE_SEMIRING)
nodist_%C%_libtested_la_SOURCES = $(COST_BUILT_IN)
if HAVE_CUDA
%C%_libtested_tool_a_SOURCES += backend/tool/bench/gpu_cublaslt.c \
  backend/tool/bench/gpu_cusparse.c backend/tool/bench/gpu_memory.c \
  backend/tool/bench/gpu_order.c backend/tool/bench/gpu_peers.c \
  backend/tool/bench/gpu_transposed.c
%C%_libtested_la_SOURCES += backend/graphblas/gpu/budget.c $(libshunt_describe_la_SOURCES) \
  backend/cusparse/entry.c backend/cusparse/measure.c backend/cusparse/preprocess_epoch.c \
  backend/cusparse/sddmm.c backend/cusparse/setters.c backend/cusparse/spmm.c \
  $(GPU_PLAN_SOURCES) $(CUBLAS_SOURCES) backend/routes/dense.c backend/routes/packed_cost.c \
  backend/routes/packed_product.c
endif

%C%_calibrate_test_fit_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_calibrate_test_measure_LDADD = $(TESTED) libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm
# Without the kernels: their shapes stand in the test.
%C%_costs_test_estimates_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_costs_test_tables_LDADD = $(TESTED) -lm
EXTRA_DIST += %D%/costs/estimates.txt

NATIVE_TEST_LIBS = libshunt-native.la $(TESTED) libshunt-host.la $(ZLIB_LIBS) -lm
%C%_native_test_native_SOURCES = %D%/native/test_native.c %D%/native/native_header.c
%C%_native_test_native_LDADD = $(NATIVE_TEST_LIBS)
%C%_native_test_native_integers_LDADD = $(NATIVE_TEST_LIBS)
%C%_native_test_native_integers_rows_LDADD = $(NATIVE_TEST_LIBS)
%C%_native_test_native_refused_LDADD = $(NATIVE_TEST_LIBS)

%C%_conv_test_density_sparse_LDADD = $(TESTED) $(LDADD)
%C%_options_test_options_LDADD = $(TESTED) -lpthread
%C%_plan_test_log_gain_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_plan_test_log_density_LDADD = $(TESTED) -lm
%C%_plan_test_log_python_LDFLAGS = -rdynamic
%C%_plan_test_log_python_LDADD = $(TESTED)
%C%_graphblas_test_arenas_LDADD = $(TESTED)
%C%_graphblas_test_frontier_cost_LDADD = $(TESTED) libshunt-semiring.la -lm
%C%_graphblas_test_kept_memory_LDADD = $(TESTED)
%C%_graphblas_test_masked_seconds_LDADD = $(TESTED)
%C%_plan_test_timeline_LDADD = $(TESTED)
%C%_tool_test_bench_blocks_LDADD = $(TESTED) libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm
%C%_tool_test_bench_turn_LDADD = $(TESTED) libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm
%C%_tool_test_bench_summary_LDADD = $(TESTED) libshunt-problem.la -lm

%C%_semiring_test_semiring_bundles_LDADD = libshunt-semiring.la -lm
%C%_semiring_test_semiring_frontier_LDADD = libshunt-semiring.la -lm
%C%_semiring_test_semiring_frontier_LDFLAGS = \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=free
%C%_semiring_test_semiring_masked_LDADD = libshunt-semiring.la -lm
%C%_semiring_test_semiring_masked_reads_SOURCES = %D%/semiring/test_semiring_masked_reads.c \
  tests/graphblas/instructions.c
%C%_semiring_test_semiring_masked_reads_LDADD = libshunt-semiring.la -lm
%C%_semiring_test_semiring_masked_memory_LDADD = libshunt-semiring.la -lm
%C%_semiring_test_semiring_masked_memory_LDFLAGS = \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=free
%C%_semiring_test_semiring_sddmm_LDADD = libshunt-semiring.la -lm
%C%_semiring_test_semiring_spmm_LDADD = libshunt-semiring.la -lm
%C%_semiring_test_semiring_team_LDADD = libshunt-semiring.la -lm

# With stand-ins for what they do not test.
if HAVE_CUDA
check_PROGRAMS += \
  %D%/cusparse/test_bsr_notes %D%/cusparse/test_entry %D%/cusparse/test_measure \
  %D%/cusparse/test_preprocess_epoch %D%/cusparse/test_strides \
  %D%/plan/test_cache %D%/plan/test_cache_memory %D%/plan/test_cache_profiles \
  %D%/plan/test_cache_turns \
  %D%/plan/test_cache_proofs %D%/plan/test_context %D%/plan/test_cost \
  %D%/plan/test_cost_original %D%/plan/test_cost_sddmm %D%/plan/test_cost_shapes \
  %D%/plan/test_row_shapes \
  %D%/plan/test_cublaslt %D%/plan/test_forks %D%/plan/test_frozen %D%/plan/test_math \
  %D%/plan/test_lazy_init %D%/plan/test_packed_product %D%/plan/test_plan %D%/plan/test_planner \
  %D%/plan/test_promise %D%/plan/test_workspace_limit %D%/plan/test_service %D%/plan/test_budget \
  %D%/plan/test_gpu_budget %D%/plan/test_log %D%/plan/test_log_report %D%/plan/test_threads \
  %D%/plan/test_tune %D%/sparse24/test_sparse24_route \
  %D%/srbcrs/test_srbcrs_cost %D%/tile/test_tile_route %D%/tool/test_bench_blocked_ell \
  %D%/tool/test_bench_cublaslt %D%/tool/test_bench_order \
  %D%/vector/test_vector_route
%C%_tool_test_bench_blocked_ell_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_tool_test_bench_cublaslt_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_tool_test_bench_order_LDADD = $(TESTED)
%C%_cusparse_test_bsr_notes_LDADD = $(TESTED) -lpthread
%C%_cusparse_test_entry_LDADD = $(TESTED) libshunt-problem.la -lm -lpthread
%C%_cusparse_test_measure_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_cusparse_test_preprocess_epoch_LDADD = $(TESTED) libshunt-problem.la -lm -lpthread
%C%_cusparse_test_strides_LDADD = $(TESTED) -lpthread
%C%_plan_test_cache_LDADD = $(TESTED) libshunt-problem.la -lpthread -lm
%C%_plan_test_cache_memory_LDADD = $(TESTED) libshunt-problem.la -lpthread -lm
%C%_plan_test_cache_turns_LDADD = $(TESTED) libshunt-problem.la -lpthread -lm
%C%_plan_test_cache_profiles_LDADD = $(TESTED) libshunt-problem.la -lpthread -lm
%C%_plan_test_cache_proofs_LDADD = $(TESTED) libshunt-problem.la -lpthread -lm
%C%_plan_test_context_LDADD = $(TESTED) libshunt-problem.la -lpthread -lm
%C%_plan_test_service_LDADD = $(TESTED) libshunt-problem.la -lpthread -lm
%C%_plan_test_forks_LDADD = $(TESTED) libshunt-problem.la -lm -lpthread
%C%_plan_test_forks_LDFLAGS = -Wl,--wrap=pthread_mutex_unlock
%C%_plan_test_frozen_LDADD = $(TESTED)
%C%_plan_test_cublaslt_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_plan_test_math_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_plan_test_packed_product_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_plan_test_planner_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_plan_test_lazy_init_LDADD = $(TESTED) libshunt-problem.la -lm -lpthread

%C%_plan_test_budget_LDADD = $(TESTED) -lpthread
%C%_plan_test_workspace_limit_LDADD = $(TESTED)
%C%_plan_test_promise_SOURCES = %D%/plan/test_promise.c backend/plan/promise.c
%C%_plan_test_promise_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_promise_LDADD = -lpthread

%C%_plan_test_gpu_budget_LDADD = $(TESTED) -lpthread

LOG_SOURCES = backend/log/log_caller.c backend/log/log_density.c backend/log/log_gain.c \
  backend/log/log_measure.c \
  backend/log/log_process.c backend/log/log_python.c backend/log/log_report.c \
  backend/log/log_timeline.c backend/log/log_upkeep.c backend/plan/fault.c backend/plan/frozen.c \
  backend/plan/log.c
%C%_plan_test_log_LDADD = $(TESTED) libshunt-problem.la -lm -lpthread
%C%_plan_test_log_report_LDADD = $(TESTED) libshunt-problem.la -lm -lpthread
%C%_plan_test_threads_SOURCES = %D%/plan/test_threads.c $(OPTION_SOURCES) $(NO_ROUTES_SOURCES) \
  $(LOG_SOURCES) backend/cusparse/descriptor_table.c backend/cusparse/preprocess_epoch.c \
  backend/plan/promise.c
%C%_plan_test_threads_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_threads_LDADD = libshunt-problem.la -lm -lpthread

CORE_TEST_LIBS = libshunt-core.la $(CUDA_LIBS) $(ZLIB_LIBS) -lm
%C%_plan_test_cost_LDADD = $(CORE_TEST_LIBS)
%C%_plan_test_cost_original_LDADD = $(CORE_TEST_LIBS)
%C%_plan_test_cost_sddmm_LDADD = $(CORE_TEST_LIBS)
%C%_plan_test_cost_shapes_LDADD = $(CORE_TEST_LIBS)
%C%_plan_test_row_shapes_LDADD = $(CORE_TEST_LIBS)
%C%_plan_test_plan_LDADD = $(CORE_TEST_LIBS)
%C%_plan_test_tune_LDADD = $(CORE_TEST_LIBS)
%C%_sparse24_test_sparse24_route_LDADD = $(CORE_TEST_LIBS)
%C%_srbcrs_test_srbcrs_cost_LDADD = $(CORE_TEST_LIBS)
%C%_tile_test_tile_route_LDADD = $(CORE_TEST_LIBS)
%C%_vector_test_vector_route_LDADD = $(CORE_TEST_LIBS)
include %D%/way/local.mk
endif

unit_scripts = %D%/calibrate/test_calibrate.sh %D%/native/test_libshunt.sh \
  %D%/tool/test_browser.sh %D%/tool/test_check_gpu.sh %D%/tool/test_dist_solver.sh \
  %D%/tool/test_doctor.sh %D%/tool/test_documents.sh %D%/tool/test_inspect.sh \
  %D%/tool/test_module.sh %D%/tool/test_plots.sh %D%/tool/test_page.sh %D%/tool/test_report.sh \
  %D%/tool/test_results.sh %D%/tool/test_solvers.sh %D%/tool/test_support.sh \
  %D%/tool/test_tool.sh

# For tests/sanitized.sh: without kernels and the semirings' loops, and without twins that would
# take minutes there.
SANITIZED_TESTS = $(filter-out %D%/semiring/% %D%/graphblas/test_frontier_cost% \
  %D%/plan/test_cost% %D%/plan/test_plan$(EXEEXT) %D%/plan/test_tune% \
  %D%/sparse24/test_sparse24_route% %D%/srbcrs/test_srbcrs_cost% \
  %D%/tile/test_tile_route% %D%/tile/test_tile_twin% %D%/vector/test_vector_route% \
  %D%/vector/test_vector_attention_random%,$(check_PROGRAMS))
SANITIZED_LOOPS = $(filter %D%/semiring/%,$(check_PROGRAMS))
THREADED_TESTS = $(filter %D%/plan/test_threads% %D%/plan/test_promise%,$(check_PROGRAMS))
print-programs:
	@echo $($(LIST))
.PHONY: print-programs
