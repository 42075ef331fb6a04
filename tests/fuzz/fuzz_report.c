/* fuzz_report.c: any file as the report of a `shunt run` (backend/tool/run_report.c): it is told
   in sentences, or its lines are counted as not understood.  */
#include "backend/tool/tool.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static FILE *to;
  const struct launch_end end = {.signal = size % 3 == 0 ? 9 : 0};
  if (!to) to = fopen("/dev/null", "w");
  FUZZ_EXPECT(to);
  run_report_print(fuzz_file(data, size), &end, to);
  FUZZ_EXPECT(!ferror(to));
  return 0;
}
