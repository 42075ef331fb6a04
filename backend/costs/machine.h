/* machine.h: what estimates know of the machine: the device, and what things take on it.

     tables/NAME.costs --make_built_in.awk--> C -- choose.c --.
     the file of SHUNT_COSTS                       -- read.c ---+-- find.c --> shunt_cost_table
     what shunt calibrate left in the user's folder -- read.c --'

   Kernels see struct shunt_device alone; the routes ask the estimates (backend/routes/cost/costs.h)
   and hand those the machine.  Pure, but for the files that shunt_costs_open and shunt_costs_find
   read; thread-safe.  */
#ifndef SHUNT_MACHINE_H
#define SHUNT_MACHINE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "backend/costs/cost_table.h"
#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shunt_machine {
  struct shunt_device device;
  const struct shunt_cost_table *costs;
};

/* ---- built in ------------------------------------------------------------------------------- */

extern const struct shunt_cost_table shunt_costs_h200, shunt_costs_h100;
/* All of them, then NULL.  Those without a time for a launch have rates, and the lines that were
   fitted there. */
extern const struct shunt_cost_table *const shunt_costs_built_in[];

/* ---- choose.c ------------------------------------------------------------------------------- */

/* Fills *out for a GPU of this name with so many multiprocessors.  A GPU that all was fitted to has
   its table.  One whose table has some lines has those, and else the nearest table's, carried over
   by the rates of both.  Any other is taken for a part, or a multiple, of an H200, by its
   multiprocessors.  gpu NULL: not known.  */
void shunt_costs_choose(const char *gpu, int multiprocessors, struct shunt_cost_table *out);

/* Were products of this route ("original": by cuSPARSE) timed on a GPU of this name for a built-in
   table?  False: its times there are another GPU's, carried over.  */
bool shunt_costs_are_measured(const char *gpu, const char *route);

/* The table of cuSPARSE 12.6 (126), or of the version next to it; 0: not known, the first. */
const struct shunt_original_costs *shunt_costs_of_original(const struct shunt_cost_table *t,
                                                           int cusparse);

/* "NVIDIA H200, cuSPARSE 12.6, 12.7, 12.9; built in" */
enum { SHUNT_COSTS_TEXT = 256 };
void shunt_costs_describe(const struct shunt_cost_table *t, char text[SHUNT_COSTS_TEXT]);

/* ---- read.c --------------------------------------------------------------------------------- */

/* Puts what the user's file says in the place of what *t says: all of it, or nothing if a line is
   not understood, or the first line is not "# shunt costs 1 " and `signature`.  NULL, or the reason
   why nothing of it counts.  The versions of cuSPARSE that the file has are the only ones then.  */
const char *shunt_costs_read(FILE *f, const char *signature, struct shunt_cost_table *t);

/* The same of the file at `path`, which only this user may be able to write (user_file.h). */
const char *shunt_costs_open(const char *path, const char *signature, struct shunt_cost_table *t);

/* ---- find.c --------------------------------------------------------------------------------- */

/* What is known of the GPU at hand, and what the user says. */
struct shunt_costs_here {
  const char *gpu; /* its name; NULL: not known */
  int multiprocessors;
  const char *signature; /* tune_machine.h; NULL: not known, so that no file counts */
  const char *named;     /* SHUNT_COSTS; NULL or "": nothing */
};
/* Why a file that is there does not count, in words; NULL: it does, or there is none. */
struct shunt_costs_refused {
  const char *named, *calibrated;
};
/* The table in use: the file of SHUNT_COSTS; else the one that shunt calibrate left for this very
   machine; else a built-in one, as shunt_costs_choose has it.  */
struct shunt_costs_refused shunt_costs_find(const struct shunt_costs_here *here,
                                            struct shunt_cost_table *out);

/* Where shunt calibrate leaves the table of such a GPU; false: nowhere (user_folder.h). */
bool shunt_costs_calibrated_path(const char *gpu, char path[PATH_MAX]);

#ifdef __cplusplus
}
#endif
#endif
