# backend/tool: the shunt command.
bin_PROGRAMS = shunt
REPORT_SOURCES = %D%/run_report.c %D%/report/report_calls.c %D%/report/report_figures.c \
  %D%/report/report_json.c %D%/report/report_merge.c %D%/report/report_page.c \
  %D%/report/report_pieces.c %D%/report/report_ranks.c %D%/report/report_read.c \
  %D%/report/report_style.c %D%/report/report_sums.c %D%/report/report_timeline.c \
  %D%/report/report_matrices.c %D%/report/report_upkeep.c %D%/report/report_words.c
shunt_SOURCES = \
  %D%/demo.c %D%/launch.c %D%/main.c %D%/model.c %D%/model_print.c %D%/run.c \
  %D%/tool_matrix.c %D%/tool_memory.c %D%/tool_networks.c %D%/tool_options.c \
  %D%/tool_patterns.c %D%/tool_progress.c %D%/tool_random.c %D%/tool_text.c \
  %D%/bench/ablation.c %D%/bench/bench.c %D%/bench/blocks.c %D%/bench/case.c \
  %D%/bench/check.c %D%/bench/each_case.c %D%/bench/host.c %D%/bench/json.c \
  %D%/bench/operands.c %D%/bench/report.c \
  %D%/bench/suite.c %D%/bench/summary.c %D%/bench/turned.c \
  %D%/calibrate/calibrate.c %D%/calibrate/changes.c %D%/calibrate/fit.c \
  %D%/calibrate/least_squares.c %D%/calibrate/lines.c %D%/calibrate/measure.c \
  %D%/calibrate/timings.c %D%/calibrate/validate.c %D%/calibrate/write.c \
  %D%/doctor/doctor.c %D%/doctor/doctor_bindings.c %D%/doctor/doctor_costs.c \
  %D%/doctor/doctor_driver.c \
  %D%/doctor/doctor_elf.c %D%/doctor/doctor_findings.c %D%/doctor/doctor_install.c \
  %D%/doctor/doctor_path.c %D%/doctor/doctor_program.c %D%/doctor/doctor_python.c \
  %D%/doctor/doctor_reach.c %D%/doctor/doctor_search.c %D%/doctor/doctor_settings.c \
  %D%/doctor/doctor_shared.c \
  %D%/inspect/inspect.c %D%/inspect/inspect_canvas.c %D%/inspect/inspect_kinds.c \
  %D%/inspect/inspect_layout.c %D%/inspect/inspect_order.c %D%/inspect/inspect_picture.c \
  %D%/inspect/inspect_png.c %D%/inspect/inspect_print.c %D%/inspect/inspect_words.c \
  %D%/report/report_folder.c $(REPORT_SOURCES) \
  %D%/support/support.c
if HAVE_CUDA
noinst_LTLIBRARIES += libshunt-bench.la
libshunt_bench_la_SOURCES = %D%/bench/reference.cu
shunt_SOURCES += %D%/inspect/inspect_routes.c \
  %D%/support/support_ask.c %D%/support/support_calls.c %D%/support/support_changes.c \
  %D%/support/support_products.c %D%/support/support_routes.c %D%/support/support_table.c \
  %D%/support/support_tables.c %D%/support/support_words.c \
  %D%/bench/gpu.c %D%/bench/gpu_bsr.c %D%/bench/gpu_clusters.c %D%/bench/gpu_cublas.c \
  %D%/bench/gpu_cublaslt.c %D%/bench/gpu_cusparse.c %D%/bench/gpu_dcsr.c \
  %D%/bench/gpu_formats.c %D%/bench/gpu_memory.c \
  %D%/bench/gpu_order.c %D%/bench/gpu_peers.c %D%/bench/gpu_shunt.c %D%/bench/gpu_time.c \
  %D%/bench/gpu_transposed.c
shunt_LDADD = libshunt-bench.la libshunt-describe.la libshunt-formats.la libshunt-core.la \
  libshunt-host.la $(CUDA_LIBS) $(ZLIB_LIBS) -lm -ldl
else
noinst_LTLIBRARIES += libshunt-options.la
libshunt_options_la_SOURCES = $(OPTION_SOURCES) $(NO_ROUTES_SOURCES) backend/plan/fault.c \
  $(COST_TABLE_SOURCES) $(FITTED_COST_SOURCES)
nodist_libshunt_options_la_SOURCES = $(COST_BUILT_IN)
shunt_SOURCES += %D%/inspect/inspect_no_routes.c %D%/support/support_no_routes.c
shunt_LDADD = libshunt-options.la libshunt-problem.la libshunt-host.la $(ZLIB_LIBS) -lm -ldl
endif
dist_man_MANS = %D%/man/shunt.1 %D%/man/shunt-cusparse.7 %D%/man/shunt-env.7 \
  %D%/man/shunt-graphblas.7 %D%/man/shunt-integers.7 %D%/man/shunt-support.7 \
  %D%/man/shunt-troubleshooting.7

# What is taken, asked of the router: both pages are kept in the tree, and compared by
# tests/unit/tool/test_support.sh.  Needs CUDA and GraphBLAS.
dist_html_DATA = %D%/support/shunt-support.html
support-page: shunt libshunt-graphblas.la
	./shunt support --json >support.cusparse
	CC='$(CC)' GRAPHBLAS_CPPFLAGS='$(GRAPHBLAS_CPPFLAGS)' GRAPHBLAS_LIBS='$(GRAPHBLAS_LIBS)' \
	  $(SHELL) $(srcdir)/tests/graphblas/support.sh .libs/libshunt-graphblas.so >support.graphblas
	python3 $(srcdir)/%D%/support/make_page.py support.cusparse support.graphblas .
	mv shunt-support.7 $(srcdir)/%D%/man/ && mv shunt-support.html $(srcdir)/%D%/support/
	rm -f support.cusparse support.graphblas
.PHONY: support-page
