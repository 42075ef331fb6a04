# make_built_in.awk: writes built_in.c, the built-in tables as C, from names.h and the tables.
#
#   awk -f make_built_in.awk names.h tables/*.costs >built_in.c
#
# A table's file is NAME.costs; NAME-cusparse-X.Y.costs adds to it what cuSPARSE takes there; lines
# that a second version lacks are those of the table's first.  A name that names.h does not have, a
# coefficient that is named twice, or a number that is none ends it.

function fail(why)
{
  print FILENAME ":" FNR ": " why >"/dev/stderr"
  failed = 1
  exit 1
}

# ---- names.h ------------------------------------------------------------------------------------

FILENAME ~ /names\.h$/ && /^#define SHUNT_[A-Z0-9_]+_FIELDS\(/ {
  kind = $2
  sub(/\(.*/, "", kind)
}
FILENAME ~ /names\.h$/ && /^#define SHUNT_[A-Z0-9_]+_LINES\(/ { kind = "" }
# F(line, at, name, .member, FIXED)
FILENAME ~ /names\.h$/ && kind && /^ *F\(line, at, / {
  split($0, part, /, */)
  fields[kind] = fields[kind] " " part[3] " " part[4]
}
# SHUNT_X_FIELDS(F, "line", place)
FILENAME ~ /names\.h$/ && /^ *SHUNT_[A-Z0-9_]+_FIELDS\(F, "/ {
  split($0, part, /[(,) "]+/)
  n = split(fields[part[2]], word, " ")
  if (n == 0) fail("no fields of " part[2])
  for (i = 1; i < n; i += 2) place[part[4], word[i]] = part[5] word[i + 1]
}
FILENAME ~ /names\.h$/ { next }

# ---- tables -------------------------------------------------------------------------------------

FNR == 1 {
  table = FILENAME
  sub(/.*\//, "", table)
  sub(/-cusparse.*|\.costs$/, "", table)
  if (!(table in gpu)) order[++tables] = table
  if (!sub(/^# shunt costs 1 gpu=/, "")) fail("no head")
  if (table in gpu && gpu[table] != $0) fail("another GPU")
  gpu[table] = $0
  version = -1
  next
}
{ sub(/#.*/, "") }
NF == 0 { next }
$1 == "cusparse" {
  split($2, part, ".")
  version = versions[table]++
  text[table] = text[table] "    .cusparse[" version "] = " part[1] part[2] ",\n"
  next
}
{
  if (NF % 2 == 0) fail("a name or a number is missing")
  for (i = 2; i < NF; i += 2) {
    if (!(($1, $i) in place)) fail("there is no " $1 " " $i)
    where = place[$1, $i]
    if (where ~ /^original/ && version < 0) fail("no version before " $1)
    if (where ~ /^original/) has[table, version, $1] = 1
    if (where ~ /^original/ && version == 0) {
      first = firsts[table]++
      first_line[table, first] = $1
      first_where[table, first] = where
      first_number[table, first] = $(i + 1)
    }
    sub(/^original\[0\]/, "original[" version "]", where)
    if ((table, where) in seen) fail($1 " " $i " stands there twice")
    if ($(i + 1) !~ /^[0-9]+(\.[0-9]+)?(e-?[0-9]+)?$/) fail($(i + 1) " is no number")
    seen[table, where] = 1
    if ($1 == "common") is_whole[table] = 1
    text[table] = text[table] "    ." where " = " $(i + 1) ",\n"
  }
}

function inherit(table, version, i, where)
{
  for (i = 0; i < firsts[table]; i++) {
    if ((table, version, first_line[table, i]) in has) continue
    where = first_where[table, i]
    sub(/^original\[0\]/, "original[" version "]", where)
    text[table] = text[table] "    ." where " = " first_number[table, i] ",\n"
  }
}

END {
  if (failed) exit 1
  print "/* built_in.c: made by make_built_in.awk; the numbers stand in tables/. */"
  print "#include \"backend/costs/machine.h\"\n"
  for (t = 1; t <= tables; t++) {
    table = order[t]
    for (v = 1; is_whole[table] && v < versions[table]; v++) inherit(table, v)
    print "const struct shunt_cost_table shunt_costs_" table " = {"
    print "    .gpu = \"" gpu[table] "\",\n    .from = \"built in\","
    printf "%s};\n\n", text[table]
  }
  print "const struct shunt_cost_table *const shunt_costs_built_in[] = {"
  for (t = 1; t <= tables; t++) print "    &shunt_costs_" order[t] ","
  print "    0};"
}
