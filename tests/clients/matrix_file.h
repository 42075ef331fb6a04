/* matrix_file.h: sparse patterns for the C clients: read from a file, or a mesh.

     struct matrix: CSR, offsets[rows + 1] and columns[nnz], 0-based.

   A file is a Matrix Market coordinate file, or CSR as it lies in memory:

     int64  rows, cols, nnz
     int64  offsets[rows + 1]
     int32  columns[nnz]

   What cannot be read ends the program with a message that begins with `client_name`.  */
#ifndef CLIENTS_MATRIX_FILE_H
#define CLIENTS_MATRIX_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct matrix {
  int64_t rows, cols, nnz;
  int64_t *offsets;
  int32_t *columns;
};

static const char *client_name = "client";

static inline void *allocate(size_t bytes)
{
  void *p = malloc(bytes ? bytes : 1);
  if (!p) {
    fprintf(stderr, "%s: out of memory\n", client_name);
    exit(1);
  }
  return p;
}

static inline void fail(const char *file, const char *what)
{
  fprintf(stderr, "%s: %s: %s\n", client_name, file, what);
  exit(1);
}

static inline void read_binary(FILE *f, const char *name, struct matrix *a)
{
  int64_t head[3];
  if (fread(head, 8, 3, f) != 3) fail(name, "too short");
  a->rows = head[0];
  a->cols = head[1];
  a->nnz = head[2];
  if (a->rows < 0 || a->cols < 0 || a->nnz < 0 || a->rows > INT32_MAX || a->cols > INT32_MAX ||
      a->nnz > INT32_MAX)
    fail(name, "sizes out of range");
  a->offsets = allocate(((size_t)a->rows + 1) * 8);
  a->columns = allocate((size_t)a->nnz * 4);
  if (fread(a->offsets, 8, (size_t)a->rows + 1, f) != (size_t)a->rows + 1 ||
      fread(a->columns, 4, (size_t)a->nnz, f) != (size_t)a->nnz)
    fail(name, "too short");
}

/* Counts entries by row, then drops each into its row: two passes over a list. */
static inline void rows_from_list(struct matrix *a, const int32_t *list, int64_t n)
{
  a->nnz = n;
  a->offsets = allocate(((size_t)a->rows + 1) * 8);
  a->columns = allocate((size_t)n * 4);
  int64_t *next = allocate(((size_t)a->rows + 1) * 8);
  memset(a->offsets, 0, ((size_t)a->rows + 1) * 8);
  for (int64_t p = 0; p < n; p++) a->offsets[list[2 * p] + 1]++;
  for (int64_t i = 0; i < a->rows; i++) a->offsets[i + 1] += a->offsets[i];
  memcpy(next, a->offsets, ((size_t)a->rows + 1) * 8);
  for (int64_t p = 0; p < n; p++) a->columns[next[list[2 * p]]++] = list[2 * p + 1];
  free(next);
}

static inline void read_matrix_market(FILE *f, const char *name, struct matrix *a)
{
  char line[1024];
  int symmetric = 0;
  long long rows, cols, entries;
  if (!fgets(line, sizeof line, f)) fail(name, "empty");
  if (!strstr(line, "coordinate")) fail(name, "not a coordinate Matrix Market file");
  symmetric = strstr(line, "symmetric") || strstr(line, "hermitian");
  do
    if (!fgets(line, sizeof line, f)) fail(name, "no size line");
  while (line[0] == '%' || line[0] == '\n');
  if (sscanf(line, "%lld %lld %lld", &rows, &cols, &entries) != 3) fail(name, "bad size line");
  if (rows < 0 || cols < 0 || entries < 0 || rows > INT32_MAX || cols > INT32_MAX ||
      entries > INT32_MAX / 2)
    fail(name, "sizes out of range");
  a->rows = rows;
  a->cols = cols;
  int32_t *list = allocate((size_t)entries * 16);
  int64_t n = 0;
  for (long long k = 0; k < entries; k++) {
    long i, j;
    if (!fgets(line, sizeof line, f) || sscanf(line, "%ld %ld", &i, &j) != 2 || i < 1 || j < 1 ||
        i > rows || j > cols)
      fail(name, "bad entry");
    list[2 * n] = (int32_t)(i - 1);
    list[2 * n++ + 1] = (int32_t)(j - 1);
    if (symmetric && i != j) {
      list[2 * n] = (int32_t)(j - 1);
      list[2 * n++ + 1] = (int32_t)(i - 1);
    }
  }
  rows_from_list(a, list, n);
  free(list);
}

static inline void read_matrix(const char *name, struct matrix *a)
{
  char magic[15] = "";
  FILE *f = fopen(name, "rb");
  if (!f) fail(name, "cannot be opened");
  size_t got = fread(magic, 1, 14, f);
  rewind(f);
  if (got == 14 && memcmp(magic, "%%MatrixMarket", 14) == 0)
    read_matrix_market(f, name, a);
  else
    read_binary(f, name, a);
  fclose(f);
  if (a->offsets[0] != 0 || a->offsets[a->rows] != a->nnz) fail(name, "bad row offsets");
  for (int64_t i = 0; i < a->rows; i++)
    if (a->offsets[i] > a->offsets[i + 1]) fail(name, "row offsets descend");
  for (int64_t p = 0; p < a->nnz; p++)
    if (a->columns[p] < 0 || a->columns[p] >= a->cols) fail(name, "a column is out of range");
}

/* The unknowns of the node's neighbours in the mesh (itself included), ascending, to `to`,
   or only counted where that is NULL. */
static inline int64_t mesh_row(int side, int unknowns, const int at[3], int32_t *to)
{
  int64_t n = 0;
  for (int step = 0; step < 27; step++) {
    int z = at[0] + step / 9 - 1, y = at[1] + step / 3 % 3 - 1, x = at[2] + step % 3 - 1;
    if (z < 0 || y < 0 || x < 0 || z >= side || y >= side || x >= side) continue;
    int64_t node = ((int64_t)z * side + y) * side + x;
    for (int u = 0; u < unknowns; u++, n++)
      if (to) to[n] = (int32_t)(node * unknowns + u);
  }
  return n;
}

/* side^3 nodes, each joined to its 27 neighbours by dense blocks of unknowns x unknowns: what
   finite elements assemble on a regular mesh. */
static inline void make_mesh(int side, int unknowns, struct matrix *a)
{
  int64_t nodes = (int64_t)side * side * side;
  if (side < 1 || unknowns < 1 || side > 1000 || unknowns > 100 ||
      nodes * unknowns * unknowns * 27 > INT32_MAX)
    fail("mesh", "sizes out of range");
  a->rows = a->cols = nodes * unknowns;
  a->offsets = allocate(((size_t)a->rows + 1) * 8);
  a->columns = allocate((size_t)(nodes * unknowns * unknowns * 27) * 4);
  a->nnz = 0;
  for (int64_t i = 0; i < a->rows; i++) {
    int64_t node = i / unknowns;
    int at[3] = {(int)(node / side / side), (int)(node / side % side), (int)(node % side)};
    a->offsets[i] = a->nnz;
    a->nnz += mesh_row(side, unknowns, at, a->columns + a->nnz);
  }
  a->offsets[a->rows] = a->nnz;
}

#endif
