/* semiring_spmm.c: C (+)= S (x) B over a semiring, every layout, on the host's threads.

   Everything is brought to one form, in which S and B are held by row, and the loops of
   semiring_loops.h work on blocks of rows and strips of columns:

       S by row          B, strip by strip             C
       rows  0 ..  63    |  0 .. 63 | 64 .. 99 |       block of rows x strip
       rows 64 .. 127

     S by column   B narrow: terms are added to copies of C, and these combined (semiring_spread.h);
                   else sorted to rows, in scratch, a bucket at a time (semiring_sort.h)
     B by column   each strip is packed to rows, in scratch; so is one with missing elements, beside
                   a mask, and one whose rows straddle cache lines, if they are used often
     S in groups   by row, rows that follow each other often with the same columns: each row of B is
                   loaded once for up to four of them (semiring_bundles.h)
     B iso         one row, repeated by a stride of 0
     C by column   a block is computed in a buffer that fits into cache, then stored transposed; so
                   is one with missing elements

   Threads take ranges of rows with about equal rows + entries, dynamically.  All scratch is
   had before C is touched.  Each element is summed by one thread in the order of S's row:
   results do not depend on the number of threads, except where copies are combined.  */
#include <string.h>

#include "kernels/common/alignment.h"
#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_pack.h"
#include "kernels/semiring/semiring_samples.h"
#include "kernels/semiring/semiring_scratch.h"
#include "kernels/semiring/semiring_sort.h"
#include "kernels/semiring/semiring_spread.h"

enum {
  BLOCK = 64,   /* rows of C at a time */
  PACKED = 256, /* rows of B packed at a time */
  STRIP = SHUNT_TILE_MAX,
  PARTS_PER_THREAD = 32,
  LINE = 64 /* bytes of a cache line */
};

struct product {
  const struct shunt_host_spmm *p;
  struct shunt_semiring_choice choice;
  size_t size;            /* of an element */
  struct shunt_sparse s;  /* by row */
  struct shunt_sort sort; /* buckets > 0: S is held by column, and is sorted as we go */
  size_t entry;           /* S was sorted: bytes between its entries; 0: its arrays are apart */
  int threads;
  int64_t parts;
  bool by_row_c, masked;
  bool repeated; /* every row of B is one_row */
  bool groups;   /* rows of S come in groups with the same columns */
  bool far;      /* rows of B come from beyond a core's own caches */
  bool packed;   /* B goes through `strip` */
  const void *b; /* else: element (0, 0) of B by row */
  int64_t b_stride;
  char *buffers; /* of each thread: BLOCK x STRIP elements, then as many masks */
  char *strip, *strip_mask;
  int64_t strip_stride;
  char one_row[STRIP * sizeof(union shunt_element)];
};

static bool by_row(const struct shunt_full *f)
{
  return f->col_stride == 1 || f->cols == 1;
}

static size_t buffer_bytes(const struct product *x)
{
  return BLOCK * STRIP * x->size;
}

/* Address of element (i, j). */
static void *element(const struct product *x, const struct shunt_full *f, int64_t i, int64_t j)
{
  return (char *)f->values + (size_t)(i * f->row_stride + j * f->col_stride) * x->size;
}

/* ---- packing B ------------------------------------------------------------------------- */
static void pack_values(const struct product *x, int64_t k, int rows, int64_t j0, int width)
{
  const struct shunt_full *b = &x->p->b;
  char *to = x->strip + (size_t)(k * x->strip_stride) * x->size;
  if (x->repeated)
    shunt_pack_fill(x->size, x->one_row, to, rows * x->strip_stride);
  else if (by_row(b))
    for (int i = 0; i < rows; i++)
      memcpy(to + (size_t)(i * x->strip_stride) * x->size, element(x, b, k + i, j0),
             (size_t)width * x->size);
  else
    shunt_pack_transpose(x->size, element(x, b, k, j0), b->col_stride, to, x->strip_stride, rows,
                         width);
}

static void pack_mask(const struct product *x, int64_t k, int rows, int64_t j0, int width)
{
  const struct shunt_full *b = &x->p->b;
  for (int i = 0; i < rows; i++) {
    char *to = x->strip_mask + (size_t)((k + i) * x->strip_stride) * x->size;
    const int8_t *from = b->present + (k + i) * b->row_stride + j0 * b->col_stride;
    for (int j = 0; j < width; j++)
      memset(to + (size_t)j * x->size, from[j * b->col_stride] ? 0xff : 0, x->size);
  }
}

static void pack_rows(const struct product *x, int64_t k, int64_t j0, int width)
{
  const int rows = x->p->b.rows - k < PACKED ? (int)(x->p->b.rows - k) : PACKED;
  pack_values(x, k, rows, j0, width);
  if (x->masked) pack_mask(x, k, rows, j0, width);
}

/* ---- one block of rows of C ---------------------------------------------------------------- */
static int64_t entries(const struct shunt_sparse *s, int64_t v)
{
  return shunt_vector_begin(s, v + 1) - shunt_vector_begin(s, v);
}

/* Between C and a buffer of STRIP columns, vectors begin .. end of S. */
static void load_block(const struct product *x, int64_t begin, int64_t end, int64_t j0, int width,
                       char *buffer)
{
  const struct shunt_full *c = &x->p->c;
  if (!x->by_row_c && !x->s.ids)
    shunt_pack_transpose(x->size, element(x, c, begin, j0), c->col_stride, buffer, STRIP,
                         end - begin, width);
  else
    for (int64_t v = begin; v < end; v++)
      shunt_pack_gather(x->size, element(x, c, shunt_vector_id(&x->s, v), j0), c->col_stride,
                        buffer + (size_t)((v - begin) * STRIP) * x->size, width);
}

static void store_block(const struct product *x, int64_t begin, int64_t end, int64_t j0, int width,
                        const char *buffer)
{
  const struct shunt_full *c = &x->p->c;
  if (!x->by_row_c && !x->s.ids)
    shunt_pack_transpose(x->size, buffer, STRIP, element(x, c, begin, j0), c->col_stride, width,
                         end - begin);
  else
    for (int64_t v = begin; v < end; v++)
      shunt_pack_scatter(x->size, buffer + (size_t)((v - begin) * STRIP) * x->size,
                         element(x, c, shunt_vector_id(&x->s, v), j0), c->col_stride, width);
}

/* Of one row of T: `mask`, which sums have a term as the loops leave it, or NULL: all or none. */
static void store_row_present(const struct product *x, int64_t v, int64_t j0, int width,
                              const char *mask)
{
  const struct shunt_full *c = &x->p->c;
  int8_t *to = c->present + shunt_vector_id(&x->s, v) * c->row_stride + j0 * c->col_stride;
  const bool any = entries(&x->s, v) > 0;
  if (!mask && c->col_stride == 1) {
    memset(to, any, (size_t)width);
    return;
  }
  for (int j = 0; j < width; j++)
    to[j * c->col_stride] = any && (!mask || mask[(size_t)j * x->size]);
}

/* Of a whole block, C by column and no row left out: a column's bytes follow each other. */
static void store_columns_present(const struct product *x, int64_t begin, int64_t end, int64_t j0,
                                  int width, const char *masks)
{
  const struct shunt_full *c = &x->p->c;
  const int64_t rows = end - begin;
  int8_t any[BLOCK], column[BLOCK];
  for (int64_t i = 0; i < rows; i++) any[i] = entries(&x->s, begin + i) > 0;
  for (int j = 0; j < width; j++) {
    const char *from = masks ? masks + (size_t)j * x->size : NULL;
    for (int64_t i = 0; from && i < rows; i++)
      column[i] = any[i] & (from[(size_t)(i * STRIP) * x->size] != 0);
    memcpy(c->present + begin + (j0 + j) * c->col_stride, masks ? column : any, (size_t)rows);
  }
}

static void store_present(const struct product *x, int64_t begin, int64_t end, int64_t j0,
                          int width, const char *masks)
{
  if (x->p->c.row_stride == 1 && !x->s.ids) {
    store_columns_present(x, begin, end, j0, width, masks);
    return;
  }
  for (int64_t v = begin; v < end; v++)
    store_row_present(x, v, j0, width,
                      masks ? masks + (size_t)((v - begin) * STRIP) * x->size : NULL);
}

/* Where the lower 32 bits of the first index are. */
static const void *low_half(const void *indices, int bytes)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return bytes == 8 ? (const uint32_t *)indices + 1 : indices;
#else
  (void)bytes;
  return indices;
#endif
}

static struct shunt_rows_job rows_job(const struct product *x, int64_t j0, int width)
{
  const bool constant = x->choice.constant[0];
  struct shunt_rows_job job = {
      .offsets = x->s.offsets,
      .indices = low_half(x->s.indices, x->s.index_bytes),
      .ids = x->s.ids,
      .offset_bytes = x->s.offset_bytes,
      .id_bytes = x->s.id_bytes,
      .values = constant ? &x->choice.value[0] : x->s.values,
      .index_step = x->entry > 0 ? (int64_t)x->entry : x->s.index_bytes,
      .value_step = constant || x->s.iso ? 0 : (int64_t)(x->entry > 0 ? x->entry : x->size),
      .last = x->s.nnz > 0 ? x->s.nnz - 1 : 0,
      .b = x->packed     ? x->strip
           : x->repeated ? x->one_row
                         : NULL,
      .mask = x->packed && x->masked ? x->strip_mask : NULL,
      .b_stride = x->packed     ? x->strip_stride
                  : x->repeated ? 0
                                : x->b_stride,
      .width = width,
      .far = x->far,
      .accumulate = x->p->accumulate,
  };
  if (!job.b) job.b = (const char *)x->b + (size_t)j0 * x->size;
  return job;
}

static void multiply_rows(const struct product *x, const struct shunt_rows_job *job, int64_t begin,
                          int64_t end)
{
  if (x->groups)
    x->choice.kernels->groups(job, begin, end);
  else
    x->choice.kernels->rows(job, begin, end);
}

static void block(const struct product *x, int64_t begin, int64_t end, int64_t j0, int width,
                  char *buffer)
{
  const struct shunt_full *c = &x->p->c;
  struct shunt_rows_job job = rows_job(x, j0, width);
  char *masks = x->masked ? buffer + buffer_bytes(x) : NULL;

  if (x->by_row_c && !x->masked) {
    job.out = element(x, c, 0, j0);
    job.out_stride = c->row_stride;
    multiply_rows(x, &job, begin, end);
  } else {
    job.ids = NULL;
    job.origin = begin;
    job.out = buffer;
    job.exists = masks;
    job.out_stride = STRIP;
    if (job.accumulate) load_block(x, begin, end, j0, width, buffer);
    multiply_rows(x, &job, begin, end);
    store_block(x, begin, end, j0, width, buffer);
  }
  if (c->present) store_present(x, begin, end, j0, width, masks);
}

/* ---- the whole ------------------------------------------------------------------------------ */
/* The vector at which part k begins: the first whose vectors + entries before it reach
   k / parts of all.  */
static int64_t part_begin(const struct product *x, int64_t k)
{
  const struct shunt_sparse *s = &x->s;
  const int64_t items = s->vectors + s->nnz;
  const int64_t before = items / x->parts * k + items % x->parts * k / x->parts;
  int64_t low = 0, high = s->vectors;

  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (shunt_vector_begin(s, middle) + middle < before)
      low = middle + 1;
    else
      high = middle;
  }
  return k == x->parts ? s->vectors : low;
}

/* Part k: about equal work, or the rows of one bucket of the sort. */
static void part_range(const struct product *x, int64_t k, int64_t *begin, int64_t *end)
{
  if (x->sort.buckets > 0) {
    *begin = k << x->sort.shift;
    *end = (k + 1) << x->sort.shift;
    if (*end > x->s.rows) *end = x->s.rows;
  } else {
    *begin = part_begin(x, k);
    *end = part_begin(x, k + 1);
  }
}

static void part(const struct product *x, int64_t k, int64_t j0, int width)
{
#ifdef _OPENMP
  const int thread = omp_get_thread_num();
#else
  const int thread = 0;
#endif
  char *buffer = x->buffers + (size_t)thread * 2 * buffer_bytes(x);
  int64_t begin, end;
  part_range(x, k, &begin, &end);
  if (x->sort.buckets > 0 && j0 == 0) shunt_sort_bucket(&x->sort, k);
  for (int64_t v = begin; v < end; v += BLOCK)
    block(x, v, v + BLOCK < end ? v + BLOCK : end, j0, width, buffer);
}

/* Rows that are not listed in a hypersparse S have no terms. */
static void clear(const struct product *x)
{
  const struct shunt_full *c = &x->p->c;
  const bool rows = c->row_stride != 1;
  const int64_t lines = rows ? c->rows : c->cols, length = rows ? c->cols : c->rows;
  const int64_t stride = rows ? c->row_stride : c->col_stride;

  SHUNT_OMP(omp parallel for schedule(static) num_threads(x->threads))
  for (int64_t i = 0; i < lines; i++) {
    memset((char *)c->values + (size_t)(i * stride) * x->size, 0, (size_t)length * x->size);
    if (c->present) memset(c->present + i * stride, 0, (size_t)length);
  }
}

/* Must all parts of this strip be done before the next begins?  They read what the next strip
   overwrites, or make what it reads.  Where they don't, nobody waits for a thread that does not
   get its processor.  */
static bool waits(const struct product *x, int64_t j0)
{
  return x->packed || (x->sort.buckets > 0 && j0 == 0);
}

static void multiply(const struct product *x)
{
  const int64_t n = x->p->c.cols, k_end = x->packed ? x->p->b.rows : 0;

  if (x->s.ids && !x->p->accumulate) clear(x);
  SHUNT_OMP(omp parallel num_threads(x->threads))
  for (int64_t j0 = 0; j0 < n; j0 += STRIP) {
    const int width = n - j0 < STRIP ? (int)(n - j0) : STRIP;
    if (x->packed) {
      SHUNT_OMP(omp for schedule(dynamic, 1))
      for (int64_t k = 0; k < k_end; k += PACKED) pack_rows(x, k, j0, width);
    }
    SHUNT_OMP(omp for schedule(dynamic, 1) nowait)
    for (int64_t k = 0; k < x->parts; k++) part(x, k, j0, width);
    if (waits(x, j0)) {
      SHUNT_OMP(omp barrier)
    }
  }
}

static void plan_parts(struct product *x)
{
  x->parts = (int64_t)x->threads * PARTS_PER_THREAD;
  if (x->parts > x->s.vectors) x->parts = x->s.vectors;
  if (x->sort.buckets > 0) x->parts = x->sort.buckets;
}

/* Rows of a line and more begin at a line's start. */
static int64_t strip_stride(const struct product *x)
{
  const int64_t width = x->p->c.cols < STRIP ? x->p->c.cols : STRIP;
  const int64_t line = LINE / (int64_t)x->size;
  return width < line ? width : (width + line - 1) / line * line;
}

static shunt_status product_form(struct product *x)
{
  const struct shunt_host_spmm *p = x->p;
  const shunt_status status = shunt_semiring_choose(&p->semiring, &x->choice);
  if (status != SHUNT_OK) return status;

  x->size = shunt_type_size(p->semiring.type);
  x->s = p->s;
  x->by_row_c = by_row(&p->c);
  x->masked = p->b.present != NULL;
  x->repeated = p->b.iso || x->choice.constant[1];
  x->packed = p->s.nnz > 0 &&
              (x->masked || (!x->repeated && (!by_row(&p->b) || shunt_worth_aligning(p, x->size))));
  x->groups = x->choice.kernels->groups && !x->masked && !x->repeated && shunt_in_bundles(&p->s);
  x->b = p->b.values;
  x->b_stride = p->b.row_stride;
  x->far = !x->repeated && shunt_worth_prefetching(p, x->size);
  x->strip_stride = strip_stride(x);
  if (x->repeated)
    shunt_pack_fill(x->size, x->choice.constant[1] ? &x->choice.value[1] : p->b.values, x->one_row,
                    STRIP);
  x->threads = shunt_semiring_threads(p->threads, p->s.nnz * p->c.cols + p->c.rows * p->c.cols +
                                                      p->b.rows * p->c.cols);
  return SHUNT_OK;
}

/* S by column, B narrow: afterwards only the threads' copies of C are left to be combined. */
static void spread(struct product *x, int threads, char *scratch)
{
  const int width = (int)x->p->c.cols;
  struct shunt_rows_job job;

  if (x->packed) {
    SHUNT_OMP(omp parallel for schedule(dynamic, 1) num_threads(x->threads))
    for (int64_t k = 0; k < x->p->b.rows; k += PACKED) pack_rows(x, k, 0, width);
  }
  job = rows_job(x, 0, width);
  shunt_spread(&x->choice, &x->p->s, x->size, threads, scratch, &job, &x->s);
  x->b = job.b;
  x->b_stride = job.b_stride;
  x->repeated = x->packed = false;
  x->choice.constant[0] = true;
  x->choice.value[0] = x->choice.neutral;
}

shunt_status shunt_host_spmm(const struct shunt_host_spmm *p)
{
  struct product x = {.p = p};
  shunt_status status = shunt_host_spmm_check(p);
  if (status == SHUNT_OK) status = product_form(&x);
  if (status != SHUNT_OK || p->c.rows == 0 || p->c.cols == 0) return status;
  if (p->s.by_column && p->s.cols > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  /* Rows of B are found by the lower 32 bits of their numbers; no strip has more. */
  if (p->b.rows > UINT32_MAX && x.packed) return SHUNT_E_MEMORY;
  if (p->b.rows > UINT32_MAX && !x.repeated) return SHUNT_E_UNSUPPORTED;

  const int copies = p->s.by_column && !x.masked
                         ? shunt_spread_threads(&x.choice, &p->s, x.size, p->c.cols, x.threads)
                         : 0;
  if (copies > 0 && by_row(&p->b)) x.packed = false; /* each row of B is used once */
  const size_t value = p->s.iso || x.choice.constant[0] ? 0 : x.size;
  const size_t buffers = (size_t)x.threads * 2 * buffer_bytes(&x);
  const size_t strip =
      x.packed ? shunt_align_up((size_t)(p->b.rows * x.strip_stride) * x.size, 64) : 0;
  const size_t strips = (x.masked ? 2 : 1) * strip;
  const size_t rest = copies > 0       ? shunt_spread_bytes(&p->s, x.size, p->c.cols, copies)
                      : p->s.by_column ? shunt_sparse_sort_bytes(&p->s, value, x.threads)
                                       : 0;
  const struct shunt_scratch scratch = shunt_scratch_take(buffers + strips + rest);

  if (!scratch.memory) return SHUNT_E_MEMORY;
  x.buffers = scratch.memory;
  x.strip = x.buffers + buffers;
  x.strip_mask = x.strip + strip;
  if (copies > 0)
    spread(&x, copies, x.strip + strips);
  else if (p->s.by_column) {
    shunt_sort_begin(&p->s, value, x.threads, x.strip + strips, &x.sort, &x.s);
    x.entry = shunt_sort_entry(value);
  }
  plan_parts(&x);
  multiply(&x);
  shunt_scratch_give(scratch);
  return SHUNT_OK;
}
