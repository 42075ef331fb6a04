/* test_sparse24_route.c: the `sparse24` route's pack and run, by hand, against A B by the host's
   plain loop: int8 bit by bit, with B where the kernel reads it and where the route copies it
   first; after A changed in place; with an A that is not 2:4.  In C, as the routes' headers are.

   What the route is given has the sizes it asked for, so that the emulator sees what lies outside.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/routes/routes.h"
#include "conv/profile/profile.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/guard/guard.h"
#include "tests/unit/check.h"

static struct shunt_context context;

static uint64_t random_state = 1;
static int below(int n)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (uint64_t)n);
}

/* ---- memory on both sides ------------------------------------------------------- */

struct memory {
  void *host, *device;
  size_t bytes;
};
static void up(const struct memory *m)
{
  if (cudaMemcpy(m->device, m->host, m->bytes, cudaMemcpyHostToDevice) != cudaSuccess) abort();
}
static struct memory get(size_t bytes)
{
  struct memory m = {malloc(bytes), NULL, bytes};
  if (!m.host || cudaMalloc(&m.device, bytes) != cudaSuccess) abort();
  memset(m.host, 0xff, bytes);
  up(&m);
  return m;
}
static void drop(struct memory *m)
{
  free(m->host);
  cudaFree(m->device);
}

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

struct world {
  struct setup s;
  struct memory offsets, columns, values, b, c, scalars, payload, header, space;
  uint32_t *pinned;
  struct shunt_problem p;
  struct shunt_spmm host;
  struct shunt_profile profile;
  struct shunt_packed_view view;
  struct shunt_call call;
};

static void put(void *to, int64_t i, shunt_type t, int64_t x)
{
  if (t == SHUNT_I8)
    ((int8_t *)to)[i] = (int8_t)x;
  else if (t == SHUNT_I32)
    ((int32_t *)to)[i] = (int32_t)x;
  else if (t == SHUNT_I64)
    ((int64_t *)to)[i] = x;
  else if (t == SHUNT_F32)
    ((float *)to)[i] = (float)x;
  else { /* f16 of -2 .. 2 */
    static const uint16_t half[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
    ((uint16_t *)to)[i] = half[((x % 5) + 5) % 5];
  }
}

static int64_t make_rows(int64_t *offsets, int64_t *columns, const struct setup *s)
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
  return nnz;
}

static void make_a(struct world *w)
{
  const struct setup *s = &w->s;
  int64_t *offsets = malloc((size_t)(s->rows + 1) * 8),
          *columns = malloc((size_t)(s->rows * s->cols) * 8);
  const int64_t nnz = make_rows(offsets, columns, s);
  const size_t size = shunt_type_size(s->index);
  w->offsets = get((size_t)(s->rows + 1) * size), w->columns = get((size_t)nnz * size);
  w->values = get((size_t)nnz * shunt_type_size(s->in));
  for (int64_t i = 0; i <= s->rows; i++) put(w->offsets.host, i, s->index, offsets[i]);
  for (int64_t i = 0; i < nnz; i++) {
    put(w->columns.host, i, s->index, columns[i]);
    put(w->values.host, i, s->in, below(256) - 128);
  }
  up(&w->offsets), up(&w->columns), up(&w->values);
  w->host.a = (struct shunt_csr){.rows = s->rows,
                                 .cols = s->cols,
                                 .nnz = nnz,
                                 .row_offsets = w->offsets.host,
                                 .columns = w->columns.host,
                                 .values = w->values.host,
                                 .index_type = s->index,
                                 .value_type = s->in};
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

static void make_dense(struct world *w)
{
  const struct setup *s = &w->s;
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

static void make(struct world *w, const struct setup *s)
{
  *w = (struct world){.s = *s};
  make_a(w);
  make_dense(w);
  w->p = (struct shunt_problem){
      .op = SHUNT_SPMM, .op_a = 'N', .op_b = 'N', .batches = 1, .spmm = w->host};
  struct shunt_spmm *on = &w->p.spmm;
  on->a.row_offsets = w->offsets.device, on->a.columns = w->columns.device;
  on->a.values = w->values.device;
  on->b = b_of(s, w->b.device), on->c.values = w->c.device;
  if (s->on_device) {
    on->alpha = (struct shunt_scalar){w->scalars.device, 0};
    if (s->beta != 0) on->beta = (struct shunt_scalar){(char *)w->scalars.device + 4, 0};
  }
  w->profile = (struct shunt_profile){.rows = s->rows, .cols = s->cols, .nnz = on->a.nnz};
  w->call = (struct shunt_call){
      .problem = &w->p, .context = &context, .profile = &w->profile, .will_pack = true};
  w->space = get(shunt_route_sparse24.workspace(&w->p, &context));
  w->call.workspace = w->space.device, w->call.workspace_bytes = w->space.bytes;
}

static void end(struct world *w)
{
  struct memory *all[] = {&w->offsets, &w->columns, &w->values, &w->b,    &w->c,
                          &w->scalars, &w->payload, &w->header, &w->space};
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i]->host) drop(all[i]);
  if (w->pinned) cudaFreeHost(w->pinned);
}

static shunt_status pack(struct world *w)
{
  const size_t bytes = shunt_route_sparse24.pack_bytes(&w->call);
  if (!bytes) return SHUNT_E_UNSUPPORTED;
  w->payload = get(bytes), w->header = get(64);
  if (cudaMallocHost((void **)&w->pinned, 8) != cudaSuccess) abort();
  w->pinned[0] = w->pinned[1] = 0;
  char *header = w->header.device;
  w->view = (struct shunt_packed_view){.irregular = (uint32_t *)header,
                                       .fingerprint = (struct shunt_fingerprint *)(header + 16),
                                       .payload = w->payload.device,
                                       .payload_bytes = bytes,
                                       .changed = w->pinned,
                                       .nonfinite = w->pinned + 1};
  const shunt_status r = shunt_route_sparse24.pack(&w->call, &w->view);
  if (cudaDeviceSynchronize() != cudaSuccess) return SHUNT_E_CUDA;
  w->call.packed = &w->view;
  return r;
}

static uint32_t irregular(const struct world *w)
{
  uint32_t word = 77;
  cudaMemcpy(&word, w->view.irregular, 4, cudaMemcpyDeviceToHost);
  return word;
}

/* The whole of C's memory, gaps and all, is what the plain loop makes of it. */
static bool runs(struct world *w, bool changed)
{
  struct memory want = {malloc(w->c.bytes), malloc(w->c.bytes), w->c.bytes};
  struct shunt_spmm p = w->host;
  memcpy(want.host, w->c.host, w->c.bytes);
  p.c.values = want.host;
  up(&w->c);
  w->pinned[0] = w->pinned[1] = 0;
  const shunt_status by_host = shunt_csr_spmm_host(&p), r = shunt_route_sparse24.run(&w->call);
  const cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(want.device, w->c.device, w->c.bytes, cudaMemcpyDeviceToHost);
  const bool same = !memcmp(want.device, want.host, w->c.bytes);
  const bool good = by_host == SHUNT_OK && r == SHUNT_OK && e == cudaSuccess && same &&
                    w->pinned[0] == (uint32_t)changed && w->pinned[1] == 0;
  if (!good)
    printf("# host %d, run %d, cuda %d, same %d, changed %u, nonfinite %u\n", by_host, r, (int)e,
           same, w->pinned[0], w->pinned[1]);
  free(want.host), free(want.device);
  return good;
}

/* A's value at `at`, in place, on both sides. */
static void change(struct world *w, int64_t at)
{
  const size_t size = shunt_type_size(w->s.in);
  ((char *)w->values.host)[(size_t)(at + 1) * size - 1] ^= (char)0x80;
  up(&w->values);
}
/* A's column at `at` becomes column 0, or is again what it was. */
static void change_column(struct world *w, int64_t at, int64_t to)
{
  put(w->columns.host, at, w->s.index, to);
  up(&w->columns);
}

static enum shunt_reason fits(const struct world *w)
{
  return shunt_route_sparse24.fits(&w->p, &context).reason;
}
static enum shunt_reason expects(const struct world *w)
{
  double us = -1;
  const enum shunt_reason r = shunt_route_sparse24.expect(&w->call, &us).reason;
  return us > 0 ? r : SHUNT_R_SHAPE;
}

static void test_case(const struct setup *s)
{
  struct world w;
  make(&w, s);
  const bool taken = fits(&w) == SHUNT_FITS && expects(&w) == SHUNT_FITS && pack(&w) == SHUNT_OK;
  bool right = taken, repaired = taken;
  if (taken) {
    right = irregular(&w) == (s->any ? SHUNT_IRREGULAR : 0) && runs(&w, false) && runs(&w, false);
    if (!right) printf("# irregular %u\n", irregular(&w));
    for (int k = 0; k < 2; k++) {
      const int64_t at = k ? w.host.a.nnz - 1 : w.host.a.nnz / 3;
      change(&w, at);
      repaired = runs(&w, true) && repaired;
      change(&w, at);
      repaired = runs(&w, false) && repaired;
    }
  }
  check(taken && right && repaired,
        "%s%d x %d by %d, i%d, type %d into %d, B by %s, C by %s, alpha %g, beta %g%s: %s%s%s",
        s->any ? "not 2:4, " : "", (int)s->rows, (int)s->cols, (int)s->n,
        s->index == SHUNT_I64 ? 64 : 32, s->in, s->out, b_names[s->b],
        s->c_by_columns ? "columns" : "rows", s->alpha, s->beta, s->on_device ? " (device)" : "",
        taken ? "packed, " : "NOT PACKED, ", right ? "right, " : "WRONG, ",
        repaired ? "repaired" : "NOT REPAIRED");
  end(&w);
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
  struct world w;
  make(&w, &(struct setup){.rows = 200,
                           .cols = 304,
                           .n = 40,
                           .index = below(2) ? SHUNT_I64 : SHUNT_I32,
                           .in = SHUNT_F16,
                           .out = out,
                           .alpha = 1,
                           .beta = beta,
                           .full = true});
  bool good = fits(&w) == SHUNT_FITS && pack(&w) == SHUNT_OK;
  if (good) {
    const int64_t last = w.host.a.nnz - 1;
    const int64_t was = w.s.index == SHUNT_I32 ? ((int32_t *)w.columns.host)[last]
                                               : ((int64_t *)w.columns.host)[last];
    good = runs(&w, false);
    change(&w, last);
    good = runs(&w, false) && good;
    change_column(&w, last, 0);
    good = runs(&w, true) && good;
    change_column(&w, last, was);
    good = runs(&w, false) && good;
    w.view.pattern_stands = true, w.view.of_values = NULL;
    change(&w, last / 2);
    good = runs(&w, false) && good;
  }
  check(good, "values in place, into type %d, beta %g: followed; columns proved, or promised", out,
        beta);
  end(&w);
}

static void test_refusals(void)
{
  struct world w;
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
  end(&w);
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
  end(&w);
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
  context.machine.costs = &shunt_costs_h200;
  test_refusals();
  test_products();
  test_in_place(SHUNT_F16, 0);
  test_in_place(SHUNT_F32, 0);
  test_in_place(SHUNT_F32, 0.5);
  return check_finish();
}
