/* test_plan.c: the planner's pure parts: problems as text, batches, reasons, faults, routes. */
#include <string.h>

#include "backend/plan/batches.h"
#include "backend/plan/context.h"
#include "backend/plan/fault.h"
#include "backend/plan/problem.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/route.h"
#include "kernels/csr/csr_kernels.h"
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
    "spmm:bsr:f16.f16.f16.f32:i32b0:m64n24k48z512:NN:rr:ld24.24:a1b0:alg14:v8",
    "spmm:ell:f16.f16.f32.f32:i32b1:m64n24k48z1024:NN:rc:ld24.64:a1b0.5:alg0:v8w2",
    "spmm:csr:c32.c32.c32.c32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1,-0.5b0,1e-06:alg0",
    "spmm:csc:c64.c64.c64.c64:i64b1:m7n3k5z11:TN:rr:ld3.3:a*b2:alg0",
    "sddmm:csr:c64.c64.c64.c64:i32b0:m7n3k5z11:NT:rc:ld5.5:a0,1b-inf,inf:alg0",
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
  p.sddmm.alpha.imaginary = p.sddmm.beta.imaginary = -1.23456e-300;
  p.algorithm = INT32_MIN;
  p.batches = INT32_MAX;
  p.strides = (struct shunt_batch_strides){huge, huge, {huge, huge}};
  int length = shunt_problem_print(&p, text);
  check(length < SHUNT_PROBLEM_TEXT && length == (int)strlen(text), "%d characters fit", length);
  check(shunt_problem_parse(text, &q) == SHUNT_OK &&
            shunt_problem_hash(&p) == shunt_problem_hash(&q),
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
      "",
      "spmm",
      "spmm:csr",
      "gemm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
      "spmm:csr:f16.f16.f16.f99:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
      "spmm:csr:f16.f16.f16.f32:i64b2:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
      "spmm:csr:f16.f16.f16.f32:i64b0:m-1n1k1z1:NN:rr:ld1.1:a1b0:alg0",
      "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NX:rr:ld1.1:a1b0:alg0",
      "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rq:ld1.1:a1b0:alg0",
      "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:more",
      "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:x2s0.1.1",
      "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:x1s0.1.1.1",
      "spmm:csr:f16.f16.f16.f32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1b0:alg0:x2s0.1.1.1:",
      "spmm:csr:f16.f16.f16.f32:i64b0:m8n1k8z64:NN:rr:ld1.1:a1b0:alg0:v8",
      "spmm:bsr:f16.f16.f16.f32:i64b0:m8n1k8z64:NN:rr:ld1.1:a1b0:alg0",
      "spmm:bsr:f16.f16.f16.f32:i64b0:m8n1k8z64:NN:rr:ld1.1:a1b0:alg0:v0",
      "spmm:bsr:f16.f16.f16.f32:i64b0:m8n1k8z64:NN:rr:ld1.1:a1b0:alg0:v8w1",
      "spmm:ell:f16.f16.f16.f32:i64b0:m8n1k8z64:NN:rr:ld1.1:a1b0:alg0:v8",
      "spmm:csr:c32.c32.c32.c32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1,b0:alg0",
      "spmm:csr:c32.c32.c32.c32:i64b0:m1n1k1z1:NN:rr:ld1.1:a1,2,3b0:alg0",
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
      "spmm:bsr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:v2",
      "spmm:bsr:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:v1",
      "spmm:ell:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:v2w1",
      "spmm:ell:f16.f16.f16.f32:i64b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0:v2w2",
  };
  for (unsigned i = 0; i < sizeof variants / sizeof variants[0]; i++) {
    struct shunt_problem p;
    if (!check(shunt_problem_parse(variants[i], &p) == SHUNT_OK, "parses %s", variants[i]))
      continue;
    uint64_t h = shunt_problem_hash(&p);
    int fresh = 1;
    for (int j = 0; j < n; j++) fresh &= seen[j] != h;
    check(fresh, "hash is its own: %s", variants[i]);
    seen[n++] = h;
  }
}

/* Types that the original refuses pass where that is asked for, and only then. */
static void check_extended(const struct shunt_problem *p)
{
  struct shunt_problem q = *p;
  const uint64_t plain = shunt_problem_hash(&q);
  q.spmm.a.value_type = SHUNT_F32;
  q.spmm.b.type = q.spmm.c.type = SHUNT_F16;
  q.spmm.compute = SHUNT_F32;
  check(shunt_problem_check(&q).reason == SHUNT_R_TYPES, "A in another type than B");
  q.extended = true;
  check(shunt_problem_check(&q).reason == SHUNT_FITS, "and extended");
  q.spmm.c.type = SHUNT_BF16;
  check(shunt_problem_check(&q).reason == SHUNT_R_TYPES, "C in a third type");
  q = *p;
  q.spmm.a.value_type = q.spmm.b.type = q.spmm.c.type = SHUNT_F64;
  q.spmm.compute = SHUNT_F64;
  q.extended = true;
  check(shunt_problem_check(&q).reason == SHUNT_R_TYPES, "nothing is refused here");
  q = *p;
  q.extended = true;
  check(shunt_problem_hash(&q) != plain, "promises of both are told apart");
}

static void check_extended_sddmm(void)
{
  struct shunt_problem p;
  int some = 1; /* any address */
  shunt_problem_parse("sddmm:csr:i8.i8.i32.i32:i32b0:m64n32k48z256:NN:rc:ld48.48:a1b0:alg0", &p);
  p.sddmm.c.row_offsets = p.sddmm.c.columns = &some;
  p.sddmm.c.values = p.sddmm.a.values = p.sddmm.b.values = &some;
  check(shunt_problem_check(&p).reason == SHUNT_R_TYPES, "SDDMM of int8 is the original's");
  p.extended = true;
  check(shunt_problem_check(&p).reason == SHUNT_FITS, "and extended");
  p.sddmm.c.value_type = p.sddmm.compute = SHUNT_F32;
  check(shunt_problem_check(&p).reason == SHUNT_FITS, "into f32");
  p.sddmm.c.value_type = SHUNT_I8;
  check(shunt_problem_check(&p).reason == SHUNT_R_TYPES, "into int8 not");
  p.sddmm.c.value_type = p.sddmm.compute = SHUNT_I32;
  check(shunt_csr_sddmm_fits(&p.sddmm), "csr takes it");
  p.sddmm.a.cols = p.sddmm.b.rows = p.sddmm.a.row_stride = p.sddmm.b.col_stride = 131072;
  check(shunt_csr_sddmm_fits(&p.sddmm), "csr takes long sums, which wrap");
  p.sddmm.c.value_type = p.sddmm.compute = SHUNT_F32;
  check(!shunt_csr_sddmm_fits(&p.sddmm), "but not into f32");
  p.sddmm.c.value_type = p.sddmm.compute = SHUNT_I32;
  p.sddmm.b.cols = p.sddmm.c.cols = 1 << 16;
  check(!shunt_csr_sddmm_fits(&p.sddmm), "nor what 32-bit indices do not reach");
  p.sddmm.c.index_type = SHUNT_I64;
  check(shunt_csr_sddmm_fits(&p.sddmm), "64-bit ones do");
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
  check_extended(&p);
  check_extended_sddmm();
  q = p;
  q.spmm.c.row_stride = 3;
  check(shunt_problem_check(&q).reason == SHUNT_R_SHAPE, "leading dimension too small");
  q = p;
  q.format = SHUNT_BSR;
  q.blocks.size = 5;
  check(shunt_problem_check(&q).reason == SHUNT_R_SHAPE, "rows that are no whole blocks");
  q.blocks.size = 1;
  check(shunt_problem_check(&q).reason == SHUNT_FITS, "blocks of one");
  q.format = SHUNT_BLOCKED_ELL;
  check(shunt_problem_check(&q).reason == SHUNT_R_EMPTY, "Blocked-ELL without a block in a row");
  q.blocks.wide = 1;
  check(shunt_problem_check(&q).reason ==
            (q.spmm.a.index_type == SHUNT_I32 ? SHUNT_FITS : SHUNT_R_INDEX),
        "Blocked-ELL of 64-bit indices");
  q.format = SHUNT_FORMAT_COUNT;
  check(shunt_problem_check(&q).reason == SHUNT_R_FORMAT, "format");
  q = p;
  q.spmm.alpha.host = 0;
  check(shunt_problem_check(&q).reason == SHUNT_FITS, "alpha = 0 asks for the same workspace");
  q = p;
  q.spmm.a.nnz = (int64_t)1 << 33;
  q.spmm.a.index_type = SHUNT_I32;
  check(shunt_problem_check(&q).reason == SHUNT_R_LARGE, "too many nonzeros for 32-bit offsets");
  q.spmm.a.index_type = SHUNT_I64;
  check(shunt_problem_check(&q).reason == SHUNT_FITS, "64-bit offsets tell them apart");
  q.op_a = 'T';
  check(shunt_problem_check(&q).reason != SHUNT_FITS, "but not of a transpose");
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

/* Complex types: as others, but nothing is conjugated and blocks are not taken. */
static void test_check_complex(void)
{
  static const struct {
    const char *word;
    enum shunt_reason reason;
  } cases[] = {
      {"spmm:csr:c32.c32.c32.c32:i32b0:m8n4k8z9:NN:rr:ld4.4:a1b0:alg0", SHUNT_FITS},
      {"spmm:csr:c64.c64.c64.c64:i64b1:m8n4k8z9:NT:cr:ld4.4:a1,2b0,1:alg0", SHUNT_FITS},
      {"spmm:csc:c32.c32.c32.c32:i32b0:m8n4k8z9:TN:rr:ld4.4:a1b0:alg0", SHUNT_FITS},
      {"spmm:csr:c32.c32.c32.c32:i32b0:m8n4k8z9:HN:rr:ld4.4:a1b0:alg0", SHUNT_FITS},
      {"spmm:coo:c64.c64.c64.c64:i32b0:m8n4k8z9:HN:rr:ld4.4:a1b0:alg0", SHUNT_FITS},
      {"sddmm:csr:c64.c64.c64.c64:i32b0:m8n4k8z9:TN:rr:ld8.4:a1b0:alg0", SHUNT_FITS},
      {"spmm:csr:c32.c32.c32.c64:i32b0:m8n4k8z9:NN:rr:ld4.4:a1b0:alg0", SHUNT_R_TYPES},
      {"spmm:csr:c32.c32.f32.c32:i32b0:m8n4k8z9:NN:rr:ld4.4:a1b0:alg0", SHUNT_R_TYPES},
      {"spmm:csc:c32.c32.c32.c32:i32b0:m8n4k8z9:HN:rr:ld4.4:a1b0:alg0", SHUNT_R_TRANSPOSED},
      {"spmm:csr:c32.c32.c32.c32:i32b0:m8n4k8z9:NH:cr:ld4.4:a1b0:alg0", SHUNT_R_TRANSPOSED},
      {"sddmm:csr:c64.c64.c64.c64:i32b0:m8n4k8z9:HN:rr:ld8.4:a1b0:alg0", SHUNT_R_TRANSPOSED},
      {"spmm:bsr:c32.c32.c32.c32:i32b0:m8n4k8z16:NN:rr:ld4.4:a1b0:alg0:v2", SHUNT_R_TYPES},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct shunt_problem p = bound(cases[i].word);
    check(shunt_problem_check(&p).reason == cases[i].reason, "%s: %s", cases[i].word,
          shunt_reason_text(cases[i].reason));
  }
}

static void test_batch_strides(void)
{
  static const struct {
    const char *word;
    enum shunt_reason reason;
  } cases[] = {
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.15.21", SHUNT_FITS},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.0.21", SHUNT_FITS},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.15.20",
       SHUNT_R_SHAPE},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg6:x3s0.0.15.0", SHUNT_R_SHAPE},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld9.9:a1b0:alg6:x3s0.0.3.3", SHUNT_FITS},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld9.8:a1b0:alg6:x3s0.0.3.3", SHUNT_R_SHAPE},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld9.9:a1b0:alg6:x3s0.0.3.2", SHUNT_R_SHAPE},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x3s-1.0.15.21",
       SHUNT_R_SHAPE},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x3s0.11.15.-21",
       SHUNT_R_SHAPE},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.8:a1b0:alg6:x3s0.11.15.23", SHUNT_FITS},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.8:a1b0:alg6:x3s0.11.15.22",
       SHUNT_R_SHAPE},
      {"sddmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s0.11.0.0", SHUNT_FITS},
      {"sddmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s8.10.35.15",
       SHUNT_R_SHAPE},
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
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.15.21", 12},
      {"spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld6.9:a1b0:alg2:x4s0.0.18.27", 12},
      {"spmm:csc:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.15.21", 12},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NT:rc:ld5.7:a1b0:alg6:x4s0.0.15.21", 12},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld12.13:a1b0:alg6:x4s0.0.3.3", 12},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rc:ld12.7:a1b0:alg6:x4s0.0.3.21", 12},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld11.13:a1b0:alg6:x4s0.0.3.3", 0},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.15.28", 0},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.0.0.21", 0},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s0.11.15.21", 0},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s8.0.15.21", 0},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n65535k5z11:NN:cc:ld5.7:a1b0:alg6:x65535s0.0.327675."
       "458745",
       0},
      {"sddmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s0.11.35.15", 0},
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
    struct shunt_problem at, moved;
    shunt_batch_at(&p, i, &at);
    shunt_batch_at(&p, 3, &moved);
    shunt_batch_move(&p, i, &moved);
    char *b = (char *)one.spmm.b.values + 2 * (i * 3 * one.spmm.b.col_stride);
    char *c = (char *)one.spmm.c.values + 4 * (i * 3 * one.spmm.c.col_stride);
    check(at.spmm.b.values == b && at.spmm.c.values == c, "batch %d stands where it was", i);
    check(moved.spmm.b.values == b && moved.spmm.c.values == c, "another one moved there, too");
  }
  p = bound("spmm:csr:f16.f16.f32.f32:i64b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6:x4s8.11.15.21");
  struct shunt_problem at;
  shunt_batch_at(&p, 2, &at);
  check((char *)at.spmm.a.row_offsets - (char *)p.spmm.a.row_offsets == 2 * 8 * 8 &&
            (char *)at.spmm.a.columns - (char *)p.spmm.a.columns == 2 * 11 * 8 &&
            (char *)at.spmm.a.values - (char *)p.spmm.a.values == 2 * 11 * 2 &&
            (char *)at.spmm.b.values - (char *)p.spmm.b.values == 2 * 15 * 2 &&
            (char *)at.spmm.c.values - (char *)p.spmm.c.values == 2 * 21 * 4 && at.batches == 1,
        "strides count elements of each array");
  p = bound("spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg2:x4s0.11.15.21");
  shunt_batch_at(&p, 3, &at);
  check((char *)at.row_indices - (char *)p.row_indices == 3 * 11 * 4 && !at.spmm.a.row_offsets,
        "COO's row indices move with the entries");
  p = bound("sddmm:csr:f32.f32.f16.f32:i32b0:m7n3k5z11:NN:rr:ld5.3:a1b0:alg0:x3s8.12.35.15");
  shunt_batch_at(&p, 1, &at);
  check((char *)at.sddmm.c.row_offsets - (char *)p.sddmm.c.row_offsets == 8 * 4 &&
            (char *)at.sddmm.c.values - (char *)p.sddmm.c.values == 12 * 2 &&
            (char *)at.sddmm.a.values - (char *)p.sddmm.a.values == 35 * 4 &&
            (char *)at.sddmm.b.values - (char *)p.sddmm.b.values == 15 * 4,
        "SDDMM's arrays move, too");
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
  shunt_fault_arm(2);
  check(SHUNT_TRY_OR(7, strlen("one")) == 3 && !shunt_fault_failed(), "the first has not failed");
  const int line = __LINE__ + 1;
  check(SHUNT_TRY_OR(7, strlen("two")) == 7, "the second does");
  const struct shunt_fault_place *at = shunt_fault_failed();
  check(at && strcmp(at->call, "strlen(\"two\")") == 0 && at->line == line &&
            strstr(at->file, "test_plan.c"),
        "and is named");
  shunt_fault_arm(0);
  check(!shunt_fault() && !shunt_fault_failed() && shunt_faults_seen() == 1,
        "armed with 0 only counts");
}

static void test_routes(void)
{
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    check(shunt_route_index(r->name) == i && r->fits && r->workspace && r->expect && r->run,
          "route %s is whole", r->name);
    check(!r->pack == !r->pack_bytes, "route %s packs with both functions or neither", r->name);
  }
  check(shunt_route_index("nonsense") == -1, "unknown route");
}

/* A buffer is asked for with some scalars and used with others: neither answer may depend on
   them.  */
static void test_scalars(void)
{
  static struct shunt_context context = {
      .machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200}};
  static const char *const products[] = {
      "spmm:csr:i8.i8.i32.i32:i32b0:m1024n128k1024z524288:NN:rr:ld128.128:a1b0:alg0",
      "spmm:csr:i8.i8.f32.f32:i32b0:m1024n128k1024z524288:NN:rr:ld128.128:a1b0:alg0",
      "spmm:csr:f16.f16.f16.f32:i32b0:m1024n128k1024z524288:NN:rr:ld128.128:a1b0:alg0",
      "spmm:csr:bf16.bf16.f32.f32:i64b0:m1024n128k1024z104857:NN:cc:ld1024.1024:a1b0:alg0",
      "spmm:csr:f32.f32.f32.f32:i32b0:m1024n128k1024z104857:NN:rr:ld128.128:a1b0:alg0",
      "spmm:csr:f64.f64.f64.f64:i32b0:m1024n128k1024z104857:TN:rr:ld128.128:a1b0:alg0",
      "spmm:csr:c64.c64.c64.c64:i32b0:m1024n128k1024z524288:NN:rr:ld128.128:a1b0:alg0",
      "sddmm:csr:f16.f16.f16.f32:i32b0:m1024n1024k128z104857:NN:rc:ld128.128:a1b0:alg0",
  };
  static const double scalars[] = {1, -3, 0.5};
  for (unsigned w = 0; w < sizeof products / sizeof products[0]; w++) {
    struct shunt_problem p, q;
    int fitting = 0;
    check(shunt_problem_parse(products[w], &p) == SHUNT_OK, "parses %s", products[w]);
    for (int i = 0; i < shunt_route_count(); i++) {
      const struct shunt_route *r = shunt_route_at(i);
      const enum shunt_reason reason = r->fits(&p, &context).reason;
      if (shunt_problem_in_blocks(&p) != r->takes_blocks) continue;
      const size_t bytes = reason == SHUNT_FITS ? r->workspace(&p, &context) : 0;
      fitting += reason == SHUNT_FITS;
      for (unsigned k = 0; k < sizeof scalars / sizeof scalars[0]; k++) {
        q = p;
        struct shunt_scalar *of_q[] = {p.op == SHUNT_SPMM ? &q.spmm.alpha : &q.sddmm.alpha,
                                       p.op == SHUNT_SPMM ? &q.spmm.beta : &q.sddmm.beta};
        of_q[0]->host = of_q[1]->host = scalars[k];
        const bool same = r->fits(&q, &context).reason == reason;
        check(same && (reason != SHUNT_FITS || r->workspace(&q, &context) == bytes),
              "route %s and its workspace do not depend on scalars of %g: %s", r->name, scalars[k],
              products[w]);
      }
    }
    check(fitting > 0, "%d routes fit %s", fitting, products[w]);
  }
}

/* Complex products are dense ones where they overwrite C, op(A) = A, and little of A is zero. */
static void test_complex_dense(void)
{
  static struct shunt_context context = {
      .machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200},
      .memory_bytes = (size_t)80 << 30};
  static const struct {
    const char *word;
    enum shunt_reason fits, expected;
  } cases[] = {
      {"spmm:csr:c32.c32.c32.c32:i32b0:m512n64k512z131072:NN:rr:ld64.64:a1,2b0:alg0", SHUNT_FITS,
       SHUNT_FITS},
      {"spmm:csr:c64.c64.c64.c64:i64b1:m512n64k512z131072:NN:cc:ld512.512:a1b0:alg0", SHUNT_FITS,
       SHUNT_FITS},
      {"spmm:csr:c32.c32.c32.c32:i32b0:m512n64k512z131072:NN:rr:ld64.64:a1b0,1:alg0", SHUNT_FITS,
       SHUNT_R_TYPES},
      {"spmm:csr:c64.c64.c64.c64:i32b0:m512n64k512z131072:TN:rr:ld64.64:a1b0:alg0", SHUNT_R_TYPES,
       SHUNT_R_TYPES},
      {"spmm:csr:c32.c32.c32.c32:i32b0:m512n64k512z1310:NN:rr:ld64.64:a1b0:alg0", SHUNT_R_SPARSE,
       SHUNT_R_SPARSE},
      {"sddmm:csr:c32.c32.c32.c32:i32b0:m512n512k64z131072:NN:rr:ld64.512:a1b0:alg0", SHUNT_R_TYPES,
       SHUNT_R_TYPES},
  };
  const struct shunt_route *dense = shunt_route_at(shunt_route_index("dense"));
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct shunt_problem p = bound(cases[i].word);
    const struct shunt_call c = {
        .problem = &p, .context = &context, .library = true, .workspace_bytes = (size_t)1 << 30};
    double us = 0;
    const enum shunt_reason fits = dense->fits(&p, &context).reason;
    check(fits == cases[i].fits, "dense answers %s: %s", shunt_reason_text(fits), cases[i].word);
    if (fits != SHUNT_FITS) continue;
    check(dense->expect(&c, &us).reason == cases[i].expected && us > 0, "and expects: %s",
          shunt_reason_text(cases[i].expected));
  }
  const struct shunt_machine *m = &context.machine;
  const double real = shunt_cost_gemm(4096, 256, 4096, SHUNT_F32, SHUNT_MATH_EXACT, m);
  const double pairs = shunt_cost_gemm(4096, 256, 4096, SHUNT_C32, SHUNT_MATH_EXACT, m);
  check(pairs > 3 * real && pairs < 4 * real, "a complex product is four real ones: %g, %g us",
        pairs, real); /* 652 and 179 us on an H200 */
}

/* Blocks of int8: half the bytes of B that 2-byte types have, for each 8 rows anew.  So Blocked-ELL
   of 8 pays, cuSPARSE is the faster at that of 32, and of BSR all pay.  */
static void test_integer_blocks(void)
{
  static const struct shunt_machine m = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200};
  static const struct {
    const char *word;
    bool pays;
  } cases[] = {
      {"spmm:ell:i8.i8.i32.i32:i32b0:m4096n256k4096z1671168:NN:rr:ld256.256:a1b0:alg0:v8w51", true},
      {"spmm:ell:i8.i8.f32.f32:i32b0:m4096n256k4096z1703936:NN:rr:ld256.256:a1b0:alg0:v32w13",
       false},
      {"spmm:bsr:i8.i8.i32.i32:i32b0:m4096n256k4096z1677312:NN:rr:ld256.256:a1b0:alg0:v8", true},
      {"spmm:bsr:i8.i8.i32.i32:i32b0:m4096n256k4096z1677312:NN:rr:ld256.256:a1b0:alg0:v32", true},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct shunt_problem p = bound(cases[i].word);
    check(shunt_problem_check(&p).reason == SHUNT_FITS, "blocks of int8 are taken");
    const double ours = shunt_cost_bsr(&p.spmm, &p.blocks, &m),
                 theirs = shunt_cost_original(&p, NULL, &m);
    check((ours < theirs) == cases[i].pays, "%g us, %g by cuSPARSE: %s", ours, theirs,
          cases[i].word);
  }
}

int main(void)
{
  test_text();
  test_longest();
  test_hash();
  test_check();
  test_check_complex();
  test_batch_strides();
  test_batch_joined();
  test_batch_places();
  test_reasons();
  test_faults();
  test_routes();
  test_scalars();
  test_complex_dense();
  test_integer_blocks();
  return check_finish();
}
