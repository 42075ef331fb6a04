/* fuzz_report.c: any file as the report of a `shunt run` (backend/tool/run_report.c): it is told
   in sentences, or its lines are counted as not understood, whatever is demanded of it.  */
#include "backend/tool/tool.h"
#include "tests/fuzz/fuzz.h"

bool tool_option_disable(void)
{
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static FILE *to;
  const struct launch_end end = {.signal = size % 3 == 0 ? 9 : 0};
  if (!to) to = fopen("/dev/null", "w");
  FUZZ_EXPECT(to);
  const struct run_demands demands = {.strict = size % 2 == 0,
                                      .require = size % 5 == 0 ? "csr,host" : NULL};
  run_report_print(fuzz_file(data, size), &end, &demands, to);
  FUZZ_EXPECT(!ferror(to));
  return 0;
}
