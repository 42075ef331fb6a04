/* test_srbcrs_route.c: the `srbcrs` route's pack and run, by hand, against A B by the host's plain
   loop, bit by bit: with B where the kernel reads it and where it is copied first; after A's
   values, columns and offsets changed in place; with rows that do not share their columns, though
   the profile says so; with the pattern promised.  */
#include "conv/profile/profile.h"
#include "tests/gpu/common/packed_route.h"

/* ---- a call ------------------------------------------------------------------------ */

struct setup {
  int height; /* rows that share their columns */
  int64_t rows, cols, n;
  shunt_type index, out;
  bool b_by_columns, c_by_columns, on_device; /* scalars */
  double alpha, beta;
  bool any; /* rows share nothing, but the profile says that they do */
};

static void make_a(struct packed_call *w, const struct setup *s)
{
  char *list = calloc(1, (size_t)s->cols);
  int64_t nnz = 0, row_end[512] = {0};
  int64_t *columns = malloc((size_t)(s->rows * s->cols) * 8);
  for (int64_t i = 0; i < s->rows; i++) {
    for (int64_t j = 0; j < s->cols; j++) {
      if (s->any || i % s->height == 0) list[j] = below(5) == 0;
      if (list[j]) columns[nnz++] = j;
    }
    row_end[i + 1] = nnz;
  }
  put_a(w, s->rows, s->cols, row_end, columns, s->index, SHUNT_I8);
  free(list), free(columns);
}

static struct shunt_dense dense(int64_t rows, int64_t cols, bool by_columns, void *values,
                                shunt_type t)
{
  return by_columns ? (struct shunt_dense){rows, cols, 1, rows + 5, values, t}
                    : (struct shunt_dense){rows, cols, cols, 1, values, t};
}

static size_t elements(const struct shunt_dense *d)
{
  return (size_t)((d->rows - 1) * d->row_stride + (d->cols - 1) * d->col_stride + 1);
}

static void make_dense(struct packed_call *w, const struct setup *s)
{
  struct shunt_dense b = dense(s->cols, s->n, s->b_by_columns, NULL, SHUNT_I8);
  struct shunt_dense c = dense(s->rows, s->n, s->c_by_columns, NULL, s->out);
  w->b = get(elements(&b)), w->c = get(elements(&c) * 4), w->scalars = get(8);
  for (size_t i = 0; i < w->b.bytes; i++) put(w->b.host, (int64_t)i, SHUNT_I8, below(256) - 128);
  for (size_t i = 0; i < w->c.bytes / 4; i++)
    put(w->c.host, (int64_t)i, s->out, below(2001) - 1000);
  for (int k = 0; k < 2; k++) put(w->scalars.host, k, s->out, (int64_t)(k ? s->beta : s->alpha));
  up(&w->b), up(&w->scalars);
  b.values = w->b.host, c.values = w->c.host;
  w->host.b = b, w->host.c = c;
  w->host.compute = s->out;
  w->host.alpha.host = s->alpha, w->host.beta.host = s->beta;
}

static void make(struct packed_call *w, const struct setup *s)
{
  *w = (struct packed_call){.route = NULL};
  make_a(w, s);
  make_dense(w, s);
  if (shunt_profile_csr_host(&w->host.a, &w->profile) != SHUNT_OK) abort();
  if (s->any)
    for (int v = 0; v < 3; v++) w->profile.groups_equal[v] = w->profile.groups_nonempty[v];
  begin_call(w, &shunt_route_srbcrs, w->b.device, s->on_device, false);
  w->call.forced = true;
}

static int64_t index_at(const struct packed_call *w, const struct memory *m, int64_t i)
{
  return w->host.a.index_type == SHUNT_I32 ? ((int32_t *)m->host)[i] : ((int64_t *)m->host)[i];
}

/* An index becomes another and, after a call, again what it was: both times C follows. */
static bool follows_index(struct packed_call *w, struct memory *m, int64_t at, int64_t to)
{
  const int64_t was = index_at(w, m, at);
  put(m->host, at, w->host.a.index_type, to);
  up(m);
  bool good = call_is_right(w, was != to);
  put(m->host, at, w->host.a.index_type, was);
  up(m);
  return call_is_right(w, false) && good;
}

static bool follows_value(struct packed_call *w, int64_t at)
{
  char *value = (char *)w->values.host + at;
  *value ^= (char)0x41;
  up(&w->values);
  bool good = call_is_right(w, true);
  *value ^= (char)0x41;
  up(&w->values);
  return call_is_right(w, false) && good;
}

/* ---- products ------------------------------------------------------------------------ */

static bool stays_right(struct packed_call *w)
{
  const int64_t nnz = w->host.a.nnz, last = nnz - 1;
  bool good = call_is_right(w, false) && call_is_right(w, false);
  good &= follows_value(w, 0) && follows_value(w, nnz / 3) && follows_value(w, last);
  good &= follows_index(w, &w->columns, last, index_at(w, &w->columns, last) == 0 ? 1 : 0);
  good &= follows_index(w, &w->columns, nnz / 2, w->host.a.cols - 1);
  good &= follows_index(w, &w->offsets, 1, index_at(w, &w->offsets, 1) / 2);
  /* Promised: the pattern is not read, values are. */
  w->view.pattern_stands = true;
  good &= call_is_right(w, false) && follows_value(w, last / 2);
  return good;
}

static void test_case(const struct setup *s)
{
  struct packed_call w;
  make(&w, s);
  const bool taken =
      fits(&w) == SHUNT_FITS && expects(&w) == SHUNT_FITS && pack_call(&w, true) == SHUNT_OK;
  bool right = taken && irregular(&w) == (s->any ? SHUNT_IRREGULAR : 0);
  if (right)
    right = s->any ? call_is_right(&w, false) && call_is_right(&w, false) : stays_right(&w);
  check(right && (s->any || w.note == (uint32_t)s->height),
        "%sV = %d, %d x %d by %d, i%d, into type %d, B by %s, C by %s, alpha %g, beta %g%s: %s",
        s->any ? "not whole, " : "", s->height, (int)s->rows, (int)s->cols, (int)s->n,
        s->index == SHUNT_I64 ? 64 : 32, s->out, s->b_by_columns ? "columns" : "rows",
        s->c_by_columns ? "columns" : "rows", s->alpha, s->beta, s->on_device ? " (device)" : "",
        taken ? "right, and follows A" : "NOT PACKED");
  end_call(&w);
}

static void test_products(void)
{
  static const struct {
    shunt_type out;
    double alpha, beta;
    bool on_device;
  } kinds[] = {{SHUNT_I32, 1, 0, false},
               {SHUNT_I32, -3, 0, true},
               {SHUNT_F32, 2, 0, false},
               {SHUNT_F32, 2, 3, false}};
  static const int64_t sizes[][3] = {{64, 96, 48}, {77, 130, 33}};
  for (int z = 0; z < 2; z++)
    for (int height = 2; height <= 8; height *= 2)
      for (int k = 0; k < 4; k++) {
        const struct setup s = {.height = height,
                                .rows = sizes[z][0],
                                .cols = sizes[z][1],
                                .n = sizes[z][2],
                                .index = (z + k) % 2 ? SHUNT_I64 : SHUNT_I32,
                                .out = kinds[k].out,
                                .b_by_columns = (k + height / 4) % 2,
                                .c_by_columns = k / 2 % 2,
                                .on_device = kinds[k].on_device,
                                .alpha = kinds[k].alpha,
                                .beta = kinds[k].beta};
        test_case(&s);
      }
  for (int k = 0; k < 4; k += 2)
    test_case(&(struct setup){.height = 8,
                              .rows = 64,
                              .cols = 200,
                              .n = 40,
                              .index = SHUNT_I32,
                              .out = kinds[k].out,
                              .alpha = 1,
                              .any = true});
}

/* ---- what is declined ------------------------------------------------------------------ */

static void test_types(struct packed_call *w)
{
  struct shunt_spmm *s = &w->p.spmm;
  const struct shunt_spmm was = *s;
  check(fits(w) == SHUNT_FITS && expects(w) == SHUNT_FITS, "int8 into int32");
  s->beta.host = 1;
  check(fits(w) == SHUNT_FITS && expects(w) == SHUNT_R_TYPES, "not to be added to");
  *s = was, s->compute = SHUNT_F32;
  check(fits(w) == SHUNT_R_TYPES, "nor computing in f32");
  s->c.type = SHUNT_F32;
  check(fits(w) == SHUNT_FITS && expects(w) == SHUNT_FITS &&
            shunt_route_srbcrs.pack_bytes(&w->call),
        "into f32 computing in f32");
  const int64_t longest = w->profile.longest_row;
  w->profile.longest_row = 1024;
  check(expects(w) == SHUNT_FITS, "of rows whose sums csr does not round");
  w->profile.longest_row++;
  check(expects(w) == SHUNT_R_LARGE && shunt_route_srbcrs.pack_bytes(&w->call) == 0,
        "and not of longer ones, whose bits would change");
  s->compute = s->c.type = SHUNT_I32;
  check(expects(w) == SHUNT_FITS, "which int32 holds");
  w->profile.longest_row = longest, s->compute = s->c.type = SHUNT_F32;
  s->a.cols = s->b.rows = 1 << 17;
  check(fits(w) == SHUNT_R_LARGE, "unless sums in int32 could wrap");
  *s = was, s->a.value_type = s->b.type = SHUNT_F16;
  check(fits(w) == SHUNT_R_TYPES, "nor other operands");
  *s = was;
}

static void test_refusals(void)
{
  struct packed_call w;
  make(&w, &(struct setup){.height = 4,
                           .rows = 64,
                           .cols = 80,
                           .n = 32,
                           .index = SHUNT_I32,
                           .out = SHUNT_I32,
                           .alpha = 1});
  test_types(&w);
  w.call.will_pack = false;
  check(expects(&w) == SHUNT_R_UNCONVERTED, "nothing without a copy");
  w.call.will_pack = true, w.call.no_copies = true;
  check(expects(&w) == SHUNT_R_COPY && shunt_route_srbcrs.pack_bytes(&w.call) == 0,
        "nor where copies do not stand");
  w.call.no_copies = false, w.call.workspace_bytes--;
  check(expects(&w) == SHUNT_R_WORKSPACE, "nor in a short buffer");
  w.call.workspace_bytes++, w.p.spmm.b.values = (char *)w.p.spmm.b.values + 1;
  check(expects(&w) == SHUNT_R_SHAPE, "nor with B off 16 bytes where its rows are not");
  w.p.spmm.b.values = (char *)w.p.spmm.b.values - 1;
  w.profile.groups_equal[0] = w.profile.groups_equal[1] = w.profile.groups_equal[2] = 0;
  check(expects(&w) == SHUNT_R_PATTERN && shunt_route_srbcrs.pack_bytes(&w.call) == 0,
        "nor of rows that share nothing");
  w.call.profile = NULL;
  check(expects(&w) == SHUNT_R_UNPROFILED && shunt_route_srbcrs.pack_bytes(&w.call) == 0,
        "nor before there is a profile");
  context.device.compute_capability = 75;
  check(fits(&w) == SHUNT_R_DEVICE, "nor before compute capability 8.0");
  context.device.compute_capability = 90;
  end_call(&w);
}

int main(void)
{
  context = (struct shunt_context){.device = {132, 90, 232448, 60 << 20},
                                   .memory_bytes = (int64_t)140 << 30};
  test_products();
  test_refusals();
  return check_finish();
}
