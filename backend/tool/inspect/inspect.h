/* inspect.h: what the files of `shunt inspect` share.

     inspect.c           options; a file through the profile
     inspect_print.c     the figures, for people and as JSON
     inspect_kinds.c     each entry's kind, on a grid of cells
     inspect_picture.h   the grid as SVG and PNG
     inspect_routes.c    which route would take the product, in what time (inspect_no_routes.c:
                         builds without CUDA, which have no routes)
     inspect_order.c     what another order of the rows would change
     inspect_words.c     --explain  */
#ifndef SHUNT_TOOL_INSPECT_H
#define SHUNT_TOOL_INSPECT_H

#include "backend/tool/tool.h"
#include "conv/tile/tile_conv.h"
#include "conv/vector/vector_conv.h"

/* ---- inspect_kinds.c ------------------------------------------------------------------------ */

/* What an entry is part of.  Groups of 8 rows are aligned; a vector is a column that all of 8, 4 or
   2 aligned rows have; `shared`: two or more of the 8 rows have it, which is what bundles use.  */
enum inspect_kind {
  INSPECT_VECTOR_8,
  INSPECT_VECTOR_4,
  INSPECT_VECTOR_2,
  INSPECT_SHARED,
  INSPECT_ALONE,
  INSPECT_TILE_24,    /* of an aligned 16 x 32 tile that is 2:4 along its rows */
  INSPECT_TILE_DENSE, /* of any other */
  INSPECT_KINDS
};
/* The first five, and the last two, each divide all entries among them. */
enum { INSPECT_VECTOR_KINDS = INSPECT_VECTOR_2 + 3, INSPECT_CELLS = 128, INSPECT_STRIP = 64 };

struct inspect_grid {
  int64_t rows, cols;
  int high, wide; /* cells, at most INSPECT_CELLS */
  uint64_t *cell; /* [high][wide][INSPECT_KINDS] entries */
  uint64_t entries[INSPECT_KINDS];
  int64_t strips, empty_strips; /* of 64 columns */
  double *strip;                /* [strips] share of rows with an entry */
};

/* SHUNT_E_MEMORY, and nothing to free. */
shunt_status inspect_grid_make(const struct shunt_csr *a, struct inspect_grid *out);
void inspect_grid_free(struct inspect_grid *g);
/* "8 x 1 vectors" */
const char *inspect_kind_name(enum inspect_kind k);

/* ---- inspect_routes.c ----------------------------------------------------------------------- */

struct inspect_gpu {
  const char *word, *name;
  const char *driver_name; /* as the driver has it; NULL: there are several */
  struct shunt_device device;
  int64_t memory_bytes;
};
enum { INSPECT_GPUS = 7 };
extern const struct inspect_gpu inspect_gpus[INSPECT_GPUS];   /* builds with CUDA alone */
extern const char *const inspect_gpu_words[INSPECT_GPUS + 1]; /* NULL-terminated */

/* C[m,n] = A B for one type and n, dense operands by rows, int32 indices where they suffice; the
   matrix packed where that pays.  Times are estimates in us.  */
struct inspect_estimate {
  const char *gpu, *type;
  const char *costs; /* the table that the times are by, in words */
  int cusparse;      /* 126: original_us is of cuSPARSE 12.6 */
  int64_t n;
  const char *route;  /* "original" where none takes it */
  const char *why;    /* then; a sentence */
  double us;          /* of the route */
  double original_us; /* cuSPARSE, default algorithm */
  double gemm_us;     /* cuBLAS on the dense matrix; 0: too large for that, or a type not fitted */
  bool scaled;        /* the route was not timed on this GPU, but on another */
};

struct inspect_question {
  const struct shunt_csr *a; /* sizes */
  const struct shunt_profile *profile;
  const struct shunt_profile *half; /* the same for 2-byte values, which are profiled further */
  const struct shunt_vector_measure *order; /* rows in another order; or NULL */
  int gpu;
  const char *type;
  int64_t n;
};
/* False: this build has no routes, or the product is none. */
bool inspect_estimate(const struct inspect_question *q, struct inspect_estimate *out);

/* ---- inspect_order.c ------------------------------------------------------------------------ */

/* What ordering the rows by their columns does to 8 x 1 vectors (conv/vector/row_clusters.h). */
struct inspect_order {
  bool tried; /* not for matrices that would take long */
  double fill_now, fill_ordered;
  struct shunt_vector_measure measure;
};
/* What can't be computed counts as not tried. */
void inspect_order_try(const struct shunt_csr *a, struct inspect_order *out);

/* ---- one file ------------------------------------------------------------------------------- */

enum { INSPECT_MOST_ESTIMATES = 256 };

struct inspection {
  const char *file;
  bool made_up; /* the file held no values */
  struct shunt_profile p, half;
  struct shunt_structure s;
  struct shunt_tile_shares aligned; /* 16 x 32 tiles */
  int64_t merged;                   /* tiles of 32 columns that 16 rows have */
  struct shunt_tile_shares tiles;   /* their shares, 2:4 in any order of their columns */
  struct inspect_grid grid;
  struct inspect_order order;
  struct inspect_estimate estimate[INSPECT_MOST_ESTIMATES];
  struct inspect_estimate ordered[INSPECT_MOST_ESTIMATES]; /* the same, rows in another order */
  struct inspect_estimate padded[INSPECT_MOST_ESTIMATES];  /* n rounded up to a multiple of 8 */
  int estimates;
};

void inspect_print_table(const struct inspection *i);
void inspect_print_json(const struct inspection *i);
/* The meanings of the words that the table uses. */
void inspect_print_words(void);
/* False, after a message: the file could not be written. */
bool inspect_write_picture(const struct inspection *i, const char *path);

#endif
