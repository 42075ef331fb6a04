#!/bin/sh
# test_plots.sh: tests/bench/plot_suite.py draws what `shunt bench` wrote.
set -u
SHUNT=${SHUNT:?}
plot=${SHUNT_SRCDIR:?}/tests/bench/plot_suite.py
. "$SHUNT_SRCDIR/tests/unit/tool/check.sh"

# drawn FILE ELEMENT NUMBER: well-formed, with so many elements.
drawn() {
  python3 - "$1" "$2" "$3" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
found = len(tree.parse(sys.argv[1]).getroot().findall("{http://www.w3.org/2000/svg}" + sys.argv[2]))
print(found, sys.argv[2])
sys.exit(found != int(sys.argv[3]))
PYTHON
}

"$SHUNT" bench --host --quick -t f32 -n 4,8 -o results.json \
  random:64x64:0.5:8 random:64x64:0.1:8 random:64x64:0.1:4 >out 2>&1
python3 - <<'PYTHON'
import json
data = json.load(open("results.json"))
for case in data["cases"]:
    case["ways"].append({"way": "cusparse-default", "ours": False, "us": 5.0})
json.dump(data, open("results.json", "w"))
PYTHON
check "boxes are drawn" 'python3 "$plot" --over cusparse-default results.json boxes.svg'
# 6 cases in 4 panels; a box a side, and the background
check "two boxes for each case" 'drawn boxes.svg rect 13'
check "nothing to compare with is an error" '! python3 "$plot" --over cublas results.json none.svg'
check "bars are drawn" 'python3 "$plot" --bars results.json bars.svg && drawn bars.svg rect 15'
check "wrong usage is an error" '! python3 "$plot" results.json'

finish
