/* test_bench_summary.c: the means behind the table of `shunt bench`: each rival that was timed has
   a column, and no other.  */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/bench/bench.h"
#include "tests/unit/check.h"

static void add_way(struct bench_case *c, const char *name, bool ours, double us)
{
  struct bench_way *w = bench_add_way(c, name, ours);
  w->ran = w->right = true;
  w->us = us;
}

/* What is printed behind two cases: srbcrs twice and 8 times as fast as cuBLASLt. */
static char *printed(void)
{
  static char text[4096];
  FILE *to = tmpfile();
  int out = dup(STDOUT_FILENO);
  for (int i = 0; i < 2; i++) {
    static struct bench_case c;
    memset(&c, 0, sizeof c);
    add_way(&c, "srbcrs", true, 10);
    add_way(&c, "cublaslt-i8", false, i ? 80 : 20);
    bench_note_means(&c);
  }
  fflush(stdout);
  if (!to || out < 0 || dup2(fileno(to), STDOUT_FILENO) < 0) exit(2);
  bench_print_summary();
  fflush(stdout);
  dup2(out, STDOUT_FILENO);
  rewind(to);
  text[fread(text, 1, sizeof text - 1, to)] = '\0';
  fclose(to);
  return text;
}

int main(void)
{
  const char *text = printed();
  check(strstr(text, "cuBLASLt int8") != NULL, "the rival that was timed has a column");
  check(!strstr(text, "cuBLASLt fp8") && !strstr(text, "Blocked-ELL") && !strstr(text, "cuSPARSE"),
        "the others have none");
  check(strstr(text, "srbcrs") && strstr(text, "4.00 (  2.00) of   2"), "mean and least");
  return check_finish();
}
