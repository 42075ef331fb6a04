#!/usr/bin/env python3
"""check_documents.py SOURCES: do the documents say what the sources do?

  options    each SHUNT_* variable that backend reads stands in shunt-env(7) and in the table of
             backend/plan/options.h, and no other does; so do the values that are accepted
  routes     each row of backend/routes/table.c has its paragraph in shunt-cusparse(7) and stands in
             shunt-env(7), with the names of earlier releases, and in `shunt run --help`
  reasons    the words and sentences of backend/plan/reason.c are those of shunt-env(7)
  columns    each column of `shunt bench` is described in shunt(1)
  exports    each function that is exported stands in a man page
  pages      each page is installed, and SEE ALSO names pages that exist
  names      each file that README.md, backend/README.md and tests/bench/RESULTS.md name exists
  README     has at most 180 lines

Prints a line "ok - ..." or "not ok - ..." for each and the closing count."""
import glob
import os
import re
import sys

MAN = "backend/tool/man/"
DOCUMENTS = ("README.md", "backend/README.md", "tests/bench/RESULTS.md")
TOOL_VARIABLES = {"SHUNT_LIBDIR", "SHUNT_DATA"}
README_LINES = 180
passed = failed = 0


def read(name):
    with open(name, errors="replace") as file:
        return file.read()


def page(name):
    """A man page as plain text, escapes taken away."""
    text = re.sub(r"\\f[BIR]", "", read(MAN + name))
    return text.replace(r"\-", "-").replace("\\\n", "").replace(r"\e", "\\")


def check(what, wrong):
    global passed, failed
    if wrong:
        failed += 1
        print("not ok - %s: %s" % (what, ", ".join(sorted(wrong))))
    else:
        passed += 1
        print("ok - " + what)


def section(text, name):
    found = re.search(r"^\.SH %s\n(.*?)(?=^\.SH |\Z)" % re.escape(name), text, re.M | re.S)
    return found.group(1) if found else ""


def paragraphs(text):
    """The words that head the .TP paragraphs of a section, without fonts."""
    heads = re.findall(r"^\.TP\n\.(?:BR?|I) (.*)$", text, re.M)
    return [re.sub(r'"[^"]*"', " ", head).split() for head in heads]


def words(text):
    return set(re.findall(r"[\w.-]+", text))


# ---- options ------------------------------------------------------------------------------
def variables_read():
    read_by = r'(?:getenv|parse_switch|parse_number|copy_path)\([^;]*?"(SHUNT_\w+)"'
    names = set()
    for where, _, files in os.walk("backend"):
        for name in files:
            if name.endswith((".c", ".cu")):
                names.update(re.findall(read_by, read(os.path.join(where, name))))
    return names


def check_options():
    env = page("shunt-env.7")
    documented = {head[0] for head in paragraphs(section(env, "ENVIRONMENT"))}
    used = variables_read()
    check("every variable that is read stands in shunt-env(7)", used - documented)
    check("every variable of shunt-env(7) is read", documented - used)
    table = set(re.findall(r"^   \| (SHUNT_\w+)", read("backend/plan/options.h"), re.M))
    check("the table of options.h has the same", table ^ (used - TOOL_VARIABLES))
    accepted = set()
    for values in re.findall(r'warn\("SHUNT_\w+", \w+, "([^"]*)"\)', read("backend/plan/options.c")):
        accepted.update(re.findall(r"[a-z]\w+", values.replace("a whole number", "")))
    check("every value that is accepted stands in shunt-env(7)", accepted - words(env))


# ---- routes, reasons, columns, exports --------------------------------------------------------
def check_routes():
    routes = re.findall(r"&shunt_route_(\w+),", read("backend/routes/table.c"))
    env = section(page("shunt-env.7"), "ENVIRONMENT")
    described = {head[0] for head in paragraphs(section(page("shunt-cusparse.7"), "ROUTES"))}
    check("there are routes", set() if routes else {"none"})
    check("every route has its paragraph in shunt-cusparse(7)", set(routes) ^ described)
    check("every route stands in shunt-env(7)", set(routes) - words(env))
    run = read("backend/tool/run.c")
    help_text = "".join(re.findall(r'^    "(.*)\\n"', run, re.M))
    check("every route stands in the help of shunt run", set(routes) - words(help_text))
    old = re.findall(r'\{"(\w+)", "(\w+)"\}', read("backend/routes/words.h"))
    check("every earlier name stands in shunt-env(7)", {a for a, _ in old} - words(env))


def check_reasons():
    text = dict(re.findall(r'\{"(\w+)", "([^"]*)"\}', read("backend/plan/reason.c")))
    documented = dict(re.findall(r"^\.TP\n\.B (\w+)\n(.*)$",
                                 section(page("shunt-env.7"), "REASONS"), re.M))
    check("there are reasons", set() if text else {"none"})
    check("every reason stands in shunt-env(7) with its sentence",
          {w for w in set(text) | set(documented) if text.get(w) != documented.get(w)})


def check_columns():
    source = read("backend/tool/bench/report.c")
    table = re.search(r"cuda_columns\[\] = \{(.*?)\n\};", source, re.S)
    columns = re.findall(r'\{"([\w-]+)", "([\w.-]+)"\}', table.group(1)) if table else []
    columns_text = page("shunt.1").partition(".SS Columns of the table")[2].partition(".SH ")[0]
    described = words(columns_text)
    check("there are columns", set() if columns else {"none"})
    check("every column of shunt bench stands in shunt(1)",
          {title for _, title in columns} - described)
    check("with its word for --ways", {way for way, _ in columns} - described - {
        "cusparse-alg2", "cusparse-alg3"})


def check_exports():
    exported = re.findall(r"^ +(cusparse\w+);", read("backend/cusparse/exports.map"), re.M)
    check("there are exported functions", set() if exported else {"none"})
    check("every exported function stands in shunt-cusparse(7)",
          set(exported) - words(page("shunt-cusparse.7")))


# ---- pages and names -------------------------------------------------------------------------
def check_pages():
    pages = {os.path.basename(path) for path in glob.glob(MAN + "*")}
    installed = set(re.findall(r"%D%/man/([\w.-]+)", read("backend/tool/local.mk")))
    check("every man page is installed", pages ^ installed)
    for name in sorted(pages):
        mentioned = {"%s.%s" % found for found in
                     re.findall(r"(shunt[\w-]*) \((\d)\)", section(page(name), "SEE ALSO"))}
        check("SEE ALSO of %s names pages that exist" % name, mentioned - pages)


def exists(name, folder):
    """As it stands, or as the source of a program; from the top or from the document's folder."""
    return any(os.path.exists(os.path.join(base, name + suffix))
               for base in (".", folder) for suffix in ("", ".c", ".cu"))


def check_names():
    for document in DOCUMENTS:
        text, folder = read(document), os.path.dirname(document)
        links = re.findall(r"\]\(([^)#\s]+)\)", text)
        named = re.findall(r"(?<!\w)(?:backend|conv|kernels|m4|results|tests)/[\w./-]*\w", text)
        missing = {link for link in links if not os.path.exists(os.path.join(folder, link))}
        missing |= {name for name in named
                    if not os.path.basename(name).isupper() and not exists(name, folder)}
        check("every file that %s names exists" % document, missing)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    os.chdir(sys.argv[1])
    check_options()
    check_routes()
    check_reasons()
    check_columns()
    check_exports()
    check_pages()
    check_names()
    lines = read("README.md").count("\n")
    check("README.md has at most %d lines" % README_LINES,
          {"%d" % lines} if lines > README_LINES else set())
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


sys.exit(main())
