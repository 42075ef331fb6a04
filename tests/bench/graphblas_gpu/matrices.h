/* matrices.h: matrices of finite elements, made or read, as large as one likes. */
#ifndef SHUNT_BENCH_GRAPHBLAS_GPU_MATRICES_H
#define SHUNT_BENCH_GRAPHBLAS_GPU_MATRICES_H

#include <GraphBLAS.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEED(condition)                                                                            \
  do                                                                                               \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "graphblas_gpu_bench: %s (line %d)\n", #condition, __LINE__);                \
      exit(1);                                                                                     \
    }                                                                                              \
  while (0)

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct matrix {
  char name[64];
  GrB_Index rows, nnz;
  GrB_Index *offsets, *columns;
  double *values;
};

static void *allocate(size_t count, size_t size)
{
  void *p = malloc(count * size);
  NEED(p);
  return p;
}

static double random_value(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int32_t)(*state >> 32) / 2147483648.0;
}

/* Entries of a row add up to at most 1 in size, so chains stay bounded. */
static void fill_values(struct matrix *m)
{
  uint64_t state = 5;
  m->values = allocate(m->nnz, sizeof *m->values);
  for (GrB_Index i = 0; i < m->rows; i++) {
    GrB_Index length = m->offsets[i + 1] - m->offsets[i];
    for (GrB_Index p = m->offsets[i]; p < m->offsets[i + 1]; p++)
      m->values[p] = random_value(&state) / (double)length;
  }
}

/* A grid of `side`^3 nodes with `unknowns` each; a node is coupled with those at most one step
   away in every direction (27 nodes) or in one (7).  */
static struct matrix grid_matrix(int side, int unknowns, int corners, const char *name)
{
  struct matrix m = {.rows = (GrB_Index)side * side * side * unknowns};
  snprintf(m.name, sizeof m.name, "%s", name);
  m.offsets = allocate(m.rows + 1, sizeof *m.offsets);
  m.columns = allocate(m.rows * (corners ? 27 : 7) * unknowns, sizeof *m.columns);
  for (GrB_Index row = 0; row < m.rows; row++) {
    GrB_Index node = row / unknowns;
    int x = (int)(node % side), y = (int)(node / side % side), z = (int)(node / side / side);
    m.offsets[row] = m.nnz;
    for (int step = 0; step < 27; step++) {
      int dx = step % 3 - 1, dy = step / 3 % 3 - 1, dz = step / 9 - 1;
      int u = x + dx, v = y + dy, w = z + dz;
      if (!corners && abs(dx) + abs(dy) + abs(dz) > 1) continue;
      if (u < 0 || v < 0 || w < 0 || u >= side || v >= side || w >= side) continue;
      GrB_Index other = ((GrB_Index)w * side + v) * side + u;
      for (int i = 0; i < unknowns; i++) m.columns[m.nnz++] = other * unknowns + i;
    }
  }
  m.offsets[m.rows] = m.nnz;
  fill_values(&m);
  return m;
}

struct entry {
  GrB_Index row, column;
};

static int compare(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return x->column < y->column ? -1 : x->column > y->column;
}

/* The pattern of a square Matrix Market file, mirrored where it is symmetric, sorted. */
static struct entry *read_pattern(const char *path, GrB_Index *rows, size_t *count)
{
  char line[1024];
  FILE *f = fopen(path, "r");
  NEED(f && fgets(line, sizeof line, f));
  int symmetric = strstr(line, "general") == NULL;
  do NEED(fgets(line, sizeof line, f));
  while (line[0] == '%');
  unsigned long long m, n, nnz, i, j;
  NEED(sscanf(line, "%llu %llu %llu", &m, &n, &nnz) == 3 && m == n);
  struct entry *e = allocate(2 * nnz, sizeof *e);
  *count = 0;
  for (unsigned long long q = 0; q < nnz; q++) {
    NEED(fgets(line, sizeof line, f) && sscanf(line, "%llu %llu", &i, &j) == 2);
    e[(*count)++] = (struct entry){i - 1, j - 1};
    if (symmetric && i != j) e[(*count)++] = (struct entry){j - 1, i - 1};
  }
  fclose(f);
  qsort(e, *count, sizeof *e, compare);
  *rows = m;
  return e;
}

/* The file's pattern times a dense block, as small as gives so many entries. */
static struct matrix file_matrix(const char *path, int64_t entries)
{
  GrB_Index rows;
  size_t count;
  struct entry *e = read_pattern(path, &rows, &count);
  GrB_Index block = 1;
  while (count * block * block < (size_t)entries || rows * block < 100000) block++;
  struct matrix m = {.rows = rows * block, .nnz = count * block * block};
  const char *slash = strrchr(path, '/');
  snprintf(m.name, sizeof m.name, "%.40s x %d", slash ? slash + 1 : path, (int)block);
  m.offsets = allocate(m.rows + 1, sizeof *m.offsets);
  m.columns = allocate(m.nnz, sizeof *m.columns);
  GrB_Index at = 0, row = 0;
  for (size_t begin = 0, end; row < rows; row++, begin = end) {
    for (end = begin; end < count && e[end].row == row; end++)
      ;
    for (GrB_Index i = 0; i < block; i++) {
      m.offsets[row * block + i] = at;
      for (size_t q = begin; q < end; q++)
        for (GrB_Index j = 0; j < block; j++) m.columns[at++] = e[q].column * block + j;
    }
  }
  m.offsets[m.rows] = at;
  NEED(at == m.nnz);
  free(e);
  fill_values(&m);
  return m;
}

static void free_matrix(struct matrix *m)
{
  free(m->offsets);
  free(m->columns);
  free(m->values);
}

#endif
