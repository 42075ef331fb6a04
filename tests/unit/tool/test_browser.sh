#!/bin/sh
# test_browser.sh: the page of `shunt run --report FILE.html` in a browser, Chromium without a
# screen: at 400 and 1400 pixels, light and dark, nothing is wider than the window, no number and no
# head of a table is broken, and the colours are those of the setting.
# SHUNT: the binary; srcdir: the source tree; SHUNT_GRAPHBLAS_SO: the library.  BROWSER names
# another Chromium; SHUNT_TEST_SHOTS=FOLDER keeps the pages and a picture of each, to be looked at.
SHUNT=${SHUNT:-./shunt}
srcdir=${srcdir:-.}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
srcdir=$(cd "$srcdir" && pwd)
. "$srcdir/tests/unit/tool/check.sh"
unset SHUNT_ROUTES SHUNT_REPORT SHUNT_DISABLE SHUNT_STRICT SHUNT_CONFIG
for name in ${BROWSER:-chromium chromium-browser google-chrome}; do
  browser=$(command -v "$name") && break
done
if [ -z "$browser" ]; then
  skip "chromium is not installed"
  finish
fi
chromium() {
  timeout 900 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --hide-scrollbars --no-first-run --user-data-dir="$work/profile" "$@" 2>browser.err
}
if ! chromium --dump-dom 'data:text/html,<p>hello</p>' | grep -q '<p>hello</p>'; then
  skip "this chromium does not start: $(tail -1 browser.err | cut -c 1-80)"
  finish
fi

# ---- two pages -----------------------------------------------------------------------------------
run() {
  page=$1
  shift
  env SHUNT_LIBDIR="$libraries" LINES="$work/lines" "$SHUNT" run --report "$page" -- "$@" \
    </dev/null >out 2>err
}
libraries=$work/lib
pages=
tabs() { sed 's/ ; /\t/g'; }
spmm=spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k4096z1677721:NN:rr:ld1024.1024:a1b0:alg0
mxm=mxm:plus_times:fp32:m20000n64k20000w25612544:sr.fr.fc:NT:am:t2
host=a-host-of-a-long-name.cluster.example.org
from=/home/somebody/a/long/path/without/a/blank/training_script_of_a_long_name.py
{
  echo "# shunt report 2 pid=PID prog=cat"
  echo "# process ; started=1790000000.250 ; seconds=12.5 ; rank=0 ; host=$host"
  i=0
  for route in csr bundle sorted vector sparse24 srbcrs tile dense bsr; do
    i=$((i + 1))
    echo "cusparseSpMM ; $route ; fits ; 1234567 ; 90000$i ; $spmm ; us=6000 ; clock=table ;" \
      "off=1.31 ; from=$from:1234 in forward"
    echo "# time ; $route ; 179000000$i ; 1790000009 ; 1200 ; 6000.0"
  done
  echo "GrB_mxm ; host ; fits ; 7 ; - ; $mxm ; us=700"
  for reason in transposed types mask slower unconverted; do
    echo "cusparseSpMM ; original ; $reason ; 34 ; 0.0 ; $spmm"
  done
  echo "# time ; original ; 1790000000 ; 1790000009 ; 35 ; 0.0"
  echo "# upkeep ; conversions=2 ; bytes=3000000 ; us=400 ; proofs=998 ; proof_us=1800"
  for i in 1 3 5 7; do echo "# memory ; 179000000$i ; ${i}000000 ; 5000000000"; done
  echo "# matrix ; rows=4096 ; cols=2048 ; nnz=83886 ; longest=50 ; empty=1024 ; alike8=0.5 ;" \
    "alike4=0.75 ; alike2=1 ; two_of_four=0.25 ; squares=2e6 ; densest=0.3 ;" \
    "density=$(awk 'BEGIN { for (y = 0; y < 32; y++) for (x = 0; x < 32; x++) {
        if (x == y) letter = "C"
        else if (x > 2 * y) letter = "."
        else letter = substr("abcdefghijklmnopqrstuvwxyABDE", 1 + (x + y) % 29, 1)
        printf "%s", letter } }')"
  echo "# matrix ; rows=1000000 ; cols=1000000 ; nnz=7000000 ; longest=5000 ; empty=0 ;" \
    "alike8=0 ; alike4=0 ; alike2=0.1 ; two_of_four=0.9 ; squares=9e7"
} | tabs >lines
mkdir lib
if ${CC:-cc} -shared -fPIC -o lib/libshunt-cusparse.so \
  "$srcdir/tests/unit/tool/report_stand_in.c" 2>err; then
  run mocked.html sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do cat; done' && pages="$pages mocked"
  ok $? "a page of lines that were made up"
  run none.html true && pages="$pages none"
  ok $? "a page without calls"
else
  skip "no C compiler for the stand-in library"
fi
# shellcheck disable=SC2086
if [ ! -e "${SHUNT_GRAPHBLAS_SO:-}" ]; then
  skip "the library for GraphBLAS was not built"
elif ! ${CC:-cc} ${GRAPHBLAS_CPPFLAGS:-} -rdynamic -o product \
  "$srcdir/tests/unit/tool/graphblas_product.c" ${GRAPHBLAS_LIBS:--lgraphblas} 2>err; then
  skip "GraphBLAS' headers are not installed"
else
  libraries=$work/graphblas
  mkdir graphblas && cp "$SHUNT_GRAPHBLAS_SO" graphblas/libshunt-graphblas.so
  SHUNT_ROUTES=host run real.html ./product && grep -q '<td data-name="Route">host' real.html &&
    pages="$pages real"
  ok $? "a page of a real run of GraphBLAS"
fi

# ---- in the browser ------------------------------------------------------------------------------
# Chromium's window is at least 500 pixels wide, so the page is looked at in a frame of the width.
cat >probe.js <<'EOF'
addEventListener("load", function () {
  var wide = innerWidth, over = [];
  document.querySelectorAll("body *").forEach(function (e) {
    var box = e.getBoundingClientRect();
    if (box.width > 0 && box.right > wide + 0.5) over.push(e.tagName + "." + e.className);
  });
  // One line, or the text was broken.
  document.querySelectorAll("th, .figures dd, td.n").forEach(function (e) {
    var range = document.createRange(), word = e.firstChild;
    if (!word || word.nodeType !== 3 || e.querySelector("br")) return;
    if (wide < 640 && e.tagName === "TD") return; // its name stands before it
    range.selectNodeContents(e);
    var tops = {};
    Array.from(range.getClientRects(), function (r) { tops[Math.round(r.top)] = 1; });
    if (Object.keys(tops).length > 1) over.push("broken:" + word.data.replace(/[^0-9A-Za-z]/g, ""));
  });
  var paint = getComputedStyle(document.body).backgroundColor;
  parent.postMessage("innerWidth=" + wide + " scrollWidth=" + document.documentElement.scrollWidth +
    " over=" + over.slice(0, 5).join(",") + " ground=" + paint.replace(/ /g, ""), "*");
});
EOF
# look PAGE WIDTH MODE: what the probe says of it.
look() {
  flag=
  [ "$3" = light ] || flag=--blink-settings=preferredColorScheme=0
  [ "$3" = dark ] || flag=--blink-settings=preferredColorScheme=1
  { sed 's,</head>.*,,' "$1.html"; echo '<script>'; cat probe.js; echo '</script></head>'
    sed '1,/<\/head>/d' "$1.html"; } >probed.html
  cat >frame.html <<EOF
<!DOCTYPE html><meta name="color-scheme" content="light dark"><p id="said"></p>
<iframe src="probed.html" width="$2" height="900" style="border:0"></iframe>
<script>addEventListener("message", function (e) { said.textContent = e.data; });</script>
EOF
  chromium $flag --allow-file-access-from-files --virtual-time-budget=4000 --window-size=1600,1000 \
    --dump-dom "file://$work/frame.html" | sed -n 's/.*<p id="said">\([^<]*\)<.*/\1/p'
}
for page in $pages; do
  for width in 400 1400; do
    for mode in light dark; do
      ground='rgb(255,255,255)'
      [ $mode = light ] || ground='rgb(20,23,26)'
      look "$page" $width $mode >said
      cp said out
      grep -q -x "innerWidth=$width scrollWidth=$width over= ground=$ground" said
      ok $? "the $page page, $width pixels, $mode: nothing is wider, the ground is $ground"
    done
  done
done
if [ -n "$pages" ]; then
  sed 's,<main>,<main><div style="width:2000px">wide</div>,' "${pages##* }.html" >wide.html
  look wide 400 light >said
  grep -q 'innerWidth=400 scrollWidth=2[0-9]* over=DIV' said
  ok $? "and what is too wide is seen"
fi

# ---- pictures ------------------------------------------------------------------------------------
if [ -n "${SHUNT_TEST_SHOTS:-}" ]; then
  for page in $pages; do
    cp "$page.html" "$SHUNT_TEST_SHOTS"
    for width in 400 1400; do
      for mode in 0 1; do
        echo "<body style='margin:0'>" >frame.html
        echo "<iframe src='$page.html' width='$width' height='5200' style='border:0'>" >>frame.html
        chromium --blink-settings=preferredColorScheme=$mode --window-size="$width,5200" \
          --screenshot="$SHUNT_TEST_SHOTS/$page-$width-$mode.png" "file://$work/frame.html"
      done
    done
  done
fi
finish
