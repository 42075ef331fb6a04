/* The planner's pure parts: problems as text, promises, reasons, faults, costs. */
#include <string.h>

#include "backend/plan/cost.h"
#include "backend/plan/fault.h"
#include "backend/plan/problem.h"
#include "backend/plan/promise.h"
#include "backend/routes/route.h"
#include "tests/unit/check.h"

static const char *const words[] = {
  "spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k2048z1677721:NN:rr:ld1024.1024:a1b0:alg0",
  "spmm:csr:f32.f32.f32.f32:i32b1:m7n3k5z11:NT:rc:ld5.9:a-0.5b2:alg12",
  "spmm:coo:bf16.bf16.f32.f32:i32b0:m10n4k12z30:NN:cr:ld12.4:a*b*:alg2",
  "spmm:csr:i8.i8.i32.i32:i32b0:m10n4k12z30:NN:cc:ld12.10:a1b1:alg4",
  "sddmm:csr:f16.f16.f16.f32:i32b0:m64n32k256z500:NN:rc:ld256.256:a1b0:alg0",
  "sddmm:csr:f64.f64.f64.f64:i64b1:m64n32k16z500:TT:cr:ld16.16:a1b0.25:alg0",
};

static void test_text(void)
{
  for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
    struct shunt_problem p, q;
    char text[SHUNT_PROBLEM_TEXT];
    int parsed = shunt_problem_parse(words[i], &p) == SHUNT_OK;
    shunt_problem_print(&p, text);
    check(parsed && strcmp(text, words[i]) == 0, "round trip of %s gives %s", words[i], text);
    check(shunt_problem_parse(text, &q) == SHUNT_OK &&
              shunt_problem_hash(&p) == shunt_problem_hash(&q),
          "hash survives the round trip");
  }
  static const char *const bad[] = {
    "", "spmm", "spmm:csr", "gemm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f99:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b2:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m-1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NX:rr:ld1.1:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rq:ld1.1:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:more",
  };
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct shunt_problem p;
    check(shunt_problem_parse(bad[i], &p) == SHUNT_E_INPUT, "refuses '%s'", bad[i]);
  }
}

/* Every size and type that a workspace may depend on is part of the hash. */
static void test_hash(void)
{
  uint64_t seen[64];
  int n = 0;
  static const char *const variants[] = {
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f32.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i32b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b1:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m9n8k8z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n7k8z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k9z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z9:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld9.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.9:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:cr:ld9.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg6",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a*b*:alg0",
    "spmm:coo:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0",
    "sddmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0",
  };
  for (unsigned i = 0; i < sizeof variants / sizeof variants[0]; i++) {
    struct shunt_problem p;
    if (!check(shunt_problem_parse(variants[i], &p) == SHUNT_OK, "parses %s", variants[i])) continue;
    uint64_t h = shunt_problem_hash(&p);
    int fresh = 1;
    for (int j = 0; j < n; j++) fresh &= seen[j] != h;
    check(fresh, "hash is its own: %s", variants[i]);
    seen[n++] = h;
  }
}

static void test_check(void)
{
  struct shunt_problem p;
  int some = 1; /* any address */
  shunt_problem_parse(words[0], &p);
  p.spmm.a.row_offsets = p.spmm.a.columns = &some;
  p.spmm.a.values = p.spmm.b.values = p.spmm.c.values = &some;
  check(shunt_problem_check(&p).reason == SHUNT_FITS, "a well-formed problem fits");
  struct shunt_problem q = p;
  q.spmm.b.rows++;
  check(shunt_problem_check(&q).reason == SHUNT_R_SHAPE, "inner sizes must match");
  q = p;
  q.spmm.a.columns = NULL;
  check(shunt_problem_check(&q).reason == SHUNT_R_EMPTY, "null columns");
  q = p;
  q.op_a = 'T';
  check(shunt_problem_check(&q).reason == SHUNT_R_TRANSPOSED, "transposed A");
  q = p;
  q.batches = 2;
  check(shunt_problem_check(&q).reason == SHUNT_R_BATCHED, "batches");
  q = p;
  q.spmm.compute = SHUNT_F64;
  check(shunt_problem_check(&q).reason == SHUNT_R_TYPES, "compute type");
  q = p;
  q.spmm.c.row_stride = 3;
  check(shunt_problem_check(&q).reason == SHUNT_R_SHAPE, "leading dimension too small");
  q = p;
  q.format = SHUNT_BSR;
  check(shunt_problem_check(&q).reason == SHUNT_R_FORMAT, "format");
  q = p;
  q.spmm.alpha.host = 0;
  check(shunt_problem_check(&q).reason == SHUNT_FITS, "alpha = 0 asks for the same workspace");
  q = p;
  q.spmm.a.nnz = (int64_t)1 << 33;
  check(shunt_problem_check(&q).reason == SHUNT_R_LARGE, "too many nonzeros");
}

static void test_promise(void)
{
  size_t bytes;
  char buffer[4096];
  check(shunt_promise_find(77).own_bytes == 0, "no promise before it is made");
  size_t total = shunt_promise_make(77, 100, 1000);
  struct shunt_promise p = shunt_promise_find(77);
  char *w = shunt_promise_workspace(p, buffer + 8, &bytes);
  check(total >= 256 + 1000 && w >= buffer + 8 + 100, "ours lies behind the original's part");
  check(((uintptr_t)w & 255) == 0 && bytes >= 1000 && w + bytes <= buffer + 8 + total,
        "aligned, large enough, inside");
  check(shunt_promise_make(77, 100, 1000) == total, "the same question, the same answer");
  check(shunt_promise_workspace(p, NULL, &bytes) == NULL && bytes == 0, "no buffer, no workspace");
  check(shunt_promise_make(77, 10, 1000) == total, "an original that asks for less gets the same");
  check(shunt_promise_make(77, 1000, 1000) == 1000, "the original changed its mind: void");
  check(shunt_promise_find(77).own_bytes == 0, "a void promise gives nothing");
  check(shunt_promise_make(77, 100, 1000) == 100, "and stays void");
  check(shunt_promise_make(78, 5, 0) == 5, "nothing wanted leaves the original's answer");
}

static void test_reasons(void)
{
  int distinct = 1;
  for (int i = 0; i < SHUNT_R_COUNT; i++)
    for (int j = 0; j < i; j++)
      distinct &= strcmp(shunt_reason_text((enum shunt_reason)i),
                         shunt_reason_text((enum shunt_reason)j)) != 0;
  check(distinct, "every reason has a word of its own");
}

static void test_faults(void)
{
  check(!shunt_fault(), "unarmed: nothing fails");
  shunt_fault_arm(3);
  int a = shunt_fault(), b = shunt_fault(), c = shunt_fault(), d = shunt_fault();
  check(!a && !b && c && !d && shunt_faults_seen() == 4, "the third of four fails");
  shunt_fault_arm(0);
  check(!shunt_fault() && shunt_faults_seen() == 1, "armed with 0 only counts");
}

static void test_routes(void)
{
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    check(shunt_route_index(r->name) == i && r->fits && r->workspace && r->expect && r->run,
          "route %s is whole", r->name);
    check(!r->keep == !r->keep_bytes, "route %s keeps with both functions or neither", r->name);
  }
  check(shunt_route_index("nonsense") == -1, "unknown route");
}

static void test_costs(void)
{
  const struct shunt_device d = { 132, 90, 232448, 60 << 20 };
  struct shunt_problem p;
  shunt_problem_parse(words[0], &p);
  double n1024 = shunt_cost_original(&p, &d);
  p.spmm.c.cols = p.spmm.b.cols = 256;
  check(shunt_cost_original(&p, &d) < n1024, "fewer columns cost less");
  check(shunt_cost_gemm(4096, 1024, 4096, SHUNT_F16, &d) <
            shunt_cost_gemm(4096, 1024, 4096, SHUNT_F32, &d),
        "f16 products are faster than f32");
  double gemm = shunt_cost_gemm(4096, 1024, 4096, SHUNT_F16, &d);
  check(gemm > 35 && gemm < 60, "4096 x 4096 x 1024 f16 near its measured 46 us (%.1f)", gemm);
}

int main(void)
{
  test_text();
  test_hash();
  test_check();
  test_promise();
  test_reasons();
  test_faults();
  test_routes();
  test_costs();
  return check_finish();
}
