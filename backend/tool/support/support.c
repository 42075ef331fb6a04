/* support.c: shunt support: which calls of cuSPARSE are taken, by which routes, and why others are
   not. */
#include <getopt.h>

#include "backend/tool/inspect/inspect.h"
#include "backend/tool/support/support.h"

static const char help[] =
    "Usage: shunt support [OPTION]...\n"
    "Print which calls of cuSPARSE are taken, by which routes, and why others are\n"
    "not, as this build and SHUNT_ROUTES have it.  Needs no GPU.\n"
    "\n"
    "      --gpu GPU  h200 (the default), h100, a100, a40, l40s, b200, rtx5090\n"
    "      --json     print JSON: a list of tables, the first row of each its head\n"
    "  -h, --help     print this text and exit\n"
    "\n"
    "A route named takes the call if the entries of the matrix and the columns are as\n"
    "it asks, and if it is expected to be faster than cuSPARSE; shunt inspect tells\n"
    "for a matrix.  shunt-support(7) has these tables, and those of GraphBLAS.\n"
    "\n"
    "Exit status: 0; 1 this build has no CUDA; 2 usage.\n";

enum { OPT_JSON = 256, OPT_GPU };
static const struct option options[] = {{"gpu", required_argument, NULL, OPT_GPU},
                                        {"json", no_argument, NULL, OPT_JSON},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

static int support(int argc, char **argv)
{
  int c, gpu[TOOL_LIST] = {0}, gpus = 1;
  bool json = false;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) switch (c) {
    case OPT_GPU: gpus = tool_parse_words("--gpu", optarg, inspect_gpu_words, gpu); break;
    case OPT_JSON: json = true; break;
    case 'h': fputs(help, stdout); return EXIT_OK;
    default: return tool_bad_option("support", c, argv, options);
    }
  if (gpus == 0) return EXIT_USAGE;
  if (gpus > 1) return tool_bad_usage("support", "--gpu takes one GPU");
  if (optind < argc) return tool_bad_usage("support", "it takes no arguments but options");
  const bool good = support_print_tables(gpu[0], json, stdout);
  return good && fflush(stdout) == 0 ? EXIT_OK : EXIT_BAD;
}

const struct tool_command tool_support = {"support", help, support};
