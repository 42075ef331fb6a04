/* tool_options.c: shunt options, and what other commands ask of the options.

   The tool reads them as the libraries do (backend/options/options.h).  Only `shunt options` says
   what is not understood: what a program is run with, the library in it warns of.  */
#include <getopt.h>
#include <string.h>

#include "backend/options/options.h"
#include "backend/tool/tool.h"

static const char help[] =
    "Usage: shunt options [--json]\n"
    "Print every variable that sets Shunt's libraries: its value here and now, its\n"
    "default, where it is set (environment, the file of SHUNT_CONFIG, default), and\n"
    "what it means.\n"
    "Names and values that are not understood go to standard error, a line each.\n"
    "\n"
    "      --json   a JSON array\n"
    "  -h, --help   print this text and exit\n"
    "\n"
    "Exit status: 0; 1 something was not understood; 2 usage.  See shunt-env(7).\n";

static const char *value_of(const struct shunt_options_reading *r, int i)
{
  return r->setting[i].text ? r->setting[i].text : shunt_option_table[i].otherwise;
}

static const char *source_of(const struct shunt_options_reading *r, int i)
{
  static const char *const words[] = {"default", "environment", "file"};
  return words[r->setting[i].source];
}

static void print_table(const struct shunt_options_reading *r)
{
  int width = (int)sizeof "VALUE" - 1;
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++) {
    const int n = (int)strlen(value_of(r, i));
    if (n > width) width = n;
  }
  printf("%-19s  %-*s  %-30s  %-11s  %s\n", "NAME", width, "VALUE", "DEFAULT", "SET BY", "MEANING");
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++)
    printf("%-19s  %-*s  %-30s  %-11s  %s\n", shunt_option_table[i].name, width, value_of(r, i),
           shunt_option_table[i].otherwise, source_of(r, i), shunt_option_table[i].sentence);
}

static void print_field(const char *name, const char *value, const char *end)
{
  printf("\"%s\": ", name);
  tool_json_string(stdout, value);
  fputs(end, stdout);
}

static void print_json(const struct shunt_options_reading *r)
{
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++) {
    printf("%s\n  {", i ? "," : "[");
    print_field("name", shunt_option_table[i].name, ", ");
    print_field("value", value_of(r, i), ", ");
    print_field("default", shunt_option_table[i].otherwise, ", ");
    print_field("set_by", source_of(r, i), ", ");
    print_field("meaning", shunt_option_table[i].sentence, "}");
  }
  printf("\n]\n");
}

static int run_options(int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  static struct shunt_options_reading reading;
  struct shunt_complaints complaints = {.to = stderr};
  bool json = false;
  int c;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    switch (c) {
    case 'j': json = true; break;
    case 'h': fputs(help, stdout); return EXIT_OK;
    default: return tool_bad_option("options", c, argv, options);
    }
  }
  if (optind < argc) return tool_bad_usage("options", "there is nothing to give it");
  shunt_options_read(&reading, &complaints);
  (json ? print_json : print_table)(&reading);
  return complaints.count ? EXIT_BAD : EXIT_OK;
}

const struct tool_command tool_options = {"options", help, run_options};

/* ---- for other commands --------------------------------------------------- */

static const struct shunt_options_reading *read_once(void)
{
  static struct shunt_options_reading reading;
  static bool done;
  struct shunt_complaints unheard = {.to = NULL};
  if (!done) shunt_options_read(&reading, &unheard);
  done = true;
  return &reading;
}

const char *tool_option_text(const char *name)
{
  const int i = shunt_option_index(name);
  return i < 0 ? NULL : read_once()->setting[i].text;
}

bool tool_option_strict(void)
{
  return read_once()->options.strict;
}

bool tool_option_disable(void)
{
  return read_once()->options.disable;
}
