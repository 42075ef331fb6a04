/* cost_forms.h: what the estimates of several formats are made of; for *_cost.c alone.  Pure. */
#ifndef SHUNT_COST_FORMS_H
#define SHUNT_COST_FORMS_H

#include <stdbool.h>

#include "backend/costs/machine.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/long_rows.h"
#include "kernels/csr/csr_layers.h"

/* cuSPARSE's numbers of the algorithms that differ from its default. */
enum { SHUNT_CSR_ALG1 = 4, SHUNT_CSR_ALG3 = 12 };

/* 132, an H200's, where the number is not known. */
static inline int shunt_cost_multiprocessors(const struct shunt_machine *m)
{
  return m->device.multiprocessors > 0 ? m->device.multiprocessors : 132;
}

static inline double shunt_larger(double a, double b)
{
  return a > b ? a : b;
}

static inline double shunt_lesser(double a, double b)
{
  return a < b ? a : b;
}

static inline bool shunt_cost_is_half(const struct shunt_spmm *p)
{
  return shunt_type_size(p->b.type) <= 2;
}

/* Pruned layers are not. */
static inline bool shunt_cost_scattered(const struct shunt_csr *a)
{
  return !shunt_csr_is_layer(a);
}

/* How much longer the longest row is than the mean; f NULL: as much again. */
double shunt_cost_excess(const struct shunt_csr *a, const struct shunt_profile *f);

/* The longest row itself; f NULL: as long as the mean. */
double shunt_cost_longest(const struct shunt_csr *a, const struct shunt_profile *f);

/* SpMM of the form of struct shunt_fit_costs.  `gathered`: rows of B; `late`: of those that one
   team gathers, how many others do not have. */
double shunt_cost_fitted(const struct shunt_fit_costs *c, const struct shunt_spmm *p,
                         double gathered, double late, const struct shunt_machine *m);

/* The standard deviation of the rows' lengths over their mean; 0 where nothing is known of it. */
double shunt_cost_variation(const struct shunt_profile *f);
/* What is added to that where rows differ; f: NULL, nothing is known. */
double shunt_cost_waiting(const struct shunt_fit_costs *c, const struct shunt_spmm *p,
                          const struct shunt_profile *f);

/* Which of SHUNT_BLOCK_TYPES; and SpMM of the form of struct shunt_block_costs, in such blocks. */
int shunt_cost_block_type(shunt_type t);
double shunt_cost_blocks(const struct shunt_block_costs f[SHUNT_BLOCK_SIZES],
                         const struct shunt_spmm *p, int64_t size);

/* Columns of B that `vector` takes as long for, in 2-byte types, as for fewer. */
enum { SHUNT_COST_VECTOR_ROW = 64 };

/* A column-major B is copied into rows first: what that takes, else 0. */
double shunt_cost_copy_of_b(const struct shunt_spmm *p, const struct shunt_machine *m);
/* What a C by columns takes more than one by rows, where kernels have a row of C to a team
   (backend/routes/rows_of_c.h).  */
double shunt_cost_columns_of_c(const struct shunt_spmm *p, enum shunt_rows_taken taken,
                               const struct shunt_machine *m);

/* A warp walks the lists of 8 rows one after the other, each row of a list for a while of its own;
   where groups and tiles of 64 columns are fewer than 16 warps a multiprocessor, the lists are cut
   into up to 8 slices.  Rows of the longest such list of a warp, and of the mean.  */
struct shunt_cost_walk {
  double mean, longest;
};
struct shunt_cost_walk shunt_cost_walk_of(const struct shunt_spmm *p, double reuse,
                                          double longest_row, const struct shunt_machine *m);

/* The proof of a packed copy: let in while the product ends; and inside its launch, by warps beside
   those that multiply, who gather from the same L2.  */
double shunt_cost_proof_let_in(const struct shunt_csr *a, const struct shunt_machine *m);
double shunt_cost_proof_inside(const struct shunt_csr *a, const struct shunt_machine *m);

/* Of SDDMM: bytes of a row of A, and of what is copied first as its inner dimension is not
   contiguous, read and written.  */
double shunt_cost_sddmm_row_bytes(const struct shunt_sddmm *p);
double shunt_cost_sddmm_copied_bytes(const struct shunt_sddmm *p);
/* Without copies; f NULL: as shunt_cost_excess. */
double shunt_cost_scattered_sddmm(const struct shunt_scattered_sddmm_costs *c,
                                  const struct shunt_sddmm *p, const struct shunt_profile *f);

#endif
