/* test_threads.c: what all threads of a program share, from several at once: the settings, the
   log's counters, what is noted of descriptors and preprocessed, and what bufferSize answered.

   The checks hold for one thread as for many; ThreadSanitizer (tests/sanitized.sh) finds what is
   read and written without order.  */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cusparse/descriptor_table.h"
#include "backend/cusparse/preprocess_epoch.h"
#include "backend/options/options.h"
#include "backend/plan/log.h"
#include "backend/plan/promise.h"
#include "tests/unit/check.h"

enum { THREADS = 4, STEPS = 4000, OWN = 64 };

/* Two words that belong together: a reader that finds others has seen half of a note.  */
struct note {
  cusparseConstSpMatDescr_t descriptor;
  uintptr_t first, second;
};
SHUNT_DESCRIPTOR_TABLE(notes, struct note)

static atomic_int other_settings, torn_notes, lost_promises, wrong_epochs;
static const struct shunt_options *settings[THREADS];
static char descriptors[THREADS * OWN];

static void note_and_read(int thread, int step)
{
  const cusparseConstSpMatDescr_t shared =
      (cusparseConstSpMatDescr_t)&descriptors[(unsigned)(step * 7) % (THREADS * OWN)];
  struct note n = {shared, (uintptr_t)(thread * STEPS + step), 0};
  n.second = ~n.first;
  shunt_descriptor_table_put(&notes, &n);
  struct note read;
  if (shunt_descriptor_table_get(&notes, shared, &read) && read.second != ~read.first) torn_notes++;
  if (step % 5 == 0) shunt_descriptor_table_drop(&notes, shared);
}

/* A problem of the thread's own: nobody else ends its epoch.  */
static void preprocess(int thread, const struct shunt_problem *problem)
{
  const struct shunt_preprocessed p = {(cusparseConstSpMatDescr_t)&descriptors[thread * OWN],
                                       &notes, &descriptors[0], problem,
                                       shunt_problem_hash(problem)};
  shunt_epoch_begin(&p);
  if (shunt_epoch_of(&p) == 0) wrong_epochs++;
  shunt_epoch_end(p.descriptor);
  if (shunt_epoch_of(&p) != 0) wrong_epochs++;
}

static void *work(void *argument)
{
  const int thread = (int)(intptr_t)argument;
  struct shunt_problem problem;
  memset(&problem, 0, sizeof problem);
  settings[thread] = shunt_options();
  for (int i = 0; i < STEPS; i++) {
    if (shunt_options() != settings[thread]) other_settings++;
    note_and_read(thread, i);
    preprocess(thread, &problem);
    const uint64_t key = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    shunt_promise_make(key, &(struct shunt_promise_answer){NULL, 100, 1000, true});
    if (shunt_promise_find(key).own_bytes == 0) lost_promises++;
    shunt_log_decision("call", i % 2 ? "original" : "csr", SHUNT_OUTCOME(i % 3), NULL,
                       (struct shunt_log_call){.saved_us = 1});
  }
  return NULL;
}

int main(void)
{
  setenv("SHUNT_REPORT", "/dev/null", 1);
  pthread_t threads[THREADS];
  int started = 0;
  while (started < THREADS &&
         pthread_create(&threads[started], NULL, work, (void *)(intptr_t)started) == 0)
    started++;
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
  check(started == THREADS, "%d threads run", THREADS);
  bool same = other_settings == 0;
  for (int i = 1; i < started; i++) same = same && settings[i] == settings[0];
  check(same, "all read the same settings");
  check(torn_notes == 0, "no note of a descriptor is half of one and half of another");
  check(wrong_epochs == 0, "an epoch lasts from its beginning to its end");
  check(lost_promises <= THREADS * STEPS / 100, "what bufferSize answered is found (%d are not)",
        lost_promises);
  check(shunt_log_wanted(), "decisions are counted for the report");
  return check_finish();
}
