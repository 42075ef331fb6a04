#!/usr/bin/env python3
"""check_documents.py SOURCES: do the documents say what the sources do?

  options    each row of backend/options/option_table.c has its paragraph in shunt-env(7), which
             begins with the row's sentence and names its default, and no other has; each word that
             is accepted stands there; what backend reads of the environment is in the table,
             and what scripts read there or among the names that nobody is warned of
  routes     each row of backend/routes/table.c has its paragraph in shunt-cusparse(7) and stands in
             shunt-env(7), with the names of earlier releases, and in `shunt run --help`
  reasons    the words and sentences of backend/plan/reason.c are those of shunt-env(7); for each
             there is advice in shunt-troubleshooting(7), the same as on the page of shunt run
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
def plain(text):
    """A paragraph of a man page as running text, macros taken away."""
    out = []
    for line in text.split("\n"):
        macro = re.match(r"\.(\w+) ?(.*)", line)
        if macro and macro.group(1) in ("BR", "RB", "BI", "IR", "RI"):
            line = "".join(a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', macro.group(2)))
        elif macro:
            line = macro.group(2).replace('"', "")
        out.append(line)
    return " ".join(" ".join(out).split())


def option_rows():
    """name -> (default, sentence)"""
    row = (r'\.name = "(SHUNT_\w+)",\s+\.otherwise = "([^"]*)"'
           r'(?:(?!\.name).)*?\.sentence = "([^"]*)"')
    text = read("backend/options/option_table.c")
    return {name: (default, sentence) for name, default, sentence in re.findall(row, text, re.S)}


def variables_read():
    names = set()
    for where, _, files in os.walk("backend"):
        for name in files:
            if name.endswith((".c", ".cu")):
                names.update(re.findall(r'(?:getenv|tool_option_text)\("(SHUNT_\w+)"\)',
                                        read(os.path.join(where, name))))
    return names


def variables_of_scripts():
    """What the tree's scripts and makefiles read of the environment."""
    names = set()
    scripts = ["bootstrap"] if os.path.exists("bootstrap") else []
    for pattern in ("backend/**/*", "tests/**/*.sh", "tests/**/*.py", "tests/**/*.mk"):
        scripts += [name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name)]
    use = re.compile(r'(?:\$[{(]?|environ(?:\.get\(|\[)")(SHUNT_[A-Z_]+)')
    for name in scripts:
        if not name.endswith((".c", ".h", ".cu", ".cuh", ".o")):
            names.update(use.findall(read(name)))
    return names


def is_of_tests(name):
    table = re.search(r"of_tests\[\] = \{(.*?)\};", read("backend/options/option_table.c"), re.S)
    known = re.findall(r'"(\w+)"', table.group(1))
    return any(name == word or (word.endswith("_") and name.startswith(word)) for word in known)


def check_options():
    rows, env = option_rows(), page("shunt-env.7")
    count = re.search(r"SHUNT_OPTION_COUNT = (\d+)", read("backend/options/option_table.h"))
    check("all rows of the options were found",
          set() if count and int(count.group(1)) == len(rows) else {str(len(rows))})
    written = re.split(r"^\.TP\n", section(env, "ENVIRONMENT"), flags=re.M)[1:]
    paragraph = {plain(p.split("\n", 1)[0]): plain(p.split("\n", 1)[1]) for p in written}
    check("every option stands in shunt-env(7)", set(rows) - set(paragraph))
    check("every option of shunt-env(7) is in the table", set(paragraph) - set(rows))
    both = set(rows) & set(paragraph)
    check("the paragraph of every option begins with its sentence",
          {n for n in both if not paragraph[n].startswith(rows[n][1])})
    check("... and names its default",
          {n for n in both if "Default: " + rows[n][0] not in paragraph[n]})
    check("every variable that is read is in the table", variables_read() - set(rows))
    check("nobody is warned of a variable that a script reads",
          {n for n in variables_of_scripts() - set(rows) if not is_of_tests(n)})
    accepted = set()
    table = read("backend/options/option_table.c")
    for values in re.findall(r"_words\[\] = \{([^}]*)NULL\}", table):
        accepted.update(re.findall(r"\w+", values))
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
    advised = advice_of_page()
    check("every reason has its advice in shunt-troubleshooting(7)", set(text) ^ set(advised))
    told = advice_of_report()
    check("... which is that of the report",
          {w for w in set(text) & set(advised) if told.get(w, "-") != advised[w]})


def advice_of_page():
    """word -> its advice in shunt-troubleshooting(7)"""
    text = section(page("shunt-troubleshooting.7"), "REASONS")
    written = re.split(r"^\.TP\n", text, flags=re.M)[1:]
    return {plain(p.split("\n", 1)[0]): plain(p.split("\n", 1)[1]) for p in written}


def advice_of_report():
    """word -> its advice in the page of shunt run; of taken calls that there is none."""
    words_of = dict(re.findall(r'\[SHUNT_(\w+)\] = \{"(\w+)"', read("backend/plan/reason.c")))
    table = read("backend/tool/report/report_words.c").partition("advice[")[2].partition("};")[0]
    rows = re.findall(r'\[SHUNT_(\w+)\] =\s*((?:"[^"]*"\s*)+)', table)
    joined = {name: "".join(re.findall(r'"([^"]*)"', text)) for name, text in rows}
    return {words_of[name]: text or "Taken: nothing to do." for name, text in joined.items()
            if name in words_of}


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
        named = re.findall(
            r"(?<!\w)(?:backend|conv|kernels|m4|results|tests)/[\w./-]*\w(?![\w<])", text)
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
