/* The planner's pure parts: problems as text, promises, reasons, faults, costs. */
#include <string.h>

#include "backend/plan/batches.h"
#include "backend/plan/cost.h"
#include "backend/plan/engine.h"
#include "backend/plan/fault.h"
#include "backend/plan/problem.h"
#include "backend/plan/promise.h"
#include "backend/routes/route.h"
#include "kernels/whole24_kernels.h"
#include "tests/unit/check.h"

static const char *const words[] = {
  "spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k2048z1677721:NN:rr:ld1024.1024:a1b0:alg0",
  "spmm:csr:f32.f32.f32.f32:i32b1:m7n3k5z11:NT:rc:ld5.9:a-0.5b2:alg12",
  "spmm:coo:bf16.bf16.f32.f32:i32b0:m10n4k12z30:NN:cr:ld12.4:a*b*:alg2",
  "spmm:csr:i8.i8.i32.i32:i32b0:m10n4k12z30:NN:cc:ld12.10:a1b1:alg4",
  "sddmm:csr:f16.f16.f16.f32:i32b0:m64n32k256z500:NN:rc:ld256.256:a1b0:alg0",
  "sddmm:csr:f64.f64.f64.f64:i64b1:m64n32k16z500:TT:cr:ld16.16:a1b0.25:alg0",
  "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:TN:rr:ld3.3:a1b0:alg0",
  "spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:HN:rr:ld3.3:a1b0:alg0",
  "spmm:csc:f16.f16.f32.f32:i64b1:m7n3k5z11:NN:cc:ld5.7:a1b0:alg0",
  "spmm:csc:f16.f16.f32.f32:i64b1:m7n3k5z11:TT:cr:ld3.4:a1b0:alg6",
  "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x16s0.11.15.21",
  "sddmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0.5:alg0:x3s8.11.35.15",
};

/* The longest that can be printed: it is not cut, and comes back. */
static void test_longest(void)
{
  struct shunt_problem p, q;
  char text[SHUNT_PROBLEM_TEXT];
  const int64_t huge = INT64_MAX;
  shunt_problem_parse("sddmm:csr:bf16.bf16.bf16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b1:alg0", &p);
  p.sddmm.c.rows = p.sddmm.c.cols = p.sddmm.c.nnz = p.sddmm.a.cols = huge;
  p.sddmm.a.row_stride = p.sddmm.b.row_stride = huge;
  p.sddmm.a.rows = p.sddmm.a.cols = p.sddmm.b.rows = p.sddmm.b.cols = huge;
  p.sddmm.alpha.host = p.sddmm.beta.host = -1.23456e-300;
  p.algorithm = INT32_MIN;
  p.batches = INT32_MAX;
  p.strides = (struct shunt_batch_strides){ huge, huge, { huge, huge } };
  int length = shunt_problem_print(&p, text);
  check(length < SHUNT_PROBLEM_TEXT && length == (int)strlen(text), "%d characters fit", length);
  check(shunt_problem_parse(text, &q) == SHUNT_OK && shunt_problem_hash(&p) == shunt_problem_hash(&q),
        "and come back: %s", text);
}

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
    "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:x2s0.1.1",
    "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:x1s0.1.1.1",
    "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:x2s0.1.1.1:",
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
    "spmm:csc:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0",
    "spmm:csc:f16.f16.f16.f32:i64b0:m8n8k8z8:TN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:TN:rr:ld8.8:a1b0:alg0",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:x2s9.8.64.64",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:x3s9.8.64.64",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:x2s0.8.64.64",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:x2s0.0.64.64",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:x2s0.0.65.64",
    "spmm:csr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:x2s0.0.64.65",
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
  check(shunt_problem_check(&q).reason == SHUNT_R_SHAPE, "A's sizes change sides with op(A)");
  q.spmm.a.rows = p.spmm.a.cols;
  q.spmm.a.cols = p.spmm.a.rows;
  check(shunt_problem_check(&q).reason == SHUNT_FITS, "a transposed A of these sizes fits");
  q.format = SHUNT_CSC;
  check(shunt_problem_check(&q).reason == SHUNT_R_SHAPE, "CSC, transposed, is A by rows");
  q.op_a = 'N';
  check(shunt_problem_check(&q).reason == SHUNT_FITS, "CSC is the transpose by rows");
  q = p;
  q.batches = 0;
  check(shunt_problem_check(&q).reason == SHUNT_R_BATCHED, "no batches");
  q.batches = 65536;
  check(shunt_problem_check(&q).reason == SHUNT_R_BATCHED, "more batches than cuSPARSE takes");
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

/* ---- batches ----------------------------------------------------------------------- */

/* Parses `word` and gives the arrays addresses. */
static struct shunt_problem bound(const char *word)
{
  struct shunt_problem p;
  char *base = (char *)0x100000;
  check(shunt_problem_parse(word, &p) == SHUNT_OK, "parses %s", word);
  struct shunt_csr *a = p.op == SHUNT_SPMM ? &p.spmm.a : &p.sddmm.c;
  a->row_offsets = p.format == SHUNT_COO ? NULL : base;
  p.row_indices = p.format == SHUNT_COO ? base : NULL;
  a->columns = base + 0x10000;
  a->values = base + 0x20000;
  (p.op == SHUNT_SPMM ? &p.spmm.b : &p.sddmm.a)->values = base + 0x30000;
  (p.op == SHUNT_SPMM ? &p.spmm.c : &p.sddmm.b)->values = base + 0x40000;
  return p;
}

static void test_batch_strides(void)
{
  static const struct {
    const char *word;
    enum shunt_reason reason;
  } cases[] = {
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.15.21", SHUNT_FITS },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.0.21", SHUNT_FITS },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.15.20",
      SHUNT_R_SHAPE },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.15.0",
      SHUNT_R_SHAPE },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld9.9:a1b0:alg6:x3s0.0.3.3", SHUNT_FITS },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld9.8:a1b0:alg6:x3s0.0.3.3",
      SHUNT_R_SHAPE },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld9.9:a1b0:alg6:x3s0.0.3.2",
      SHUNT_R_SHAPE },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x3s-1.0.15.21",
      SHUNT_R_SHAPE },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x3s0.11.15.-21",
      SHUNT_R_SHAPE },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.8:a1b0:alg6:x3s0.11.15.23", SHUNT_FITS },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.8:a1b0:alg6:x3s0.11.15.22",
      SHUNT_R_SHAPE },
    { "sddmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s0.11.0.0", SHUNT_FITS },
    { "sddmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s8.10.35.15",
      SHUNT_R_SHAPE },
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct shunt_problem p = bound(cases[i].word);
    check(shunt_problem_check(&p).reason == cases[i].reason, "%s: %s", cases[i].word,
          shunt_reason_text(cases[i].reason));
  }
}

static void test_batch_joined(void)
{
  static const struct {
    const char *word;
    int64_t columns; /* of the one product; 0: not one */
  } cases[] = {
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.15.21", 12 },
    { "spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld6.9:a1b0:alg2:x4s0.0.18.27", 12 },
    { "spmm:csc:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.15.21", 12 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NT:rc:ld5.7:a1b0:alg6:x4s0.0.15.21", 12 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld12.13:a1b0:alg6:x4s0.0.3.3", 12 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rc:ld12.7:a1b0:alg6:x4s0.0.3.21", 12 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld11.13:a1b0:alg6:x4s0.0.3.3", 0 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.15.28", 0 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.0.21", 0 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.11.15.21", 0 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s8.0.15.21", 0 },
    { "spmm:csr:f32.f32.f32.f32:i32b0:m7n65535k5z11:NN:cc:ld5.7:a1b0:alg6:x65535s0.0.327675.458745",
      0 },
    { "sddmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s0.11.35.15", 0 },
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct shunt_problem p = bound(cases[i].word), one;
    bool joined = shunt_batches_join(&p, &one);
    check(joined == (cases[i].columns != 0), "%s is %s", cases[i].word,
          cases[i].columns ? "one product" : "several");
    if (!joined) continue;
    check(one.batches == 1 && one.spmm.b.cols == cases[i].columns &&
              one.spmm.c.cols == cases[i].columns && one.spmm.b.values == p.spmm.b.values &&
              one.row_indices == p.row_indices,
          "with %d columns", (int)cases[i].columns);
    check(shunt_problem_check(&one).reason == SHUNT_FITS, "and is sound");
  }
}

/* Element (0, j) of batch i is element (0, i n + j) of the joined product. */
static void test_batch_places(void)
{
  struct shunt_problem p =
      bound("spmm:csr:f16.f16.f32.f32:i64b0:m7n3k5z11:NN:rc:ld12.7:a1b0:alg6:x4s0.0.3.21");
  struct shunt_problem one;
  check(shunt_batches_join(&p, &one), "joined");
  for (int i = 0; i < 4; i++) {
    struct shunt_problem at = shunt_batch_at(&p, i);
    char *b = (char *)one.spmm.b.values + 2 * (i * 3 * one.spmm.b.col_stride);
    char *c = (char *)one.spmm.c.values + 4 * (i * 3 * one.spmm.c.col_stride);
    check(at.spmm.b.values == b && at.spmm.c.values == c, "batch %d stands where it was", i);
  }
  p = bound("spmm:csr:f16.f16.f32.f32:i64b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s8.11.15.21");
  struct shunt_problem at = shunt_batch_at(&p, 2);
  check((char *)at.spmm.a.row_offsets - (char *)p.spmm.a.row_offsets == 2 * 8 * 8 &&
            (char *)at.spmm.a.columns - (char *)p.spmm.a.columns == 2 * 11 * 8 &&
            (char *)at.spmm.a.values - (char *)p.spmm.a.values == 2 * 11 * 2 &&
            (char *)at.spmm.b.values - (char *)p.spmm.b.values == 2 * 15 * 2 &&
            (char *)at.spmm.c.values - (char *)p.spmm.c.values == 2 * 21 * 4 && at.batches == 1,
        "strides count elements of each array");
  p = bound("spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg2:x4s0.11.15.21");
  at = shunt_batch_at(&p, 3);
  check((char *)at.row_indices - (char *)p.row_indices == 3 * 11 * 4 && !at.spmm.a.row_offsets,
        "COO's row indices move with the entries");
  p = bound("sddmm:csr:f32.f32.f16.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s8.12.35.15");
  at = shunt_batch_at(&p, 1);
  check((char *)at.sddmm.c.row_offsets - (char *)p.sddmm.c.row_offsets == 8 * 4 &&
            (char *)at.sddmm.c.values - (char *)p.sddmm.c.values == 12 * 2 &&
            (char *)at.sddmm.a.values - (char *)p.sddmm.a.values == 35 * 4 &&
            (char *)at.sddmm.b.values - (char *)p.sddmm.b.values == 15 * 4,
        "SDDMM's arrays move, too");
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

static const struct shunt_device h200 = { 132, 90, 232448, 60 << 20 };

static double gemm_us(shunt_type type, enum shunt_math math)
{
  return shunt_cost_gemm(4096, 1024, 4096, type, math, &h200);
}

static void test_costs(void)
{
  struct shunt_problem p;
  shunt_problem_parse(words[0], &p);
  double n1024 = shunt_cost_original(&p, NULL, &h200);
  p.spmm.c.cols = p.spmm.b.cols = 256;
  check(shunt_cost_original(&p, NULL, &h200) < n1024, "fewer columns cost less");
  double half = gemm_us(SHUNT_F16, SHUNT_MATH_EXACT), f32 = gemm_us(SHUNT_F32, SHUNT_MATH_EXACT);
  double tf32 = gemm_us(SHUNT_F32, SHUNT_MATH_TF32);
  check(half < f32, "f16 products are faster than f32");
  check(half > 35 && half < 60, "4096 x 4096 x 1024 f16 near its measured 46 us (%.1f)", half);
  check(half < tf32 && 5 * tf32 < f32, "TF32 is between f16 and f32 (%.1f us of %.1f)", tf32, f32);
  static const shunt_type others[] = { SHUNT_F16, SHUNT_BF16, SHUNT_F64 };
  for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
    check(gemm_us(others[i], SHUNT_MATH_TF32) == gemm_us(others[i], SHUNT_MATH_EXACT),
          "type %d costs the same with TF32 allowed", (int)others[i]);
}

/* Sizes, types and times of one case of ../shared/data/mtx or of a pruned layer, us on an H200
   (tests/bench/results/rows.json, dlmc.json); 0: not measured.  */
struct measured {
  const char *matrix;
  int64_t rows, cols, nnz, longest, vectors, longest_group;
  int64_t n;
  shunt_type type;
  double by_rows, by_groups, by_original;
};
static const struct measured cases[] = {
  { "bcsstk32", 44609, 44609, 2014701, 216, 430762, 338, 32, SHUNT_F32, 26.4, 25.4, 98 },
  { "bcsstk32", 44609, 44609, 2014701, 216, 430762, 338, 128, SHUNT_F64, 145, 100, 229 },
  { "ex11", 16614, 16614, 1096948, 90, 261946, 189, 128, SHUNT_F64, 68.6, 49.5, 121 },
  { "cfd1", 70656, 70656, 1828364, 33, 830425, 164, 32, SHUNT_F32, 20.4, 37.3, 99.9 },
  { "delaunay_n16", 65536, 65536, 393150, 17, 243682, 61, 128, SHUNT_F32, 39.8, 38.5, 54.4 },
  { "gupta2", 62064, 62064, 4248286, 8413, 1939464, 10543, 32, SHUNT_F32, 64.7, 103, 200 },
  { "pyfr_p6_tet_m132-sp", 84, 252, 20400, 252, 0, 0, 32, SHUNT_F32, 4.0, 0, 0 },
  { "random 4096x4096, 4 x 1", 4096, 4096, 1677720, 460, 0, 0, 256, SHUNT_F32, 100, 0, 0 },
  { "transformer_512x2048_0.9", 512, 2048, 104857, 670, 0, 0, 256, SHUNT_F16, 13.2, 0, 0 },
};

static double within(double estimate, double measured)
{
  return estimate > measured ? estimate / measured : measured / estimate;
}

/* Off by less than a factor, and in the order that was measured where that is clear. */
static void test_cost_fits(void)
{
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct measured *m = &cases[i];
    struct shunt_problem p = { .op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1 };
    const struct shunt_profile f = { .rows = m->rows, .nnz = m->nnz, .longest_row = m->longest };
    p.spmm.a = (struct shunt_csr){ .rows = m->rows, .cols = m->cols, .nnz = m->nnz,
                                   .index_type = SHUNT_I32, .value_type = m->type };
    p.spmm.b = (struct shunt_dense){ m->cols, m->n, m->n, 1, NULL, m->type };
    p.spmm.c = (struct shunt_dense){ m->rows, m->n, m->n, 1, NULL, m->type };
    double rows = shunt_cost_rows(&p.spmm, &f, &h200);
    double groups = shunt_cost_groups(&p.spmm, (double)m->vectors, (double)m->longest_group, &h200);
    double original = shunt_cost_original(&p, &f, &h200);
    check(within(rows, m->by_rows) < 1.7, "%s, N = %d: rows %.1f us, measured %.1f", m->matrix,
          (int)m->n, rows, m->by_rows);
    if (m->by_groups == 0) continue;
    check(within(groups, m->by_groups) < 1.7, "%s, N = %d: groups %.1f us, measured %.1f",
          m->matrix, (int)m->n, groups, m->by_groups);
    check(within(original, m->by_original) < 1.7, "%s, N = %d: cuSPARSE %.1f us, measured %.1f",
          m->matrix, (int)m->n, original, m->by_original);
    bool clear = within(m->by_rows, m->by_groups) > 1.3;
    check(!clear || (rows < groups) == (m->by_rows < m->by_groups),
          "%s, N = %d: rows and groups in the order measured", m->matrix, (int)m->n);
    check(rows < original, "%s, N = %d: taken", m->matrix, (int)m->n);
  }
}

/* The same for SDDMM, B by row: inner dimension, us of `rows` with its copy of B, of cuSPARSE. */
static void test_sddmm_cost_fits(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, inner;
    shunt_type type;
    double by_rows, by_original;
  } measured[] = {
    { "opt1", 15449, 1930655, 243, 32, SHUNT_F32, 34.0, 43.8 },
    { "opt1", 15449, 1930655, 243, 128, SHUNT_F64, 176.6, 293 },
    { "cfd1", 70656, 1828364, 33, 128, SHUNT_F32, 136.8, 443 },
    { "rajat16", 94294, 641159, 28755, 32, SHUNT_F32, 27.2, 1133 },
    { "delaunay_n16", 65536, 393150, 17, 32, SHUNT_F64, 32.8, 99.2 },
    { "p2p-Gnutella31", 62586, 147892, 78, 128, SHUNT_F32, 47.4, 130 },
  };
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t n = measured[i].rows, k = measured[i].inner;
    const shunt_type t = measured[i].type;
    struct shunt_problem p = { .op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1 };
    const struct shunt_profile f = { .rows = n, .nnz = measured[i].nnz,
                                     .longest_row = measured[i].longest };
    p.sddmm.a = (struct shunt_dense){ n, k, k, 1, NULL, t };
    p.sddmm.b = (struct shunt_dense){ k, n, n, 1, NULL, t };
    p.sddmm.c = (struct shunt_csr){ .rows = n, .cols = n, .nnz = measured[i].nnz,
                                    .index_type = SHUNT_I32, .value_type = t };
    double rows = shunt_cost_sddmm_rows(&p.sddmm, &h200);
    double original = shunt_cost_original(&p, &f, &h200);
    check(within(rows, measured[i].by_rows) < 1.3, "%s, K = %d: rows %.1f us, measured %.1f",
          measured[i].matrix, (int)k, rows, measured[i].by_rows);
    check(within(original, measured[i].by_original) < 2, "%s, K = %d: cuSPARSE %.1f us, measured %.1f",
          measured[i].matrix, (int)k, original, measured[i].by_original);
    check(rows < original, "%s, K = %d: taken", measured[i].matrix, (int)k);
  }
}

/* SDDMM by `vector` where all rows are equal in groups of `height`, and no larger ones are. */
static enum shunt_reason sddmm_by_vector(int height)
{
  struct shunt_engine e = { .device = h200 };
  const int64_t rows = 4096, inner = 128;
  struct shunt_problem p = { .op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1 };
  struct shunt_profile f = { .rows = rows, .nnz = 60 * rows, .longest_row = 60 };
  for (int v = 0; v < 3; v++) {
    f.groups_nonempty[v] = rows / (8 >> v);
    f.groups_equal[v] = 8 >> v <= height ? f.groups_nonempty[v] : 0;
  }
  p.sddmm.a = (struct shunt_dense){ rows, inner, inner, 1, NULL, SHUNT_F32 };
  p.sddmm.b = (struct shunt_dense){ inner, rows, 1, inner, NULL, SHUNT_F32 };
  p.sddmm.c = (struct shunt_csr){ .rows = rows, .cols = rows, .nnz = f.nnz,
                                  .index_type = SHUNT_I32, .value_type = SHUNT_F32 };
  p.sddmm.compute = SHUNT_F32;
  const struct shunt_call c = { .problem = &p, .engine = &e, .profile = &f,
                                .workspace_bytes = (size_t)1 << 30 };
  double us = 0;
  return shunt_route_at(shunt_route_index("vector"))->expect(&c, &us).reason;
}

/* Pairs are found last: 606 us for pkustk06 where rows takes 49. */
static void test_vector_wants_more_than_pairs(void)
{
  check(sddmm_by_vector(2) == SHUNT_R_PATTERN, "vector leaves SDDMM on pairs of rows alone");
  check(sddmm_by_vector(4) == SHUNT_FITS, "and takes fours");
  check(sddmm_by_vector(8) == SHUNT_FITS, "and eights");
}

/* What `groups` is expected to take before the merged lists are there decides whether they are
   made: opt1 and pkustk06 take 28.0 us of 38.2 and 43.8 of 48.5, opt1 in f32, N = 8, 17.7 of 16.4.  */
static void test_groups_are_hoped_for(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, n;
    shunt_type type;
    bool taken;
  } hoped[] = {
    { "opt1", 15449, 1930655, 243, 32, SHUNT_F64, true },
    { "pkustk06", 43164, 2571768, 126, 32, SHUNT_F64, true },
    { "opt1", 15449, 1930655, 243, 8, SHUNT_F32, false },
  };
  struct shunt_engine e = { .device = h200 };
  for (unsigned i = 0; i < sizeof hoped / sizeof hoped[0]; i++) {
    struct shunt_problem p = { .op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1 };
    const struct shunt_profile f = { .rows = hoped[i].rows, .nnz = hoped[i].nnz,
                                     .longest_row = hoped[i].longest };
    p.spmm.a = (struct shunt_csr){ .rows = f.rows, .cols = f.rows, .nnz = f.nnz,
                                   .index_type = SHUNT_I32, .value_type = hoped[i].type };
    p.spmm.b = (struct shunt_dense){ f.rows, hoped[i].n, hoped[i].n, 1, NULL, hoped[i].type };
    p.spmm.c = p.spmm.b;
    p.spmm.compute = hoped[i].type;
    const struct shunt_call c = { .problem = &p, .engine = &e, .profile = &f, .will_keep = true,
                                  .workspace_bytes = (size_t)1 << 30 };
    double rows = 0, groups = 0;
    shunt_route_at(shunt_route_index("rows"))->expect(&c, &rows);
    shunt_route_at(shunt_route_index("groups"))->expect(&c, &groups);
    check((groups < rows) == hoped[i].taken, "%s, N = %d: groups %.1f us hoped for, rows %.1f",
          hoped[i].matrix, (int)hoped[i].n, groups, rows);
  }
}

/* ---- tile24 ---------------------------------------------------------------------------------- */

struct pruned {
  struct shunt_engine e;
  struct shunt_problem p;
  struct shunt_profile f;
  struct shunt_call c;
};

/* Square weights of n columns, half of them pruned. */
static void pruned_weights(struct pruned *w, int64_t m, int64_t n)
{
  *w = (struct pruned){ .e = { .device = h200 }, .f = { .rows = m, .cols = m, .nnz = m * m / 2 } };
  w->p = (struct shunt_problem){ .op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1 };
  w->p.spmm = (struct shunt_spmm){
    .a = { .rows = m, .cols = m, .nnz = m * m / 2, .index_type = SHUNT_I32, .value_type = SHUNT_F16 },
    .b = { m, n, n, 1, NULL, SHUNT_F16 }, .c = { m, n, n, 1, NULL, SHUNT_F16 },
    .alpha = { NULL, 1 }, .compute = SHUNT_F32
  };
  w->c = (struct shunt_call){ .problem = &w->p, .engine = &w->e, .profile = &w->f,
                              .will_keep = true, .workspace_bytes = (size_t)1 << 30 };
}

static enum shunt_reason tile24_says(const struct pruned *w)
{
  const struct shunt_route *r = shunt_route_at(shunt_route_index("tile24"));
  double us;
  enum shunt_reason reason = r->fits(&w->p, &w->e).reason;
  return reason == SHUNT_FITS ? r->expect(&w->c, &us).reason : reason;
}

static void test_tile24(void)
{
  static const struct {
    int64_t m, n;
    int columns;
    double us; /* measured on an H200 */
  } measured[] = { { 4096, 512, 128, 18.0 }, { 4096, 2048, 256, 59.8 },
                   { 8192, 512, 256, 60.7 }, { 8192, 2048, 256, 274 } };
  struct pruned w;
  for (int i = 0; i < 4; i++) {
    pruned_weights(&w, measured[i].m, measured[i].n);
    double us = shunt_cost_whole24(&w.p.spmm, measured[i].columns, &h200);
    check(within(us, measured[i].us) < 1.2, "2:4, %d^2 by %d: %.1f us, measured %.1f",
          (int)measured[i].m, (int)measured[i].n, us, measured[i].us);
    check(us < shunt_cost_gemm((double)measured[i].m, (double)measured[i].n, (double)measured[i].m,
                               SHUNT_F16, SHUNT_MATH_EXACT, &h200),
          "less than the dense product");
  }
  if (shunt_spmm_whole24_columns(&w.p.spmm, &h200) == 0) {
    check(tile24_says(&w) == SHUNT_R_DEVICE, "a build without wgmma has no tile24");
    return;
  }
  check(tile24_says(&w) == SHUNT_FITS, "tile24 takes pruned weights");
  w.f.crowded_rows = 1;
  check(tile24_says(&w) == SHUNT_R_PATTERN, "not with a row that is not 2:4");
  w.f.crowded_rows = 0, w.f.unsorted_rows = 1;
  check(tile24_says(&w) == SHUNT_R_PATTERN, "nor unsorted");
  pruned_weights(&w, 4096, 512);
  w.c.profile = NULL;
  check(tile24_says(&w) == SHUNT_R_UNPROFILED, "nor before it is known");
  w.c.profile = &w.f, w.c.will_keep = false;
  check(tile24_says(&w) == SHUNT_R_UNCONVERTED, "nor without a copy");
  pruned_weights(&w, 4096, 512);
  w.p.spmm.b.row_stride = 513;
  check(tile24_says(&w) == SHUNT_R_SHAPE, "nor B with rows off 16 bytes");
  pruned_weights(&w, 4096, 512);
  w.e.device.compute_capability = 80;
  check(tile24_says(&w) == SHUNT_R_DEVICE, "nor another GPU");
}

int main(void)
{
  test_text();
  test_longest();
  test_hash();
  test_check();
  test_batch_strides();
  test_batch_joined();
  test_batch_places();
  test_promise();
  test_reasons();
  test_faults();
  test_routes();
  test_costs();
  test_cost_fits();
  test_sddmm_cost_fits();
  test_vector_wants_more_than_pairs();
  test_groups_are_hoped_for();
  test_tile24();
  return check_finish();
}
