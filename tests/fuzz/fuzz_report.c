/* fuzz_report.c: any file as the report of a `shunt run` (backend/tool/report): it is told in
   sentences, as a page and as an object, or its lines are counted as not understood, whatever is
   demanded of it.  */
#include "backend/tool/report/run_report.h"
#include "tests/fuzz/fuzz.h"

bool tool_option_disable(void)
{
  return false;
}

void tool_option_complain(FILE *to)
{
  (void)to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static FILE *to;
  const struct launch_end end = {.signal = size % 3 == 0 ? 9 : 0};
  if (!to) to = fopen("/dev/null", "w");
  FUZZ_EXPECT(to);
  const struct run_demands demands = {.strict = size % 2 == 0,
                                      .require = size % 5 == 0 ? "csr,host" : NULL};
  char *const argv[] = {"program", "\xff<&\">", NULL};
  const struct run_end run = {.end = &end, .argv = argv, .seconds = 1};
  struct run_report r;
  FUZZ_EXPECT(run_report_read(fuzz_file(data, size), &r));
  run_report_print(&r, &end, &demands, to);
  FUZZ_EXPECT(run_report_page(&r, &run, to));
  FUZZ_EXPECT(run_report_json(&r, &run, to));
  run_report_free(&r);
  FUZZ_EXPECT(!ferror(to));
  return 0;
}
