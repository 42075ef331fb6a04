#!/bin/sh
# test_module.sh: `python -m shunt`: which words go to `shunt run`, which to Python.  The package's
# Python code, with a stand-in for the program that prints what it was called with.
# SHUNT: the binary, whose options are compared; srcdir: the source tree.
SHUNT=${SHUNT:-./shunt}
srcdir=${srcdir:-.}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
srcdir=$(cd "$srcdir" && pwd)
. "$srcdir/tests/unit/tool/check.sh"
python=$(python3 -c 'import sys; print(sys.executable)' 2>err) || {
  skip "python3 is not installed"
  finish
}
mkdir -p shunt/bin
cp "$srcdir"/backend/packaging/shunt/*.py shunt/
echo 'version = "0"' >shunt/version.py
printf '#!/bin/sh\nfor word; do printf "%%s|" "$word"; done\n' >shunt/bin/shunt
chmod +x shunt/bin/shunt
# becomes WORDS OF SHUNT - WORDS OF MODULE: what the program is called with; PY is this Python.
becomes() {
  want=$1
  shift
  got=$("$python" -B -m shunt "$@" 2>err)
  [ "$got" = "$(echo "$want" | sed "s,PY,$python,")" ]
  status=$?
  echo "$got" >out
  ok $status "python -m shunt $*"
}
becomes 'run|--|PY|train.py|a|-b|' train.py a -b
becomes 'run|--|PY|./train|' ./train
becomes 'run|--|PY|-m|platform|' -m platform
becomes 'run|--|PY|-c|print()|' -c 'print()'
becomes 'run|--|PY|-u|train.py|--report|x|' -u train.py --report x
becomes 'run|--report|x.html|--|PY|train.py|' --report x.html train.py
becomes 'run|--report=x.html|--strict|--|PY|-u|train.py|' --report=x.html --strict -u train.py
becomes 'run|-r|x.html|-x|--json|y|--|PY|-m|platform|' -r x.html -x --json y -m platform
becomes 'run|-rx.html|--|PY|train.py|' -rx.html train.py
becomes 'run|--routes|csr|--require|csr|--no-dlsym|--|PY|train.py|' \
  --routes csr --require csr --no-dlsym train.py
becomes 'run|--rep|x|--|PY|train.py|' --rep x train.py
becomes 'run|--measure|--|PY|-x|' --measure -- -x
becomes 'run|--report|x|' --report x
becomes 'run|--|echo|yes|' run -- echo yes
becomes 'doctor|--|train.py|' doctor -- train.py
becomes '--version|' --version

# Which of its options take a word, as `shunt run --help` has it.
"$SHUNT" run --help >help 2>err
sed -n 's/^ *\(-[a-z], \)*\(--[a-z-]*\) [A-Z].*/\2/p' help | sort >real
"$python" -B -c 'from shunt.__main__ import WITH_ARGUMENT
print("\n".join(sorted(WITH_ARGUMENT)))' >known 2>err
[ -s real ] && cmp real known >out 2>&1
ok $? "the options of shunt run that take a word are known"
sed -n 's/^ *-\([a-z]\), \(--[a-z-]*\).*/-\1/p' help | grep -v -x -e -h | sort >real
"$python" -B -c 'from shunt.__main__ import LETTER, LETTER_WITH_ARGUMENT as other
print("\n".join(sorted((LETTER, other))))' >known 2>err
[ -s real ] && cmp real known >out 2>&1
ok $? "and those of one letter"
"$python" -B -m shunt --help >out 2>err
for word in kernelspec --report SCRIPT; do
  grep -q -e "$word" out
  ok $? "--help names $word"
done
[ "$(sed '/^--help|$/d' out | wc -l)" -le 24 ]
ok $? "... on a screen"
"$SHUNT" --help >out 2>err
grep -q kernelspec out
ok $? "shunt --help names kernelspec"
"$SHUNT" kernelspec install >out 2>err
[ $? -eq 2 ] && grep -q "Python's package" err
ok $? "... and the program alone says where it is"
finish
