/* fuzz_readers.c: any bytes as a file of Matrix Market, and as one of .smtx (conv/read/): each
   reader answers with a matrix that keeps its promises, or with a message and nothing else.  */
#include <unistd.h>

#include "conv/read/read.h"
#include "tests/fuzz/fuzz.h"

static char folder[] = "/tmp/shunt-fuzz-XXXXXX", mtx[64], smtx[64];

static void remove_files(void)
{
  unlink(mtx);
  unlink(smtx);
  rmdir(folder);
}

/* The file under a second name, as names say which reader reads. */
static void make_files(const uint8_t *data, size_t size)
{
  if (!mtx[0]) {
    if (!mkdtemp(folder)) exit(3);
    snprintf(mtx, sizeof mtx, "%s/a.mtx", folder);
    snprintf(smtx, sizeof smtx, "%s/a.smtx", folder);
    atexit(remove_files);
  }
  FILE *f = fopen(mtx, "wb");
  if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f) != 0) exit(3);
  if (access(smtx, F_OK) != 0 && link(mtx, smtx) != 0) exit(3);
}

/* What conv/read/read.h promises of a matrix. */
static void expect_promises(const struct shunt_matrix *m)
{
  FUZZ_EXPECT(m->rows >= 0 && m->cols >= 0 && m->row_offsets[0] == 0);
  FUZZ_EXPECT(m->row_offsets[m->rows] == m->nnz);
  for (int64_t i = 0; i < m->rows; i++) {
    FUZZ_EXPECT(m->row_offsets[i + 1] >= m->row_offsets[i]);
    for (int64_t p = m->row_offsets[i]; p < m->row_offsets[i + 1]; p++) {
      FUZZ_EXPECT(m->columns[p] >= 0 && m->columns[p] < m->cols);
      FUZZ_EXPECT(p == m->row_offsets[i] || m->columns[p] > m->columns[p - 1]);
    }
  }
}

static void read_one(const char *path)
{
  struct shunt_matrix m;
  struct shunt_message why = {{0}};
  if (shunt_read_matrix(path, &m, &why) == SHUNT_OK) {
    expect_promises(&m);
    shunt_matrix_free(&m);
  } else
    FUZZ_EXPECT(why.text[0] && !m.row_offsets && !m.columns && !m.values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  make_files(data, size);
  read_one(mtx);
  read_one(smtx);
  return 0;
}
