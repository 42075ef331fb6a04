/* settings.h: what a product's descriptor asks for, and how many threads it may use. */
#ifndef SHUNT_GRAPHBLAS_SETTINGS_H
#define SHUNT_GRAPHBLAS_SETTINGS_H

#include "backend/graphblas/library.h"

struct grb_settings {
  bool replace, complement, structural, transpose_first, transpose_second;
};

/* False: not a descriptor, or it holds values that are not known here. */
bool grb_settings_read(const struct grb_library *l, GrB_Descriptor d, struct grb_settings *out);

/* Of the mask alone. */
bool grb_settings_read_mask(const struct grb_library *l, GrB_Descriptor d,
                            struct grb_settings *out);

/* The descriptor that asks for the same of output and mask, and transposes nothing. */
GrB_Descriptor grb_settings_output(const struct grb_library *l, const struct grb_settings *s);

/* GraphBLAS' number of threads for this call: from the descriptor (7.x), the context that the
   calling thread has engaged (from 8 on), or the global setting.  At least 1.  */
int grb_threads(const struct grb_library *l, GrB_Descriptor d);

/* The calling thread has engaged this context; NULL: it has disengaged the one it had. */
void grb_set_context(struct grb_library *l, GxB_Context context);

#endif
