/* test_native_refused.c: libshunt.so's functions on the host engine: each way to give memory, what
   is refused, and every allocation that can fail.  */
#include "backend/plan/fault.h"
#include "tests/unit/native/native_operands.h"

static void test_memory(void)
{
  struct made m = make(0, NULL);
  struct shunt_packing how = {.height = 8};
  struct shunt_packed_info info;
  struct shunt_packed *p = NULL;
  size_t bytes = shunt_packed_bytes(&m.raw.a, &how);
  char *memory = aligned_alloc(256, bytes + 256);

  shunt_packed_describe(m.p, &info);
  check(info.height == 8, "height 0 becomes 8 where 8 x 1 vectors fit");
  check(bytes > 0 && bytes == info.bytes && shunt_packed_bytes(&m.raw.a, NULL) > bytes,
        "bytes of height 8, and of height 1 when it is not known");
  how.memory = memory, how.memory_bytes = bytes;
  memset(memory + bytes, 0x5a, 256);
  check(shunt_pack(&m.raw.a, SHUNT_HOST, &how, NULL, &p) == SHUNT_OK && p->memory == memory &&
            memory[bytes] == 0x5a,
        "the caller's memory is taken");
  shunt_packed_free(p);
  how.memory_bytes = bytes - 1;
  check(shunt_pack(&m.raw.a, SHUNT_HOST, &how, NULL, &p) == SHUNT_E_WORKSPACE && !p,
        "unless it is too small");
  how.memory_bytes = bytes + 128, how.memory = memory + 128;
  check(shunt_pack(&m.raw.a, SHUNT_HOST, &how, NULL, &p) == SHUNT_E_WORKSPACE && !p,
        "or misaligned");
  free(memory);
  unmake(&m);
}

/* Rows that share nothing. */
static void test_height(void)
{
  struct packed_pattern raw;
  struct shunt_packing how = {.height = 8};
  struct shunt_packed *p;
  unsigned char *there = calloc(64 * 64, 1);
  int32_t *columns;

  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 8; j++) there[i * 64 + (i * 8 + j) % 64] = 1;
  pattern_pack(&raw, 64, 64, there, SHUNT_BF16, SHUNT_VECTOR_SEQUENTIAL);
  check(shunt_pack(&raw.a, SHUNT_HOST, &how, NULL, &p) == SHUNT_E_INPUT && !p,
        "rows that share nothing do not fit as 8 x 1 vectors");
  check(shunt_pack(&raw.a, SHUNT_HOST, NULL, NULL, &p) == SHUNT_OK && p->v.height < 8,
        "and fit when Shunt may choose");
  shunt_packed_free(p);
  columns = (int32_t *)(uintptr_t)raw.a.columns;
  columns[1] = columns[0];
  check(shunt_pack(&raw.a, SHUNT_HOST, NULL, NULL, &p) == SHUNT_E_INPUT && !p,
        "a repeated column fits nowhere");
  pattern_free(&raw);
}

static shunt_status packs(struct shunt_csr a, enum shunt_place where)
{
  struct shunt_packed *p = (struct shunt_packed *)&a;
  shunt_status s = shunt_pack(&a, where, NULL, NULL, &p);

  shunt_packed_free(p);
  return s == SHUNT_OK || !p ? s : SHUNT_OK;
}

static void test_refused_packing(void)
{
  struct made m = make(0, NULL);
  struct shunt_csr a = m.raw.a, b;
  struct shunt_packed *none = m.p;

  check((b = a, b.value_type = SHUNT_F32, packs(b, SHUNT_HOST)) == SHUNT_E_UNSUPPORTED, "f32");
  check((b = a, b.rows = 0, packs(b, SHUNT_HOST)) == SHUNT_E_UNSUPPORTED, "no rows");
  check((b = a, b.nnz = -1, packs(b, SHUNT_HOST)) == SHUNT_E_ARGUMENT, "nnz < 0");
  check((b = a, b.base = 2, packs(b, SHUNT_HOST)) == SHUNT_E_ARGUMENT, "base 2");
  check((b = a, b.row_offsets = NULL, packs(b, SHUNT_HOST)) == SHUNT_E_ARGUMENT, "no offsets");
  check((b = a, b.columns = NULL, packs(b, SHUNT_HOST)) == SHUNT_E_ARGUMENT, "no columns");
  check(packs(a, (enum shunt_place)7) == SHUNT_E_ARGUMENT, "no such place");
  check(shunt_pack(&a, SHUNT_HOST, NULL, NULL, NULL) == SHUNT_E_ARGUMENT, "nowhere to put it");
  check(shunt_pack(NULL, SHUNT_HOST, NULL, NULL, &none) == SHUNT_E_ARGUMENT && !none, "no matrix");
  check(shunt_packed_bytes(NULL, NULL) == 0, "no matrix has no bytes");
  if (!shunt_native_cuda())
    check(packs(a, SHUNT_DEVICE) == SHUNT_E_UNSUPPORTED, "a device, in a library without CUDA");
  unmake(&m);
}

/* One change to a good call of shunt_attention; the change is undone. */
#define ATTENTION_GIVES(change, status)                                                            \
  (memcpy(t, good, sizeof t), (change),                                                            \
   shunt_attention(m.p, 1, &t[0], &t[1], &t[2], &t[3], NULL, 0, NULL) == (status))

static void test_refused_operands(void)
{
  struct made m = make(0, NULL);
  struct shunt_tensor good[4] = {tensor_new(ROWS, D, SHUNT_F16), tensor_new(COLS, D, SHUNT_F16),
                                 tensor_new(COLS, D, SHUNT_F16), tensor_new(ROWS, D, SHUNT_F16)};
  struct shunt_tensor t[4];
  struct shunt_values values = {m.p->v.values, 8};

  check(ATTENTION_GIVES(t[0].rows += 0, SHUNT_OK), "a good call");
  check(ATTENTION_GIVES(t[0].rows++, SHUNT_E_ARGUMENT), "Q with a row too many");
  check(ATTENTION_GIVES(t[1].cols--, SHUNT_E_ARGUMENT), "K narrower than Q");
  check(ATTENTION_GIVES(t[2].heads--, SHUNT_E_ARGUMENT), "V with a head less");
  check(ATTENTION_GIVES(t[3].batches++, SHUNT_E_ARGUMENT), "O with a batch more");
  check(ATTENTION_GIVES(t[3].head_stride = 0, SHUNT_E_ARGUMENT), "heads of O that overlap");
  check(ATTENTION_GIVES(t[1].head_stride = 0, SHUNT_OK), "heads that share K are fine");
  check(ATTENTION_GIVES(t[0].row_stride = D - 1, SHUNT_E_ARGUMENT), "rows that overlap");
  check(ATTENTION_GIVES(t[2].values = NULL, SHUNT_E_ARGUMENT), "no V");
  check(ATTENTION_GIVES(t[2].values = (char *)good[2].values + 1, SHUNT_E_ARGUMENT),
        "V at an odd address");
  check(ATTENTION_GIVES(t[1].type = SHUNT_BF16, SHUNT_E_UNSUPPORTED), "K of another type");
  check(ATTENTION_GIVES(t[0].batches = 70000, SHUNT_E_ARGUMENT), "too many problems");
  check(shunt_attention(NULL, 1, good, good, good, good, NULL, 0, NULL) == SHUNT_E_ARGUMENT,
        "no matrix");
  check(shunt_sddmm(m.p, 1, &good[0], &good[1], NULL, NULL) == SHUNT_E_ARGUMENT,
        "the matrix's own values for six problems");
  check(shunt_sddmm(m.p, 1, &good[0], &good[1], &values, NULL) == SHUNT_E_ARGUMENT,
        "values nearer than value_bytes");
  check(shunt_softmax(m.p, 0, 1, NULL, NULL, NULL) == SHUNT_E_ARGUMENT, "softmax of no problem");
  check(shunt_spmm(m.p, NULL, 1, &good[1], 0, &good[3], NULL, 0, NULL) == SHUNT_E_ARGUMENT,
        "spmm with the matrix's own values for six problems");
  for (int i = 0; i < 4; i++) free(good[i].values);
  unmake(&m);
}

/* Each allocation fails once; nothing leaks (AddressSanitizer) and the status says it. */
static void test_faults(void)
{
  struct made m = make(0, NULL);
  struct shunt_csr a = m.raw.a;
  struct shunt_packed *p = NULL;
  long n = 0;
  int good = 1;

  a.values = NULL;
  do {
    shunt_fault_arm(++n);
    shunt_status s = shunt_pack(&a, SHUNT_HOST, NULL, NULL, &p);
    good &= shunt_faults_seen() < n ? s == SHUNT_OK : s == SHUNT_E_MEMORY && !p;
  } while (shunt_faults_seen() >= n);
  shunt_fault_arm(0);
  check(good && n == 4, "each of %ld allocations fails and nothing else happens", n - 1);
  shunt_packed_free(p);
  unmake(&m);
}

int main(void)
{
  test_memory();
  test_height();
  test_refused_packing();
  test_refused_operands();
  test_faults();
  return check_finish();
}
