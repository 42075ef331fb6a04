/* read.h: matrix files into host CSR.

   Both readers take plain and gzip files (by content, through zlib) and give
   CSR with 64-bit indices, base 0, columns ascending, repeated entries summed,
   symmetric parts mirrored, f64 values (pattern files: values from a seeded
   generator, see shunt_fill_values).  Malformed input never crashes: it returns
   SHUNT_E_INPUT and a message with the line number.  */
#ifndef SHUNT_READERS_H
#define SHUNT_READERS_H

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CSR matrix that owns its arrays (malloc). */
struct shunt_matrix {
  int64_t rows, cols, nnz;
  int64_t *row_offsets;
  int64_t *columns;
  double *values;
  int pattern; /* the file held no values; these are made up */
};

struct shunt_message {
  char text[256];
};

/* A reader by the file's name:

     .smtx[.gz]   DLMC: "rows, cols, nnz", row offsets, column indices
     others       Matrix Market: coordinate and array; real, integer and pattern; general,
                  symmetric, skew-symmetric.  Complex files give SHUNT_E_UNSUPPORTED.  */
shunt_status shunt_read_matrix(const char *path, struct shunt_matrix *out,
                               struct shunt_message *why);
/* Who is told, while a file is read, which share of it has been: 0 to 1, never less than before. */
struct shunt_read_watch {
  void (*tell)(void *context, double share);
  void *context;
};
/* The same; `watch`: NULL, or who is told, on the calling thread. */
shunt_status shunt_read_matrix_watched(const char *path, struct shunt_matrix *out,
                                       struct shunt_message *why,
                                       const struct shunt_read_watch *watch);
void shunt_matrix_free(struct shunt_matrix *m);
/* Values in [-1, 1), the same for the same seed on every machine. */
void shunt_fill_values(double *values, int64_t count, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
