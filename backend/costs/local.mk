# backend/costs: what things take, as tables of numbers by GPU and version of cuSPARSE.
COST_TABLES = %D%/tables/h100.costs %D%/tables/h100-cusparse-12.6.costs \
  %D%/tables/h100-cusparse-12.7.costs %D%/tables/h100-cusparse-12.9.costs \
  %D%/tables/h200.costs %D%/tables/h200-cusparse-12.6.costs \
  %D%/tables/h200-cusparse-12.7.costs %D%/tables/h200-cusparse-12.9.costs
COST_TABLE_SOURCES = %D%/choose.c %D%/find.c %D%/names.c %D%/read.c
COST_BUILT_IN = %D%/built_in.c
EXTRA_DIST += $(COST_TABLES) %D%/make_built_in.awk
CLEANFILES += $(COST_BUILT_IN)

$(COST_BUILT_IN): $(COST_TABLES) %D%/make_built_in.awk %D%/names.h
	$(AM_V_GEN)$(MKDIR_P) $(@D) && LC_ALL=C $(AWK) -f $(srcdir)/%D%/make_built_in.awk \
	  $(srcdir)/%D%/names.h $(COST_TABLES:%=$(srcdir)/%) >$@.part && mv $@.part $@
