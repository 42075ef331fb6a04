/* matrix.c: the matrix that all readers make (read.h): freed, and filled where a file has no
   values.  */
#include <stdlib.h>
#include <string.h>

#include "conv/common/splitmix64.h"
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
  uint64_t state = seed * 0xd1342543de82ef95u;

  for (int64_t i = 0; i < count; i++)
    values[i] = (double)(shunt_splitmix64(&state) >> 11) * 0x1p-52 - 1;
}
