/* rmat.h: R-MAT graphs of Graph500's parameters, made by all threads: 2^scale nodes, 16 edges drawn
   for each, symmetric, without loops and repeats.

     edge n    quadrants 0.57 | 0.19   from numbers that n and the seed alone decide:
               0.19 | 0.05             the same graph by any number of threads
     node      renamed by a permutation of 2^scale numbers

   2^25 nodes are 10^9 entries: 4 bytes a drawn entry, and another 8 of those that stay.  */
#ifndef RMAT_H
#define RMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/splitmix64.h"

/* By row; columns ascend. */
struct rmat {
  int64_t nodes, entries;
  int64_t *offsets; /* [nodes + 1] */
  int32_t *columns; /* [entries] */
};

static inline void *rmat_memory(int64_t count, size_t size)
{
  void *p = malloc((size_t)(count > 0 ? count : 1) * size);
  if (!p) abort();
  return p;
}

/* Odd factors and shifts can be undone, so no two numbers become one. */
static inline uint64_t rmat_name(uint64_t x, int scale)
{
  const uint64_t mask = ((uint64_t)1 << scale) - 1;
  for (int round = 0; round < 3; round++) {
    x = x * UINT64_C(0x9e3779b97f4a7c15) & mask;
    x ^= x >> (scale / 2 + 1);
  }
  return x;
}

static inline void rmat_edge(int64_t n, int scale, uint64_t *i, uint64_t *j)
{
  uint64_t state = (uint64_t)n * UINT64_C(0xd1342543de82ef95), bits = 0, x = 0, y = 0;
  for (int bit = 0; bit < scale; bit++) {
    if (bit % 4 == 0) bits = splitmix64(&state);
    const unsigned part = (unsigned)(bits & 0xffff); /* of 65536: 57, 76 and 95 in a hundred */
    bits >>= 16;
    x = 2 * x + (part >= 49807);
    y = 2 * y + ((part >= 37355 && part < 49807) || part >= 62259);
  }
  *i = rmat_name(x, scale), *j = rmat_name(y, scale);
}

static inline void rmat_sum(int64_t *offsets, int64_t n)
{
  int64_t sum = 0;
  for (int64_t i = 0; i <= n; i++) {
    const int64_t here = i < n ? offsets[i] : 0;
    offsets[i] = sum;
    sum += here;
  }
}

/* Runs of 16 by insertion, then merged two by two. */
static inline void rmat_sort(int32_t *x, int64_t n, int32_t *copy)
{
  enum { RUN = 16 };
  for (int64_t p = 0; p < n; p++)
    for (int64_t q = p; q % RUN > 0 && x[q - 1] > x[q]; q--) {
      const int32_t kept = x[q];
      x[q] = x[q - 1], x[q - 1] = kept;
    }
  for (int64_t run = RUN; run < n; run *= 2) {
    for (int64_t first = 0; first < n; first += 2 * run) {
      const int64_t middle = first + run < n ? first + run : n;
      const int64_t end = first + 2 * run < n ? first + 2 * run : n;
      for (int64_t p = first, q = middle, to = first; to < end; to++) {
        const bool left = q == end || (p < middle && x[p] <= x[q]);
        copy[to] = left ? x[p] : x[q];
        p += left, q += !left;
      }
    }
    memcpy(x, copy, (size_t)n * sizeof *x);
  }
}

/* Sorted, each once; how many are left. */
static inline int64_t rmat_unique(int32_t *x, int64_t n)
{
  int64_t to = 0;
  for (int64_t p = 0; p < n; p++)
    if (to == 0 || x[to - 1] != x[p]) x[to++] = x[p];
  return to;
}

/* Drawn entries, by row but in no order; *at: [nodes + 1]. */
static inline int32_t *rmat_draw(int scale, int64_t **at)
{
  const int64_t nodes = (int64_t)1 << scale, edges = 16 * nodes;
  int64_t *offsets = rmat_memory(nodes + 1, sizeof *offsets);
  int64_t *next = rmat_memory(nodes, sizeof *next);
  memset(offsets, 0, (size_t)(nodes + 1) * sizeof *offsets);
  uint64_t i, j;
#pragma omp parallel for private(i, j)
  for (int64_t n = 0; n < edges; n++) {
    rmat_edge(n, scale, &i, &j);
    if (i == j) continue;
    __atomic_fetch_add(&offsets[i], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&offsets[j], 1, __ATOMIC_RELAXED);
  }
  rmat_sum(offsets, nodes);
  memcpy(next, offsets, (size_t)nodes * sizeof *next);
  int32_t *columns = rmat_memory(offsets[nodes], sizeof *columns);
#pragma omp parallel for private(i, j)
  for (int64_t n = 0; n < edges; n++) {
    rmat_edge(n, scale, &i, &j);
    if (i == j) continue;
    columns[__atomic_fetch_add(&next[i], 1, __ATOMIC_RELAXED)] = (int32_t)j;
    columns[__atomic_fetch_add(&next[j], 1, __ATOMIC_RELAXED)] = (int32_t)i;
  }
  free(next);
  *at = offsets;
  return columns;
}

static inline void rmat_free(struct rmat *g)
{
  free(g->offsets);
  free(g->columns);
  *g = (struct rmat){.nodes = 0};
}

static inline struct rmat rmat_make(int scale)
{
  int64_t *drawn;
  struct rmat g = {.nodes = (int64_t)1 << scale};
  int32_t *columns = rmat_draw(scale, &drawn);
  g.offsets = rmat_memory(g.nodes + 1, sizeof *g.offsets);
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t i = 0; i < g.nodes; i++) {
    const int64_t n = drawn[i + 1] - drawn[i];
    int32_t *copy = rmat_memory(n, sizeof *copy);
    rmat_sort(columns + drawn[i], n, copy);
    g.offsets[i] = rmat_unique(columns + drawn[i], n);
    free(copy);
  }
  rmat_sum(g.offsets, g.nodes);
  g.entries = g.offsets[g.nodes];
  g.columns = rmat_memory(g.entries, sizeof *g.columns);
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t i = 0; i < g.nodes; i++)
    memcpy(g.columns + g.offsets[i], columns + drawn[i],
           (size_t)(g.offsets[i + 1] - g.offsets[i]) * sizeof *columns);
  free(columns);
  free(drawn);
  return g;
}

static inline int64_t rmat_degree(const struct rmat *g, int64_t i)
{
  return g->offsets[i + 1] - g->offsets[i];
}

/* Is there an arc from i to its neighbour j?  To the one of more neighbours. */
static inline bool rmat_is_arc(const struct rmat *g, int64_t i, int64_t j)
{
  const int64_t a = rmat_degree(g, i), b = rmat_degree(g, j);
  return a != b ? a < b : i < j;
}

/* Each edge once: what triangles are counted by. */
static inline struct rmat rmat_arcs(const struct rmat *g)
{
  struct rmat d = {.nodes = g->nodes};
  d.offsets = rmat_memory(g->nodes + 1, sizeof *d.offsets);
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t i = 0; i < g->nodes; i++) {
    d.offsets[i] = 0;
    for (int64_t p = g->offsets[i]; p < g->offsets[i + 1]; p++)
      d.offsets[i] += rmat_is_arc(g, i, g->columns[p]);
  }
  rmat_sum(d.offsets, d.nodes);
  d.entries = d.offsets[d.nodes];
  d.columns = rmat_memory(d.entries, sizeof *d.columns);
#pragma omp parallel for schedule(dynamic, 256)
  for (int64_t i = 0; i < g->nodes; i++) {
    int64_t to = d.offsets[i];
    for (int64_t p = g->offsets[i]; p < g->offsets[i + 1]; p++)
      if (rmat_is_arc(g, i, g->columns[p])) d.columns[to++] = g->columns[p];
  }
  return d;
}

/* How many columns rows i and j share. */
static inline int64_t rmat_shared(const struct rmat *g, int64_t i, int64_t j)
{
  int64_t p = g->offsets[i], q = g->offsets[j], n = 0;
  while (p < g->offsets[i + 1] && q < g->offsets[j + 1]) {
    const int32_t a = g->columns[p], b = g->columns[q];
    n += a == b;
    p += a <= b;
    q += b <= a;
  }
  return n;
}

/* Elements of the shorter row, over all entries, or over each pair (i,j), (j,i) once. */
static inline double rmat_reads(const struct rmat *g, bool pairs)
{
  double all = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : all)
  for (int64_t i = 0; i < g->nodes; i++)
    for (int64_t p = g->offsets[i]; p < g->offsets[i + 1]; p++) {
      const int64_t j = g->columns[p], a = rmat_degree(g, i), b = rmat_degree(g, j);
      if (!pairs || i < j) all += (double)(a < b ? a : b);
    }
  return all;
}

#endif
