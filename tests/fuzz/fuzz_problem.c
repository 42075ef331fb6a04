/* fuzz_problem.c: text as a problem (backend/plan/problem.h).  What is understood prints as a word
   that is understood as the same problem; the checks answer for any.  */
#include "backend/plan/problem.h"
#include "tests/fuzz/fuzz.h"

/* As the checks want to see a problem that somebody called with. */
static void give_arrays(struct shunt_problem *p)
{
  static int64_t something;
  struct shunt_csr *sparse = p->op == SHUNT_SPMM ? &p->spmm.a : &p->sddmm.c;
  sparse->row_offsets = sparse->columns = sparse->values = &something;
  p->row_indices = &something;
  if (p->op == SHUNT_SPMM)
    p->spmm.b.values = p->spmm.c.values = &something;
  else
    p->sddmm.a.values = p->sddmm.b.values = &something;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct shunt_problem p, again;
  char word[SHUNT_PROBLEM_TEXT], second[SHUNT_PROBLEM_TEXT];
  char *text = fuzz_text(data, size);
  const shunt_status s = shunt_problem_parse(text, &p);
  free(text);
  FUZZ_EXPECT(s == SHUNT_OK || s == SHUNT_E_INPUT);
  if (s != SHUNT_OK) return 0;
  int length = shunt_problem_print(&p, word);
  FUZZ_EXPECT(length == (int)strlen(word) && length < SHUNT_PROBLEM_TEXT);
  FUZZ_EXPECT(shunt_problem_hash(&p) != 0);
  give_arrays(&p);
  if (shunt_problem_check(&p).reason != SHUNT_FITS) return 0;
  /* Whoever calls with it gets a word that `shunt bench` reruns. */
  FUZZ_EXPECT(shunt_problem_parse(word, &again) == SHUNT_OK);
  FUZZ_EXPECT(shunt_problem_hash(&again) == shunt_problem_hash(&p));
  shunt_problem_print(&again, second);
  FUZZ_EXPECT(strcmp(word, second) == 0);
  return 0;
}
