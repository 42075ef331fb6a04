# backend/plan: problem -> cache -> routes in order of expected time -> plan, or a reason.
noinst_LTLIBRARIES += libshunt-problem.la
libshunt_problem_la_SOURCES = %D%/batches.c %D%/problem.c %D%/reason.c

# What of it works without a GPU.
HOST_PLAN_SOURCES = $(OPTION_SOURCES) %D%/fault.c %D%/frozen.c %D%/log.c \
  backend/log/log_caller.c backend/log/log_density.c backend/log/log_gain.c \
  backend/log/log_measure.c backend/log/log_process.c backend/log/log_python.c \
  backend/log/log_report.c backend/log/log_timeline.c backend/log/log_upkeep.c
GPU_PLAN_SOURCES = \
  %D%/cache.c %D%/cache_arrays.c %D%/cache_density.c %D%/cache_profile.c %D%/choice.c \
  %D%/context.c \
  %D%/memory/device_memory.c %D%/graph_overlap.c %D%/packed.c %D%/packed_uses.c \
  %D%/planner.c %D%/product.c \
  %D%/promise.c %D%/memory/workspace_limit.c \
  %D%/memory/admission.c %D%/memory/budget.c %D%/memory/packed_pool.c %D%/tune/tune.c \
  %D%/tune/tune_machine.c %D%/tune/tuner.c
PLAN_SOURCES = $(HOST_PLAN_SOURCES) $(GPU_PLAN_SOURCES)
