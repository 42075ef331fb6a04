/* semiring_bundles.h: the inner loops for sums of products where rows of S come in groups with the
   same columns, as the unknowns at a node of a finite element mesh do.  Included by
   semiring_lanes.h, once for an element type, with the most lanes L.

       S                   B                          registers
       v      |k0 k1 ..|   row k0  |.. tile ..|       |.. sums of v     ..|   n vectors each
       v + 1  |k0 k1 ..|   row k1  |.. tile ..|       |.. sums of v + 1 ..|
       v + 2  |k0 k1 ..|   ..                         |.. sums of v + 2 ..|

   Each row of B is loaded once for a group of up to four rows, which are independent chains of
   additions besides.  Groups are found in S as it stands: rows of one length whose first columns
   are equal are begun together, and each on its own is finished from where columns differ.  Sums
   are those of NAME(tile), term by term.  */

/* A group under way.  Its rows follow each other, so list i begins i list_bytes further.  */
struct NAME(group) {
  int64_t at[TILE_VECTORS]; /* first column of each vector, as in NAME(tile) */
  const char *index, *value;
  int64_t list_bytes, value_bytes; /* of a row's columns, of its values */
  T *out[GROUP_ROWS];
};

/* Sums of one row from byte `done` of its list on; `value` is of the entry there. */
ALWAYS_INLINE void NAME(finish)(const struct shunt_rows_job *r, const struct NAME(group) * x,
                                const char *list, int64_t done, const char *value, const int n,
                                NAME(vec) * sum)
{
  for (; done < x->list_bytes; done += r->index_step, value += r->value_step) {
    const int64_t k = *(const NAME(u32) *)(list + done);
    const T *b = (const T *)r->b + k * r->b_stride;
    const NAME(vec) s = NAME(value)(value);
    UNROLL for (int e = 0; e < n; e++) sum[e] += s * NAME(load)(b + x->at[e]);
  }
}

/* The row of B that is AHEAD entries away, in this group's lists or the next one's. */
ALWAYS_INLINE void NAME(prefetch_b)(const struct shunt_rows_job *r, const struct NAME(group) * x,
                                    int64_t done, const int n, const int g)
{
  const char *last = (const char *)r->indices + r->last * r->index_step;
  const int64_t to = done + AHEAD * r->index_step;
  const char *ahead = x->index + to + (to < x->list_bytes ? 0 : (g - 1) * x->list_bytes);
  const NAME(u32) *there = (const void *)(ahead < last ? ahead : last);
  const T *soon = (const T *)r->b + *there * r->b_stride;
  UNROLL for (int e = 0; e < n; e += LINE_STEP) __builtin_prefetch(soon + x->at[e], 0, 2);
}

ALWAYS_INLINE void NAME(multiply_group)(const struct shunt_rows_job *r,
                                        const struct NAME(group) * x, const int n, const int g)
{
  const char *index = x->index, *value[GROUP_ROWS];
  const int64_t list = x->list_bytes;
  NAME(vec) sum[GROUP_ROWS][TILE_VECTORS], s[GROUP_ROWS];
  int64_t done = 0, values = 0;

  UNROLL for (int i = 0; i < g; i++)
  {
    value[i] = x->value + i * x->value_bytes;
    UNROLL for (int e = 0; e < n; e++) sum[i][e] =
        r->accumulate ? NAME(load)(x->out[i] + x->at[e]) : (NAME(vec)){0};
  }
  for (; done < list; done += r->index_step, values += r->value_step) {
    const uint32_t k = *(const NAME(u32) *)(index + done);
    const T *b = (const T *)r->b + k * r->b_stride;
    if (g > 1 && *(const NAME(u32) *)(index + done + list) != k) break;
    if (g > 2 && *(const NAME(u32) *)(index + done + 2 * list) != k) break;
    if (g > 3 && *(const NAME(u32) *)(index + done + 3 * list) != k) break;
    if (r->far) NAME(prefetch_b)(r, x, done, n, g);
    if (g > 1) { /* the next group: the machine sees g streams, each too short to be one */
      __builtin_prefetch(index + g * (list + done), 0, 3);
      __builtin_prefetch(value[0] + g * (x->value_bytes + values), 0, 3);
    }
    UNROLL for (int i = 0; i < g; i++) s[i] = NAME(value)(value[i] + values);
    UNROLL for (int e = 0; e < n; e++)
    {
      const NAME(vec) row = NAME(load)(b + x->at[e]);
      UNROLL for (int i = 0; i < g; i++) sum[i][e] += s[i] * row;
    }
  }
  if (g > 1 && done < list)
    UNROLL for (int i = 0; i < g; i++)
        NAME(finish)(r, x, index + i * list, done, value[i] + values, n, sum[i]);
  UNROLL for (int i = 0; i < g; i++) UNROLL for (int e = 0; e < n; e++)
      NAME(store)(x->out[i] + x->at[e], sum[i][e]);
}

/* How many rows from v on, up to `most`, begin like it: of the same length, from q on, with the
   same first column.  */
ALWAYS_INLINE int NAME(group_size)(const struct shunt_rows_job *r, int64_t v, int64_t end,
                                   int64_t q, int64_t length, const int most)
{
  const char *index = (const char *)r->indices + q * r->index_step;
  int g = 1;
  while (g < most && v + g < end &&
         shunt_index_at(r->offsets, r->offset_bytes, v + g + 1) == q + (g + 1) * length &&
         *(const NAME(u32) *)(index + g * length * r->index_step) == *(const NAME(u32) *)index)
    g++;
  return g;
}

static void NAME(clear)(const struct shunt_rows_job *r, T *out)
{
  for (int j = 0; j < r->width; j++) out[j] = 0;
}

ALWAYS_INLINE void NAME(tile_groups)(const struct shunt_rows_job *r, int64_t begin, int64_t end,
                                     const int n)
{
  const int most = GROUP_SUMS / n < GROUP_ROWS ? GROUP_SUMS / n : GROUP_ROWS;
  struct NAME(group) x;
  UNROLL for (int e = 0; e < n; e++) x.at[e] = e < n - 1 ? e * L : r->width - L;

  for (int64_t v = begin, g; v < end; v += g) {
    const int64_t q = shunt_index_at(r->offsets, r->offset_bytes, v);
    const int64_t length = shunt_index_at(r->offsets, r->offset_bytes, v + 1) - q;
    g = length > 0 ? NAME(group_size)(r, v, end, q, length, most) : 1;
    x.index = (const char *)r->indices + q * r->index_step;
    x.value = (const char *)r->values + q * r->value_step;
    x.list_bytes = length * r->index_step;
    x.value_bytes = length * r->value_step;
    for (int i = 0; i < g; i++) {
      const int64_t row = r->ids ? shunt_index_at(r->ids, r->id_bytes, v + i) : v + i;
      x.out[i] = (T *)r->out + (row - r->origin) * r->out_stride;
    }
    if (length == 0) {
      if (!r->accumulate) NAME(clear)(r, x.out[0]);
    } else if (g == 1)
      NAME(multiply_group)(r, &x, n, 1);
    else if (g == 2)
      NAME(multiply_group)(r, &x, n, 2);
    else if (g == 3)
      NAME(multiply_group)(r, &x, n, 3);
    else if (most > 3)
      NAME(multiply_group)(r, &x, n, 4);
  }
}

/* One tile of L columns and more, in 1, 2, 4 or 8 vectors as in NAME(rows). */
static void TYPED(P, group_tile)(const struct shunt_rows_job *r, int64_t begin, int64_t end)
{
  if (r->width == L)
    NAME(tile_groups)(r, begin, end, 1);
  else if (r->width > 4 * L)
    NAME(tile_groups)(r, begin, end, TILE_VECTORS);
  else if (r->width > 2 * L)
    NAME(tile_groups)(r, begin, end, 4);
  else
    NAME(tile_groups)(r, begin, end, 2);
}
