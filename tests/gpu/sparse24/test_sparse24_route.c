/* test_sparse24_route.c: the `sparse24` route's pack and run, by hand, against A B by the host's
   plain loop: int8 bit by bit, with B where the kernel reads it and where the route copies it
   first; after A changed in place; with an A that is not 2:4.  */
#include "kernels/guard/guard.h"
#include "tests/gpu/common/packed_route.h"

/* ---- a call ------------------------------------------------------------------------ */

enum b_lies { BY_COLUMNS, OFF_16, OFF_ADDRESS, BY_ROWS, B_LAYOUTS };
static const char *const b_names[] = {"columns", "columns off 16", "columns, address off 16",
                                      "rows"};

struct setup {
  int64_t rows, cols, n;
  shunt_type index, in, out;
  enum b_lies b;
  bool c_by_columns, on_device; /* scalars */
  double alpha, beta;
  bool any;  /* A is not 2:4 */
  bool full; /* each four columns hold two entries: in f16, values are read in place */
};

static void make_rows(int64_t *offsets, int64_t *columns, const struct setup *s)
{
  int64_t nnz = 0;
  for (int64_t i = 0; i < s->rows; i++) {
    offsets[i] = nnz;
    for (int64_t quad = 0; quad < s->cols; quad += 4) {
      int take = s->full || below(s->any ? 2 : 16) ? 3 : 1; /* bits: of four columns two, or one */
      static const int two[] = {3, 5, 9, 6, 10, 12};
      take = take == 3 ? two[below(6)] : 1 << below(4);
      if (s->any && !below(10)) take = 7 << below(2);
      for (int j = 0; j < 4; j++)
        if (take >> j & 1 && quad + j < s->cols) columns[nnz++] = quad + j;
    }
  }
  offsets[s->rows] = nnz;
}

static void make_a(struct packed_call *w, const struct setup *s)
{
  int64_t *offsets = malloc((size_t)(s->rows + 1) * 8),
          *columns = malloc((size_t)(s->rows * s->cols) * 8);
  make_rows(offsets, columns, s);
  put_a(w, s->rows, s->cols, offsets, columns, s->index, s->in);
  free(offsets), free(columns);
}

static struct shunt_dense b_of(const struct setup *s, char *values)
{
  const int64_t tall = (s->cols + 15) / 16 * 16;
  const int64_t lead = s->b == BY_ROWS ? s->n + 3 : s->b == OFF_16 ? tall + 4 : tall;
  struct shunt_dense b = {s->cols, s->n, 1, lead, values, s->in};
  if (s->in == SHUNT_F16)
    b.col_stride = tall + 16;
  else if (s->b == OFF_ADDRESS)
    b.values = values + 1;
  if (s->b == BY_ROWS) b.row_stride = lead, b.col_stride = 1;
  return b;
}

static void make_dense(struct packed_call *w, const struct setup *s)
{
  struct shunt_dense b = b_of(s, NULL);
  const int64_t last = (s->cols - 1) * b.row_stride + (s->n - 1) * b.col_stride + 1;
  const int64_t lead = s->c_by_columns ? s->rows + 5 : s->n + 3;
  const int64_t of_c = s->c_by_columns ? (s->n - 1) * lead + s->rows : (s->rows - 1) * lead + s->n;
  w->b = get((size_t)last * shunt_type_size(s->in) + (s->b == OFF_ADDRESS));
  w->c = get((size_t)of_c * 4);
  for (int64_t i = 0; i < (int64_t)(w->b.bytes / shunt_type_size(s->in)); i++)
    put(w->b.host, i, s->in, below(256) - 128);
  for (int64_t i = 0; i < of_c; i++) put(w->c.host, i, s->out, below(2001) - 1000);
  up(&w->b);
  w->host.b = b_of(s, w->b.host);
  w->host.c = (struct shunt_dense){
      s->rows, s->n, s->c_by_columns ? 1 : lead, s->c_by_columns ? lead : 1, w->c.host, s->out};
  w->host.compute = s->out == SHUNT_I32 ? SHUNT_I32 : SHUNT_F32;
  w->scalars = get(8);
  for (int k = 0; k < 2; k++) {
    const double x = k ? s->beta : s->alpha;
    if (s->out == SHUNT_I32)
      ((int32_t *)w->scalars.host)[k] = (int32_t)x;
    else
      ((float *)w->scalars.host)[k] = (float)x;
  }
  up(&w->scalars);
  w->host.alpha.host = s->alpha, w->host.beta.host = s->beta;
}

static void make(struct packed_call *w, const struct setup *s)
{
  *w = (struct packed_call){.route = NULL};
  make_a(w, s);
  make_dense(w, s);
  w->profile = (struct shunt_profile){.rows = s->rows, .cols = s->cols, .nnz = w->host.a.nnz};
  begin_call(w, &shunt_route_sparse24, b_of(s, w->b.device).values, s->on_device,
             s->on_device && s->beta != 0);
}

/* A's value at `at`, in place, on both sides. */
static void change(struct packed_call *w, int64_t at)
{
  const size_t size = shunt_type_size(w->host.a.value_type);
  ((char *)w->values.host)[(size_t)(at + 1) * size - 1] ^= (char)0x80;
  up(&w->values);
}
/* A's column at `at` becomes column 0, or is again what it was. */
static void change_column(struct packed_call *w, int64_t at, int64_t to)
{
  put(w->columns.host, at, w->host.a.index_type, to);
  up(&w->columns);
}

static void test_case(const struct setup *s)
{
  struct packed_call w;
  make(&w, s);
  const bool taken =
      fits(&w) == SHUNT_FITS && expects(&w) == SHUNT_FITS && pack_call(&w, false) == SHUNT_OK;
  bool right = taken, repaired = taken;
  if (taken) {
    right = irregular(&w) == (s->any ? SHUNT_IRREGULAR : 0) && call_is_right(&w, false) &&
            call_is_right(&w, false);
    if (!right) printf("# irregular %u\n", irregular(&w));
    for (int k = 0; k < 2; k++) {
      const int64_t at = k ? w.host.a.nnz - 1 : w.host.a.nnz / 3;
      change(&w, at);
      repaired = call_is_right(&w, true) && repaired;
      change(&w, at);
      repaired = call_is_right(&w, false) && repaired;
    }
  }
  check(taken && right && repaired,
        "%s%d x %d by %d, i%d, type %d into %d, B by %s, C by %s, alpha %g, beta %g%s: %s%s%s",
        s->any ? "not 2:4, " : "", (int)s->rows, (int)s->cols, (int)s->n,
        s->index == SHUNT_I64 ? 64 : 32, s->in, s->out, b_names[s->b],
        s->c_by_columns ? "columns" : "rows", s->alpha, s->beta, s->on_device ? " (device)" : "",
        taken ? "packed, " : "NOT PACKED, ", right ? "right, " : "WRONG, ",
        repaired ? "repaired" : "NOT REPAIRED");
  end_call(&w);
}

static void test_products(void)
{
  static const struct {
    shunt_type out;
    double alpha, beta;
    bool on_device;
  } kinds[] = {{SHUNT_I32, 1, 0, false},     {SHUNT_I32, 3, 0, false},
               {SHUNT_I32, -3, 0, true},     {SHUNT_F32, 0.5, 0, false},
               {SHUNT_F32, 0.5, 0.5, false}, {SHUNT_F32, 0.5, 0.5, true}};
  static const int64_t sizes[][2] = {{200, 300}, {128, 256}};
  for (int z = 0; z < 2; z++)
    for (int n = 40; n <= 130; n += 90)
      for (int b = 0; b < B_LAYOUTS; b++)
        for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
          for (int any = 0; any < 2; any++) {
            if (any && (z || n == 130 || k % 2 == 0)) continue;
            test_case(&(struct setup){.rows = sizes[z][0],
                                      .cols = sizes[z][1],
                                      .n = n,
                                      .index = below(2) ? SHUNT_I64 : SHUNT_I32,
                                      .in = SHUNT_I8,
                                      .out = kinds[k].out,
                                      .b = b,
                                      .c_by_columns = (b + (int)k + z) % 2,
                                      .on_device = kinds[k].on_device,
                                      .alpha = kinds[k].alpha,
                                      .beta = kinds[k].beta,
                                      .any = any});
          }
  for (int n = 1; n <= 8; n += 7) /* one column has no stride */
    for (int b = 0; b < B_LAYOUTS; b++)
      test_case(&(struct setup){.rows = 64,
                                .cols = 64,
                                .n = n,
                                .index = SHUNT_I32,
                                .in = SHUNT_I8,
                                .out = SHUNT_I32,
                                .b = b,
                                .alpha = 1});
  for (int beta = 0; beta < 2; beta++)
    test_case(&(struct setup){.rows = 200,
                              .cols = 300,
                              .n = 40,
                              .index = SHUNT_I32,
                              .in = SHUNT_F16,
                              .out = SHUNT_F32,
                              .alpha = 0.5,
                              .beta = beta * 0.5});
}

/* Values read in place may change at any time; the pattern is proved, or promised. */
static void test_in_place(shunt_type out, double beta)
{
  struct packed_call w;
  make(&w, &(struct setup){.rows = 200,
                           .cols = 304,
                           .n = 40,
                           .index = below(2) ? SHUNT_I64 : SHUNT_I32,
                           .in = SHUNT_F16,
                           .out = out,
                           .alpha = 1,
                           .beta = beta,
                           .full = true});
  bool good = fits(&w) == SHUNT_FITS && pack_call(&w, false) == SHUNT_OK;
  if (good) {
    const int64_t last = w.host.a.nnz - 1;
    const int64_t was = w.host.a.index_type == SHUNT_I32 ? ((int32_t *)w.columns.host)[last]
                                                         : ((int64_t *)w.columns.host)[last];
    good = call_is_right(&w, false);
    change(&w, last);
    good = call_is_right(&w, false) && good;
    change_column(&w, last, 0);
    good = call_is_right(&w, true) && good;
    change_column(&w, last, was);
    good = call_is_right(&w, false) && good;
    w.view.pattern_stands = true, w.view.of_values = NULL;
    change(&w, last / 2);
    good = call_is_right(&w, false) && good;
  }
  check(good, "values in place, into type %d, beta %g: followed; columns proved, or promised", out,
        beta);
  end_call(&w);
}

static void test_refusals(void)
{
  struct packed_call w;
  make(&w, &(struct setup){.rows = 200,
                           .cols = 300,
                           .n = 40,
                           .index = SHUNT_I32,
                           .in = SHUNT_I8,
                           .out = SHUNT_I32,
                           .alpha = 1});
  struct shunt_spmm *s = &w.p.spmm;
  const struct shunt_spmm was = *s;
  check(fits(&w) == SHUNT_FITS && expects(&w) == SHUNT_FITS, "int8 into int32");
  s->beta.host = 1;
  check(fits(&w) == SHUNT_FITS && expects(&w) == SHUNT_R_TYPES, "not to be added to");
  s->beta = (struct shunt_scalar){w.scalars.device, 0};
  check(fits(&w) == SHUNT_FITS && expects(&w) == SHUNT_R_TYPES, "nor perhaps, beta on the device");
  *s = was, s->compute = SHUNT_F32;
  check(fits(&w) == SHUNT_R_TYPES, "nor computing in f32");
  *s = was, s->c.type = SHUNT_F32;
  check(fits(&w) == SHUNT_R_TYPES, "nor into f32 computing in int32");
  s->compute = SHUNT_F32, s->beta.host = 2;
  check(fits(&w) == SHUNT_FITS, "into f32 computing in f32, beta or not");
  s->c.type = SHUNT_I8;
  check(fits(&w) == SHUNT_R_TYPES, "nor into int8");
  *s = was, s->b.type = SHUNT_F16;
  check(fits(&w) == SHUNT_R_TYPES, "nor times f16");
  *s = was, w.call.workspace_bytes--;
  check(expects(&w) == SHUNT_R_WORKSPACE, "no room for B's copy");
  w.call.workspace_bytes++, w.profile.crowded_rows = 1;
  check(expects(&w) == SHUNT_R_PATTERN, "rows that are not 2:4");
  end_call(&w);
  make(&w, &(struct setup){.rows = 200,
                           .cols = 304,
                           .n = 40,
                           .index = SHUNT_I32,
                           .in = SHUNT_F16,
                           .out = SHUNT_F16,
                           .alpha = 1});
  check(fits(&w) == SHUNT_FITS, "f16");
  const size_t bytes = w.space.bytes;
  check(bytes == 256 + SHUNT_FINGERPRINT_SCRATCH + 200 * 40 * 4, "f16: no room for a B");
  w.p.spmm.beta.host = 1;
  check(fits(&w) == SHUNT_FITS, "f16, beta");
  w.p.spmm.b.col_stride += 4;
  check(fits(&w) == SHUNT_R_SHAPE, "f16, B off 16 bytes");
  w.p.spmm.b.col_stride -= 4, w.p.spmm.compute = SHUNT_I32;
  check(fits(&w) == SHUNT_R_TYPES, "f16 computing in int32");
  end_call(&w);
}

int main(void)
{
  struct cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9 || p.minor != 0) {
    check_skip("wgmma.sp needs compute capability 9.0");
    return check_finish();
  }
  /* Few: what blocks do besides their tiles is test_sparse24_spmm's. */
  context.device = (struct shunt_device){p.multiProcessorCount < 6 ? p.multiProcessorCount : 6, 90,
                                         (int)p.sharedMemPerBlockOptin, p.l2CacheSize};
  test_refusals();
  test_products();
  test_in_place(SHUNT_F16, 0);
  test_in_place(SHUNT_F32, 0);
  test_in_place(SHUNT_F32, 0.5);
  return check_finish();
}
