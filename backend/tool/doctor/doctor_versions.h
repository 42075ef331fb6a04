/* doctor_versions.h: the versions of cuSPARSE and GraphBLAS that Shunt was tested with. */
#ifndef SHUNT_TOOL_DOCTOR_VERSIONS_H
#define SHUNT_TOOL_DOCTOR_VERSIONS_H

#include "backend/tool/doctor/doctor.h"

struct doctor_tested {
  int from_major, from_minor, to_major, to_minor;
  const char *list;
  enum doctor_level older; /* what an older one is */
  const char *why, *advice;
};

#define DOCTOR_TESTED_CUSPARSE                                                                     \
  {                                                                                                \
    12, 6, 12, 9, "12.6.3, 12.7.10, 12.9.4", DOCTOR_WARNING, "the first that was tested",          \
        "compare results once with SHUNT_ROUTES=none"                                              \
  }
/* Before 7.4 a matrix can't be read without changing it. */
#define DOCTOR_TESTED_GRAPHBLAS                                                                    \
  {                                                                                                \
    7, 4, 10, 999, "7.4.0, 10.0.1", DOCTOR_PROBLEM, "the first that Shunt can read",               \
        "install SuiteSparse:GraphBLAS 7.4 or newer; until then every call goes to the original"   \
  }

#endif
