/* test_log_density.c: the picture of a matrix as letters, from its counts. */
#include <string.h>

#include "backend/log/log_density.h"
#include "tests/unit/check.h"

static char text[SHUNT_DENSITY_TEXT];

/* 80 rows x 90 columns: 32 x 32 cells, of 2 or 3 rows and as many columns. */
static struct shunt_density empty(void)
{
  struct shunt_density d = {.rows = 80, .cols = 90, .high = 32, .wide = 32};
  for (int y = 0; y < 32; y++) d.looked[y] = (uint64_t)((y + 1) * 80 / 32 - y * 80 / 32);
  return d;
}

static void test_sizes(void)
{
  struct shunt_density d = empty();
  check(shunt_density_write(&d, text) == 0 && strlen(text) == 1024 && strspn(text, ".") == 1024,
        "without entries all cells are empty");
  d = (struct shunt_density){.rows = 1, .cols = 2, .high = 1, .wide = 2, .looked = {1}};
  d.entries[0][1][SHUNT_DENSITY_OTHER] = 1;
  check(shunt_density_write(&d, text) == 1 && strcmp(text, ".E") == 0,
        "small matrices have fewer cells");
}

static void test_kinds(void)
{
  struct shunt_density d = {.rows = 8, .cols = 6, .high = 8, .wide = 6};
  for (int y = 0; y < 8; y++) d.looked[y] = 1;
  for (int k = 0; k < SHUNT_DENSITY_KINDS; k++) d.entries[0][k][k] = 1;
  check(shunt_density_write(&d, text) == 1 && strncmp(text, "ejotyE..", 8) == 0,
        "a letter for each kind");
  d.entries[1][0][SHUNT_DENSITY_8] = 1, d.entries[1][0][SHUNT_DENSITY_4] = 2;
  check(shunt_density_write(&d, text) == 3 && text[6] == 'j', "that of most entries");
}

static void test_depths(void)
{
  struct shunt_density d = {.rows = 3200, .cols = 3200, .high = 32, .wide = 32};
  const uint64_t counts[] = {2560, 640, 160, 40, 10, 2, 1};
  for (int y = 0; y < 32; y++) d.looked[y] = 100;
  for (int i = 0; i < 7; i++) d.entries[2][i][SHUNT_DENSITY_2] = counts[i];
  check(shunt_density_write(&d, text) == 0.256 && strncmp(text + 64, "onmlkkk.", 8) == 0,
        "each letter is a quarter of the next, the first what is less");
  d.looked[2] = 50;
  d.entries[3][0][SHUNT_DENSITY_2] = 2560;
  check(shunt_density_write(&d, text) == 0.512 && text[64] == 'o' && text[96] == 'n',
        "by the rows that were looked at");
}

int main(void)
{
  test_sizes();
  test_kinds();
  test_depths();
  return check_finish();
}
