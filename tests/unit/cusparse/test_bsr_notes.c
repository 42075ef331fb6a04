/* test_bsr_notes.c: what is noted of a BSR matrix is found while the matrix lives, for its
   descriptor and library alone.  */
#include <string.h>

#include "backend/cusparse/bsr.h"
#include "backend/cusparse/descriptor_table.h"
#include "tests/unit/check.h"

static char arrays[8];

static struct shunt_bsr matrix(uintptr_t descriptor)
{
  return (struct shunt_bsr){.descriptor = (cusparseConstSpMatDescr_t)descriptor,
                            .library = arrays,
                            .block_rows = 7,
                            .block_cols = 5,
                            .blocks = 11,
                            .size = 4,
                            .row_offsets = arrays + 1,
                            .columns = arrays + 2,
                            .values = arrays + 3};
}

static bool finds(const struct shunt_bsr *m)
{
  struct shunt_bsr found = {0};
  return shunt_bsr_find(m->descriptor, m->library, &found) && found.size == m->size &&
         found.blocks == m->blocks && found.columns == m->columns;
}

static void test_life(void)
{
  struct shunt_bsr m = matrix(0x1000), n = matrix(0x2000);
  shunt_bsr_forget(m.descriptor);
  shunt_bsr_forget(NULL);
  check(!finds(&m), "nothing is known at first");
  shunt_bsr_note(&m);
  check(finds(&m) && !finds(&n), "a note is found, for its descriptor");
  m.size = 8, m.columns = arrays + 5;
  shunt_bsr_note(&m);
  check(finds(&m), "a second note replaces the first");
  shunt_bsr_note(&n);
  shunt_bsr_forget(m.descriptor);
  check(!finds(&m) && finds(&n), "forgotten, and only that one");
  n.library = arrays + 7;
  check(!finds(&n), "no note for another library");
}

/* More matrices than there is room for: some are forgotten, none is mistaken for another. */
static void test_many(void)
{
  enum { MANY = 5 * SHUNT_DESCRIPTORS };
  int found = 0, wrong = 0;
  for (uintptr_t i = 1; i <= MANY; i++) {
    struct shunt_bsr m = matrix(i * 64);
    m.blocks = (int64_t)i;
    shunt_bsr_note(&m);
  }
  for (uintptr_t i = 1; i <= MANY; i++) {
    struct shunt_bsr m;
    if (!shunt_bsr_find((cusparseConstSpMatDescr_t)(i * 64), arrays, &m)) continue;
    found++;
    wrong += m.blocks != (int64_t)i;
  }
  check(found > SHUNT_DESCRIPTORS / 2 && found <= SHUNT_DESCRIPTORS,
        "a bounded number of notes is kept");
  check(wrong == 0, "each of its own matrix");
}

int main(void)
{
  test_life();
  test_many();
  return check_finish();
}
