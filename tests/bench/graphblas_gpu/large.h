/* large.h: a matrix of so many entries that one thread would take longer to make it
   than the products take; as many in each row, spread over all columns.  They are functions of
   their places, so that no copy is kept for the check.  */
#ifndef SHUNT_BENCH_GRAPHBLAS_GPU_LARGE_H
#define SHUNT_BENCH_GRAPHBLAS_GPU_LARGE_H

#include <GraphBLAS.h>
#include <math.h>

#include "matrices.h"

enum { LARGE_ROW = 100 }; /* entries */

static GrB_Index large_hash(GrB_Index row, GrB_Index j)
{
  GrB_Index x = (row * LARGE_ROW + j) * 0x9E3779B97F4A7C15u;
  return (x ^ x >> 29) * 0xBF58476D1CE4E5B9u >> 20;
}

static GrB_Index large_column(GrB_Index rows, GrB_Index row, GrB_Index j)
{
  const GrB_Index step = rows / LARGE_ROW;
  return j * step + large_hash(row, j) % step;
}

static float large_value(GrB_Index row, GrB_Index j)
{
  return ((float)(large_hash(j, row) % 2048) - 1024) / 1024 / LARGE_ROW;
}

static GrB_Matrix large_matrix(GrB_Index rows)
{
  GrB_Matrix a;
  const GrB_Index nnz = rows * LARGE_ROW;
  GrB_Index *offsets = allocate(rows + 1, sizeof *offsets);
  GrB_Index *columns = allocate(nnz, sizeof *columns);
  float *values = allocate(nnz, sizeof *values);
#pragma omp parallel for schedule(static)
  for (GrB_Index row = 0; row < rows; row++) {
    offsets[row] = row * LARGE_ROW;
    for (GrB_Index j = 0; j < LARGE_ROW; j++) {
      columns[row * LARGE_ROW + j] = large_column(rows, row, j);
      values[row * LARGE_ROW + j] = large_value(row, j);
    }
  }
  offsets[rows] = nnz;
  NEED(GrB_Matrix_new(&a, GrB_FP32, rows, rows) == GrB_SUCCESS);
  void *v = values;
  NEED(GxB_Matrix_pack_CSR(a, &offsets, &columns, &v, (rows + 1) * sizeof *offsets,
                           nnz * sizeof *columns, nnz * sizeof *values, false, false,
                           NULL) == GrB_SUCCESS);
  return a;
}

/* The largest error in some rows of C = A B, over the sum of sizes. */
static double large_error(GrB_Index rows, const float *b, const float *c, GrB_Index cols)
{
  double worst = 0;
  for (GrB_Index row = 0; row < rows; row += rows / 101 + 1)
    for (GrB_Index k = 0; k < cols; k++) {
      double sum = 0, scale = 1e-300;
      for (GrB_Index j = 0; j < LARGE_ROW; j++) {
        const double term =
            (double)large_value(row, j) * (double)b[large_column(rows, row, j) * cols + k];
        sum += term;
        scale += fabs(term);
      }
      const double error = fabs(sum - (double)c[row * cols + k]) / scale;
      if (!(error <= worst)) worst = error;
    }
  return worst;
}

#endif
