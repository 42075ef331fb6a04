/* layout.h: where an attached iterator keeps the arrays of its matrix.

   GxB_Matrix_Iterator_attach writes pointers to a matrix' arrays into the iterator, a struct
   that GraphBLAS.h shows because its macros read it in user programs.  Its layout
   changed between versions, so it is found by experiment: matrices with known arrays are
   attached, and the struct is searched for the pointers.

     7.4.0   | position 4 x 8 | size | pmax avlen avdim nvec | Ap Ah Ab Ai Ax | ...
     10.x    | position 4 x 8 | size | pmax avlen avdim nvec | Ap32 Ap64 Ah32 Ah64 Ab ... | ...  */
#ifndef SHUNT_GRAPHBLAS_LAYOUT_H
#define SHUNT_GRAPHBLAS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Room for an iterator: more than any version needs (224 bytes in 10.5), in words. */
enum { GRB_ITERATOR_WORDS = 128 };
struct grb_iterator {
  union {
    uint64_t word[GRB_ITERATOR_WORDS];
    int32_t half[GRB_ITERATOR_WORDS * 2];
    unsigned char byte[GRB_ITERATOR_WORDS * 8];
  };
};

/* Places in the struct; words of 8 bytes where nothing else is said.  -1: this version has
   none such.  */
struct grb_layout {
  int length, dimension, vectors;  /* of a vector; how many there may be; how many there are */
  int offsets, ids, indices;       /* 64-bit arrays */
  int offsets32, ids32, indices32; /* the same, 32 bits wide; NULL where the other is not */
  int present, values;
  int form;           /* int, counted in 4 bytes */
  int iso, by_column; /* bool, counted in bytes */
};

struct grb_library;

enum grb_probe { GRB_PROBE_FOUND, GRB_PROBE_NOT_FOUND, GRB_PROBE_NOT_NOW };

/* NOT_NOW: GraphBLAS has not been started yet, or memory is short.  Also proves the option
   numbers of l->numbers.  */
enum grb_probe grb_layout_probe(const struct grb_library *l, struct grb_layout *out);

#endif
