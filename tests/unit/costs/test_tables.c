/* test_tables.c: which table of costs counts for a GPU, and what a user's file may say. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/costs/coefficients.h"
#include "backend/costs/machine.h"
#include "backend/options/user_folder.h"
#include "tests/unit/check.h"
#include "tests/unit/comma_locale.h"

#define HERE "build=1 gpu=NVIDIA H200 driver=13000"
#define HEAD "# shunt costs 1 " HERE "\n"

static struct shunt_cost_table t;

/* ---- the table of a GPU ------------------------------------------------------------------- */

static bool near(double a, double b)
{
  return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_its_own(void)
{
  shunt_costs_choose("NVIDIA H200", 132, &t);
  check(memcmp(&t, &shunt_costs_h200, sizeof t) == 0, "an H200 has its own, to the last bit");
}

/* Of a chip with slower memory, what is bound by memory takes longer, and nothing else. */
static void test_carried_by_rates(void)
{
  const struct shunt_kernel_costs *here = &t.ours, *of = &shunt_costs_h200.ours;
  shunt_costs_choose("NVIDIA H100 80GB HBM3", 132, &t);
  const double slower = of->rates.copy / shunt_costs_h100.ours.rates.copy;
  check(slower > 1.3 && slower < 1.5, "an H100's memory is the slower one (%.2f)", slower);
  check(near(here->common.stream, of->common.stream / slower), "a copy takes so much longer");
  check(near(here->vector.wide.written, of->vector.wide.written * slower), "and to write C");
  check(here->vector.wide.gather == of->vector.wide.gather, "gathering out of L2 does not");
  check(here->dense.gemm[0].rate == of->dense.gemm[0].rate &&
            here->vector.wide.start == of->vector.wide.start,
        "nor tensor cores, nor what waits");
  check(near(t.original[0].by_columns[1].of_a,
             shunt_costs_h200.original[0].by_columns[1].of_a * slower),
        "cuSPARSE's are carried over, too");
}

/* What was fitted to an H100 itself is taken as it is, by lines, for each version. */
static void test_fitted_in_part(void)
{
  const struct shunt_cost_table *own = &shunt_costs_h100;
  shunt_costs_choose("NVIDIA H100 80GB HBM3", 132, &t);
  check(memcmp(&t.ours.csr.scattered, &own->ours.csr.scattered, sizeof t.ours.csr.scattered) == 0 &&
            memcmp(&t.ours.rates, &own->ours.rates, sizeof t.ours.rates) == 0,
        "an H100 has lines of its own");
  for (int i = 0; i < 3; i++)
    check(t.cusparse[i] == own->cusparse[i] && t.cusparse[i] == shunt_costs_h200.cusparse[i] &&
              memcmp(t.original[i].alg3, own->original[i].alg3, sizeof t.original[i].alg3) == 0,
          "and of cuSPARSE %d", t.cusparse[i]);
  const double half = t.original[0].half.entry, f32 = t.ours.csr.scattered[1].gather;
  check(own->original[0].half.entry == 0 && half == shunt_costs_h200.original[0].half.entry,
        "but what 12.6 refuses there");
  shunt_costs_choose("NVIDIA H100 80GB HBM3", 66, &t);
  check(near(t.ours.csr.scattered[1].gather, 2 * f32), "half of it takes twice as long");
}

static void test_measured(void)
{
  static const char *const h100 = "NVIDIA H100 80GB HBM3";
  check(shunt_costs_are_measured("NVIDIA H200", "tile"), "every route was timed on an H200,");
  check(shunt_costs_are_measured(h100, "csr") && shunt_costs_are_measured(h100, "original"),
        "csr and cuSPARSE on an H100,");
  check(!shunt_costs_are_measured(h100, "tile") && !shunt_costs_are_measured(h100, "sr"),
        "and not tile there,");
  check(!shunt_costs_are_measured("Some GPU", "csr") && !shunt_costs_are_measured(NULL, "csr"),
        "nor anything on another GPU");
}

/* Lines that a version's table does not have are the first version's. */
static void test_versions(void)
{
  const struct shunt_original_costs *o = shunt_costs_h200.original;
  check(shunt_costs_h200.cusparse[1] == 127 && shunt_costs_h200.cusparse[2] == 129,
        "three versions");
  check(memcmp(o[0].bsr, o[1].bsr, sizeof o[0].bsr) == 0 && o[2].sddmm_start == o[0].sddmm_start &&
            o[0].bsr[0][0].rate > 0,
        "of which the newer ones have what was timed anew");
  check(o[2].alg3[1].gather != o[0].alg3[1].gather, "and that is another");
}

/* Part of a GPU, and one that nobody knows, go by their multiprocessors. */
static void test_carried_by_multiprocessors(void)
{
  const struct shunt_kernel_costs *here = &t.ours, *of = &shunt_costs_h200.ours;
  static const char *const names[] = {"NVIDIA H200", "NVIDIA H200 MIG 3g.71gb", "Some GPU", NULL};
  for (int i = 0; i < 4; i++) {
    shunt_costs_choose(names[i], 66, &t);
    check(near(here->common.gather, of->common.gather / 2) &&
              near(here->csr.layer.entry, 2 * of->csr.layer.entry) &&
              here->csr.layer.start == of->csr.layer.start && here->rates.multiprocessors == 66,
          "%s with half of the multiprocessors takes twice as long", names[i] ? names[i] : "?");
  }
  shunt_costs_choose("Some GPU", 0, &t);
  check(near(here->common.gather, of->common.gather), "an H200's where nothing is known");
}

static void test_described(void)
{
  char text[SHUNT_COSTS_TEXT];
  shunt_costs_choose("NVIDIA H200", 132, &t);
  shunt_costs_describe(&t, text);
  check(strcmp(text, "NVIDIA H200, cuSPARSE 12.6, 12.7, 12.9; built in") == 0, "%s", text);
  shunt_costs_choose("NVIDIA H100 80GB HBM3", 132, &t);
  shunt_costs_describe(&t, text);
  check(strcmp(text, "NVIDIA H100 80GB HBM3, cuSPARSE 12.6, 12.7, 12.9; built in, by the rates of "
                     "NVIDIA H200 where it was not measured") == 0,
        "%s", text);
  shunt_costs_choose("NVIDIA H100 80GB HBM3", 66, &t);
  shunt_costs_describe(&t, text);
  check(strstr(text, "carried over to NVIDIA H100 80GB HBM3 by multiprocessors") != NULL, "%s",
        text);
}

/* ---- a user's file -------------------------------------------------------------------------- */

static const char *read_text(const char *text)
{
  FILE *f = fmemopen((void *)text, strlen(text), "r");
  shunt_costs_choose("NVIDIA H200", 132, &t);
  const char *why = f ? shunt_costs_read(f, HERE, &t) : "no memory";
  if (f) fclose(f);
  return why;
}

static void test_whole_file(void)
{
  const char *why = read_text(HEAD "# mine\n\ncommon launch 2.5  batch_host 9 # both\n"
                                   "csr.layer  start 1e-1\ncusparse 12.9\noriginal.wide start 7\n"
                                   "cusparse 12.7\noriginal.layer.c64 gather 1e5\n");
  check(!why, "a whole file counts (%s)", why ? why : "");
  check(t.ours.common.launch == 2.5 && t.ours.common.batch_host == 9 &&
            t.ours.csr.layer.start == 0.1,
        "for what it names");
  check(t.ours.csr.layer.entry == shunt_costs_h200.ours.csr.layer.entry, "the rest stays");
  check(t.cusparse[0] == 129 && t.cusparse[1] == 127 && t.cusparse[2] == 0,
        "its versions are those that count");
  const struct shunt_original_costs *of = shunt_costs_of_original(&t, 129);
  check(of->wide.start == 7 && of->wide.entry == shunt_costs_h200.original[2].wide.entry,
        "each begins with what is nearest");
  check(shunt_costs_of_original(&t, 127)->layer[4].gather == 1e5, "numbers of a type are found");
  check(shunt_costs_of_original(&t, 126) == shunt_costs_of_original(&t, 127) &&
            shunt_costs_of_original(&t, 131) == of,
        "another version takes the nearest");
  check(shunt_costs_of_original(&t, 0) == &t.original[0], "an unknown one the first");
}

static void test_nothing_of_it(void)
{
  static const struct {
    const char *what, *text;
  } bad[] = {
      {"another GPU", "# shunt costs 1 build=1 gpu=NVIDIA H100 driver=13000\ncommon launch 3\n"},
      {"a longer signature", "# shunt costs 1 " HERE "1\ncommon launch 3\n"},
      {"another version", "# shunt costs 2 " HERE "\ncommon launch 3\n"},
      {"an unknown line", HEAD "common launch 3\ncommons launch 3\n"},
      {"an unknown name", HEAD "common launch 3  launches 4\n"},
      {"a number missing", HEAD "common launch 3  stream\n"},
      {"a number that is none", HEAD "common launch 3x\n"},
      {"a comma", HEAD "common launch 3,5\n"},
      {"a negative number", HEAD "common launch -3\n"},
      {"infinity", HEAD "common launch 1e999\n"},
      {"nothing behind a line's name", HEAD "common launch 3\ncommon\n"},
      {"cuSPARSE of no version", HEAD "common launch 3\noriginal.wide start 7\n"},
      {"a version that is none", HEAD "common launch 3\ncusparse twelve\n"},
      {"a version twice", HEAD "common launch 3\ncusparse 12.6\ncusparse 12.6\n"},
      {"too many versions",
       HEAD "common launch 3\ncusparse 12.1\ncusparse 12.2\ncusparse 12.3\ncusparse 12.4\n"
            "cusparse 12.5\n"},
      {"a last line cut short", HEAD "common launch 3\ncommon batch_host 4"},
      {"an empty file", "\n"},
  };
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const char *why = read_text(bad[i].text);
    check(why && memcmp(&t, &shunt_costs_h200, sizeof t) == 0, "%s: nothing of the file counts",
          bad[i].what);
  }
}

/* ---- whose file it is ----------------------------------------------------------------------- */

static void test_owners(void)
{
  char folder[] = "/tmp/costs.XXXXXX", path[64], other[64];
  if (!check(mkdtemp(folder) != NULL, "a folder")) return;
  snprintf(path, sizeof path, "%s/costs", folder);
  snprintf(other, sizeof other, "%s/link", folder);
  FILE *f = fopen(path, "w");
  if (f) fputs(HEAD "common launch 3\n", f), fclose(f);
  shunt_costs_choose("NVIDIA H200", 132, &t);
  check(!shunt_costs_open(path, HERE, &t) && t.ours.common.launch == 3 && strcmp(t.from, path) == 0,
        "one's own file is read, and named");
  check(symlink(path, other) == 0 && shunt_costs_open(other, HERE, &t), "a symbolic link is not");
  check(chmod(path, 0666) == 0 && shunt_costs_open(path, HERE, &t), "nor what others may write");
  check(unlink(path) == 0 && shunt_costs_open(path, HERE, &t), "nor what is not there");
  unlink(other);
  rmdir(folder);
}

/* ---- the order in which tables are looked for ------------------------------------------------ */

static struct shunt_costs_here here;

static void write_table(const char *path, const char *text)
{
  unlink(path);
  FILE *f = fopen(path, "w");
  if (f) fputs(text, f), fclose(f);
}

static void test_found_in_order(const char *named, const char *calibrated)
{
  struct shunt_costs_refused refused = shunt_costs_find(&here, &t);
  check(!refused.calibrated && memcmp(&t, &shunt_costs_h200, sizeof t) == 0,
        "the built-in table where there is no other");
  write_table(calibrated, HEAD "common launch 4\n");
  refused = shunt_costs_find(&here, &t);
  check(!refused.calibrated && t.ours.common.launch == 4 &&
            strncmp(t.from, "calibrated, ", 12) == 0 && strstr(t.from, calibrated),
        "before it the calibrated one, which is named (%s)", t.from);
  here.signature = NULL;
  shunt_costs_find(&here, &t);
  check(t.ours.common.launch == 2, "not where the machine is not known");
  here.signature = HERE, here.named = named;
  write_table(named, HEAD "common launch 5\n");
  refused = shunt_costs_find(&here, &t);
  check(!refused.named && t.ours.common.launch == 5, "before that the one that the user names");
  write_table(named, HEAD "common lunch 5\n");
  refused = shunt_costs_find(&here, &t);
  check(refused.named && t.ours.common.launch == 4, "unless it does not count: %s", refused.named);
  here.named = NULL;
}

/* Why the calibrated table, here with this text and mode, does not count. */
static void test_refused(const char *what, const char *calibrated, const char *text, mode_t mode)
{
  write_table(calibrated, text);
  const bool changed = chmod(calibrated, mode) == 0;
  const struct shunt_costs_refused refused = shunt_costs_find(&here, &t);
  check(changed && refused.calibrated && memcmp(&t, &shunt_costs_h200, sizeof t) == 0, "not %s: %s",
        what, refused.calibrated ? refused.calibrated : "it counts");
}

static void test_refused_folder(const char *folder, const char *calibrated)
{
  char aside[PATH_MAX];
  struct shunt_costs_refused refused;
  write_table(calibrated, HEAD "common launch 4\n");
  check(chmod(folder, 0777) == 0, "a folder that others may write");
  refused = shunt_costs_find(&here, &t);
  check(refused.calibrated && t.ours.common.launch == 2, "has nothing that counts: %s",
        refused.calibrated ? refused.calibrated : "it counts");
  check(chmod(folder, 0700) == 0, "and is closed again");
  snprintf(aside, sizeof aside, "%.4000s.aside", folder);
  check(rename(folder, aside) == 0 && symlink(aside, folder) == 0, "a link to it");
  refused = shunt_costs_find(&here, &t);
  check(refused.calibrated && t.ours.common.launch == 2, "is none either: %s",
        refused.calibrated ? refused.calibrated : "it counts");
  check(unlink(folder) == 0 && rename(aside, folder) == 0, "as before");
}

static void test_calibrated(void)
{
  char top[] = "/tmp/costs-found.XXXXXX", folder[PATH_MAX], path[PATH_MAX], named[64];
  if (!check(mkdtemp(top) != NULL && setenv("XDG_CACHE_HOME", top, 1) == 0, "a folder")) return;
  snprintf(named, sizeof named, "%s/named", top);
  check(shunt_user_folder(folder) && !shunt_user_folder_make(folder) &&
            !shunt_user_folder_make(folder),
        "the user's folder is made once");
  check(shunt_costs_calibrated_path("NVIDIA H200", path) &&
            strstr(path, "/shunt/NVIDIA_H200.costs"),
        "a table is called by its GPU: %s", path);
  here = (struct shunt_costs_here){"NVIDIA H200", 132, HERE, NULL};
  test_found_in_order(named, path);
  test_refused("one of another machine", path,
               "# shunt costs 1 build=1 gpu=NVIDIA H100 driver=13000\ncommon launch 3\n", 0600);
  test_refused("one of another driver", path,
               "# shunt costs 1 build=1 gpu=NVIDIA H200 driver=12000\ncommon launch 3\n", 0600);
  test_refused("one of part of the GPU", path, HEAD "rates multiprocessors 66\n", 0600);
  test_refused("one that is cut short", path, HEAD "common launch 3\ncommon batch", 0600);
  test_refused("one that others may write", path, HEAD "common launch 3\n", 0666);
  test_refused_folder(folder, path);
  check(unlink(path) == 0 && symlink(named, path) == 0, "a link in its place");
  check(shunt_costs_find(&here, &t).calibrated != NULL, "is not followed");
  unlink(path), unlink(named), rmdir(folder), rmdir(top);
  unsetenv("XDG_CACHE_HOME"), setenv("HOME", "home", 1);
  check(!shunt_user_folder(folder) && !shunt_costs_calibrated_path("NVIDIA H200", path),
        "no folder where none is named by its whole path");
}

/* ---- a program whose numbers have commas ---------------------------------------------------- */

static void test_commas(void)
{
  char folder[] = "/tmp/costs-locale.XXXXXX";
  if (comma_locale_set(folder)) {
    const char *why = read_text(HEAD "common launch 2.5\n");
    check(!why && t.ours.common.launch == 2.5, "2.5 in a file is 2.5 where 2,5 is usual");
    check(strtod("2.5", NULL) == 2, "the program's locale stays");
  } else {
    check_skip("there is no locale with commas");
  }
  comma_locale_reset(folder);
}

int main(void)
{
  test_its_own();
  test_carried_by_rates();
  test_fitted_in_part();
  test_measured();
  test_versions();
  test_carried_by_multiprocessors();
  test_described();
  test_whole_file();
  test_nothing_of_it();
  test_owners();
  test_calibrated();
  test_commas();
  return check_finish();
}
