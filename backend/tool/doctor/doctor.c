/* doctor.c: shunt doctor: can Shunt serve this machine, and this program? */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/doctor/doctor.h"

static const char help[] =
    "Usage: shunt doctor [OPTION]... [--] [PROGRAM]...\n"
    "Say whether Shunt can serve this machine and PROGRAM: driver, GPUs, Shunt's\n"
    "libraries, whether a preload acts on PROGRAM, which copies of cuSPARSE and\n"
    "GraphBLAS it would load and how it binds them, and the files that Shunt would\n"
    "read.  PROGRAM is read, not run.  Without one: for programs of either library.\n"
    "\n"
    "      --root DIR  look at the system below DIR, as a container's root folder;\n"
    "                  no GPU is asked then\n"
    "      --json      print one JSON object\n"
    "  -h, --help      print this text and exit\n"
    "\n"
    "Each line is a finding: its topic, ok, note, warning or problem, and a text.\n"
    "A warning leaves Shunt working; a problem has to be mended first.\n"
    "\n"
    "Exit status: 0 Shunt works (perhaps with warnings), without PROGRAM for one of\n"
    "the two libraries at least; 1 there is a problem; 2 usage.\n";

enum { OPT_JSON = 256, OPT_ROOT };
static const struct option options[] = {{"json", no_argument, NULL, OPT_JSON},
                                        {"root", required_argument, NULL, OPT_ROOT},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

/* A library that was opened by name counts as used; the program's other libraries' own do not. */
static void note_wants(struct doctor *d)
{
  for (int i = 0; i < d->objects.count; i++)
    for (int k = 0; k < DOCTOR_KINDS; k++) {
      const struct doctor_use *u = &d->objects.list[i].use[k];
      d->wants[k] |= u->refers || u->opens || u->defines;
    }
}

static void ask(struct doctor *d, const char *program)
{
  doctor_read_settings(d);
  bool read = program && doctor_read_program(d, program);
  if (program)
    note_wants(d);
  else
    d->wants[DOCTOR_CUSPARSE] = d->wants[DOCTOR_GRAPHBLAS] = true;
  doctor_ask_driver(d);
  doctor_ask_toolkits(d);
  doctor_ask_install(d);
  if (read) doctor_ask_reach(d);
  if (read) doctor_ask_bindings(d);
  doctor_ask_settings(d);
  doctor_ask_shared(d);
}

static int doctor(int argc, char **argv)
{
  static struct doctor d; /* static: its settings hold a whole file */
  char root[PATH_MAX];
  bool json = false;
  int c;
  d = (struct doctor){.root = "", .findings.about = DOCTOR_KINDS};
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
    switch (c) {
    case OPT_JSON: json = true; break;
    case OPT_ROOT:
      if (!realpath(optarg, root)) {
        tool_say("--root: there is no folder '%s'", optarg);
        return EXIT_USAGE;
      }
      d.root = strcmp(root, "/") == 0 ? "" : root;
      break;
    case 'h': fputs(help, stdout); return EXIT_OK;
    default: return tool_bad_option("doctor", c, argv, options);
    }
  }
  char *const *program = argv + optind; /* NULL where none was named */
  ask(&d, program[0]);
  (json ? doctor_print_json : doctor_print)(&d.findings, program);
  const int status = doctor_can_serve(&d.findings, program) ? EXIT_OK : EXIT_BAD;
  doctor_findings_free(&d.findings);
  doctor_objects_free(&d.objects);
  return fflush(stdout) == 0 ? status : EXIT_BAD;
}

const struct tool_command tool_doctor = {"doctor", help, doctor};
