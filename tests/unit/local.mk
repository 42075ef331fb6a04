# tests/unit: one folder at a time, without a GPU.
check_PROGRAMS = \
  %D%/calibrate/test_fit %D%/calibrate/test_measure %D%/costs/test_estimates %D%/costs/test_tables \
  %D%/bundle/test_bundle %D%/conv/test_conv %D%/conv/test_read %D%/csr/test_csr_host_complex \
  %D%/csr/test_csr_host_sddmm %D%/csr/test_csr_host_spmm %D%/dcsr/test_dcsr \
  %D%/dcsr/test_dcsr_hardware_model %D%/dcsr/test_dcsr_traffic %D%/dcsr/test_dcsr_twin \
  %D%/graphblas/test_arenas %D%/graphblas/test_masked_seconds \
  %D%/native/test_native %D%/native/test_native_integers %D%/native/test_native_integers_rows \
  %D%/native/test_native_refused %D%/options/test_options \
  %D%/plan/test_log_python %D%/plan/test_timeline \
  %D%/semiring/test_semiring_bundles %D%/semiring/test_semiring_frontier \
  %D%/semiring/test_semiring_masked %D%/semiring/test_semiring_masked_memory \
  %D%/semiring/test_semiring_masked_reads \
  %D%/semiring/test_semiring_sddmm %D%/semiring/test_semiring_spmm %D%/sparse24/test_sparse24 \
  %D%/srbcrs/test_srbcrs %D%/srbcrs/test_srbcrs_attention \
  %D%/tile/test_tile %D%/tile/test_tile_refused %D%/tile/test_tile_twin \
  %D%/tool/test_bench_blocks %D%/tool/test_bench_summary %D%/tool/test_bench_turn \
  %D%/vector/test_row_clusters %D%/vector/test_vector_attention \
  %D%/vector/test_vector_attention_random %D%/vector/test_vector_host_format
LDADD = libshunt-host.la $(ZLIB_LIBS) -lm

%C%_calibrate_test_fit_SOURCES = %D%/calibrate/test_fit.c backend/tool/calibrate/fit.c \
  backend/tool/calibrate/least_squares.c backend/tool/calibrate/lines.c \
  backend/tool/calibrate/timings.c backend/tool/calibrate/validate.c backend/tool/tool_text.c \
  $(FITTED_COST_SOURCES) $(COST_TABLE_SOURCES) $(USER_FILE_SOURCES)
nodist_%C%_calibrate_test_fit_SOURCES = $(COST_BUILT_IN)
%C%_calibrate_test_fit_CFLAGS = $(AM_CFLAGS)
%C%_calibrate_test_fit_LDADD = libshunt-problem.la -lm
%C%_calibrate_test_measure_SOURCES = %D%/calibrate/test_measure.c \
  backend/tool/bench/case.c backend/tool/bench/each_case.c backend/tool/calibrate/lines.c \
  backend/tool/calibrate/timings.c backend/tool/tool_matrix.c backend/tool/tool_memory.c \
  backend/tool/tool_patterns.c backend/tool/tool_progress.c backend/tool/tool_random.c \
  backend/tool/tool_text.c \
  $(FITTED_COST_SOURCES) $(COST_TABLE_SOURCES) $(USER_FILE_SOURCES)
nodist_%C%_calibrate_test_measure_SOURCES = $(COST_BUILT_IN)
%C%_calibrate_test_measure_CFLAGS = $(AM_CFLAGS)
%C%_calibrate_test_measure_LDADD = libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm
# Without the kernels: their shapes stand in the test.
%C%_costs_test_estimates_SOURCES = %D%/costs/test_estimates.c $(COST_SOURCES) \
  $(COST_TABLE_SOURCES) $(USER_FILE_SOURCES)
nodist_%C%_costs_test_estimates_SOURCES = $(COST_BUILT_IN)
%C%_costs_test_estimates_CFLAGS = $(AM_CFLAGS)
%C%_costs_test_estimates_LDADD = libshunt-problem.la -lm
%C%_costs_test_tables_SOURCES = %D%/costs/test_tables.c $(COST_TABLE_SOURCES) \
  $(USER_FILE_SOURCES)
nodist_%C%_costs_test_tables_SOURCES = $(COST_BUILT_IN)
%C%_costs_test_tables_CFLAGS = $(AM_CFLAGS)
%C%_costs_test_tables_LDADD = -lm
EXTRA_DIST += %D%/costs/estimates.txt

NATIVE_TEST_LIBS = libshunt-native.la libshunt-host.la $(ZLIB_LIBS) -lm
%C%_native_test_native_SOURCES = %D%/native/test_native.c %D%/native/native_header.c \
  backend/native/no_cuda.c
%C%_native_test_native_CFLAGS = $(AM_CFLAGS)
%C%_native_test_native_LDADD = $(NATIVE_TEST_LIBS)
%C%_native_test_native_integers_SOURCES = %D%/native/test_native_integers.c \
  backend/native/no_cuda.c
%C%_native_test_native_integers_CFLAGS = $(AM_CFLAGS)
%C%_native_test_native_integers_LDADD = $(NATIVE_TEST_LIBS)
%C%_native_test_native_integers_rows_SOURCES = %D%/native/test_native_integers_rows.c \
  backend/native/no_cuda.c
%C%_native_test_native_integers_rows_CFLAGS = $(AM_CFLAGS)
%C%_native_test_native_integers_rows_LDADD = $(NATIVE_TEST_LIBS)
%C%_native_test_native_refused_SOURCES = %D%/native/test_native_refused.c backend/native/no_cuda.c
%C%_native_test_native_refused_CFLAGS = $(AM_CFLAGS)
%C%_native_test_native_refused_LDADD = $(NATIVE_TEST_LIBS)

%C%_options_test_options_SOURCES = %D%/options/test_options.c $(OPTION_SOURCES) \
  $(NO_ROUTES_SOURCES) backend/plan/fault.c
%C%_options_test_options_CFLAGS = $(AM_CFLAGS)
%C%_options_test_options_LDADD = -lpthread
%C%_plan_test_log_python_SOURCES = %D%/plan/test_log_python.c backend/log/log_python.c
%C%_plan_test_log_python_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_log_python_LDFLAGS = -rdynamic
%C%_plan_test_log_python_LDADD =
%C%_graphblas_test_arenas_SOURCES = %D%/graphblas/test_arenas.c backend/graphblas/memory.c \
  backend/plan/fault.c
%C%_graphblas_test_arenas_CFLAGS = $(AM_CFLAGS)
%C%_graphblas_test_arenas_LDADD =
%C%_graphblas_test_masked_seconds_SOURCES = %D%/graphblas/test_masked_seconds.c \
  backend/graphblas/gpu/cost.c backend/graphblas/gpu/masked/masked_seconds.c
%C%_graphblas_test_masked_seconds_CFLAGS = $(AM_CFLAGS)
%C%_graphblas_test_masked_seconds_LDADD =
%C%_plan_test_timeline_SOURCES = %D%/plan/test_timeline.c backend/log/log_timeline.c
%C%_plan_test_timeline_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_timeline_LDADD =
BENCH_CASE_SOURCES = backend/tool/bench/case.c backend/tool/bench/operands.c \
  backend/tool/tool_matrix.c backend/tool/tool_memory.c backend/tool/tool_patterns.c \
  backend/tool/tool_progress.c backend/tool/tool_random.c backend/tool/tool_text.c
%C%_tool_test_bench_blocks_SOURCES = %D%/tool/test_bench_blocks.c backend/tool/bench/blocks.c \
  $(BENCH_CASE_SOURCES)
%C%_tool_test_bench_turn_SOURCES = %D%/tool/test_bench_turn.c backend/tool/bench/turned.c \
  $(BENCH_CASE_SOURCES)
%C%_tool_test_bench_blocks_CFLAGS = $(AM_CFLAGS)
%C%_tool_test_bench_blocks_LDADD = libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm
%C%_tool_test_bench_turn_CFLAGS = $(AM_CFLAGS)
%C%_tool_test_bench_turn_LDADD = libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm
%C%_tool_test_bench_summary_SOURCES = %D%/tool/test_bench_summary.c backend/tool/bench/case.c \
  backend/tool/bench/summary.c backend/tool/tool_text.c
%C%_tool_test_bench_summary_CFLAGS = $(AM_CFLAGS)
%C%_tool_test_bench_summary_LDADD = libshunt-problem.la -lm

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

# With what they test compiled in, and stand-ins for the rest.
if HAVE_CUDA
check_PROGRAMS += \
  %D%/cusparse/test_bsr_notes %D%/cusparse/test_entry %D%/cusparse/test_measure \
  %D%/cusparse/test_preprocess_epoch %D%/cusparse/test_strides \
  %D%/plan/test_cache %D%/plan/test_cache_memory %D%/plan/test_cache_profiles \
  %D%/plan/test_cache_proofs %D%/plan/test_context %D%/plan/test_cost \
  %D%/plan/test_cost_original %D%/plan/test_cost_sddmm %D%/plan/test_cost_shapes \
  %D%/plan/test_forks \
  %D%/plan/test_frozen %D%/plan/test_math \
  %D%/plan/test_lazy_init %D%/plan/test_packed_product %D%/plan/test_plan %D%/plan/test_planner \
  %D%/plan/test_promise %D%/plan/test_workspace_limit %D%/plan/test_service %D%/plan/test_budget \
  %D%/plan/test_gpu_budget %D%/plan/test_log %D%/plan/test_log_report %D%/plan/test_threads \
  %D%/plan/test_tune %D%/sparse24/test_sparse24_route \
  %D%/srbcrs/test_srbcrs_cost %D%/tile/test_tile_route %D%/tool/test_bench_blocked_ell \
  %D%/tool/test_bench_cublaslt \
  %D%/vector/test_vector_route
%C%_tool_test_bench_blocked_ell_SOURCES = %D%/tool/test_bench_blocked_ell.c \
  backend/tool/bench/gpu_cusparse.c backend/tool/bench/gpu_memory.c backend/tool/bench/gpu_peers.c
%C%_tool_test_bench_blocked_ell_CFLAGS = $(AM_CFLAGS)
%C%_tool_test_bench_blocked_ell_LDADD = libshunt-problem.la -lm
%C%_tool_test_bench_cublaslt_SOURCES = %D%/tool/test_bench_cublaslt.c \
  backend/tool/bench/gpu_cublaslt.c backend/tool/bench/gpu_memory.c backend/tool/bench/gpu_peers.c
%C%_tool_test_bench_cublaslt_CFLAGS = $(AM_CFLAGS)
%C%_tool_test_bench_cublaslt_LDADD = libshunt-problem.la -lm
%C%_cusparse_test_bsr_notes_SOURCES = %D%/cusparse/test_bsr_notes.c backend/cusparse/bsr.c \
  backend/cusparse/descriptor_table.c
%C%_cusparse_test_bsr_notes_CFLAGS = $(AM_CFLAGS)
%C%_cusparse_test_bsr_notes_LDADD = -lpthread
%C%_cusparse_test_entry_SOURCES = %D%/cusparse/test_entry.c backend/cusparse/bsr.c \
  backend/cusparse/describe.c backend/cusparse/descriptor_table.c backend/cusparse/entry.c \
  backend/cusparse/preprocess_epoch.c backend/cusparse/sddmm.c backend/cusparse/setters.c \
  backend/cusparse/spmm.c backend/cusparse/strides.c backend/plan/fault.c backend/plan/promise.c
%C%_cusparse_test_entry_CFLAGS = $(AM_CFLAGS)
%C%_cusparse_test_entry_LDADD = libshunt-problem.la -lm -lpthread
%C%_cusparse_test_measure_SOURCES = %D%/cusparse/test_measure.c backend/cusparse/measure.c \
  backend/log/log_measure.c
%C%_cusparse_test_measure_CFLAGS = $(AM_CFLAGS)
%C%_cusparse_test_measure_LDADD = libshunt-problem.la -lm
%C%_cusparse_test_preprocess_epoch_SOURCES = %D%/cusparse/test_preprocess_epoch.c \
  backend/cusparse/descriptor_table.c backend/cusparse/preprocess_epoch.c
%C%_cusparse_test_preprocess_epoch_CFLAGS = $(AM_CFLAGS)
%C%_cusparse_test_preprocess_epoch_LDADD = libshunt-problem.la -lm -lpthread
%C%_cusparse_test_strides_SOURCES = %D%/cusparse/test_strides.c \
  backend/cusparse/descriptor_table.c backend/cusparse/strides.c
%C%_cusparse_test_strides_CFLAGS = $(AM_CFLAGS)
%C%_cusparse_test_strides_LDADD = -lpthread
CACHE_TEST_SOURCES = backend/plan/cache.c backend/plan/cache_arrays.c \
  backend/plan/cache_profile.c backend/plan/fault.c backend/plan/frozen.c backend/plan/packed.c \
  backend/plan/packed_uses.c backend/plan/memory/budget.c backend/plan/memory/packed_pool.c
%C%_plan_test_cache_SOURCES = %D%/plan/test_cache.c $(CACHE_TEST_SOURCES)
%C%_plan_test_cache_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_cache_LDADD = libshunt-problem.la -lpthread -lm
%C%_plan_test_cache_memory_SOURCES = %D%/plan/test_cache_memory.c $(CACHE_TEST_SOURCES)
%C%_plan_test_cache_memory_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_cache_memory_LDADD = libshunt-problem.la -lpthread -lm
%C%_plan_test_cache_profiles_SOURCES = %D%/plan/test_cache_profiles.c $(CACHE_TEST_SOURCES)
%C%_plan_test_cache_profiles_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_cache_profiles_LDADD = libshunt-problem.la -lpthread -lm
%C%_plan_test_cache_proofs_SOURCES = %D%/plan/test_cache_proofs.c $(CACHE_TEST_SOURCES)
%C%_plan_test_cache_proofs_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_cache_proofs_LDADD = libshunt-problem.la -lpthread -lm
%C%_plan_test_context_SOURCES = %D%/plan/test_context.c $(CACHE_TEST_SOURCES) \
  $(COST_TABLE_SOURCES) backend/cublas/lazy_init.c $(USER_FILE_SOURCES) \
  backend/plan/context.c
nodist_%C%_plan_test_context_SOURCES = $(COST_BUILT_IN)
%C%_plan_test_context_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_context_LDADD = libshunt-problem.la -lpthread -lm
%C%_plan_test_service_SOURCES = %D%/plan/test_service.c $(CACHE_TEST_SOURCES)
%C%_plan_test_service_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_service_LDADD = libshunt-problem.la -lpthread -lm
%C%_plan_test_forks_SOURCES = %D%/plan/test_forks.c $(OPTION_SOURCES) $(NO_ROUTES_SOURCES) \
  backend/cusparse/descriptor_table.c backend/cusparse/preprocess_epoch.c backend/plan/fault.c \
  backend/plan/memory/budget.c backend/plan/tune.c
%C%_plan_test_forks_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_forks_LDADD = libshunt-problem.la -lm -lpthread
%C%_plan_test_forks_LDFLAGS = -Wl,--wrap=pthread_mutex_unlock
%C%_plan_test_frozen_SOURCES = %D%/plan/test_frozen.c backend/plan/frozen.c
%C%_plan_test_frozen_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_frozen_LDADD =
%C%_plan_test_math_SOURCES = %D%/plan/test_math.c $(OPTION_SOURCES) backend/cublas/cublaslt.c \
  backend/plan/fault.c backend/routes/cost_forms.c backend/routes/dense.c \
  backend/routes/csr_cost.c backend/routes/dense_cost.c backend/routes/no_routes.c \
  backend/routes/packed_cost.c backend/routes/packed_product.c
nodist_%C%_plan_test_math_SOURCES = $(COST_BUILT_IN)
%C%_plan_test_math_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_math_LDADD = libshunt-problem.la -lm
%C%_plan_test_packed_product_SOURCES = %D%/plan/test_packed_product.c backend/plan/fault.c \
  backend/routes/packed_product.c
%C%_plan_test_packed_product_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_packed_product_LDADD = libshunt-problem.la -lm
PLANNER_SOURCES = backend/cublas/lazy_init.c backend/plan/choice.c backend/plan/fault.c \
  backend/plan/frozen.c backend/plan/planner.c backend/plan/product.c backend/routes/cost_forms.c
%C%_plan_test_planner_SOURCES = %D%/plan/test_planner.c $(PLANNER_SOURCES)
nodist_%C%_plan_test_planner_SOURCES = $(COST_BUILT_IN)
%C%_plan_test_planner_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_planner_LDADD = libshunt-problem.la -lm
%C%_plan_test_lazy_init_SOURCES = %D%/plan/test_lazy_init.c $(PLANNER_SOURCES)
nodist_%C%_plan_test_lazy_init_SOURCES = $(COST_BUILT_IN)
%C%_plan_test_lazy_init_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_lazy_init_LDADD = libshunt-problem.la -lm -lpthread

%C%_plan_test_budget_SOURCES = %D%/plan/test_budget.c backend/plan/fault.c \
  backend/plan/memory/budget.c
%C%_plan_test_budget_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_budget_LDADD = -lpthread
%C%_plan_test_workspace_limit_SOURCES = %D%/plan/test_workspace_limit.c \
  backend/plan/fault.c backend/plan/memory/workspace_limit.c
%C%_plan_test_workspace_limit_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_workspace_limit_LDADD =
%C%_plan_test_promise_SOURCES = %D%/plan/test_promise.c backend/plan/promise.c
%C%_plan_test_promise_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_promise_LDADD = -lpthread

%C%_plan_test_gpu_budget_SOURCES = %D%/plan/test_gpu_budget.c backend/graphblas/gpu/budget.c \
  backend/plan/fault.c backend/plan/memory/budget.c
%C%_plan_test_gpu_budget_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_gpu_budget_LDADD = -lpthread

LOG_SOURCES = backend/log/log_caller.c backend/log/log_measure.c backend/log/log_process.c \
  backend/log/log_python.c backend/log/log_report.c backend/log/log_timeline.c \
  backend/log/log_upkeep.c backend/plan/fault.c backend/plan/frozen.c backend/plan/log.c
%C%_plan_test_log_SOURCES = %D%/plan/test_log.c $(OPTION_SOURCES) $(NO_ROUTES_SOURCES) \
  $(LOG_SOURCES)
%C%_plan_test_log_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_log_LDADD = libshunt-problem.la -lm -lpthread
%C%_plan_test_log_report_SOURCES = %D%/plan/test_log_report.c $(OPTION_SOURCES) \
  $(NO_ROUTES_SOURCES) $(LOG_SOURCES)
%C%_plan_test_log_report_CFLAGS = $(AM_CFLAGS)
%C%_plan_test_log_report_LDADD = libshunt-problem.la -lm -lpthread
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
%C%_plan_test_plan_LDADD = $(CORE_TEST_LIBS)
%C%_plan_test_tune_LDADD = $(CORE_TEST_LIBS)
%C%_sparse24_test_sparse24_route_LDADD = $(CORE_TEST_LIBS)
%C%_srbcrs_test_srbcrs_cost_LDADD = $(CORE_TEST_LIBS)
%C%_tile_test_tile_route_LDADD = $(CORE_TEST_LIBS)
%C%_vector_test_vector_route_LDADD = $(CORE_TEST_LIBS)
include %D%/way/local.mk
endif

unit_scripts = %D%/calibrate/test_calibrate.sh %D%/native/test_libshunt.sh \
  %D%/tool/test_browser.sh \
  %D%/tool/test_check_gpu.sh %D%/tool/test_doctor.sh %D%/tool/test_documents.sh \
  %D%/tool/test_inspect.sh %D%/tool/test_module.sh %D%/tool/test_plots.sh \
  %D%/tool/test_page.sh %D%/tool/test_report.sh %D%/tool/test_results.sh \
  %D%/tool/test_solvers.sh %D%/tool/test_support.sh %D%/tool/test_tool.sh

# For tests/sanitized.sh: without kernels and the semirings' loops, and without twins that would
# take minutes there.
SANITIZED_TESTS = $(filter-out %D%/semiring/% %D%/plan/test_cost% %D%/plan/test_plan$(EXEEXT) \
  %D%/plan/test_tune% %D%/sparse24/test_sparse24_route% %D%/srbcrs/test_srbcrs_cost% \
  %D%/tile/test_tile_route% %D%/tile/test_tile_twin% %D%/vector/test_vector_route% \
  %D%/vector/test_vector_attention_random%,$(check_PROGRAMS))
SANITIZED_LOOPS = $(filter %D%/semiring/%,$(check_PROGRAMS))
THREADED_TESTS = $(filter %D%/plan/test_threads% %D%/plan/test_promise%,$(check_PROGRAMS))
print-programs:
	@echo $($(LIST))
.PHONY: print-programs
