/* test_service.c: a service that runs for days: products of 10,000 matrices that come, change and
   go, by the real cache on a runtime of the test's own (cache_runtime.h).  Memory of host and
   device stay as they are after a quarter, and so does the time of a product.

     PRODUCTS   how many (1,000,000)  */
#include <time.h>
#include <unistd.h>

#include "backend/plan/frozen.h"
#include "kernels/guard/guard.h"
#include "tests/splitmix64.h"
#include "tests/unit/check.h"
#include "tests/unit/plan/cache_runtime.h"

enum { MATRICES = 10000, LIVE = 1000, FIT = 400, BYTES = 1000, COPY = BYTES + 256, FORMATS = 3 };

static struct shunt_cache *cache;
static const char formats[FORMATS];
static uint64_t state = 1;
static struct {
  int address; /* of its arrays, one of MATRICES places */
  int64_t rows;
} live[LIVE];
static long used, made, changed, captured;

static uint64_t random_below(uint64_t n)
{
  return splitmix64(&state) % n;
}

static char *memory_at(int address)
{
  return (char *)((uintptr_t)1 << 40) + (uintptr_t)address * 4096;
}

static struct shunt_key key_of(int i)
{
  char *at = memory_at(live[i].address);
  return (struct shunt_key){.row_offsets = at,
                            .columns = at + 1024,
                            .values = at + 2048,
                            .rows = live[i].rows,
                            .cols = 8,
                            .nnz = 8};
}

/* Its memory is freed; another matrix comes, at an address of any that was there before. */
static void replace(int i)
{
  shunt_cache_forget_range(cache, memory_at(live[i].address), 4096);
  live[i].address = (int)random_below(MATRICES);
  live[i].rows = 8 + (int64_t)random_below(1000);
}

static void use(const struct shunt_lookup *l, struct shunt_cache_packed *k, cudaStream_t stream)
{
  struct shunt_packed_use u = {.saved_us = 5, .capturing = random_below(500) == 0};
  const struct shunt_packed_view v = shunt_cache_packed_view(k);
  capturing = u.capturing;
  used += shunt_cache_packed_used(cache, k, &u, stream) == SHUNT_OK;
  captured += u.capturing;
  capturing = false;
  if (random_below(200) == 0) *v.changed = SHUNT_GUARD_CHANGED, changed++;
  if (random_below(5000) == 0) *v.nonfinite = 1;
  (void)l;
}

static void make(const struct shunt_lookup *l, const void *by, cudaStream_t stream)
{
  const struct shunt_packed_request r = {.by = by, .payload_bytes = BYTES, .saves_us = 5};
  struct shunt_cache_packed *k;
  if (shunt_cache_packed_make(cache, l, &r, stream, &k) != SHUNT_OK) return;
  const bool failed = random_below(50) == 0;
  if (failed)
    shunt_cache_packed_touched(cache, k, false, stream);
  else
    shunt_cache_packed_built(cache, k, stream);
  shunt_cache_packed_release(cache, k, failed);
  made += !failed;
}

static void product(uint64_t n)
{
  const int i = (int)random_below(LIVE);
  const cudaStream_t stream = (cudaStream_t)(uintptr_t)(random_below(10) ? 8 : 100 + n);
  const void *by = &formats[random_below(20) ? 0 : random_below(FORMATS)];
  const struct shunt_key key = key_of(i);
  const struct shunt_csr a = {.nnz = key.nnz};
  struct shunt_lookup l;
  bool has = false;
  shunt_cache_look_up(cache, &key, &l);
  for (int p = 0; p < SHUNT_MOST_PACKED; p++)
    if (l.packed[p].copy && l.packed[p].by == by) {
      use(&l, l.packed[p].copy, stream);
      has = true;
    }
  if (!has && l.pack_wise) make(&l, by, stream);
  if (!has && l.study_wise && random_below(100) == 0) make(&l, NULL, stream);
  shunt_lookup_release(cache, &l);
  if (l.study) shunt_cache_packed_release(cache, l.study, random_below(2));
  if (l.profile_wanted) shunt_cache_profile(cache, &l, &a, NULL, stream);
  if (shunt_cache_wants_relief(cache)) shunt_cache_relieve(cache);
  if (n % 100 == 0) replace(i);
  if (n % 1000 == 0) shunt_cache_reserve(cache), destroy_graphs();
  if (n % 50000 == 0) shunt_cache_release_all(cache);
  busy = n % 64 < 16; /* the device is behind */
}

/* Kilobytes of this process. */
static long resident(void)
{
  long pages = 0, of_them = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%ld %ld", &pages, &of_them) != 2) of_them = 0;
  if (f) fclose(f);
  return of_them * (sysconf(_SC_PAGESIZE) / 1024);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
  const char *wanted = getenv("PRODUCTS");
  const uint64_t products = wanted ? strtoull(wanted, NULL, 10) : 1000000;
  double seconds[4]; /* that a quarter takes at the pace of the fastest of its hundred parts */
  long kilobytes[4];
  int most_allocated = 0, most_events = 0;
  if (shunt_cache_make(&cache, NULL, FIT * COPY, FIT * COPY) != SHUNT_OK) return 1;
  allocated = 0;
  arrives = true;
  for (int i = 0; i < LIVE; i++) live[i].address = i, live[i].rows = 8;
  for (int quarter = 0; quarter < 4; quarter++) {
    seconds[quarter] = 1e9;
    for (uint64_t part = 0; part < 100; part++) {
      const double start = now();
      for (uint64_t i = part * products / 400; i < (part + 1) * products / 400; i++) {
        product((uint64_t)quarter * (products / 4) + i + 1);
        if (allocated > most_allocated) most_allocated = allocated;
        if (events > most_events) most_events = events;
      }
      const double took = 100 * (now() - start);
      if (took < seconds[quarter]) seconds[quarter] = took;
    }
    kilobytes[quarter] = resident();
  }
  printf("# %ld uses of %ld copies, %ld changes, %ld captured; %.2f us a product; %ld KB\n", used,
         made, changed, captured, 1e6 * seconds[3] / (double)(products / 4), kilobytes[3]);
  check(used > (long)products / 4 && made > (long)products / 1000 && captured > 0,
        "products use copies, which come and go");
  check(most_allocated <= FIT + 50, "of %d copies that fit at most %d are there", FIT,
        most_allocated);
  check(most_events < 20 * (FIT + 50), "with %d events", most_events);
#ifdef __SANITIZE_ADDRESS__
  check_skip("host memory: AddressSanitizer keeps what is freed");
#else
  check(kilobytes[3] - kilobytes[0] < 4096, "host memory: %ld KB after a quarter, %ld at the end",
        kilobytes[0], kilobytes[3]);
#endif
  check(seconds[3] < 3 * seconds[0] + 0.1, "a quarter takes %.2f s, the last one %.2f", seconds[0],
        seconds[3]);
  destroy_graphs();
  busy = false;
  shunt_cache_forget(cache);
  check(allocated == 0, "all memory is given back");
  shunt_cache_free(cache);
  return check_finish();
}
