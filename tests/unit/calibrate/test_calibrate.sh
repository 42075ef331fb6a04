#!/bin/sh
# test_calibrate.sh: shunt calibrate from outside, on timings of files.  SHUNT: the binary; srcdir:
# the source tree.  Needs no GPU.
SHUNT=${SHUNT:-./shunt}
srcdir=${srcdir:-.}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
recorded=$(cd "$srcdir" && pwd)/tests/bench/results/csr
tables=$(cd "$srcdir" && pwd)/backend/costs/tables
. "$srcdir/tests/unit/tool/check.sh"
unset SHUNT_COSTS SHUNT_CONFIG SHUNT_DATA
XDG_CACHE_HOME=$work/cache
HOME=$work/home
export XDG_CACHE_HOME HOME

# expect STATUS TEXT COMMAND...: the command's output goes to the files out and err.
expect() {
  want=$1 text=$2
  shift 2
  "$@" >out 2>err </dev/null
  got=$?
  [ $got -eq "$want" ]
  ok $? "$text (status $got)"
}
has() { grep -q -F -e "$2" "$1"; ok $? "... says '$2' on $1"; }

# ---- what was measured on an H200 -----------------------------------------------------------
expect 0 "a table from recorded timings" "$SHUNT" calibrate -v --from "$recorded/times.tsv" -o table
sed '$d' out | cmp -s - "$recorded/regret.txt"
ok $? "... and its worth, as results/csr/regret.txt has it"
has out "the table is table"
[ ! -e cache ]
ok $? "... with -o nothing goes to the cache folder"
# mean NAME: the mean regret of the three algorithms behind the line that begins with NAME.
mean() {
  sed -n "/^$1/,\$p" out | awk '/mean regret/ { s += $6; if (++n == 3) { print s; exit } }'
}
awk "BEGIN { exit !($(mean 'the choice ') <= $(mean 'by the built-in table') + 3 * 0.2) }"
ok $? "... left-out matrices lose hardly more than by the built-in table, which was fitted to them"
[ "$(sed -n 1p table)" = "# shunt costs 1 build=0.1.0 gpu=NVIDIA H200 driver=13000" ]
ok $? "... signed by the machine that was measured"
grep -q '^# 201 cases of 34 matrices, 1.19 off' table && grep -q '^cusparse 12.6$' table
ok $? "... with what each line was fitted to"
awk '/^[^#]/ && NF % 2 == 0 && $1 != "cusparse" || /e\+/ { bad = 1 } END { exit bad }' table
ok $? "... in the form of the built-in tables"

sed 's/^\(3dtube f64 16 \([^ ]* \)\{6\}\)[^ ]*/\11.0/' "$recorded/times.tsv" >other.tsv
expect 0 "from another time" "$SHUNT" calibrate -v --from other.tsv -o table
! sed '$d' out | cmp -s - "$recorded/regret.txt"
ok $? "... comes another regret"

# ---- the built-in tables are these fits ---------------------------------------------------------
# differing TABLE VERSION: coefficients of the fit that are more than 1 % from the built-in ones.
differing() {
  awk -v version="$2" '
    $1 == "cusparse" { in_it = $2 == version }
    !in_it || !/^original\./ { next }
    { for (i = 2; i < NF; i += 2) if (FNR == NR) built[$1, $i] = $(i + 1)
      else { if (!($1 in known)) continue
        x = built[$1, $i] + 0; y = $(i + 1); d = x > y ? x - y : y - x
        if (d > 0.01 * (x > y ? x : y)) print $1, $i, x, y } }
    FNR == NR { known[$1] = 1 }' "$1" table
}
for version in 12.7 12.9; do
  gzip -dc "$recorded/../versions/fitted-h200-$version.tsv.gz" >timings.tsv
  expect 0 "cuSPARSE $version on an H200" "$SHUNT" calibrate --from timings.tsv -o table
  check "... the built-in table has this fit" '[ -z "$(differing \
    "$tables/h200-cusparse-$version.costs" $version | tee /dev/stderr)" ]'
done

# ---- what the choice is worth, matrices left out ----------------------------------------------
for version in 12.6 12.7 12.9; do
  gzip -dc "$recorded/times-h200-$version.tsv.gz" >timings.tsv
  expect 0 "133 matrices, cuSPARSE $version" "$SHUNT" calibrate -v --from timings.tsv -o table
  [ "$(sed '/^by the built-in/q' out | awk '/^  default/ { getline; print $NF }')" = 0 ]
  ok $? "... none is below 0.98 of its default"
done

# ---- where it goes --------------------------------------------------------------------------
timings=$recorded/times.tsv
place=$work/cache/shunt/NVIDIA_H200.costs
expect 0 "a table for this user" "$SHUNT" calibrate --from "$timings"
has out "the table is $place"
[ "$(stat -c %a cache/shunt)" = 700 ] && [ "$(stat -c %a "$place")" = 600 ]
ok $? "... which nobody else may write"
[ "$(wc -l <out)" -lt 50 ] && ! grep -q '.\{121\}' out
ok $? "... in fewer than 50 lines"
expect 0 "options name it" "$SHUNT" options
has out "costs: $place where it is build=0.1.0 gpu=NVIDIA H200 driver=13000"
if [ "$("$SHUNT" --version)" = "shunt 0.1.0" ]; then
  expect 0 "a second time" "$SHUNT" calibrate --from "$timings"
  has out "by the new table all of 1944 choices stay as they are"
  expect 0 "by a named table" env SHUNT_COSTS=none "$SHUNT" calibrate --from "$timings"
  has out "SHUNT_COSTS=none comes before it"
fi
chmod 777 cache/shunt
expect 1 "a folder that others may write" "$SHUNT" calibrate --from "$timings"
has err "the table is not written: others may write its folder"
chmod 700 cache/shunt
chmod 666 "$place"
expect 1 "a table that others may write is not replaced" "$SHUNT" calibrate --from "$timings"
has err "could not be written"
rm "$place"
ln -s "$work/elsewhere" "$place"
expect 1 "nor a link" "$SHUNT" calibrate --from "$timings"
[ ! -e elsewhere ]
ok $? "... nothing is written through it"
mv cache/shunt aside
ln -s "$work/aside" cache/shunt
expect 1 "a folder that is a link" "$SHUNT" calibrate --from "$timings"
has err "its folder is a symbolic link"
: >file
expect 1 "no room for a folder" env XDG_CACHE_HOME="$work/file" "$SHUNT" calibrate --from "$timings"
has err "its folder cannot be made"
expect 1 "no folder at all" env -u XDG_CACHE_HOME -u HOME "$SHUNT" calibrate --from "$timings"
has err "-o FILE"
expect 0 "in the home folder" env -u XDG_CACHE_HOME "$SHUNT" calibrate --from "$timings"
[ -s home/.cache/shunt/NVIDIA_H200.costs ]
ok $? "... where there is no other"
expect 1 "a table into no folder" "$SHUNT" calibrate --from "$timings" -o none/table
has err "none/table: the table could not be written"
XDG_CACHE_HOME=$work/worse
# Where cuSPARSE's times follow no rule, no fit is better than the built-in table's.
awk 'NR > 3 { for (i = 12; i <= 15; i++) $i *= exp(3 * sin(NR * 12.9898 + i * 78.233)) }
  { print }' "$timings" >noise
expect 0 "a table that is worth less" "$SHUNT" calibrate --from noise
has out "no table is written: the built-in one chooses better"
[ ! -e "$work/worse" ]
ok $? "... and none is"
expect 0 "... but where it is asked for" "$SHUNT" calibrate --from noise -o noisy
has out "the table is noisy"

# ---- hostile timings ------------------------------------------------------------------------
head -60 "$timings" >good
# bad TEXT WORDS COMMAND...: the command's output is refused, in words.
bad() {
  text=$1 words=$2
  shift 2
  "$@" >hostile
  expect 1 "refused: $text" "$SHUNT" calibrate --from hostile -o refused
  has err "$words"
  [ ! -e refused ]
  ok $? "... and no table is written"
}
bad "an empty file" "no file of timings" true
bad "another file" "no file of timings" echo "matrix type n"
bad "no machine" "the machine is not understood" sed 2d good
bad "a machine of words" "the machine is not understood" sed '2s/132/many/' good
bad "a machine of no multiprocessors" "the machine is not understood" sed '2s/132/0/' good
bad "more behind the machine" "the machine is not understood" sed '2s/$/ more/' good
bad "no GPU" "no file of timings" sed '1s/gpu=NVIDIA H200 //' good
bad "a GPU with a long name" "no file of timings" sed "1s/H200/$(printf %080d 0)/" good
bad "a driver that is no number" "no file of timings" sed '1s/13000/new/' good
bad "control characters" "no file of timings" sed '1s/H200/\x1b[2J/' good
bad "a column too few" "no column 'csr'" sed '3s/ csr / other /' good
bad "a column twice" "twice" sed '3s/alg2/alg1/' good
bad "words too few" "line 4: there are fewer words" sed '4s/ [^ ]*$//' good
bad "words too many" "line 4: there are more words" sed '4s/$/ 1/' good
bad "a type that is not fitted" "is no type" sed '4s/ f16 / i8 /' good
bad "a number that is none" "is no nnz" sed '4s/3213618/3213618x/' good
bad "a huge number" "is no rows" sed '4s/ 45330 / 99999999999999999999 /' good
bad "more entries than fit" "no matrix has such sizes" sed '4s/ 45330 45330 / 45 45 /' good
bad "no columns of B" "columns of B" sed '4s/ f16 8 / f16 0 /' good
bad "a negative number" "is no n" sed '4s/ f16 8 / f16 -8 /' good
bad "a longest row shorter than the mean" "longest" sed '4s/ 2364 / 3 /' good
bad "a time that is none" "is no csr" sed '4s/21.26/fast/' good
bad "a time of nothing" "is no csr" sed '4s/21.26/0/' good
bad "an infinite time" "is no csr" sed '4s/21.26/1e999/' good
bad "a hexadecimal NaN" "is no csr" sed '4s/21.26/nan/' good
bad "bundle without vectors" "without vectors" sed '4s/ 21.26 - / 21.26 5 /' good
bad "more waiting than there may be" "rows cannot differ so" \
  sed '3s/ alg2 / idle /; 4s/ 152.86 / 99999999 /' good
bad "a last line cut short" "ends too early" head -c 5000 good
bad "rows longer than the longest" "rows cannot be so long" \
  sed '3s/ alg2 / lengths /; 4s/ 152.86 / 45330,9,9,9,9,9,9,9,9,9,9,9 /' good
bad "more long rows than short ones" "rows cannot be so long" \
  sed '3s/ alg2 / lengths /; 4s/ 152.86 / 9,99,9,9,9,9,9,9,9,9,9 /' good
bad "lengths that are none" "is no lengths" sed '3s/ alg2 / lengths /; 4s/ 152.86 / 9,x /' good
bad "a zero byte" "ends too early" sed '5s/f16/\x00/' good
bad "a line without end" "too long" sed "4s/\$/$(printf %2000d 0)/" good
bad "no cases" "there are no cases" head -3 good
bad "few matrices" "a fit takes more than 6 matrices" cat good
for cut in 1 40 57 100 200 1000 4000; do
  head -c $cut good >hostile
  "$SHUNT" calibrate --from hostile -o refused >out 2>err
  [ $? -eq 1 ] && [ -s err ] && [ ! -e refused ]
  ok $? "refused: the first $cut bytes"
done
expect 1 "timings that are not there" "$SHUNT" calibrate --from none
has err "none: "
expect 1 "a folder" "$SHUNT" calibrate --from "$work"

# ---- usage ----------------------------------------------------------------------------------
expect 2 "a matrix beside timings" "$SHUNT" calibrate --from good band:50:2:1
expect 2 "no minutes" "$SHUNT" calibrate --minutes 0
expect 2 "too many minutes" "$SHUNT" calibrate --minutes 11
expect 2 "timings of timings" "$SHUNT" calibrate --from good --save-timings again
expect 1 "measuring without a GPU" env CUDA_VISIBLE_DEVICES= "$SHUNT" calibrate --minutes 1 \
  --save-timings saved
has err "nothing can be measured"
[ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] && [ ! -e saved ]
ok $? "... says so in one line"
finish
