/* fuzz_readers.c: small valid files, changed a little in every step: readers must
   answer with a matrix that keeps its promises or with a message, and neither
   crash nor leak (run it under a sanitizer to be sure of the latter).

   Deterministic: step k is the same on every machine.  SHUNT_FUZZ_STEPS sets the
   number of steps, SHUNT_FUZZ_SECONDS a bound on the time (default 10).  */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "conv/read/read.h"
#include "tests/splitmix64.h"
#include "tests/unit/check.h"

#define MM "%%MatrixMarket matrix "

static const char *const mtx_seed[] = {
    MM "coordinate real general\n% c\n3 4 4\n1 1 1.5\n2 3 -2e-3\n3 4 7\n1 4 .25\n",
    MM "coordinate pattern symmetric\n4 4 3\n1 1\n3 2\n4 4\n",
    MM "coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -6\n",
    MM "array real general\r\n2 2\r\n1.0\r\n0\r\nnan\r\n-3\r\n",
    MM "array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
};
static const char *const smtx_seed[] = {
    "3, 4, 5\n0 2 2 5\n0 3 1 2 3\n",
    "1, 1, 1\n0 1\n0\n",
};
/* What a mutation likes to put in. */
static const char *const word[] = {"-1",
                                   "0",
                                   "99999999999999999999",
                                   "9223372036854775807",
                                   "nan",
                                   "1e999",
                                   " ",
                                   "\n",
                                   "\r",
                                   ",",
                                   "%",
                                   "complex",
                                   "\0x",
                                   "16777216",
                                   "00000000000000000001",
                                   "array",
                                   "."};

enum { ROOM = 4096 };

static uint64_t state;

static uint64_t next(void)
{
  return splitmix64(&state);
}

static size_t below(size_t n)
{
  return (size_t)(next() % n);
}

/* Replaces `gone` bytes at `at` by n others. */
static size_t splice(char *text, size_t size, size_t at, size_t gone, const char *with, size_t n)
{
  if (at > size) at = size;
  if (gone > size - at) gone = size - at;
  if (size - gone + n > ROOM) return size;
  memmove(text + at + n, text + at + gone, size - at - gone);
  memcpy(text + at, with, n);
  return size - gone + n;
}

static size_t mutate(char *text, size_t size)
{
  const char *w = word[below(sizeof word / sizeof *word)];
  char byte = (char)next(), copy[64];
  size_t at = below(size + 1), n;

  switch (below(6)) {
  case 0: /* one byte, any */ return splice(text, size, at, 1, &byte, 1);
  case 1: /* a bit */
    if (at < size) text[at] ^= (char)(1 << below(8));
    return size;
  case 2: /* cut short */ return at;
  case 3: /* take some out */ return splice(text, size, at, 1 + below(8), "", 0);
  case 4: /* a word in the place of something */
    return splice(text, size, at, below(4), w, w[0] ? strlen(w) : 2);
  default: /* a piece once more */
    n = below(sizeof copy);
    if (n > size - at) n = size - at;
    memcpy(copy, text + at, n);
    return splice(text, size, below(size + 1), 0, copy, n);
  }
}

/* What conv/read/read.h promises of a matrix. */
static int keeps_promises(const struct shunt_matrix *m)
{
  if (m->rows < 0 || m->cols < 0 || m->row_offsets[0] != 0 || m->row_offsets[m->rows] != m->nnz)
    return 0;
  for (int64_t i = 0; i < m->rows; i++) {
    if (m->row_offsets[i + 1] < m->row_offsets[i]) return 0;
    for (int64_t p = m->row_offsets[i]; p < m->row_offsets[i + 1]; p++)
      if (m->columns[p] < 0 || m->columns[p] >= m->cols ||
          (p > m->row_offsets[i] && m->columns[p] <= m->columns[p - 1]))
        return 0;
  }
  return 1;
}

/* Writes the bytes, plain or gzipped, or gzipped and then damaged. */
static void write_file(const char *path, const char *text, size_t size, int way)
{
  gzFile f = gzopen(path, way ? "wb1" : "wbT");

  if (size) gzwrite(f, text, (unsigned)size);
  gzclose(f);
  if (way == 2) {
    char packed[ROOM + 512];
    FILE *g = fopen(path, "rb");
    size_t n = fread(packed, 1, ROOM, g);
    fclose(g);
    n = mutate(packed, n);
    g = fopen(path, "wb");
    fwrite(packed, 1, n, g);
    fclose(g);
  }
}

/* One step; 1: accepted, 0: refused with a message, -1: a promise broken. */
static int step(uint64_t k, const char *mtx_path, const char *smtx_path)
{
  char text[ROOM + 64];
  struct shunt_matrix m;
  struct shunt_message why;
  int smtx = k % 3 == 0, result;
  const char *path = smtx ? smtx_path : mtx_path, *seed;
  size_t size;

  state = k * 0x100000001b3u;
  seed = smtx ? smtx_seed[below(2)] : mtx_seed[below(5)];
  size = strlen(seed);
  memcpy(text, seed, size);
  for (size_t i = below(3); i < 3; i += 2) size = mutate(text, size);
  write_file(path, text, size, (int)(k % 16 == 1 ? 1 : k % 16 == 2 ? 2 : 0));
  if (shunt_read_matrix(path, &m, &why) != SHUNT_OK)
    return why.text[0] && !m.row_offsets && !m.columns && !m.values ? 0 : -1;
  result = keeps_promises(&m) ? 1 : -1;
  shunt_matrix_free(&m);
  return result;
}

int main(void)
{
  char folder[] = "/tmp/shunt-fuzz-XXXXXX", mtx[64], smtx[64];
  const char *steps_text = getenv("SHUNT_FUZZ_STEPS"), *time_text = getenv("SHUNT_FUZZ_SECONDS");
  uint64_t steps = steps_text ? strtoull(steps_text, NULL, 10) : 20000, k, accepted = 0, broken = 0;
  double seconds = time_text ? atof(time_text) : 10;
  clock_t begin = clock();

  if (!mkdtemp(folder)) {
    check_skip("no temporary folder");
    return check_finish();
  }
  snprintf(mtx, sizeof mtx, "%s/a.mtx", folder);
  snprintf(smtx, sizeof smtx, "%s/a.smtx", folder);
  for (k = 0; k < steps && (double)(clock() - begin) / CLOCKS_PER_SEC < seconds; k++) {
    int result = step(k, mtx, smtx);
    accepted += result == 1;
    if (result < 0 && broken++ < 5) printf("# step %llu broke a promise\n", (unsigned long long)k);
  }
  unlink(mtx);
  unlink(smtx);
  rmdir(folder);
  check(broken == 0, "%llu changed files: %llu accepted, the others refused with a message",
        (unsigned long long)k, (unsigned long long)accepted);
  return check_finish();
}
