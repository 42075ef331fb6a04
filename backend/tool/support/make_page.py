#!/usr/bin/env python3
"""make_page.py CUSPARSE GRAPHBLAS FOLDER: writes shunt-support.7 and shunt-support.html there.

CUSPARSE is what `shunt support --json` prints, GRAPHBLAS what tests/graphblas/support.c prints:
lists of {"title", "rows"}, the first row of each the head.  `make support-page` calls it.

make_page.py --check CUSPARSE GRAPHBLAS PAGE...: has each PAGE the tables, as it would write them?
Either file may be '-', where a build cannot ask.  Prints the title of each table that differs."""
import html
import json
import sys
import textwrap

WIDTH = 76
INTRO = (
    "These tables were made by asking the router itself, which the test of this page repeats; "
    "\"shunt support\" prints those of cuSPARSE for another GPU, or another build.",
    "A word in parentheses is the reason why a call is left to the original library, as in the log "
    "and in the table that shunt run prints.",
    "types: one word for the type of all operands, or inputs > result; f16 and bf16 are summed in "
    "f32. c32 and c64 are complex.",
    "B, C: r or c, the order of each (row- or column-major), then op(B); any leading dimension.",
    "Routes are tried in order of expected time, and only while that is less than cuSPARSE's.",
)


def wrap_cells(row, widths):
    cells = [textwrap.wrap(c, w, break_long_words=False, break_on_hyphens=False) or [""]
             for c, w in zip(row, widths)]
    for i in range(max(map(len, cells))):
        line = "  ".join((c[i] if i < len(c) else "").ljust(w) for c, w in zip(cells, widths))
        yield line.rstrip()


def widths_of(rows):
    """Columns as wide as they come; where that is too wide, the widest gives way."""
    longest_word = [max(len(w) for row in rows for w in (row[c].split() or [""]))
                    for c in range(len(rows[0]))]
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        spare = [w - least for w, least in zip(widths, longest_word)]
        if max(spare) <= 0:
            break
        widths[spare.index(max(spare))] -= 1
    return widths


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def man_table(table):
    rows = table["rows"]
    widths = widths_of(rows)
    lines = [line for row in rows for line in wrap_cells(row, widths)]
    return ".SS " + escape(table["title"]) + "\n.nf\n" + "\n".join(
        ("\\&" if line[:1] in ".'" else "") + escape(line) for line in lines) + "\n.fi\n"


def html_table(table):
    def row(cells, tag):
        return "<tr>" + "".join("<%s>%s</%s>" % (tag, html.escape(c), tag) for c in cells) + "</tr>"
    head, *body = table["rows"]
    return ("<h2>%s</h2>\n<table>\n<thead>%s</thead>\n<tbody>\n%s\n</tbody>\n</table>\n" %
            (html.escape(table["title"]), row(head, "th"), "\n".join(row(r, "td") for r in body)))


MAN = """.\\" Written by backend/tool/support/make_page.py (make support-page): do not edit.
.TH SHUNT-SUPPORT 7 "November 2026" "Shunt 0.1.0" "Shunt"
.SH NAME
shunt-support \\- which calls are taken, by which routes, and why others are not
.SH DESCRIPTION
%s
.SH CUSPARSE
On an H200.
%s.SH GRAPHBLAS
With SuiteSparse:GraphBLAS 7.4.0, on the CPU, for matrices large enough to gain.
sparse.full is a product of a sparse and a full matrix, full.full<sparse> one of two full matrices
under a sparse mask.
.BR shunt\\-graphblas (7)
has the limits of size.
%s.SH SEE ALSO
.BR shunt (1),
.BR shunt-cusparse (7),
.BR shunt-env (7),
.BR shunt-graphblas (7),
.BR shunt-troubleshooting (7)
"""
HTML = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What Shunt takes</title>
<!-- Written by backend/tool/support/make_page.py (make support-page): do not edit. -->
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 60rem; }
body { padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border-bottom: 1px solid #8886; padding: .3rem .8rem .3rem 0; text-align: left;
  vertical-align: top; }
</style>
</head>
<body>
<h1>What Shunt takes</h1>
%s
<h1>cuSPARSE</h1>
<p>On an H200.</p>
%s<h1>GraphBLAS</h1>
<p>With SuiteSparse:GraphBLAS 7.4.0, on the CPU, for matrices large enough to gain.
sparse.full is a product of a sparse and a full matrix, full.full&lt;sparse&gt; one of two full
matrices under a sparse mask.</p>
%s</body>
</html>
"""


def load(path):
    if path == "-":
        return []
    with open(path) as file:
        return json.load(file)


def write(cusparse, graphblas, folder):
    paragraphs = "\n.PP\n".join("\n".join(textwrap.wrap(p, 96)) for p in INTRO)
    with open(folder + "/shunt-support.7", "w") as out:
        out.write(MAN % (paragraphs.replace("-", "\\-"), "".join(map(man_table, cusparse)),
                         "".join(map(man_table, graphblas))))
    with open(folder + "/shunt-support.html", "w") as out:
        out.write(HTML % ("\n".join("<p>%s</p>" % html.escape(p) for p in INTRO),
                          "".join(map(html_table, cusparse)), "".join(map(html_table, graphblas))))


def check(tables, pages):
    differ = 0
    for page in pages:
        with open(page) as file:
            text = file.read()
        form = html_table if page.endswith(".html") else man_table
        for table in tables:
            if form(table) not in text:
                differ += 1
                print("%s has another table: %s" % (page, table["title"]))
    return differ


def main(words):
    if len(words) > 3 and words[0] == "--check":
        return check(load(words[1]) + load(words[2]), words[3:]) > 0
    if len(words) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    write(load(words[0]), load(words[1]), words[2])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
