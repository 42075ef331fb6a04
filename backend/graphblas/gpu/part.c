#include "backend/graphblas/gpu/part.h"

/* A row costs its offset and its row of C, whatever is in it. */
enum { ROW_WEIGHT = 8 };

/* ---- columns --------------------------------------------------------------------------------- */

static int64_t columns_per_piece(const struct shunt_host_spmm *p)
{
  return 16 / (int64_t)shunt_type_size(p->semiring.type);
}

int64_t grb_gpu_pieces(const struct shunt_host_spmm *p)
{
  return (p->c.cols + columns_per_piece(p) - 1) / columns_per_piece(p);
}

/* The first column of device `d` of `count`; of d = count: the end. */
static int64_t column_cut(const struct shunt_host_spmm *p, int d, int count)
{
  int64_t begin = grb_gpu_pieces(p) * d / count * columns_per_piece(p);
  return d == count || begin > p->c.cols ? p->c.cols : begin;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int64_t read_index(const void *array, int bytes, int64_t i)
{
  return bytes == 4 ? (int64_t)((const uint32_t *)array)[i] : ((const int64_t *)array)[i];
}

int64_t grb_gpu_first_vector(const struct shunt_sparse *s, int64_t row)
{
  if (!s->ids) return row;
  int64_t low = 0, high = s->vectors;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (read_index(s->ids, s->id_bytes, middle) < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int64_t entries_before(const struct shunt_sparse *s, int64_t row)
{
  if (s->by_column) return (int64_t)((double)s->nnz / (double)s->rows * (double)row);
  return read_index(s->offsets, s->offset_bytes, grb_gpu_first_vector(s, row));
}

/* The row that part i of n begins with. */
static int64_t row_cut(const struct shunt_sparse *s, int64_t i, int64_t n)
{
  const double all = (double)s->nnz + ROW_WEIGHT * (double)s->rows,
               goal = all / (double)n * (double)i;
  int64_t low = 0, high = s->rows;
  if (i >= n) return s->rows;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if ((double)(entries_before(s, middle) + ROW_WEIGHT * middle) < goal)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct grb_gpu_part grb_gpu_part_of(const struct shunt_host_spmm *p,
                                    const struct grb_gpu_deal *deal, int round, int device)
{
  struct grb_gpu_part part = {0, p->s.rows, 0, p->c.cols};
  if (deal->way == GRB_GPU_BY_COLUMNS) {
    part.first = column_cut(p, device, deal->devices);
    part.last = column_cut(p, device + 1, deal->devices);
  } else {
    const int64_t n = (int64_t)deal->rounds * deal->devices;
    const int64_t i = (int64_t)round * deal->devices + device;
    part.row = row_cut(&p->s, i, n);
    part.row_end = row_cut(&p->s, i + 1, n);
  }
  return part;
}

bool grb_gpu_part_has_all_rows(const struct shunt_host_spmm *p, const struct grb_gpu_part *part)
{
  return part->row == 0 && part->row_end == p->s.rows;
}

int64_t grb_gpu_part_entries(const struct shunt_host_spmm *p, const struct grb_gpu_part *part)
{
  if (grb_gpu_part_has_all_rows(p, part)) return p->s.nnz;
  return entries_before(&p->s, part->row_end) - entries_before(&p->s, part->row);
}

struct shunt_host_spmm grb_gpu_part_product(const struct shunt_host_spmm *p,
                                            const struct grb_gpu_part *part, int64_t entries)
{
  struct shunt_host_spmm x = *p;
  const int64_t skipped = part->row * p->c.row_stride;
  x.s.rows = x.c.rows = part->row_end - part->row;
  x.s.nnz = entries;
  x.c.values = (char *)p->c.values + skipped * (int64_t)shunt_type_size(p->semiring.type);
  if (p->c.present) x.c.present = p->c.present + skipped;
  return x;
}
