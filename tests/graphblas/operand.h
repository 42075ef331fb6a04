/* operand.h: a matrix or vector made from a few numbers, and read back whole.

   The same description always makes the same object: same entries, same form, same work
   left pending.  That is how two equal sets of operands come about, one for each side.  */
#ifndef TEST_OPERAND_H
#define TEST_OPERAND_H

#include "types.h"

/* Values as GxB_SPARSITY_CONTROL has them. */
enum form { FORM_HYPER = 1, FORM_SPARSE = 2, FORM_BITMAP = 4, FORM_FULL = 8, FORM_AUTO = 15 };

enum values {
  VALUES_SMALL,   /* whole numbers -4 .. 4, so sums are exact in any order */
  VALUES_REAL,    /* fractions in (-1, 1) */
  VALUES_SPECIAL, /* VALUES_SMALL with NaN, Inf and -0 here and there */
  VALUES_BIG,     /* integers that wrap in a product */
  VALUES_ZEROS    /* VALUES_SMALL, half of them explicit zeros */
};

struct operand {
  bool vector;
  enum type type;
  int64_t rows, cols;  /* a vector has one column */
  int64_t sparse_rows; /* > 0: entries only in the first so many rows */
  int form;
  bool by_col;
  bool iso;
  double density; /* share of places with an entry; empty rows and columns come on top */
  int skip_rows;  /* every so many-th row has no entry; 0: none */
  int skip_cols;
  int set_after;    /* entries set when all else is done, left pending */
  int remove_after; /* entries removed likewise */
  bool jumbled;     /* passed through a product that may leave its rows unsorted */
  bool symmetric;   /* square, and the transpose's entries were added, where the type has any */
  int control;      /* sparsity control set at the end; 0: leave it as the form asks */
  double bitmap_switch, hyper_switch; /* < 0: leave them */
  enum values values;
  uint64_t seed;
};

/* A GrB_Vector is kept as a GrB_Matrix pointer in `matrix`, never used as one. */
union object {
  GrB_Matrix matrix;
  GrB_Vector vector;
};

GrB_Info operand_make(const struct operand *o, union object *out);
void object_free(bool vector, union object *x);

/* All that a program can see of an object.  Finishes its pending work. */
struct seen {
  GrB_Index rows, cols, count;
  char type_name[GxB_MAX_NAME_LEN];
  enum type type;
  int by_col, status, control;
  double bitmap_switch, hyper_switch;
  bool iso;
  GrB_Index *i, *j; /* entries, by row and then column */
  char *x;          /* type_rows[type].size bytes each */
};

/* Orientation, status, control and switches alone; leaves pending work. */
GrB_Info matrix_settings(GrB_Matrix a, struct seen *out);
GrB_Info vector_settings(GrB_Vector v, struct seen *out);
/* false, with the reason in `why`, when the object cannot be read. */
bool object_see(bool vector, union object x, enum type type, struct seen *out, char why[200]);
void seen_free(struct seen *s);
/* Compares values that are not equal. */
typedef bool (*near_function)(void *context, const struct seen *a, const struct seen *b,
                              GrB_Index at);
/* Entries, values, type and sizes; false, with the first difference in `why`.  near may be
   NULL.  */
bool seen_equal(const struct seen *a, const struct seen *b, near_function near, void *context,
                char why[200]);
/* Orientation and settings. */
bool settings_equal(const struct seen *a, const struct seen *b, char why[200]);

#endif
