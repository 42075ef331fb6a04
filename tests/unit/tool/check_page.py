#!/usr/bin/env python3
"""check_page.py PAGE.html OBJECT.json: is the page of `shunt run` well formed, self-contained and
about the same calls as the object?

  nesting     each element is closed, in order; ids are not repeated
  contained   no script, no link, no picture, no address of a network, no url() in the style
  readable    language, character set, width of the screen, light and dark, print
  tables      each row has as many cells as its table has heads
  content     each problem, reason, advice and process of the object stands on the page"""
import html.parser
import json
import re
import sys

EMPTY = {"meta", "br"}
KNOWN = {"html", "head", "title", "style", "body", "header", "main", "footer", "h1", "h2", "h3",
         "p", "dl", "div", "dt", "dd", "i", "b", "table", "caption", "thead", "tbody", "tr", "th",
         "td", "span", "code", "svg", "rect", "text", "line", "g", "path", "figure",
         "figcaption"} | EMPTY


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.ids, self.metas = [], [], [], []
        self.text, self.cells, self.heads, self.style = [], 0, 0, ""

    def handle_decl(self, decl):
        assert decl == "DOCTYPE html", decl
        self.seen.append("doctype")

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN, tag
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "href", "srcset", "action"), (tag, name)
            assert value is not None, (tag, name)
        attributes = dict(attributes)
        self.seen.append(tag)
        if tag == "meta":
            self.metas.append(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "html":
            assert attributes["lang"] == "en"
        if tag == "table":
            self.heads = 0
        if tag == "th":
            self.heads += 1
        if tag == "tr":
            self.cells = 0
        if tag == "td":
            self.cells += 1
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
        if tag == "tr" and "tbody" in self.open:
            assert self.cells == self.heads, (self.cells, self.heads, self.getpos())

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.text.append(data)


source = open(sys.argv[1], encoding="utf-8").read()  # UTF-8, or it raises
page = Page()
page.feed(source)
page.close()
assert not page.open, page.open
assert page.seen[:2] == ["doctype", "html"]
assert page.seen.count("title") == page.seen.count("h1") == page.seen.count("main") == 1
assert len(page.ids) == len(set(page.ids)), page.ids
assert not re.search(r"https?:|//|url\(|@import", source), "it names something to load"
assert {"charset": "utf-8"} in page.metas
assert any(m.get("name") == "viewport" and "device-width" in m["content"] for m in page.metas)
for rule in ("prefers-color-scheme:dark", "@media print", "max-width:640px"):
    assert rule in page.style, rule

text = " ".join("".join(page.text).split())
answer = json.load(open(sys.argv[2], encoding="utf-8"))
assert sum(d["calls"] for d in answer["decisions"]) == answer["calls"]
assert sum(d["calls"] for d in answer["decisions"] if d["route"] != "original") == answer["taken"]
assert sum(p["calls"] for p in answer["processes"]) == answer["calls"]
for process in answer["processes"]:
    assert sum(d["calls"] for d in process["decisions"]) == process["calls"], process
for word in answer["command"]:
    assert " ".join(word.split()) in text, word
for decision in answer["decisions"]:
    assert decision["problem"] == "-" or " ".join(decision["problem"].split()) in text, decision
    if decision["route"] == "original":
        assert decision["sentence"] in text, decision
        assert decision["advice"] in text, decision
        assert decision["saved_us"] is None
    else:
        assert decision["route"] in text
for process in answer["processes"]:
    assert "%s %d" % (process["program"], process["pid"]) in text, process
print("the page holds %d decisions of %d processes" % (len(answer["decisions"]),
                                                       len(answer["processes"])))
