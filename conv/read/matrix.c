/* matrix.c: the matrix that all readers make (read.h): freed, and filled where a file has no
   values.  */
#include <stdlib.h>
#include <string.h>

#include "conv/read/read.h"

void shunt_matrix_free(struct shunt_matrix *m)
{
  free(m->row_offsets);
  free(m->columns);
  free(m->values);
  memset(m, 0, sizeof *m);
}

void shunt_fill_values(double *values, int64_t count, uint64_t seed)
{
  for (int64_t i = 0; i < count; i++) { /* splitmix64 of the place */
    uint64_t z = seed * 0xd1342543de82ef95u + (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    values[i] = (double)(z >> 11) * 0x1p-52 - 1;
  }
}
