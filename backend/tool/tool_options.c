/* tool_options.c: shunt options, and what other commands ask of the options.

   The tool reads them as the libraries do (backend/options/options.h).  What is not understood
   `shunt options` says; of what a program is run with the library in it warns, once there is a
   call.  */
#include <getopt.h>
#include <glob.h>
#include <string.h>

#include "backend/options/options.h"
#include "backend/options/user_file.h"
#include "backend/options/user_folder.h"
#include "backend/tool/tool.h"

static const char help[] =
    "Usage: shunt options [--json]\n"
    "Print every variable that sets Shunt's libraries: its value here and now, its\n"
    "default, where it is set (environment, the file of SHUNT_CONFIG, default), and\n"
    "what it means; and the calibrated tables of costs, where SHUNT_COSTS is not set.\n"
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

/* What a calibrated table says that it is of, or why it does not count. */
static void print_calibrated(const char *folder, const char *path)
{
  char line[512] = "";
  const char *why = shunt_user_folder_objection(folder), *refused = NULL;
  FILE *f = shunt_user_file_open(path, &refused);
  if (!why) why = refused;
  if (!why && (!f || !fgets(line, sizeof line, f) || strncmp(line, "# shunt costs 1 ", 16) != 0))
    why = "it is no table of costs";
  if (f) fclose(f);
  line[strcspn(line, "\n")] = 0;
  tool_clean(line);
  printf("costs: %s %s%s\n", path, why ? "is not used: " : "where it is ", why ? why : line + 16);
}

/* Which table of costs would be looked at first, as no GPU is asked here. */
static void print_costs(const struct shunt_options_reading *r)
{
  const int named = shunt_option_index("SHUNT_COSTS");
  char folder[PATH_MAX], pattern[PATH_MAX + 16];
  glob_t found = {.gl_pathc = 0};
  if (r->setting[named].text) return;
  if (shunt_user_folder(folder)) {
    snprintf(pattern, sizeof pattern, "%s/*.costs", folder);
    glob(pattern, 0, NULL, &found);
  }
  for (size_t i = 0; i < found.gl_pathc; i++) print_calibrated(folder, found.gl_pathv[i]);
  if (found.gl_pathc == 0) puts("costs: no table is calibrated; the built-in one is used");
  globfree(&found);
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
  if (!json) print_costs(&reading);
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

void tool_option_complain(FILE *to)
{
  static struct shunt_options_reading reading;
  struct shunt_complaints complaints = {.to = to};
  shunt_options_read(&reading, &complaints);
}
