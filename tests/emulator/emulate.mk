# emulate.mk: builds CUDA tests for the emulator (tests/emulator/include/emulator.h), with GNU make:
#
#   make -f tests/emulator/emulate.mk B=/tmp/b NAMES=test_x \
#     SOURCES_test_x="tests/gpu/test_x.cu kernels/x.cu conv/x.c" program
#
# leaves B/test_x; `runs` also runs it, its output and status go to B/logs/test_x.SEED.  Sources: paths
# below the top of the tree (or absolute ones elsewhere); .cu are rewritten and compiled as C++,
# .c as C.
#
#   NAMES      the tests
#   LIST       a makefile that sets SOURCES_<name> of each; or set on the command line
#   SEEDS, TEST_SECONDS   of `runs`: orders of threads and blocks, the longest time of one
#   B          objects and programs
#   CXX, CC    compilers
#   SANITIZE   the sanitizers' flags; empty: none
#   CUTS       cuts.txt; empty: tests in full size
top := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
here := $(top)/tests/emulator
B ?= emulated
CXX ?= g++
CC ?= gcc
PYTHON ?= python3
SANITIZE ?= -fsanitize=address,alignment -fno-sanitize-recover=alignment
CUTS ?= $(here)/cuts.txt
SEEDS ?= 1
TEST_SECONDS ?= 1500
-include $(LIST)
SOURCES := $(foreach n,$(NAMES),$(SOURCES_$(n)))
CXX_FLAGS = -std=c++17 -O1 -g1 $(SANITIZE) -ffp-contract=off -Wall -Wno-unknown-pragmas \
  -Wno-maybe-uninitialized -Wno-psabi -DSHUNT_EMULATED \
  -I$(here)/include -I$(here) -I$(B)/tree -I$(top)
C_FLAGS = -std=gnu11 -O2 -g1 -fopenmp -I$(here)/include -I$(top)

REWRITTEN := $(patsubst $(top)/%,$(B)/tree/%,$(shell find $(top)/kernels $(top)/tests/gpu -name '*.cuh' -not -path '*/ptx/*'))
# Absolute sources come into the tree by their last name.
source_in_tree = $(if $(filter /%,$(1)),$(notdir $(1)),$(1))
objects = $(patsubst %,$(B)/o/%.o,$(foreach s,$(1),$(call source_in_tree,$(s))))
EMULATOR := $(patsubst %,$(B)/o/tests/emulator/%.o,fibers.cpp grid.cpp memory.cpp report.cpp runtime.cpp \
  runtime_launch.cpp runtime_memory.cpp runtime_streams.cpp streams.cpp)

rewrite = $(PYTHON) $(here)/rewrite.py $(if $(CUTS),--cut $(CUTS)) $(B)/tree $<

program: $(NAMES:%=$(B)/%)
define linked
$(B)/$(1): $(call objects,$(SOURCES_$(1))) $(EMULATOR)
	$$(CXX) $(SANITIZE) -fopenmp -rdynamic -o $$@ $$^ -lpthread -lm
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

.SECONDARY:
$(B)/tree/%: $(top)/% $(here)/rewrite.py $(CUTS)
	@$(rewrite)
define elsewhere
$(B)/tree/$(notdir $(1)): $(1) $(here)/rewrite.py $(CUTS)
	@$$(rewrite)
endef
$(foreach s,$(sort $(filter /%,$(SOURCES))),$(eval $(call elsewhere,$(s))))

$(B)/o/%.cu.o: $(B)/tree/%.cu | $(REWRITTEN)
	@mkdir -p $(@D)
	$(CXX) $(CXX_FLAGS) -include cuda_runtime.h -MMD -MP -x c++ -c $< -o $@
# The emulator itself is not instrumented (threads end in the middle of its functions), but it
# tells the sanitizer about stacks and shared memory; what it copies for kernels is checked by
# the sanitizer's own memcpy.
$(B)/o/%.cpp.o: $(top)/%.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -O2 -g1 -fno-builtin -Wall -Wextra -I$(here)/include \
	  $(if $(findstring address,$(SANITIZE)),-DSHUNT_EMULATOR_ASAN) -MMD -MP -c $< -o $@
$(B)/o/%.c.o: $(top)/%.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@
-include $(shell find $(B)/o -name '*.d' 2>/dev/null)
