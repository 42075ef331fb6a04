/* log_process.c: what the report says of the process, where what is not known is left out:

     # process <TAB> started=T <TAB> seconds=S <TAB> rank=N <TAB> us=N <TAB> first=T <TAB> last=T
       <TAB> space=N <TAB> block=ID <TAB> host=NAME

   started, first, last: since 1970, of the process and of its calls; seconds: of its life so far;
   us: what its calls took; space: the pid namespace, as two containers may have one host's name;
   block: of later reports with the same, the last one counts.  */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/log/log_timeline.h"
#include "backend/plan/log.h"

/* Seconds that the machine had run when this process started; negative: not told.  In
   /proc/self/stat the program's name stands in brackets and may hold anything; the 20th field
   behind it is the start in clock ticks.  */
static double started_after_boot(void)
{
  char text[1024];
  FILE *f = fopen("/proc/self/stat", "re");
  const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  const long ticks = sysconf(_SC_CLK_TCK);
  if (f) fclose(f);
  text[n] = 0;
  char *at = strrchr(text, ')'), *end;
  for (int field = 0; at && field < 20; field++) at = strchr(at + 1, ' ');
  if (!at || ticks <= 0) return -1;
  const unsigned long long started = strtoull(at, &end, 10);
  return end > at ? (double)started / (double)ticks : -1;
}

static double now_by(clockid_t clock)
{
  struct timespec t = {0};
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

long shunt_process_rank(void)
{
  static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    char *end;
    const long n = value ? strtol(value, &end, 10) : -1;
    if (value && *value && !*end && n >= 0) return n;
  }
  return -1;
}

double shunt_process_seconds(void)
{
  const double start = started_after_boot();
  return start >= 0 ? now_by(CLOCK_BOOTTIME) - start : 0;
}

/* What this library's reports of this process have in common, and no others. */
static uint64_t block(void)
{
  static _Atomic uint64_t known;
  static _Atomic(pid_t) whose; /* a forked child has another */
  if (atomic_load(&whose) != getpid()) {
    const uint64_t now = (uint64_t)(1e9 * now_by(CLOCK_REALTIME));
    atomic_store(&known, (now ^ (uint64_t)(uintptr_t)&known) * UINT64_C(0x9E3779B97F4A7C15) ^
                             (uint64_t)getpid() << 40);
    atomic_store(&whose, getpid());
  }
  return atomic_load(&known);
}

void shunt_log_process(FILE *to, double us)
{
  char host[64];
  struct stat space;
  const double start = started_after_boot(), seconds = now_by(CLOCK_BOOTTIME) - start;
  double first, last;
  if (gethostname(host, sizeof host) != 0) host[0] = 0;
  host[sizeof host - 1] = 0;
  fputs("# process", to);
  if (start >= 0)
    fprintf(to, "\tstarted=%.3f\tseconds=%.3f", now_by(CLOCK_REALTIME) - seconds, seconds);
  if (shunt_process_rank() >= 0) fprintf(to, "\trank=%ld", shunt_process_rank());
  if (us > 0) fprintf(to, "\tus=%.1f", us);
  if (shunt_timeline_span(&first, &last)) fprintf(to, "\tfirst=%.3f\tlast=%.3f", first, last);
  if (stat("/proc/self/ns/pid", &space) == 0)
    fprintf(to, "\tspace=%llu", (unsigned long long)space.st_ino);
  fprintf(to, "\tblock=%016" PRIx64 "\thost=%s\n", block(), host);
}
