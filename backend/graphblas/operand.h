/* operand.h: a matrix of GraphBLAS, read without a copy and without changing it.

   Two steps.  The form tells most calls that they are not ours, and asking for it
   changes nothing.  Reading attaches an iterator (20 ns): it finishes pending work and sorts,
   which a product of two sparse matrices would not, and gives the arrays.  Both keep
   GraphBLAS' own rule for threads: inputs without pending work may be read by many at once.

   A matrix held by column is the transpose held by row:

     by row, form SPARSE           by column: the same arrays speak of columns
     offsets [rows + 1]
     indices [nnz]   values [nnz], or [1] if iso
     HYPERSPARSE: vectors present ids[vectors], offsets [vectors + 1]
     BITMAP:      present [rows * cols], NULL if nothing is missing; values at the same places
     FULL:        values [rows * cols]

   A GrB_Vector of length n is, in every version, an n x 1 matrix held by column under
   another name: it is passed as one.

   What describes a matrix on its way to an engine:

     struct grb_operand     how GraphBLAS holds it, whatever its form
     struct shunt_sparse    how kernels take it, op() applied; of dense ones struct shunt_full
     struct grb_identity    which matrix it is, and whether its content may have changed
     struct grb_gpu_key     all of that which must be equal for a device's copy to be used again
     struct grb_gpu_resident  that copy, in the device's memory

   The host engine needs the first two, the cuda engine all of them.  */
#ifndef SHUNT_GRAPHBLAS_OPERAND_H
#define SHUNT_GRAPHBLAS_OPERAND_H

#include "backend/graphblas/identity.h"
#include "backend/graphblas/library.h"

struct grb_operand {
  GrB_Matrix handle;
  int form; /* GRB_HYPERSPARSE, ... */
  bool by_column;
  int64_t rows, cols;

  /* After reading: borrowed, valid until the matrix is next written. */
  bool iso;
  int64_t vectors, nnz;
  const void *ids, *offsets, *indices;
  int id_bytes, offset_bytes, index_bytes;
  void *values;
  int8_t *present;
  uint64_t one_value; /* see grb_operand_cast_iso */
};

/* Fills handle and form.  False: not a matrix (freed, not initialised). */
bool grb_operand_glance(const struct grb_library *l, GrB_Matrix a, struct grb_operand *out);
/* After a glance: orientation and sizes, nothing finished. */
bool grb_operand_shape(const struct grb_library *l, struct grb_operand *a);
/* After a glance: everything else.  Finishing pending work may have changed the form.  False:
   an array of this form was not found, or the matrix is empty.  */
bool grb_operand_read(const struct grb_library *l, struct grb_operand *a);

/* NULL: not a matrix. */
GrB_Type grb_operand_type(const struct grb_library *l, const struct grb_operand *a);
/* Does one of the arrays belong to the program (from version 10 on)? */
bool grb_operand_is_read_only(const struct grb_library *l, const struct grb_operand *a);

static inline bool grb_operand_is_sparse(const struct grb_operand *a)
{
  return a->form == GRB_HYPERSPARSE || a->form == GRB_SPARSE;
}

static inline bool grb_operand_is_dense(const struct grb_operand *a)
{
  return a->form == GRB_BITMAP || a->form == GRB_FULL;
}

/* The one value of a matrix of truth values or integers as a number of this type, which `values`
   then points to, inside *a.  False: not iso, or of floating-point or user's type.  */
bool grb_operand_cast_iso(const struct grb_library *l, struct grb_operand *a, enum grb_number to);

/* As the kernels take them, transposed on request.  If the values are not used, they may
   be of any type: they are then replaced by one zero.  */
struct shunt_sparse grb_operand_sparse(const struct grb_operand *a, bool transpose,
                                       bool use_values);
struct shunt_full grb_operand_full(const struct grb_operand *a, bool transpose, bool use_values);

struct grb_identity grb_operand_identity(const struct grb_library *l, const struct grb_operand *a);

#endif
