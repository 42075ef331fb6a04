/* csrbin IN OUT: a matrix file (anything conv/read/read.h reads) as flat CSR for the
   timing programs:  int64 rows, cols, nnz; int64 offsets[rows + 1]; int32 columns[nnz].  */
#include <stdio.h>
#include <stdlib.h>

#include "conv/read/read.h"

int main(int argc, char **argv)
{
  struct shunt_matrix m;
  struct shunt_message why;
  if (argc != 3) return fprintf(stderr, "usage: csrbin IN OUT\n"), 2;
  if (shunt_read_matrix(argv[1], &m, &why) != SHUNT_OK)
    return fprintf(stderr, "csrbin: %s\n", why.text), 1;
  FILE *f = fopen(argv[2], "wb");
  if (!f) return perror(argv[2]), 1;
  int64_t head[3] = {m.rows, m.cols, m.nnz};
  int good = fwrite(head, sizeof head, 1, f) == 1 &&
             fwrite(m.row_offsets, sizeof(int64_t), (size_t)m.rows + 1, f) == (size_t)m.rows + 1;
  for (int64_t i = 0; good && i < m.nnz; i++) {
    int32_t column = (int32_t)m.columns[i];
    good = fwrite(&column, sizeof column, 1, f) == 1;
  }
  good = fclose(f) == 0 && good;
  shunt_matrix_free(&m);
  return good ? 0 : 1;
}
