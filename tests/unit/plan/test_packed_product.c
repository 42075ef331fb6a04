/* test_packed_product.c: products with a packed matrix, of a format that notes what it is asked
   for: the order of what is enqueued, which words the proof is given, and what follows a launch
   that fails.  */
#include <string.h>

#include "backend/plan/context.h"
#include "backend/plan/fault.h"
#include "backend/plan/graph_overlap.h"
#include "backend/routes/packed_product.h"
#include "tests/unit/check.h"

/* ---- what is around ------------------------------------------------------------------- */

struct hashed {
  struct shunt_csr a;
  const void *into;
};
static struct {
  struct hashed hashed[2];
  int hashes;
  char said[32]; /* a letter for each thing enqueued */
  int count;
  char fails; /* what fails, */
  int times;  /* so often */
  const void *zeroed[4];
  int zeroes;
  struct shunt_spmm product, repaired;
  struct shunt_guard repair;
  void *copy;
  bool has_proved, guarded;
  bool captures, has_room;
  int cusparse; /* the version of the original */
  enum shunt_copy_use use;
} world;

static shunt_status say(char letter)
{
  if (world.count < 31) world.said[world.count++] = letter;
  if (world.fails != letter || world.times == 0) return SHUNT_OK;
  world.times--;
  return SHUNT_E_CUDA;
}

cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
  (void)to, (void)from, (void)bytes, (void)kind, (void)stream;
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
  (void)value, (void)bytes, (void)stream;
  if (world.zeroes < 4) world.zeroed[world.zeroes++] = at;
  return say('0') == SHUNT_OK ? cudaSuccess : cudaErrorUnknown;
}
shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a, struct shunt_fingerprint *out,
                                        const struct shunt_device *d, void *scratch,
                                        shunt_stream stream)
{
  (void)d, (void)scratch, (void)stream;
  world.hashed[world.hashes++ % 2] = (struct hashed){*a, out};
  return say('f');
}
shunt_status shunt_guard_repair_cuda(const struct shunt_spmm *p, const struct shunt_guard *r,
                                     const struct shunt_device *d, shunt_stream stream)
{
  (void)d, (void)stream;
  world.repaired = *p;
  world.repair = *r;
  return say('r');
}
bool shunt_graph_overlap_begin(cudaStream_t stream)
{
  (void)stream;
  say(world.has_room ? 'b' : '-');
  return world.has_room;
}
void shunt_graph_overlap_undo(cudaStream_t stream)
{
  (void)stream;
  say('u');
}
shunt_status shunt_guard_repair_transposed_cuda(const struct shunt_spmm *p,
                                                const struct shunt_guard *r,
                                                const struct shunt_fingerprint *actual,
                                                const struct shunt_device *d, shunt_stream stream)
{
  (void)p, (void)r, (void)d, (void)stream;
  return say(actual ? 'T' : 't');
}
shunt_status shunt_guard_combine_cuda(const struct shunt_dense *w, const struct shunt_spmm *p,
                                      const uint32_t *only_unless, const struct shunt_device *d,
                                      shunt_stream stream)
{
  (void)w, (void)p, (void)d, (void)stream;
  check(only_unless == (world.guarded ? world.repair.repaired : NULL),
        "C is combined unless a repair computed it");
  return say('c');
}

/* ---- the format --------------------------------------------------------------------------- */

static size_t bytes_100(const struct shunt_problem *p)
{
  (void)p;
  return 100;
}
static shunt_status convert(const struct shunt_call *c, void *copy, uint32_t *irregular)
{
  (void)c, (void)irregular;
  world.copy = copy;
  return say('m');
}
static shunt_status product(const struct shunt_packed_product *x)
{
  world.product = x->spmm;
  if (x->copy != world.copy) check(0, "the product is from the copy that was made");
  return say('p');
}
static struct shunt_dense probed(const struct shunt_packed_product *x)
{
  return x->spmm.c;
}
static shunt_status proved(const struct shunt_packed_product *x, const struct shunt_spmm *s,
                           const struct shunt_guard *r)
{
  world.product = x->spmm;
  world.repaired = *s;
  world.repair = *r;
  return world.has_proved ? say('P') : SHUNT_E_UNSUPPORTED;
}

static const struct shunt_packed_format direct = {.own_bytes = bytes_100,
                                                  .direct_bytes = bytes_100,
                                                  .convert = convert,
                                                  .product = product,
                                                  .probed = probed,
                                                  .proved = proved};
static const struct shunt_packed_format only_packed = {
    .convert = convert, .product = product, .probed = probed};
static const struct shunt_packed_format only_proved = {.convert = convert, .proved = proved};

/* ---- the tests ------------------------------------------------------------------------------ */

static char workspace[1 << 16] __attribute__((aligned(256)));
static char payload[1 << 16] __attribute__((aligned(256)));
static uint32_t host_words[3];
static struct shunt_fingerprint print, print_of_values;
static const struct shunt_packed_view packed = {.irregular = &host_words[0],
                                                .fingerprint = &print,
                                                .of_values = &print_of_values,
                                                .payload = payload,
                                                .payload_bytes = sizeof payload,
                                                .changed = &host_words[1],
                                                .nonfinite = &host_words[2]};

#define SPMM "spmm:csr:f16.f16.f16.f32:i32b0:m64n32k48z500:"

/* Runs f; did it enqueue `wanted` and answer `status`? */
static bool runs(const struct shunt_packed_format *f, const char *word,
                 const struct shunt_packed_view *view, const char *wanted, shunt_status status)
{
  static struct shunt_context context;
  struct shunt_problem p;
  if (shunt_problem_parse(word, &p) != SHUNT_OK) return false;
  p.format = SHUNT_CSR;
  p.cusparse = world.cusparse;
  struct shunt_call c = {.problem = &p,
                         .context = &context,
                         .packed = view,
                         .copy_use = &world.use,
                         .workspace = workspace,
                         .workspace_bytes = sizeof workspace,
                         .capturing = world.captures};
  if (shunt_packed_lay_out(f, &p).total > sizeof workspace) return false;
  world.count = world.zeroes = 0;
  world.use = SHUNT_COPY_UNUSED;
  world.guarded = strpbrk(wanted, "rtTP") != NULL;
  memset(world.said, 0, sizeof world.said);
  if (view) world.copy = payload + shunt_packed_copy_bytes(0);
  const shunt_status s = shunt_packed_run(f, &c);
  if (s == status && strcmp(world.said, wanted) == 0) return true;
  printf("# %s: status %d, enqueued %s\n", word, (int)s, world.said);
  return false;
}

static void test_order(void)
{
  const char *plain = SPMM
  "NN:rr:ld32.32:a2b0:alg0", *adds = SPMM
  "NN:rr:ld32.32:a2b3:alg0";
  const char *transposed = SPMM
  "TN:rr:ld32.32:a2b0:alg0";
  check(runs(&direct, plain, NULL, "0mpr", SHUNT_OK), "direct: zero, make, multiply, repair");
  check(world.zeroed[0] == workspace && world.repaired.only_if == (uint32_t *)(void *)workspace &&
            world.repair.set_count == 1 && !world.repair.expected,
        "with the words of the workspace, and no fingerprint");
  check(world.product.alpha.host == 2, "into C by alpha");
  check(runs(&direct, plain, &packed, "pr", SHUNT_OK), "packed: multiply, repair");
  check(world.repair.sets == payload && world.repair.set_count == 512 &&
            world.repair.key == workspace && world.repair.expected == &print &&
            world.repaired.only_if == &host_words[0] && world.repair.changed == &host_words[1],
        "with the words of the packed copy");
  check(world.use == SHUNT_COPY_USED, "which was used");
  check(runs(&direct, adds, &packed, "prc", SHUNT_OK) && world.product.alpha.host == 1 &&
            world.product.beta.host == 0 && world.product.c.type == SHUNT_F32 &&
            world.repaired.beta.host == 3,
        "beta: multiply into W, repair C, combine");
  check(runs(&direct, transposed, NULL, "0mpt", SHUNT_OK), "transposed: its own repair");
  check(runs(&direct, transposed, &packed, "pfT", SHUNT_OK), "packed: by a fingerprint apart");
  check(runs(&only_packed, plain, NULL, "", SHUNT_E_UNSUPPORTED), "a format that is only packed");
  check(runs(&only_packed, plain, &packed, "pr", SHUNT_OK), "runs from what is packed");
}

/* Blocks of a launch of milliseconds are further apart than those of a short one. */
static void test_patience(void)
{
  check(runs(&direct, SPMM "NN:rr:ld32.32:a2b0:alg0", &packed, "pr", SHUNT_OK) &&
            world.repair.wait_cycles - SHUNT_GUARD_WAIT_CYCLES < 10,
        "blocks of a small repair wait for each other as ever");
  check(runs(&direct,
             "spmm:csr:f16.f16.f16.f32:i32b0:m64n32k48000000z500000000:NN:rr:ld32.32:a2b0:alg0",
             &packed, "pr", SHUNT_OK) &&
            world.repair.wait_cycles > 1400000,
        "those of one that reads 3 GB: about as long as that takes");
}

/* A pattern that the caller has promised is not read. */
static void test_pattern_stands(void)
{
  const char *plain = SPMM
  "NN:rr:ld32.32:a2b0:alg0", *transposed = SPMM
  "TN:rr:ld32.32:a2b0:alg0";
  struct shunt_packed_view stands = packed;
  check(runs(&direct, plain, &packed, "pr", SHUNT_OK) && !world.repair.of_values,
        "without a promise the whole of A is proved");
  stands.pattern_stands = true;
  check(runs(&direct, plain, &stands, "pr", SHUNT_OK) && world.repair.of_values &&
            world.repair.expected == &print_of_values,
        "a pattern that stands: the values are");
  world.hashes = 0;
  check(runs(&direct, transposed, &stands, "pfT", SHUNT_OK) && world.hashes == 1 &&
            !world.hashed[0].a.columns && !world.hashed[0].a.row_offsets &&
            world.hashed[0].a.nnz == 500,
        "transposed, too");
}

/* Of a trusted copy's A nothing is read: the product is all, where it is not probed. */
static void test_trusted(void)
{
  static const struct shunt_packed_format plain_format = {
      .convert = convert, .product = product, .lets_in = true, .proved = proved};
  const char *plain = SPMM
  "NN:rr:ld32.32:a2b0:alg0", *adds = SPMM
  "NN:rr:ld32.32:a2b3:alg0", *transposed = SPMM
  "TN:rr:ld32.32:a2b0:alg0";
  struct shunt_packed_view trusted = packed;
  trusted.trusted = true;
  world.hashes = 0;
  check(runs(&plain_format, plain, &packed, "pr", SHUNT_OK) && world.repair.expected == &print,
        "a copy is proved");
  check(runs(&plain_format, plain, &trusted, "p", SHUNT_OK), "one that is trusted is not");
  check(runs(&plain_format, adds, &trusted, "pc", SHUNT_OK), "with beta: into W, and combined");
  check(runs(&direct, plain, &trusted, "pr", SHUNT_OK) && !world.repair.expected,
        "it is probed, and nothing else is read");
  trusted.pattern_stands = true;
  check(runs(&direct, plain, &trusted, "pr", SHUNT_OK) && !world.repair.expected,
        "nor the values, where the pattern stands");
  check(runs(&direct, transposed, &trusted, "pt", SHUNT_OK) && world.hashes == 0,
        "transposed: no fingerprint is taken");
  world.has_proved = true;
  check(runs(&plain_format, plain, &trusted, "p", SHUNT_OK), "the product alone goes first,");
  check(runs(&direct, plain, &trusted, "P", SHUNT_OK) && !world.repair.expected,
        "and one launch where it is probed");
  check(runs(&only_proved, plain, &trusted, "P", SHUNT_OK) && !world.repair.expected,
        "or nothing else is there");
  world.has_proved = false;
}

/* A kernel of cuSPARSE's may read f32 and f64 without waiting for what writes them. */
static void test_next_waits(void)
{
  static const struct shunt_packed_format plain_format = {
      .convert = convert, .product = product, .lets_in = true, .proved = proved};
  const char *half = SPMM
  "NN:rr:ld32.32:a2b0:alg0";
  const char *single = "spmm:csr:f16.f16.f32.f32:i32b0:m64n32k48z500:NN:rr:ld32.32:a2b0:alg0";
  struct shunt_packed_view trusted = packed;
  trusted.trusted = true;
  check(runs(&plain_format, single, &packed, "pr", SHUNT_OK) && world.product.next_waits,
        "a proof may come in beside the product");
  check(runs(&plain_format, single, &trusted, "p", SHUNT_OK) && !world.product.next_waits,
        "what comes behind it may not, where it could read what is not finished");
  check(runs(&plain_format, half, &trusted, "p", SHUNT_OK) && world.product.next_waits,
        "f16 is not read so");
  world.has_proved = true;
  check(runs(&plain_format, single, &packed, "P", SHUNT_OK) && !world.repaired.next_waits,
        "nor may it behind product and proof in one launch");
  check(runs(&plain_format, half, &packed, "P", SHUNT_OK) && world.repaired.next_waits,
        "but of f16");
  world.has_proved = false, world.cusparse = 128;
  check(runs(&plain_format, half, &trusted, "p", SHUNT_OK) && !world.product.next_waits,
        "from 12.8 on nobody is let in, as it might write too early");
  check(runs(&plain_format, half, &packed, "pr", SHUNT_OK) && world.product.next_waits,
        "but Shunt's own");
  world.cusparse = 0;
}

static void test_beside(void)
{
  const char *plain = SPMM
  "NN:rr:ld32.32:a2b0:alg0";
  check(runs(&direct, plain, &packed, "pr", SHUNT_OK) && world.repair.start == SHUNT_GUARD_BEHIND,
        "outside of a capture a repair stands behind the product");
  world.captures = true;
  check(runs(&direct, plain, &packed, "p-r", SHUNT_OK) && world.repair.start == SHUNT_GUARD_BEHIND,
        "in a capture, too, where it cannot begin beside");
  world.has_room = true;
  check(runs(&direct, plain, &packed, "pbr", SHUNT_OK) &&
            world.repair.start == SHUNT_GUARD_OVERLAPPED,
        "else it begins beside the product");
  check(runs(&direct, plain, NULL, "0mpr", SHUNT_OK) && world.repair.start == SHUNT_GUARD_BEHIND,
        "not where it has nothing to read");
  check(runs(&direct, SPMM "TN:rr:ld32.32:a2b0:alg0", &packed, "pfT", SHUNT_OK), "nor transposed");
  world.fails = 'r', world.times = 1;
  check(runs(&direct, plain, &packed, "pbrubr", SHUNT_OK), "a launch that fails undoes it");
  world.fails = 0;
  world.captures = world.has_room = false;
}

static void test_proved(void)
{
  world.has_proved = true;
  check(runs(&direct, SPMM "NN:rr:ld32.32:a2b0:alg0", &packed, "P", SHUNT_OK),
        "product and proof in one launch");
  check(world.repair.sets == payload && world.repaired.only_if == &host_words[0],
        "with the words of a repair");
  check(runs(&direct, SPMM "NN:rr:ld32.32:a2b0:alg0", NULL, "0mpr", SHUNT_OK), "not a direct one");
  check(runs(&direct, SPMM "NN:rr:ld32.32:a2b3:alg0", &packed, "Pc", SHUNT_OK) &&
            world.product.c.type == SHUNT_F32 && world.product.alpha.host == 1 &&
            world.repair.product->type == SHUNT_F32 && world.repaired.beta.host == 3,
        "with beta: into W, C repaired or combined");
  check(runs(&only_proved, SPMM "NN:rr:ld32.32:a2b0:alg0", &packed, "P", SHUNT_OK),
        "a format that has nothing else");
  check(runs(&direct, SPMM "TN:rr:ld32.32:a2b0:alg0", &packed, "pfT", SHUNT_OK), "nor transposed");
  world.fails = 'P', world.times = 1;
  check(runs(&direct, SPMM "NN:rr:ld32.32:a2b0:alg0", &packed, "P", SHUNT_E_CUDA),
        "one that fails is a failure");
  world.fails = 0;
  world.has_proved = false;
  check(runs(&only_proved, SPMM "NN:rr:ld32.32:a2b0:alg0", &packed, "", SHUNT_E_UNSUPPORTED),
        "and does not serve this one");
  check(world.use == SHUNT_COPY_UNUSED, "which has not touched the copy");
}

static void test_failures(void)
{
  static const struct {
    char fails;
    int times;
    const char *word, *enqueued;
    shunt_status status;
  } cases[] = {
      {'p', 1, SPMM "NN:rr:ld32.32:a2b3:alg0", "p", SHUNT_E_CUDA},
      {'r', 1, SPMM "NN:rr:ld32.32:a2b3:alg0", "prrc", SHUNT_OK},
      {'r', 2, SPMM "NN:rr:ld32.32:a2b3:alg0", "prr", SHUNT_E_CUDA},
      {'c', 1, SPMM "NN:rr:ld32.32:a2b3:alg0", "prcc", SHUNT_OK},
      {'c', 2, SPMM "NN:rr:ld32.32:a2b3:alg0", "prcc", SHUNT_E_WRITTEN},
      {'f', 2, SPMM "TN:rr:ld32.32:a2b0:alg0", "pff", SHUNT_E_CUDA},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    world.fails = cases[i].fails;
    world.times = cases[i].times;
    check(runs(&direct, cases[i].word, &packed, cases[i].enqueued, cases[i].status),
          "'%c' fails %d times", cases[i].fails, cases[i].times);
    check(world.use == (cases[i].status == SHUNT_OK ? SHUNT_COPY_USED : SHUNT_COPY_TOUCHED),
          "the copy is %s", cases[i].status == SHUNT_OK ? "used" : "touched");
  }
  world.fails = 0;
}

static void test_keep(void)
{
  static struct shunt_context context;
  struct shunt_problem p;
  if (shunt_problem_parse(SPMM "NN:rr:ld32.32:a1b0:alg0", &p) != SHUNT_OK) return;
  struct shunt_call c = {.problem = &p, .context = &context, .workspace = workspace};
  c.workspace_bytes = shunt_packed_lay_out(&direct, &p).total - 1;
  world.count = 0;
  check(shunt_packed_fill(&direct, &c, &packed) == SHUNT_E_WORKSPACE && world.count == 0,
        "nothing is enqueued where fingerprints have no room");
  c.workspace_bytes++;
  static const struct {
    char fails;
    const char *enqueued;
  } cases[] = {{0, "00mf"}, {'0', "0"}, {'m', "00m"}, {'f', "00mf"}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    world.count = world.zeroes = 0;
    memset(world.said, 0, sizeof world.said);
    world.fails = cases[i].fails, world.times = 1;
    const shunt_status s = shunt_packed_fill(&direct, &c, &packed);
    check((s == SHUNT_OK) == !cases[i].fails && strcmp(world.said, cases[i].enqueued) == 0,
          "keeping, '%c' fails: %s", cases[i].fails ? cases[i].fails : '-', world.said);
  }
  world.fails = 0;
  p.pattern_epoch = 3;
  p.spmm.a.columns = workspace;
  world.count = world.zeroes = world.hashes = 0;
  check(shunt_packed_fill(&direct, &c, &packed) == SHUNT_OK && world.hashes == 2 &&
            world.hashed[0].into == &print && world.hashed[0].a.columns == workspace &&
            world.hashed[1].into == &print_of_values && !world.hashed[1].a.columns,
        "in an epoch, the values have a fingerprint of their own");
  check(world.copy == payload + shunt_packed_copy_bytes(0) && (uintptr_t)world.copy % 256 == 0 &&
            world.zeroed[0] == &host_words[0] && world.zeroed[1] == payload,
        "the copy lies behind the table, which is zeroed");
}

static void test_layout(void)
{
  struct shunt_problem p;
  if (shunt_problem_parse(SPMM "NN:rr:ld32.32:a1b0:alg0", &p) != SHUNT_OK) return;
  const struct shunt_packed_workspace l = shunt_packed_lay_out(&direct, &p);
  check(l.own - l.scratch >= SHUNT_FINGERPRINT_SCRATCH && l.copy == l.own + 256 &&
            l.product == l.copy + 256 && l.total == l.product + 64 * 32 * 4 && l.own % 256 == 0,
        "parts of the workspace follow each other");
  const struct shunt_packed_workspace k = shunt_packed_lay_out(&only_packed, &p);
  check(k.product == k.own && k.copy == k.own, "and take nothing where there are none");
}

/* W of f64 has elements of eight bytes. */
static void test_doubles(void)
{
  static const char doubles[] =
      "spmm:csr:f64.f64.f64.f64:i32b0:m64n32k48z256:NN:rr:ld32.32:a2b3:alg0";
  struct shunt_problem p;
  check(shunt_problem_parse(doubles, &p) == SHUNT_OK, "a problem in f64");
  const struct shunt_packed_workspace l = shunt_packed_lay_out(&direct, &p);
  check(l.total == l.product + 64 * 32 * 8, "W of f64 has room");
  check(runs(&direct, doubles, &packed, "prc", SHUNT_OK) && world.product.c.type == SHUNT_F64 &&
            world.product.c.row_stride == 32,
        "and the product goes to it");
}

int main(void)
{
  test_layout();
  test_doubles();
  test_order();
  test_patience();
  test_pattern_stands();
  test_trusted();
  test_next_waits();
  test_beside();
  test_proved();
  test_failures();
  test_keep();
  return check_finish();
}
