/* model.h: what the files of `shunt model` share.

     model.c          options; a matrix through conv/dcsr
     model_print.c    the figures, for people and as JSON  */
#ifndef SHUNT_TOOL_MODEL_H
#define SHUNT_TOOL_MODEL_H

#include "backend/tool/tool.h"
#include "conv/dcsr/dcsr_hardware_model.h"
#include "conv/dcsr/dcsr_traffic.h"

struct model {
  const char *file;
  bool made_up; /* the file held no values */
  shunt_type index, value;
  const char *value_name;
  int64_t n[TOOL_LIST]; /* columns of B */
  int count;
  struct shunt_traffic_tiles tiles;
  struct shunt_traffic_counts counted, expected;
  double entropy, ssf;
  double csr_bytes, dcsr_bytes, strips_bytes;
  double host_us; /* CSC into strips, one thread, the least of several runs */
  struct shunt_dcsr_unit_counts unit;
  struct shunt_dcsr_unit_estimate estimate;
};

void model_print_table(const struct model *m);
void model_print_json(const struct model *m);

#endif
