/* test_read.c: the file readers: what they understand, what they refuse and with
   which message, and that a written matrix comes back.  */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "conv/read/read.h"
#include "tests/unit/check.h"

static char folder[] = "/tmp/shunt-readers-XXXXXX";
static char path[256];

/* Puts n bytes into a file called `name`, gzipped on request. */
static void write_file(const char *name, const char *bytes, size_t n, int gzip)
{
  snprintf(path, sizeof path, "%s/%s", folder, name);
  gzFile f = gzopen(path, gzip ? "wb" : "wbT");
  if (n) gzwrite(f, bytes, (unsigned)n);
  gzclose(f);
}

static shunt_status read_text(const char *name, const char *text, struct shunt_matrix *m,
                              struct shunt_message *why)
{
  shunt_status status;

  write_file(name, text, strlen(text), 0);
  status = shunt_read_matrix(path, m, why);
  unlink(path);
  return status;
}

/* `want` is the matrix, row by row, "." where nothing is stored. */
static void accepts(const char *what, const char *name, const char *text, const char *want)
{
  struct shunt_matrix m;
  struct shunt_message why;
  char got[512] = "";
  shunt_status status = read_text(name, text, &m, &why);

  for (int64_t i = 0; status == SHUNT_OK && i < m.rows; i++) {
    int64_t p = m.row_offsets[i];
    for (int64_t j = 0; j < m.cols; j++) {
      size_t n = strlen(got);
      if (p < m.row_offsets[i + 1] && m.columns[p] == j)
        snprintf(got + n, sizeof got - n, "%g ", m.pattern ? 1. : m.values[p++]), p += m.pattern;
      else
        snprintf(got + n, sizeof got - n, ". ");
    }
    strcat(got, "/ ");
  }
  check(status == SHUNT_OK && strcmp(got, want) == 0, "%s%s%s%s", what,
        status == SHUNT_OK ? "" : ": ", status == SHUNT_OK ? "" : why.text,
        strcmp(got, want) == 0 ? "" : got);
  shunt_matrix_free(&m);
}

static void refuses(const char *what, const char *name, const char *text, shunt_status want,
                    const char *message)
{
  struct shunt_matrix m;
  struct shunt_message why;
  shunt_status status = read_text(name, text, &m, &why);

  check(status == want && strstr(why.text, message) && !m.values && !m.columns && !m.row_offsets,
        "refuses %s (%s)", what, why.text);
  shunt_matrix_free(&m);
}

#define MM "%%MatrixMarket matrix "

static void test_market(void)
{
  accepts("real general", "a.mtx", MM "coordinate real general\n2 3 3\n2 1 -1.5\n1 3 2e2\n1 1 .5\n",
          "0.5 . 200 / -1.5 . . / ");
  accepts("comments, blank lines, tabs, CRLF, capitals", "a.mtx",
          "%%matrixmarket MATRIX Coordinate Real General\r\n% hello\r\n\r\n  %not\r\n"
          "\t2 2\t1\r\n\r\n"
          "% between\r\n 1\t2  3.0 \r\n\r\n%end\r\n",
          ". 3 / . . / ");
  accepts("no newline at the end", "a.mtx", MM "coordinate integer general\n1 2 1\n1 2 -7",
          ". -7 / ");
  accepts("symmetric", "a.mtx", MM "coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n",
          "1 2 . / 2 . 3 / . 3 . / ");
  accepts("symmetric, upper triangle", "a.mtx", MM "coordinate real symmetric\n2 2 1\n1 2 4\n",
          ". 4 / 4 . / ");
  accepts("skew-symmetric", "a.mtx", MM "coordinate real skew-symmetric\n2 2 1\n2 1 5\n",
          ". -5 / 5 . / ");
  accepts("hermitian", "a.mtx", MM "coordinate real hermitian\n2 2 1\n2 1 5\n", ". 5 / 5 . / ");
  accepts("pattern", "a.mtx", MM "coordinate pattern general\n2 2 2\n1 1\n2 1\n", "1 . / 1 . / ");
  accepts("repeated entries add up", "a.mtx",
          MM "coordinate real general\n1 3 4\n1 3 1\n1 1 8\n1 3 2\n1 3 4\n", "8 . 7 / ");
  accepts("array", "a.mtx", MM "array real general\n2 2\n1\n0\n3\n4\n", "1 3 / . 4 / ");
  accepts("array, symmetric", "a.mtx", MM "array integer symmetric\n2 2\n1\n2\n3\n",
          "1 2 / 2 3 / ");
  accepts("array, skew-symmetric", "a.mtx", MM "array real skew-symmetric\n3 3\n1\n2\n3\n",
          ". -1 -2 / 1 . -3 / 2 3 . / ");
  accepts("Fortran exponents and stored zeros", "a.mtx",
          MM "coordinate real general\n1 3 3\n1 1 1.5D+01\n1 2 0\n1 3 -2.5d-1\n", "15 0 -0.25 / ");
  accepts("nan and inf", "a.mtx",
          MM "coordinate real general\n1 3 3\n1 1 nan\n1 2 -Inf\n1 3 infinity\n",
          "nan -inf inf / ");
  accepts("an empty matrix", "a.mtx", MM "coordinate real general\n0 0 0\n", "");
  accepts("no entries", "a.mtx", MM "coordinate real general\n2 2 0\n", ". . / . . / ");
}

static void test_market_refusals(void)
{
  const char *c = MM "coordinate real general\n";
  char text[400];

#define REFUSES(what, body, message)                                                               \
  snprintf(text, sizeof text, "%s%s", c, body);                                                    \
  refuses(what, "a.mtx", text, SHUNT_E_INPUT, message)
  REFUSES("a negative size", "2 -2 1\n1 1 1\n", ":2: a size is negative");
  REFUSES("a size that overflows", "99999999999999999999 2 1\n1 1 1\n", ":2: the number of rows");
  REFUSES("a size that is no number", "nan 2 1\n1 1 1\n", ":2: the number of rows is not a whole");
  REFUSES("a fraction as size", "2 2.5 1\n1 1 1\n", ":2: the number of columns is not a whole");
  REFUSES("a missing size", "2 2\n1 1 1\n", ":2: the number of entries is missing");
  REFUSES("no sizes", "% nothing\n", "ends before the line of sizes");
  REFUSES("row 0", "2 2 1\n0 1 1\n", ":3: entry (0, 1) is outside of 2 x 2");
  REFUSES("a row past the end", "2 2 1\n3 1 1\n", ":3: entry (3, 1) is outside");
  REFUSES("a column past the end", "2 2 2\n1 1 1\n2 3 1\n", ":4: entry (2, 3) is outside");
  REFUSES("a missing value", "2 2 1\n1 1\n", ":3: the value is missing");
  REFUSES("a word as value", "2 2 1\n1 1 abc\n", ":3: the value is not a number: 'abc'");
  REFUSES("hexadecimal", "2 2 1\n1 1 0x10\n", ":3: the value is not a number: '0x10'");
  REFUSES("too much on a line", "2 2 1\n1 1 1 1\n", ":3: too much on this line");
  REFUSES("too few entries", "2 2 3\n1 1 1\n% x\n1 2 1\n", "ends after 2 of 3 entries");
  REFUSES("too many entries", "2 2 1\n1 1 1\n\n1 2 1\n", ":5: goes on after its last entry");
  REFUSES("huge sizes without entries", "9000000000000000000 2 1\n1 1 1\n", "out of proportion");
  REFUSES("a huge count without entries", "2 2 9000000000000000000\n1 1 1\n",
          "ends after 1 of 9000000000000000000 entries");
  c = "";
  REFUSES("an empty file", "", ":1: is not a Matrix Market file");
  REFUSES("another format", "<html>\n", ":1: is not a Matrix Market file");
  REFUSES("a short banner", MM "coordinate real\n1 1 0\n", ":1: the %%MatrixMarket line needs");
  REFUSES("an unknown format", MM "elemental real general\n1 1 0\n",
          ":1: unknown format 'elemental'");
  REFUSES("an unknown field", MM "coordinate quaternion general\n", ":1: unknown field");
  REFUSES("an unknown symmetry", MM "coordinate real circulant\n", ":1: unknown symmetry");
  REFUSES("an array of patterns", MM "array pattern general\n1 1\n", ":1: unknown field");
  REFUSES("a vector", MM "x", ":1: the %%MatrixMarket line needs");
  REFUSES("an oblong symmetric matrix", MM "coordinate real symmetric\n2 3 0\n", "must be square");
  REFUSES("a skew diagonal", MM "coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "zero diagonal");
  REFUSES("a short array", MM "array real general\n2 2\n1\n2\n3\n",
          "ends after 3 values, in column 2");
  REFUSES("a fraction in an integer matrix", MM "coordinate integer general\n1 1 1\n1 1 1.5\n",
          ":3: the value is not a whole number");
  refuses("complex", "a.mtx", MM "coordinate complex general\n1 1 1\n1 1 1 1\n",
          SHUNT_E_UNSUPPORTED, ":1: complex");
}

static void test_smtx(void)
{
  accepts("smtx", "a.smtx", "2, 3, 3\n0 2 3\n0 2 1\n", "1 . 1 / . 1 . / ");
  accepts("smtx, unsorted and repeated", "a.smtx", "1 3 3\r\n0 3\r\n2 0 2", "1 . 1 / ");
  accepts("smtx without entries", "a.smtx", "2, 2, 0\n0 0 0\n\n", ". . / . . / ");
  accepts("smtx without rows", "a.smtx", "0, 2, 0\n0\n", "");
#define REFUSES_SMTX(what, body, message) refuses(what, "a.smtx", body, SHUNT_E_INPUT, message)
  REFUSES_SMTX("an empty smtx", "", ":1: is empty");
  REFUSES_SMTX("negative smtx sizes", "-1, 2, 0\n0\n", ":1: a size is negative");
  REFUSES_SMTX("few offsets", "2, 2, 1\n0 1\n0\n", ":2: holds 2 of 3 numbers: row offset");
  REFUSES_SMTX("many offsets", "1, 2, 1\n0 1 1\n0\n", ":2: too much on this line");
  REFUSES_SMTX("a late first offset", "1, 2, 1\n1 1\n0\n", ":2: the first row offset is 1");
  REFUSES_SMTX("descending offsets", "2, 2, 1\n0 2 1\n0\n", ":2: row offset 1 of row 2 is below");
  REFUSES_SMTX("a wrong last offset", "2, 2, 2\n0 1 1\n0 1\n",
               ":2: the last row offset is 1, not 2");
  REFUSES_SMTX("few columns", "1, 2, 2\n0 2\n0\n", ":3: holds 1 of 2 numbers: column index");
  REFUSES_SMTX("no columns", "1, 2, 2\n0 2\n", "ends before its line: column index");
  REFUSES_SMTX("a column past the end", "1, 2, 1\n0 1\n2\n", ":3: column index 2 is outside");
  REFUSES_SMTX("more lines", "1, 2, 1\n0 1\n1\n7\n", ":4: goes on after its last column");
  REFUSES_SMTX("a huge smtx", "9223372036854775806, 2, 1\n0 1\n1\n",
               ":2: holds 2 of 9223372036854775807");
  REFUSES_SMTX("a wide smtx", "1, 9223372036854775806, 1\n0 1\n1\n", "out of proportion");
}

/* Reals by the fast path and by strtod agree. */
static void test_reals(void)
{
  static const char *const token[] = {"1",
                                      "-0",
                                      "+3",
                                      "0.1",
                                      "123456789.123456789",
                                      "1e22",
                                      "1e-22",
                                      "9007199254740993",
                                      "1e23",
                                      "1.7976931348623157e308",
                                      "4.9e-324",
                                      "1e400",
                                      "-1e-400",
                                      "00012.50",
                                      "12345678901234567890123",
                                      "0.000000000000000000000000000012345",
                                      "1.",
                                      ".5",
                                      "5e+0",
                                      "5E-01"};
  int good = 1;

  for (size_t i = 0; i < sizeof token / sizeof *token; i++) {
    char text[200];
    struct shunt_matrix m;
    snprintf(text, sizeof text, "%scoordinate real general\n1 1 1\n1 1 %s\n", MM, token[i]);
    double want = strtod(token[i], NULL);
    int same =
        read_text("a.mtx", text, &m, NULL) == SHUNT_OK && memcmp(&want, m.values, sizeof want) == 0;
    if (!same) printf("# %s\n", token[i]);
    good &= same;
    shunt_matrix_free(&m);
  }
  check(good, "numbers are read to the last bit");
}

static void test_files(void)
{
  const char *text = MM "coordinate real general\n2 2 2\n1 1 1\n2 2 2\n";
  char garbage[4096], packed[512];
  struct shunt_matrix m;
  struct shunt_message why;
  FILE *f;
  size_t n;

  write_file("a.mtx.gz", text, strlen(text), 1);
  check(shunt_read_matrix(path, &m, &why) == SHUNT_OK && m.nnz == 2, "gzip is read");
  shunt_matrix_free(&m);
  f = fopen(path, "rb");
  n = fread(packed, 1, sizeof packed, f);
  fclose(f);
  int refused = 0, tried = 0;
  for (size_t cut = 3; cut < n; cut++, tried++) {
    f = fopen(path, "wb");
    fwrite(packed, 1, cut, f);
    fclose(f);
    refused += shunt_read_matrix(path, &m, &why) != SHUNT_OK && why.text[0];
    shunt_matrix_free(&m);
  }
  check(refused == tried, "truncated gzip is refused wherever it is cut (%d of %d)", refused,
        tried);
  unlink(path);

  for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (char)(i * 2654435761u >> 13);
  write_file("b.mtx", garbage, sizeof garbage, 0);
  check(shunt_read_matrix(path, &m, &why) == SHUNT_E_INPUT, "binary garbage is refused (%s)",
        why.text);
  unlink(path);
  write_file("b.smtx", garbage, sizeof garbage, 0);
  check(shunt_read_matrix(path, &m, &why) == SHUNT_E_INPUT, "as .smtx too (%s)", why.text);
  unlink(path);
  check(shunt_read_matrix("/nonexistent/x.mtx", &m, &why) == SHUNT_E_INPUT, "no file (%s)",
        why.text);
  check(shunt_read_matrix(folder, &m, &why) == SHUNT_E_INPUT, "a directory (%s)", why.text);
}

/* A large file, wider than the scanner's buffer, there and back. */
static void test_round_trip(void)
{
  enum { ROWS = 3000, LENGTH = 50 };
  struct shunt_matrix m;
  struct shunt_message why;
  double value[LENGTH], seconds;
  int good;
  clock_t begin;

  snprintf(path, sizeof path, "%s/c.mtx.gz", folder);
  gzFile f = gzopen(path, "wb1");
  gzprintf(f, "%scoordinate real general\n%% written by test_readers\n%d %d %d\n", MM, ROWS,
           10 * LENGTH, ROWS * LENGTH);
  for (int k = 0; k < LENGTH; k++)
    for (int i = 0; i < ROWS; i++) {
      shunt_fill_values(value, LENGTH, (uint64_t)i);
      gzprintf(f, "%d %d %.17g\n", ROWS - i, 10 * (LENGTH - k) - i % 10, value[k]);
    }
  gzclose(f);
  begin = clock();
  good = shunt_read_matrix(path, &m, &why) == SHUNT_OK && m.rows == ROWS && m.nnz == ROWS * LENGTH;
  seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  for (int i = 0; good && i < ROWS; i++) {
    int64_t row = ROWS - 1 - i;
    shunt_fill_values(value, LENGTH, (uint64_t)i);
    good &= m.row_offsets[row] == row * LENGTH;
    for (int k = 0; k < LENGTH; k++) {
      int64_t p = row * LENGTH + LENGTH - 1 - k;
      good &= m.columns[p] == 10 * (LENGTH - k) - i % 10 - 1 && m.values[p] == value[k];
    }
  }
  check(good, "%d entries come back in order and to the bit", ROWS * LENGTH);
  check(seconds < 3, "not in quadratic time, which is minutes: %.0f ns an entry",
        seconds * 1e9 / (ROWS * LENGTH));
  shunt_matrix_free(&m);
  unlink(path);
}

static void test_values(void)
{
  double a[1000], b[1000], sum = 0;
  int good = 1;

  shunt_fill_values(a, 1000, 7);
  shunt_fill_values(b, 1000, 7);
  good &= memcmp(a, b, sizeof a) == 0;
  shunt_fill_values(b, 1000, 8);
  for (int i = 0; i < 1000; i++) {
    good &= a[i] >= -1 && a[i] < 1 && a[i] != b[i];
    sum += a[i];
  }
  check(good && fabs(sum) < 100, "made-up values lie in [-1, 1) and follow the seed");
}

struct watched {
  int calls, falls;
  double last;
};

static void note_share(void *context, double share)
{
  struct watched *w = context;
  w->calls++;
  w->falls += share < w->last;
  w->last = share;
}

/* A file of several buffers, plain and gzipped: the share grows to 1. */
static void test_watch(void)
{
  enum { LINES = 100000 };
  static char text[LINES * 20 + 100];
  size_t used = (size_t)sprintf(text,
                                "%%%%MatrixMarket matrix coordinate real general\n"
                                "1000 1000 %d\n",
                                LINES);
  for (int i = 0; i < LINES; i++)
    used += (size_t)sprintf(text + used, "%d %d %d\n", i % 1000 + 1, i / 100 + 1, i);
  for (int gzip = 0; gzip < 2; gzip++) {
    struct watched w = {0};
    const struct shunt_read_watch watch = {note_share, &w};
    struct shunt_matrix m;
    struct shunt_message why;
    write_file("watched.mtx", text, used, gzip);
    const shunt_status status = shunt_read_matrix_watched(path, &m, &why, &watch);
    unlink(path);
    check(status == SHUNT_OK && w.calls > 3 && w.falls == 0 && w.last == 1,
          "who watches is told how much is read%s: %d times", gzip ? ", of a gzipped file" : "",
          w.calls);
    shunt_matrix_free(&m);
  }
}

int main(void)
{
  if (!mkdtemp(folder)) {
    check(0, "no temporary folder");
    return check_finish();
  }
  test_market();
  test_market_refusals();
  test_smtx();
  test_reals();
  test_files();
  test_round_trip();
  test_values();
  test_watch();
  rmdir(folder);
  return check_finish();
}
