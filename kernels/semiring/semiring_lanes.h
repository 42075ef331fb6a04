/* semiring_lanes.h: the inner loops for one element type and one number of lanes.  Included
   many times, by semiring_element.h, which defines

     T      element type; arithmetic of integers wraps, so it is done in
     W      the unsigned type of the same size (T itself for floats)
     IEEE   1 for floats, 0 for integers
     PLUS   0 to leave sums of products out
     M      the signed integer type of the same size, for masks
     L      lanes of a vector, a power of two
     NONE_MIN, NONE_MAX   what MIN and MAX begin with: fmin and fmax ignore a NaN, so that is
            their neutral element

   A tile of `width` columns is held in `n` vectors, (n - 1) L <= width <= n L.  When the width
   is not n L the last two overlap, which is harmless: both compute the same.

       |---- v0 ----|---- v1 ----|
                          |---- v2 ----|      width = 2 L + r
*/
#define PASTE_(p, l, name) p##x##l##_##name
#define PASTE(p, l, x) PASTE_(p, l, x)
#define NAME(x) PASTE(P, L, x)

typedef T NAME(vec) __attribute__((vector_size(L * sizeof(T))));
typedef W NAME(wrap) __attribute__((vector_size(L * sizeof(T))));
typedef M NAME(bits) __attribute__((vector_size(L * sizeof(T))));
/* As they stand in memory. */
typedef T NAME(vec_at) __attribute__((vector_size(L * sizeof(T)), aligned(sizeof(T)), may_alias));
typedef M NAME(bits_at) __attribute__((vector_size(L * sizeof(T)), aligned(sizeof(T)), may_alias));

ALWAYS_INLINE NAME(vec) NAME(load)(const T *from)
{
  return *(const NAME(vec_at) *)from;
}

ALWAYS_INLINE void NAME(store)(T *to, NAME(vec) x)
{
  *(NAME(vec_at) *)to = x;
}

ALWAYS_INLINE NAME(vec) NAME(select)(NAME(bits) mask, NAME(vec) yes, NAME(vec) no)
{
  return (NAME(vec))((mask & (NAME(bits))yes) | (~mask & (NAME(bits))no));
}

ALWAYS_INLINE NAME(vec) NAME(all)(T x)
{
  return x - (NAME(vec)){0};
}

ALWAYS_INLINE NAME(vec) NAME(none)(enum shunt_semiring_op op)
{
  if (op == SHUNT_OP_PLUS_TIMES) return (NAME(vec)){0};
  return NAME(all)(op == SHUNT_OP_MIN_ADD ? NONE_MIN : NONE_MAX);
}

/* As in fmin and fmax, a term that is NaN changes nothing. */
ALWAYS_INLINE NAME(bits) NAME(nan)(NAME(vec) x)
{
#if IEEE
  return x != x;
#else
  (void)x;
  return (NAME(bits)){0};
#endif
}

ALWAYS_INLINE NAME(vec) NAME(multiply)(enum shunt_semiring_op op, NAME(vec) s, NAME(vec) b)
{
  if (op == SHUNT_OP_PLUS_TIMES || op == SHUNT_OP_MAX_TIMES)
    return (NAME(vec))((NAME(wrap))s * (NAME(wrap))b);
  return (NAME(vec))((NAME(wrap))s + (NAME(wrap))b);
}

ALWAYS_INLINE NAME(vec) NAME(combine)(enum shunt_semiring_op op, NAME(vec) sum, NAME(vec) term)
{
  if (op == SHUNT_OP_PLUS_TIMES) return (NAME(vec))((NAME(wrap))sum + (NAME(wrap))term);
  const NAME(bits) keep = op == SHUNT_OP_MIN_ADD ? sum < term : sum > term;
  return NAME(select)(keep | NAME(nan)(term), sum, term);
}

/* A value of S in all lanes. */
typedef T NAME(value_at) __attribute__((aligned(4), may_alias));

ALWAYS_INLINE NAME(vec) NAME(value)(const char *at)
{
  return NAME(all)(*(const NAME(value_at) *)at);
}

/* The low half of an index of 8 bytes, or one of 4. */
typedef uint32_t NAME(u32) __attribute__((may_alias));

/* ---- sparse times full -------------------------------------------------------------- */
ALWAYS_INLINE void NAME(tile)(const struct shunt_rows_job *r, int64_t begin, int64_t end,
                              const enum shunt_semiring_op op, const int n, const bool masked)
{
  int64_t at[TILE_VECTORS];
  UNROLL for (int e = 0; e < n; e++) at[e] = e < n - 1 ? e * L : r->width - L;

  int64_t q = shunt_index_at(r->offsets, r->offset_bytes, begin);
  const char *index = (const char *)r->indices + q * r->index_step;
  const char *value = (const char *)r->values + q * r->value_step;
  const char *last = (const char *)r->indices + r->last * r->index_step;
  for (int64_t v = begin; v < end; v++) {
    const int64_t stop = shunt_index_at(r->offsets, r->offset_bytes, v + 1);
    const int64_t row = (r->ids ? shunt_index_at(r->ids, r->id_bytes, v) : v) - r->origin;
    T *out = (T *)r->out + row * r->out_stride;
    NAME(vec) sum[TILE_VECTORS];
    NAME(bits) exists[TILE_VECTORS];

    if (q == stop && r->accumulate) continue;
    UNROLL for (int e = 0; e < n; e++)
    {
      sum[e] = r->accumulate ? NAME(load)(out + at[e]) : NAME(none)(op);
      exists[e] = (NAME(bits)){0};
    }
    if (q == stop) UNROLL for (int e = 0; e < n; e++) sum[e] = (NAME(vec)){0};
    for (; q < stop; q++, index += r->index_step, value += r->value_step) {
      const int64_t k = *(const NAME(u32) *)index;
      const T *b = (const T *)r->b + k * r->b_stride;
      const NAME(vec) s = NAME(value)(value);
      /* To L2: into L1 it would cost more than it saves, and where B is near, any does. */
      if (r->far) {
        const char *ahead = index + AHEAD * r->index_step;
        const NAME(u32) *there = (const void *)(ahead < last ? ahead : last);
        const T *soon = (const T *)r->b + *there * r->b_stride;
        UNROLL for (int e = 0; e < n; e += LINE_STEP) __builtin_prefetch(soon + at[e], 0, 2);
      }
      UNROLL for (int e = 0; e < n; e++)
      {
        const NAME(vec) next =
            NAME(combine)(op, sum[e], NAME(multiply)(op, s, NAME(load)(b + at[e])));
        if (masked) {
          const NAME(bits) there =
              *(const NAME(bits_at) *)((const M *)r->mask + k * r->b_stride + at[e]);
          sum[e] = NAME(select)(there, next, sum[e]);
          exists[e] |= there;
        } else {
          sum[e] = next;
        }
      }
    }
    UNROLL for (int e = 0; e < n; e++)
    {
      if (masked && !r->accumulate) sum[e] = NAME(select)(exists[e], sum[e], (NAME(vec)){0});
      NAME(store)(out + at[e], sum[e]);
      if (masked) *(NAME(bits_at) *)((M *)r->exists + row * r->out_stride + at[e]) = exists[e];
    }
  }
}

#if IEEE && GROUPS && L == LANES_MOST
#include "kernels/semiring/semiring_bundles.h"
#endif

#if L == 1
/* One column, in plain numbers: of vectors with one lane gcc makes poor code.  MIN and MAX of
   floats begin with an infinity, so that one instruction drops a NaN; a sum that is this infinity
   in the end may stand for terms that are all NaN, and is made again.  */
ALWAYS_INLINE T NAME(fold)(const enum shunt_semiring_op op, T sum, T term)
{
  if (op == SHUNT_OP_PLUS_TIMES) return (T)((W)sum + (W)term);
  return (op == SHUNT_OP_MIN_ADD ? term < sum : term > sum) ? term : sum;
}

ALWAYS_INLINE T NAME(term)(const enum shunt_semiring_op op, const char *value, T b)
{
  const T s = *(const NAME(value_at) *)value;
  const bool times = op == SHUNT_OP_PLUS_TIMES || op == SHUNT_OP_MAX_TIMES;
  return times ? (T)((W)s * (W)b) : (T)((W)s + (W)b);
}

ALWAYS_INLINE T NAME(least)(const enum shunt_semiring_op op)
{
  if (IEEE && op != SHUNT_OP_PLUS_TIMES) return (T)(op == SHUNT_OP_MIN_ADD ? INFINITY : -INFINITY);
  return NAME(none)(op)[0];
}

/* `sum` and n terms; several sums at a time, or each term would wait for the one before. */
ALWAYS_INLINE T NAME(column_sum)(const char *index, const char *value, const T *b, int64_t n, T sum,
                                 const enum shunt_semiring_op op, const int64_t index_step,
                                 const int64_t value_step, const int64_t stride)
{
  if (n >= 2 * SUMS) {
    T part[SUMS];
    UNROLL for (int e = 0; e < SUMS; e++) part[e] = NAME(least)(op);
    for (; n >= SUMS; n -= SUMS, index += SUMS * index_step, value += SUMS * value_step)
      UNROLL for (int e = 0; e < SUMS; e++)
      {
        const int64_t k = *(const NAME(u32) *)(index + e * index_step);
        part[e] = NAME(fold)(op, part[e], NAME(term)(op, value + e * value_step, b[k * stride]));
      }
    UNROLL for (int half = SUMS / 2; half > 0; half /= 2) UNROLL for (int e = 0; e < half; e++)
        part[e] = NAME(fold)(op, part[e], part[e + half]);
    sum = NAME(fold)(op, sum, part[0]);
  }
  for (; n > 0; n--, index += index_step, value += value_step)
    sum = NAME(fold)(op, sum, NAME(term)(op, value, b[*(const NAME(u32) *)index * stride]));
  return sum;
}

#if IEEE
/* One term after the other, and a NaN gives way to whatever comes. */
static __attribute__((noinline)) T NAME(column_again)(const struct shunt_rows_job *r, int64_t q,
                                                      int64_t stop, T sum,
                                                      enum shunt_semiring_op op)
{
  for (; q < stop; q++) {
    const int64_t k = *(const NAME(u32) *)((const char *)r->indices + q * r->index_step);
    const char *value = (const char *)r->values + q * r->value_step;
    const T term = NAME(term)(op, value, ((const T *)r->b)[k * r->b_stride]);
    sum = sum != sum ? term : NAME(fold)(op, sum, term);
  }
  return sum;
}
#endif

ALWAYS_INLINE void NAME(column_rows)(const struct shunt_rows_job *r, int64_t begin, int64_t end,
                                     const enum shunt_semiring_op op, const int64_t index_step,
                                     const int64_t value_step, const int64_t stride)
{
  const struct shunt_rows_job job = *r; /* stores to `out` might change *r, for all that C knows */
  int64_t q = shunt_index_at(job.offsets, job.offset_bytes, begin);
  for (int64_t v = begin; v < end; v++) {
    const int64_t stop = shunt_index_at(job.offsets, job.offset_bytes, v + 1), n = stop - q;
    const int64_t row = (job.ids ? shunt_index_at(job.ids, job.id_bytes, v) : v) - job.origin;
    T *out = (T *)job.out + row * job.out_stride;

    if (n > 0) {
      const T old = job.accumulate ? *out : NAME(none)(op)[0];
#if IEEE
      const bool starts_anew = old != old && op != SHUNT_OP_PLUS_TIMES; /* a NaN seeks nothing */
#else
      const bool starts_anew = false;
#endif
      T sum = NAME(column_sum)(
          (const char *)job.indices + q * index_step, (const char *)job.values + q * value_step,
          job.b, n, starts_anew ? NAME(least)(op) : old, op, index_step, value_step, stride);
#if IEEE
      if (op != SHUNT_OP_PLUS_TIMES && sum == NAME(least)(op))
        sum = NAME(column_again)(r, q, stop, old, op);
#endif
      *out = sum;
    } else if (!job.accumulate)
      *out = 0;
    q = stop;
  }
}

ALWAYS_INLINE void NAME(column)(const struct shunt_rows_job *r, int64_t begin, int64_t end,
                                const enum shunt_semiring_op op)
{
  if (r->index_step == 8 && r->value_step == sizeof(T) && r->b_stride == 1)
    NAME(column_rows)(r, begin, end, op, 8, sizeof(T), 1);
  else
    NAME(column_rows)(r, begin, end, op, r->index_step, r->value_step, r->b_stride);
}
#endif

/* ---- sparse by column times full ---------------------------------------------------------
   The row of B stays in registers.  All of a row of `out` is loaded before any is stored: its
   vectors may overlap.  */
ALWAYS_INLINE void NAME(spread)(const struct shunt_rows_job *r, int64_t first, int64_t end,
                                int64_t begin, const enum shunt_semiring_op op, const int n)
{
  int64_t at[TILE_VECTORS];
  UNROLL for (int e = 0; e < n; e++) at[e] = e < n - 1 ? e * L : r->width - L;
  uint8_t *touched = r->exists; /* stores to which might change *r, for all that C knows */
  const int64_t index_step = r->index_step, value_step = r->value_step;
  const int64_t out_stride = r->out_stride;
  T *sums = r->out;

  int64_t q = first;
  const char *index = (const char *)r->indices + q * index_step;
  const char *value = (const char *)r->values + q * value_step;
  for (int64_t v = begin; q < end; v++) {
    const int64_t after = shunt_index_at(r->offsets, r->offset_bytes, v + 1);
    const int64_t stop = after < end ? after : end;
    const int64_t k = r->ids ? shunt_index_at(r->ids, r->id_bytes, v) : v;
    NAME(vec) b[TILE_VECTORS], sum[TILE_VECTORS];

    if (q == stop) continue;
    UNROLL for (int e = 0; e < n; e++) b[e] = NAME(load)((const T *)r->b + k * r->b_stride + at[e]);
    for (; q < stop; q++, index += index_step, value += value_step) {
      const int64_t row = *(const NAME(u32) *)index;
      const NAME(vec) s = NAME(value)(value);
      T *out = sums + row * out_stride;
      touched[row] = 1;
      UNROLL for (int e = 0; e < n; e++) sum[e] =
          NAME(combine)(op, NAME(load)(out + at[e]), NAME(multiply)(op, s, b[e]));
      UNROLL for (int e = 0; e < n; e++) NAME(store)(out + at[e], sum[e]);
    }
  }
}

/* ---- sampled full times full ---------------------------------------------------------- */

/* Lane i comes from lane i ^ half; half is known when this is compiled. */
ALWAYS_INLINE NAME(vec) NAME(swap)(NAME(vec) x, const int half)
{
#ifdef __clang__
  NAME(vec) y = x;
  for (int i = 0; i < L; i++) y[i] = x[i ^ half];
  return y;
#else
  NAME(bits) lane = {0};
  for (int i = 0; i < L; i++) lane[i] = i;
  return __builtin_shuffle(x, lane ^ (M)half);
#endif
}

ALWAYS_INLINE T NAME(reduce)(enum shunt_semiring_op op, NAME(vec) x)
{
  UNROLL for (int half = L / 2; half > 0; half /= 2) x = NAME(combine)(op, x, NAME(swap)(x, half));
  return x[0];
}

/* `n` entries from q on. */
ALWAYS_INLINE void NAME(dot)(const struct shunt_dots_job *d, const T *left, int64_t q,
                             NAME(bits) tail, const enum shunt_semiring_op op, const int n)
{
  const T *right[DOTS];
  NAME(vec) sum[DOTS];
  UNROLL for (int e = 0; e < n; e++)
  {
    right[e] =
        (const T *)d->right + shunt_index_at(d->indices, d->index_bytes, q + e) * d->right_stride;
    sum[e] = NAME(none)(op);
  }
  int64_t k = 0;
  for (; k + L <= d->depth; k += L) {
    const NAME(vec) x = NAME(load)(left + k);
    UNROLL for (int e = 0; e < n; e++) sum[e] =
        NAME(combine)(op, sum[e], NAME(multiply)(op, x, NAME(load)(right[e] + k)));
  }
  if (k < d->depth) {
    const NAME(vec) x = NAME(load)(left + d->depth - L);
    UNROLL for (int e = 0; e < n; e++)
    {
      const NAME(vec) term = NAME(multiply)(op, x, NAME(load)(right[e] + d->depth - L));
      sum[e] = NAME(combine)(op, sum[e], NAME(select)(tail, term, NAME(none)(op)));
    }
  }
  UNROLL for (int e = 0; e < n; e++)((T *)d->out)[q + e] = NAME(reduce)(op, sum[e]);
}

ALWAYS_INLINE void NAME(dots)(const struct shunt_dots_job *d, int64_t begin, int64_t end,
                              const enum shunt_semiring_op op)
{
  /* The last vector reaches back over lanes that are already summed: `tail` drops them. */
  NAME(bits) tail = {0};
  for (int i = 0; i < L; i++) tail[i] = i >= L - d->depth % L ? -1 : 0;

  int64_t q = shunt_index_at(d->offsets, d->offset_bytes, begin);
  for (int64_t v = begin; v < end; v++) {
    const int64_t stop = shunt_index_at(d->offsets, d->offset_bytes, v + 1);
    const int64_t id = d->ids ? shunt_index_at(d->ids, d->id_bytes, v) : v;
    const T *left = (const T *)d->left + id * d->left_stride;
    for (; q + DOTS <= stop; q += DOTS) NAME(dot)(d, left, q, tail, op, DOTS);
    for (; q < stop; q++) NAME(dot)(d, left, q, tail, op, 1);
  }
}

/* ---- one pair of operators ---------------------------------------------------------------
   A number of lanes below the most is for what is narrower than the most: two vectors, which
   may be one and the same.  */
ALWAYS_INLINE void NAME(rows)(const struct shunt_rows_job *r, int64_t begin, int64_t end,
                              const enum shunt_semiring_op op)
{
  if (r->mask) NAME(tile)(r, begin, end, op, L == 1 ? 1 : 2, true);
#if L == 1
  else
    NAME(column)(r, begin, end, op);
#else
#if L == LANES_MOST
  else if (r->width == L)
    NAME(tile)(r, begin, end, op, 1, false);
  else if (r->width > 4 * L)
    NAME(tile)(r, begin, end, op, TILE_VECTORS, false);
  else if (r->width > 2 * L)
    NAME(tile)(r, begin, end, op, 4, false);
#endif
  else
    NAME(tile)(r, begin, end, op, 2, false);
#endif
}

#define LANES(OP)                                                                                  \
  static void NAME(rows_##OP)(const struct shunt_rows_job *r, int64_t begin, int64_t end)          \
  {                                                                                                \
    NAME(rows)(r, begin, end, SHUNT_OP_##OP);                                                      \
  }                                                                                                \
  static void NAME(spread_##OP)(const struct shunt_rows_job *r, int64_t first, int64_t end,        \
                                int64_t begin)                                                     \
  {                                                                                                \
    if (r->width == L)                                                                             \
      NAME(spread)(r, first, end, begin, SHUNT_OP_##OP, 1);                                        \
    else                                                                                           \
      NAME(spread)(r, first, end, begin, SHUNT_OP_##OP, 2);                                        \
  }                                                                                                \
  static void NAME(dots_##OP)(const struct shunt_dots_job *d, int64_t begin, int64_t end)          \
  {                                                                                                \
    NAME(dots)(d, begin, end, SHUNT_OP_##OP);                                                      \
  }
#if PLUS
LANES(PLUS_TIMES)
#endif
LANES(MAX_TIMES)
LANES(MIN_ADD)
LANES(MAX_ADD)

#undef LANES
#undef NAME
#undef PASTE
#undef PASTE_
#undef L
