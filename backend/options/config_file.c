#include "backend/options/config_file.h"

#include <string.h>

#include "backend/options/user_file.h"

/* The text without the blanks around it; it is written to. */
static char *trim(char *s)
{
  static const char blanks[] = " \t\r";
  s += strspn(s, blanks);
  size_t n = strlen(s);
  while (n > 0 && strchr(blanks, s[n - 1])) n--;
  s[n] = 0;
  return s;
}

static void read_line(struct shunt_config *c, char *line, const char *path, int number,
                      struct shunt_complaints *complaints)
{
  char *const text = trim(line);
  if (*text == 0 || *text == '#') return;
  char *value = strchr(text, '=');
  if (!value) {
    shunt_complain(complaints, "%s:%d: '%s' is not NAME=VALUE", path, number, text);
    return;
  }
  *value++ = 0;
  const char *const name = trim(text);
  const int i = shunt_option_index(name);
  if (i >= 0 && shunt_option_table[i].environment_only)
    shunt_complain(complaints, "%s:%d: %s counts in the environment only", path, number, name);
  else if (i >= 0)
    c->value[i] = trim(value);
  else if (!shunt_option_is_of_tests(name))
    shunt_complain(complaints, "%s:%d: %s is not known; the nearest name is %s", path, number, name,
                   shunt_option_table[shunt_option_nearest(name)].name);
}

/* The whole file into c->text; else why not. */
static const char *read_text(const char *path, struct shunt_config *c)
{
  const char *why;
  FILE *f = shunt_user_file_open(path, &why);
  if (!f) return why ? why : "it could not be opened";
  const size_t n = fread(c->text, 1, sizeof c->text, f);
  if (ferror(f))
    why = "it could not be read";
  else if (n == sizeof c->text)
    why = "it is larger than 16 KiB";
  else if (memchr(c->text, 0, n))
    why = "it is no text";
  fclose(f);
  c->text[why ? 0 : n] = 0;
  return why;
}

bool shunt_config_read(const char *path, struct shunt_config *c,
                       struct shunt_complaints *complaints)
{
  memset(c->value, 0, sizeof c->value);
  const char *const why = read_text(path, c);
  if (why) {
    shunt_complain(complaints, "SHUNT_CONFIG=%s is not used: %s", path, why);
    return false;
  }
  int number = 1;
  for (char *line = c->text, *end; line; line = end, number++) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    read_line(c, line, path, number, complaints);
  }
  return true;
}
