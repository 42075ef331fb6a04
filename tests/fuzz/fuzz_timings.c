/* fuzz_timings.c: any file as the timings of shunt calibrate (backend/tool/calibrate/timings.c).
   What is refused leaves nothing.  What is believed is written as a file that is believed again,
   and gives coefficients that are finite and not negative.  */
#include <math.h>

#include "backend/tool/calibrate/calibrate.h"
#include "tests/fuzz/fuzz.h"

/* Messages of refusals are not looked at. */
void tool_say(const char *format, ...)
{
  (void)format;
}

static void expect_sound_table(const struct calibrate_timings *t)
{
  struct shunt_cost_table table = shunt_costs_h200;
  calibrate_put_version_first(&table, t->cusparse);
  struct calibrate_fit *fit = calibrate_fit_make(t, &table);
  FUZZ_EXPECT(fit);
  calibrate_fit_lines(fit, -1, &table);
  for (int line = 0; line < CALIBRATE_LINES; line++) {
    double *place[CALIBRATE_TERMS];
    const int count = calibrate_places(line, &table, place);
    FUZZ_EXPECT(count > 0);
    for (int i = 0; i < count; i++) FUZZ_EXPECT(isfinite(*place[i]) && *place[i] >= 0);
  }
  int *chosen = calibrate_choices(t, NULL, &table);
  FUZZ_EXPECT(chosen);
  for (int i = 0; i < t->count; i++)
    for (int a = 0; a < CALIBRATE_ALGORITHMS; a++) {
      const int way = chosen[i * CALIBRATE_ALGORITHMS + a];
      FUZZ_EXPECT((way >= 0) == (t->of[i].us[a] > 0) && way < CALIBRATE_WAYS);
      FUZZ_EXPECT(way < 0 || t->of[i].us[way] > 0);
    }
  free(chosen);
  calibrate_fit_free(fit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  struct calibrate_timings t, again;
  if (!calibrate_read(path, &t)) {
    FUZZ_EXPECT(t.count == 0 && !t.of && !t.name);
    return 0;
  }
  FUZZ_EXPECT(t.count > 0 && t.matrices > 0);
  expect_sound_table(&t);
  FUZZ_EXPECT(calibrate_save(path, &t) && calibrate_read(path, &again));
  FUZZ_EXPECT(again.count == t.count && again.matrices == t.matrices &&
              strcmp(again.signature, t.signature) == 0 && again.cusparse == t.cusparse);
  for (int i = 0; i < t.count; i++)
    FUZZ_EXPECT(again.of[i].nnz == t.of[i].nnz && again.of[i].matrix == t.of[i].matrix);
  calibrate_free(&again);
  calibrate_free(&t);
  return 0;
}
