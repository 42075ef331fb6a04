#!/bin/sh
# README, the other documents and the man pages say what the sources do (check_documents.py), and
# the man pages are clean.  Each rule is also tried on a copy that breaks it.
set -u
sources=$(cd "${SHUNT_SRCDIR:?}" && pwd) || exit 2
. "$sources/tests/unit/tool/check.sh"
rules=$sources/tests/unit/tool/check_documents.py

check "the documents agree with the sources" 'python3 "$rules" "$sources"'
grep -q "^3[0-9] passed, 0 failed\$" out
ok $? "... in all rules"

# ---- a rule that is broken is told ---------------------------------------------------------
mkdir broken
(cd "$sources" && tar cf - backend conv kernels m4 tests/bench tests/clients tests/unit tests/gpu \
  tests/graphblas tests/emulator tests/*.sh README.md) | (cd broken && tar xf -)
chmod -R u+w broken
# broken TEXT FILE SED-SCRIPT: with FILE so changed, one "not ok" holds TEXT.
broken() {
  cp "broken/$2" whole
  sed "$3" whole >"broken/$2"
  if cmp -s whole "broken/$2"; then
    false
  else
    python3 "$rules" broken >out 2>err
    [ $? -eq 1 ] && grep '^not ok' out | grep -q -F -e "$1"
  fi
  ok $? "told: $1"
  cp whole "broken/$2"
}
man=backend/tool/man
broken "shunt-env(7): SHUNT_VERIFY" $man/shunt-env.7 's/^\.B SHUNT_VERIFY$/.B SHUNT_VERIFI/'
table=backend/options/option_table.c
broken "is in the table: SHUNT_VERIFI" $man/shunt-env.7 's/^\.B SHUNT_VERIFY$/.B SHUNT_VERIFI/'
broken "stands in shunt-env(7): SHUNT_NEW" $table 's/"SHUNT_TUNE_FILE"/"SHUNT_NEW"/'
broken "begins with its sentence: SHUNT_TUNE" $table 's/preprocess measures/preprocess times/'
broken "names its default: SHUNT_LOG_FILE" $table 's/"standard error"/"none"/'
rows=$(grep -c '\.name = "SHUNT_' "$sources/$table")
broken "options were found: $((rows - 1))" $table 's/\.name = "SHUNT_LOG"/.title = "SHUNT_LOG"/'
broken "is read is in the table: SHUNT_HOME" backend/tool/launch.c \
  's/"SHUNT_LIBDIR")/"SHUNT_HOME")/'
broken "that a script reads: SHUNT_CONFIGURE" $table 's/"SHUNT_CONFIGURE", //'
broken "accepted stands in shunt-env(7): tf32x4" $table 's/"exact", "tf32", /&"tf32x4", /'
broken "paragraph in shunt-cusparse(7): tile" $man/shunt-cusparse.7 's/^\.B tile$/.B tiles/'
broken "help of shunt run: bundle" backend/tool/run.c 's/csr,bundle,/csr,/'
broken "earlier name stands in shunt-env(7): merged" $man/shunt-env.7 's/^\.B merged$/.B mixed/'
broken "with its sentence: copy" $man/shunt-env.7 's/^repeated columns/Repeated columns/'
broken "in shunt-troubleshooting(7): copies, copy" $man/shunt-troubleshooting.7 \
  's/^\.B copy$/.B copies/'
broken "which is that of the report: mask" $man/shunt-troubleshooting.7 \
  's/want a sparse mask/want a mask/'
broken "which is that of the report: small" backend/tool/report/report_words.c \
  's/than the way round/than this/'
broken "stands in shunt(1): d.packed" $man/shunt.1 's/d\.packed/d.kept/'
broken "in shunt-cusparse(7): cusparseCreateBsr" $man/shunt-cusparse.7 's/cusparseCreateBsr//'
broken "man page is installed: shunt-env.7" backend/tool/local.mk 's,%D%/man/shunt-env.7,,'
broken "names pages that exist: shunt-none.7" $man/shunt.1 \
  's/^\.BR shunt-env (7),$/.BR shunt-none (7),/'
broken "backend/README.md names exists: backend/routes/no.c" backend/README.md \
  's,backend/routes/table\.c,backend/routes/no.c,'
broken "180 lines: " README.md 'p;p'

# ---- the pages themselves ----------------------------------------------------------------------
if command -v groff >/dev/null 2>&1; then
  for page in "$sources/$man"/*; do
    groff -man -ww -Tutf8 "$page" >out 2>err && [ -s out ] && [ ! -s err ]
    ok $? "groff has no warning about $(basename "$page")"
  done
  printf '.TH X 1\n.SH NAME\n.NOSUCH macro\n' >wrong.1
  groff -man -ww -Tutf8 wrong.1 >out 2>err
  [ -s err ]
  ok $? "groff warns"
else
  skip "groff is not installed: the man pages' own text is not checked"
fi

finish
