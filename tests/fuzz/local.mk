# tests/fuzz: fuzzers in libFuzzer's form (fuzz.h, README.md).
#
#   make check   replays each one's corpus, and changes of it (replay.c); needs no clang
#   make fuzz    by libFuzzer, FUZZ_SECONDS each, with the sanitizers of addresses and of undefined
#                behaviour: new cases go to fuzzed/NAME, the output to fuzzed/NAME.log, a case that
#                fails to fuzzed/NAME-crash-*; FUZZED="problem native": these alone
#   make fuzz-build    the same fuzzers and their corpora in fuzzed, for hours.sh
check_PROGRAMS += %D%/fuzz_costs %D%/fuzz_integers %D%/fuzz_native %D%/fuzz_problem \
  %D%/fuzz_readers %D%/fuzz_report %D%/fuzz_timings
FUZZED = costs integers native problem readers report timings
if HAVE_CUDA
check_PROGRAMS += %D%/fuzz_options %D%/fuzz_tune
FUZZED += options tune
endif

%C%_fuzz_costs_SOURCES = %D%/replay.c %D%/fuzz_costs.c
%C%_fuzz_costs_LDADD = $(TESTED) -lm
%C%_fuzz_integers_SOURCES = %D%/replay.c %D%/fuzz_integers.c
%C%_fuzz_integers_LDADD = $(NATIVE_TEST_LIBS)
%C%_fuzz_native_SOURCES = %D%/replay.c %D%/fuzz_native.c
%C%_fuzz_native_LDADD = $(NATIVE_TEST_LIBS)
%C%_fuzz_problem_SOURCES = %D%/replay.c %D%/fuzz_problem.c
%C%_fuzz_problem_LDADD = libshunt-problem.la -lm
%C%_fuzz_readers_SOURCES = %D%/replay.c %D%/fuzz_readers.c
%C%_fuzz_readers_LDADD = libshunt-host.la $(ZLIB_LIBS) -lm
%C%_fuzz_report_SOURCES = %D%/replay.c %D%/fuzz_report.c %D%/fuzz_file.c
%C%_fuzz_report_LDADD = $(TESTED) libshunt-problem.la -lm
%C%_fuzz_options_SOURCES = %D%/replay.c %D%/fuzz_options.c
%C%_fuzz_options_LDADD = $(TESTED) -lpthread
%C%_fuzz_tune_SOURCES = %D%/replay.c %D%/fuzz_tune.c %D%/fuzz_file.c
%C%_fuzz_tune_LDADD = $(TESTED) libshunt-problem.la -lm -lpthread
%C%_fuzz_timings_SOURCES = %D%/replay.c %D%/fuzz_timings.c %D%/fuzz_file.c
%C%_fuzz_timings_LDADD = $(TESTED) libshunt-problem.la -lm

# ---- by libFuzzer: what is tested is compiled anew, with the sanitizers --------------------------
CLANG = clang
FUZZ_SECONDS = 300
FUZZ_FLAGS = -g -O1 -std=gnu11 -w -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=undefined $(DEFS) -I$(top_builddir) -I$(top_srcdir) $(CUDA_CPPFLAGS)
FUZZ_costs = $(COST_TABLE_SOURCES) $(USER_FILE_SOURCES)
FUZZ_integers = $(libshunt_native_la_SOURCES) $(libshunt_host_la_SOURCES) backend/native/no_cuda.c
FUZZ_native = $(FUZZ_integers)
FUZZ_options = $(OPTION_SOURCES) backend/plan/fault.c
FUZZ_problem = $(libshunt_problem_la_SOURCES)
FUZZ_readers = $(libshunt_host_la_SOURCES)
FUZZ_report = $(REPORT_SOURCES) backend/tool/tool_text.c $(libshunt_problem_la_SOURCES)
FUZZ_timings = backend/tool/calibrate/fit.c backend/tool/calibrate/least_squares.c \
  backend/tool/calibrate/lines.c backend/tool/calibrate/timings.c \
  backend/tool/calibrate/validate.c $(FITTED_COST_SOURCES) $(COST_TABLE_SOURCES) \
  $(USER_FILE_SOURCES) $(libshunt_problem_la_SOURCES)
FUZZ_BUILT_timings = $(COST_BUILT_IN)
FUZZ_tune = $(USER_FILE_SOURCES) $(libshunt_problem_la_SOURCES)

$(FUZZED:%=fuzzed/fuzz_%): fuzzed/fuzz_%: %D%/fuzz_%.c $(COST_BUILT_IN)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CLANG) $(FUZZ_FLAGS) -o $@ $(addprefix $(top_srcdir)/,$(sort \
	  $(filter-out %D%/replay.c,$(%C%_fuzz_$*_SOURCES)) $(FUZZ_$*))) \
	  $(FUZZ_BUILT_$*) $(ZLIB_LIBS) -lm -lpthread
fuzz: $(FUZZED:%=fuzzed/fuzz_%)
	@for name in $(FUZZED); do \
	  $(MKDIR_P) fuzzed/$$name && echo "fuzz_$$name: $(FUZZ_SECONDS) s" || exit 1; \
	  OMP_NUM_THREADS=1 fuzzed/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=30 \
	    -artifact_prefix=fuzzed/$$name- fuzzed/$$name $(srcdir)/%D%/corpus/$$name \
	    >fuzzed/$$name.log 2>&1 || { tail -40 fuzzed/$$name.log; exit 1; }; \
	  tail -1 fuzzed/$$name.log; \
	done
# For hours.sh, here or elsewhere.
fuzz-build: $(FUZZED:%=fuzzed/fuzz_%)
	rm -rf fuzzed/corpus && cp -r $(srcdir)/%D%/corpus fuzzed/corpus
.PHONY: fuzz fuzz-build
