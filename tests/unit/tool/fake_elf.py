#!/usr/bin/env python3
"""fake_elf.py OUT [OPTION]...: an ELF file that no machine would run, for tests of what reads them.

  --bits 32|64  --machine N  --type 2|3     class, machine (62: x86-64), ET_EXEC or ET_DYN
  --interp PATH                             PT_INTERP
  --soname, --rpath, --runpath TEXT, --needed NAME, --symbolic     dynamic section
  --undefined NAME, --defined NAME          symbols for the loader
  --hidden NAME                             a symbol of .symtab only
  --text TEXT                               read-only data
  --note TEXT                               .note.shunt
  --static                                  no dynamic section, no PT_INTERP

  one PT_LOAD from 0:  header  program headers  contents  section headers"""
import argparse
import struct

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--bits", type=int, default=64)
parser.add_argument("--machine", type=int, default=62)
parser.add_argument("--type", type=int, default=3)
for name in ("interp", "soname", "rpath", "runpath", "note"):
    parser.add_argument("--" + name)
for name in ("needed", "undefined", "defined", "hidden", "text"):
    parser.add_argument("--" + name, action="append", default=[])
parser.add_argument("--symbolic", action="store_true")
parser.add_argument("--static", action="store_true")
a = parser.parse_args()

SEGMENTS = 3
content = bytearray()
sections = [("", 0, 0, b"", 0, 0)]  # name, type, flags, bytes, link, size of an entry
places = {}


class Names:
    def __init__(self):
        self.bytes = b"\0"

    def add(self, text):
        at = len(self.bytes)
        self.bytes += text.encode() + b"\0"
        return at


def symbols(names, undefined, defined):
    table = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name in undefined:
        table += struct.pack("<IBBHQQ", names.add(name), 0x12, 0, 0, 0, 0)
    for name in defined:
        table += struct.pack("<IBBHQQ", names.add(name), 0x12, 0, 1, 0x100, 8)
    return table


def dynamic(names, address):
    entries = [(1, names.add(name)) for name in a.needed]
    for tag, text in ((14, a.soname), (15, a.rpath), (29, a.runpath)):
        if text:
            entries.append((tag, names.add(text)))
    if a.symbolic:
        entries.append((16, 0))
    entries += [(5, address), (10, len(names.bytes)), (0, 0)]
    return b"".join(struct.pack("<qQ", *entry) for entry in entries)


def place(name, kind, data, flags=2, link=0, entry=0):
    while len(content) % 8:
        content.append(0)
    places[name] = (64 + 56 * SEGMENTS + len(content), len(data))
    content.extend(data)
    sections.append((name, kind, flags, data, link, entry))


if not a.static:
    names = Names()
    table = symbols(names, a.undefined, a.defined)
    dynamic(names, 0)  # so that all names are there before the address is used
    strings = names.bytes
    names_again = Names()
    symbols(names_again, a.undefined, a.defined)
    place(".dynstr", 3, strings)
    place(".dynsym", 11, table, link=1, entry=24)
    entries = dynamic(names_again, places[".dynstr"][0])
    place(".dynamic", 6, entries)
if a.interp and not a.static:
    place(".interp", 1, a.interp.encode() + b"\0")
if a.text:
    place(".rodata", 1, b"\0".join(t.encode() for t in a.text) + b"\0")
if a.note:
    text = a.note.encode() + b"\0"
    place(".note.shunt", 7, struct.pack("<III8s", 6, len(text), 1, b"Shunt") + text)
if a.hidden:
    names = Names()
    table = symbols(names, [], a.hidden)
    place(".strtab", 3, names.bytes, flags=0)
    place(".symtab", 2, table, flags=0, link=len(sections) - 1, entry=24)
names = Names()
titles = [names.add(s[0]) if s[0] else 0 for s in sections] + [names.add(".shstrtab")]
place(".shstrtab", 3, names.bytes, flags=0)
while len(content) % 8:
    content.append(0)

total = 64 + 56 * SEGMENTS + len(content)


def segment(kind, at, size):
    return struct.pack("<IIQQQQQQ", kind, 5, at, at, at, size, size, 8)


def part(kind, name):
    return segment(kind, *places[name]) if name in places else segment(0, 0, 0)


ident = b"\x7fELF" + bytes([2 if a.bits == 64 else 1, 1, 1]) + bytes(9)
head = struct.pack("<16sHHIQQQIHHHHHH", ident, a.type, a.machine, 1, 0, 64, total, 0, 64, 56,
                   SEGMENTS, 64, len(sections), len(sections) - 1)
tail = b""
for title, (name, kind, flags, data, link, entry) in zip(titles, sections):
    at, size = places.get(name, (0, 0))
    tail += struct.pack("<IIQQQQIIQQ", title, kind, flags, at, at, size, link, 0, 8, entry)
with open(a.out, "wb") as file:
    file.write(head + segment(1, 0, total) + part(3, ".interp") + part(2, ".dynamic") + content)
    file.write(tail)
