# emulate.mk: builds GPU tests for the emulator (tests/emulator/include/emulator.h), with GNU make:
#
#   make -f tests/emulator/emulate.mk B=/tmp/b NAMES=test_csr_spmm program
#
# leaves B/test_csr_spmm; `runs` also runs it, its output and status go to
# B/logs/test_csr_spmm.SEED.
#
#   tests/gpu/*/NAME.cu (or .c) --\
#   B/libemulated.a              ---> B/NAME
#   the emulator                --/
#
# The archive holds all kernels and conversions and what of backend the tests call; the linker takes
# what a test needs.  Sources in .cu are rewritten and compiled as C++, those in .c as C.
#
#   NAMES      the tests
#   SOURCE_<name>  a test's source, if it is not in tests/gpu: a path below the top of the tree, or
#              an absolute one
#   ARCHIVE    the archive; empty: what is linked needs none of it
#   SEEDS, TEST_SECONDS   of `runs`: orders of threads and blocks, the longest time of one
#   B          objects and programs
#   CXX, CC    compilers
#   SANITIZE   the sanitizers' flags; empty: none
top := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
here := $(top)/tests/emulator
B ?= emulated
CXX ?= g++
CC ?= gcc
PYTHON ?= python3
# Scopes of variables are left out: they take a tenth of the time, to compile and to run.
SANITIZE ?= -fsanitize=address,alignment -fno-sanitize-recover=alignment \
  -fno-sanitize-address-use-after-scope
ARCHIVE ?= $(B)/libemulated.a
SEEDS ?= 1
TEST_SECONDS ?= 6000
CXX_FLAGS = -std=c++17 -O1 -g1 $(SANITIZE) -ffp-contract=off -Wall -Wno-unknown-pragmas \
  -Wno-maybe-uninitialized -Wno-psabi -DSHUNT_EMULATED \
  -I$(here)/include -I$(here) -I$(B)/tree -I$(top)
C_FLAGS = -std=gnu11 -O2 -g1 -fopenmp -I$(here)/include -I$(top)

# ---- what is compiled --------------------------------------------------------------------------
# below FOLDERS, NAME: the files of that name, as paths below the top.
below = $(patsubst $(top)/%,%,$(shell find $(addprefix $(top)/,$(1)) -name '$(2)'))

# Left out: conv/read has no twin on a device; no_cuda.c stands for the engine that is here; table.c
# wants every route, and cuBLAS with the dense one (no_routes.c stands for it); packed.c and
# packed_uses.c hold matrices by objects of CUDA graphs, which the emulator has not; device_memory.c
# calls the driver; tune_machine.c asks for its version.
BACKEND = backend/costs backend/native backend/graphblas/gpu backend/log backend/options \
  backend/plan backend/routes
LEFT_OUT = conv/read/% backend/native/no_cuda.c backend/routes/table.c backend/plan/packed.c \
  backend/plan/packed_uses.c \
  backend/plan/memory/device_memory.c backend/plan/tune/tune_machine.c
ARCHIVED := $(call below,kernels conv $(BACKEND) tests/bench/ablation,*.cu) \
  $(filter-out $(LEFT_OUT),$(call below,kernels conv $(BACKEND),*.c)) backend/costs/built_in.c
REWRITTEN := $(addprefix $(B)/tree/,$(filter-out kernels/ptx/%,\
  $(call below,kernels conv tests/gpu tests/bench/ablation,*.cuh)))
EMULATOR := $(patsubst %,$(B)/o/tests/emulator/%.o,fibers.cpp grid.cpp memory.cpp report.cpp \
  runtime.cpp runtime_launch.cpp runtime_memory.cpp runtime_streams.cpp streams.cpp wgmma.cpp)
source_of = $(or $(SOURCE_$(1)),$(patsubst $(top)/%,%,$(wildcard \
  $(top)/tests/gpu/*/$(1).cu $(top)/tests/gpu/*/$(1).c)))
# Absolute sources come into the tree by their last name.
in_tree = $(if $(filter /%,$(1)),$(notdir $(1)),$(1))

# ---- programs and their runs ---------------------------------------------------------------------
program: $(NAMES:%=$(B)/%)
$(B)/libemulated.a: $(ARCHIVED:%=$(B)/o/%.o)
	@rm -f $@
	$(AR) rcs $@ $^
define linked
$(B)/$(1): $(B)/o/$(call in_tree,$(call source_of,$(1))).o $(ARCHIVE) $(EMULATOR)
	$$(CXX) $(SANITIZE) -fopenmp -rdynamic -o $$@ $$< $(EMULATOR) $(ARCHIVE) -lpthread -lm
endef
$(foreach n,$(NAMES),$(eval $(call linked,$(n))))

# Two devices, and for what copies in streams late ones; the status is the log's last line.
runs: $(foreach n,$(NAMES),$(foreach s,$(SEEDS),$(B)/logs/$(n).$(s)))
define run
$(B)/logs/$(1).$(2): $(B)/$(1)
	OMP_WAIT_POLICY=passive SHUNT_EMULATOR_DEVICES=2 \
	  SHUNT_EMULATOR_STREAMS=$(if $(filter test_graphblas_gpu%,$(1)),late) \
	  SHUNT_EMULATOR_SEED=$(2) timeout $(TEST_SECONDS) $$< >$$@ 2>&1; echo "status $$$$?" >>$$@
endef
$(foreach n,$(NAMES),$(foreach s,$(SEEDS),$(eval $(call run,$(n),$(s)))))

# ---- objects -------------------------------------------------------------------------------------
.PRECIOUS: $(B)/tree/%
.PHONY: program runs
$(B)/tree/%: $(top)/% $(here)/rewrite.py
	@$(PYTHON) $(here)/rewrite.py $(B)/tree $<
define elsewhere
$(B)/tree/$(notdir $(1)): $(1) $(here)/rewrite.py
	@$(PYTHON) $(here)/rewrite.py $(B)/tree $$<
endef
$(foreach s,$(filter /%,$(foreach n,$(NAMES),$(SOURCE_$(n)))),$(eval $(call elsewhere,$(s))))

# The device language and the standard library, which take most of the time to read, are read once.
PRELUDE = $(B)/prelude/prelude.h
$(PRELUDE).gch: $(wildcard $(here)/include/*.h)
	@mkdir -p $(@D)
	echo '#include "cuda_runtime.h"' >$(PRELUDE)
	$(CXX) $(CXX_FLAGS) -x c++-header $(PRELUDE) -o $@
$(B)/o/%.cu.o: $(B)/tree/%.cu $(PRELUDE).gch | $(REWRITTEN)
	@mkdir -p $(@D)
	$(CXX) $(CXX_FLAGS) -include $(PRELUDE) -MMD -MP -x c++ -c $< -o $@
# The emulator itself is not instrumented (threads end in the middle of its functions), but it
# tells the sanitizer about stacks and shared memory; what it copies for kernels is checked by
# the sanitizer's own memcpy.
$(B)/o/%.cpp.o: $(top)/%.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -O2 -g1 -fno-builtin -Wall -Wextra -I$(here)/include \
	  $(if $(findstring address,$(SANITIZE)),-DSHUNT_EMULATOR_ASAN) -MMD -MP -c $< -o $@
$(B)/o/backend/costs/built_in.c.o: $(top)/backend/costs/names.h \
  $(top)/backend/costs/make_built_in.awk $(wildcard $(top)/backend/costs/tables/*.costs)
	@mkdir -p $(@D)
	LC_ALL=C awk -f $(top)/backend/costs/make_built_in.awk $< $(filter %.costs,$^) >$(@:.o=)
	$(CC) $(C_FLAGS) -c $(@:.o=) -o $@
# The host engine's loops take a minute to optimize; here they are linked, and hardly run.
$(patsubst %,$(B)/o/kernels/semiring/semiring_%.c.o,avx2 avx512 baseline): C_FLAGS += -O0
$(B)/o/%.c.o: $(top)/%.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@
-include $(shell find $(B)/o -name '*.d' 2>/dev/null)
