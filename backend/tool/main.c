/* main.c: finds the command that the first word names. */
#include <string.h>

#include "backend/tool/tool.h"

static const struct tool_command *const commands[] = {&tool_run,    &tool_bench,   &tool_inspect,
                                                      &tool_model,  &tool_options, &tool_demo,
                                                      &tool_doctor, &tool_support, &tool_calibrate};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char help[] =
    "Usage: shunt COMMAND [OPTION]... [ARGUMENT]...\n"
    "Faster cusparseSpMM, cusparseSDDMM and GrB_mxm for programs as they are.\n"
    "\n"
    "Commands:\n"
    "  run      run a program with its calls rerouted, and say what was gained\n"
    "  bench    time every route against cuSPARSE and cuBLAS on one matrix\n"
    "  inspect  print and draw what a matrix's pattern looks like (no GPU needed)\n"
    "  model    print the bytes that each traversal of a matrix moves (no GPU needed)\n"
    "  options  print every variable that may be set, and its value\n"
    "  demo     time one program on a real matrix, without Shunt and with it\n"
    "  doctor   say whether Shunt can serve this machine and a program\n"
    "  calibrate  measure this GPU, so that routes are chosen by its own times\n"
    "  support  print which calls are taken, by what, and why others are not\n"
    "  kernelspec install|remove  a Jupyter kernel (in Python's package only)\n"
    "\n"
    "Options:\n"
    "      --help     print this text and exit; also after a COMMAND\n"
    "      --version  print the version and exit\n"
    "\n"
    "Exit status: 0 success; 1 malformed input, a wrong result, or a complaint of\n"
    "doctor, options or support; 2 usage.  `shunt run` exits with its program's\n"
    "status.  See shunt(1).\n";

/* --help anywhere before "--" or the first plain word. */
static bool wants_help(int argc, char **argv)
{
  for (int i = 1; i < argc && argv[i][0] == '-'; i++) {
    if (strcmp(argv[i], "--") == 0) return false;
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  }
  return false;
}

int main(int argc, char **argv)
{
  const char *word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
    fputs(help, stdout);
    return EXIT_OK;
  }
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
    printf("shunt %s\n", PACKAGE_VERSION);
    return EXIT_OK;
  }
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(word, commands[i]->name) != 0) continue;
    if (wants_help(argc - 1, argv + 1)) {
      fputs(commands[i]->help, stdout);
      return EXIT_OK;
    }
    return commands[i]->run(argc - 1, argv + 1);
  }
  if (argc < 2)
    fputs(help, stderr);
  else if (strcmp(word, "kernelspec") == 0)
    tool_say("kernelspec is a command of Python's package: pip install shunt-*.whl");
  else
    tool_say("unknown %s '%s'; the commands are run, bench, inspect, model, options, demo, doctor, "
             "calibrate, support (see shunt --help)",
             word[0] == '-' ? "option" : "command", word);
  return EXIT_USAGE;
}
