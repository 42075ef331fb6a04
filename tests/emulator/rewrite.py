#!/usr/bin/env python3
"""rewrite.py TO FILE...: CUDA sources for g++, line by line.

tests/emulator/include/emulator.h says what for.
Writes TO/<path of FILE below the top of the tree>.  What changes, and what it becomes:

  k<<<g, b, s, t>>>(x)              emulator::launcher(k, g, b, s, t)(x)
  __shared__ T x[n];                a reference into the block's shared memory
  extern __shared__ T x[];          a pointer to the launch's shared memory
  __global__ void k(..) {           and emulator::enter_kernel(name, launch bounds);
  reinterpret_cast<const void *>(k) emulator::kernel_address(k): cudaLaunchKernel has to know k's
                                    types
  asm("" : .. )                     nothing: a hint to the compiler
  asm("an instruction" : .. )       an error: it belongs behind a wrapper in kernels/ptx/, which has
                                    a twin in tests/emulator/kernels/ptx/
"""
import os
import re
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))


class Bad(Exception):
    pass


def closing(text, at):
    """Where the bracket that opens at `at` closes."""
    pairs = {'(': ')', '[': ']', '{': '}'}
    stack = []
    i = at
    while i < len(text):
        c = text[i]
        if c in '"\'':
            i = skip_string(text, i)
            continue
        if text.startswith('//', i):
            i = text.find('\n', i)
            continue
        if c in pairs:
            stack.append(pairs[c])
        elif stack and c == stack[-1]:
            stack.pop()
            if not stack:
                return i
        i += 1
    raise Bad('no bracket closes the one at "%s"' % text[at:at + 30])


def skip_string(text, i):
    quote = text[i]
    if quote == "'" and i and text[i - 1].isalnum():  # 1'000
        return i + 1
    i += 1
    while text[i] != quote:
        i += 2 if text[i] == '\\' else 1
    return i + 1


def split(text, separator=','):
    """Pieces of text between separators that no bracket holds, <> among them."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in '([{<':
            depth += 1
        elif c in ')]}' or (c == '>' and text[i - 1] != '-'):
            depth -= 1
        elif c == separator and depth == 0:
            pieces.append(text[start:i])
            start = i + 1
    return pieces + [text[start:]]


def lines(text, like):
    """Puts newlines behind text until it has as many as `like`."""
    return text + '\n' * (like.count('\n') - text.count('\n'))


def flat(text):
    return ' '.join(text.split())


def comments(text):
    """Spans of comments, so that nothing in them is rewritten."""
    return [m.span() for m in re.finditer(r'//[^\n]*|/\*.*?\*/', text, re.S)]


def rewrite_launches(text):
    while True:
        spans = comments(text)
        at = next((m.start() for m in re.finditer('<<<', text)
                   if not any(a <= m.start() < b for a, b in spans)), None)
        if at is None:
            return text
        end = text.index('>>>', at)
        begin = at
        while text[begin - 1].isspace():
            begin -= 1
        if text[begin - 1] == '>':  # template arguments
            depth = 0
            while True:
                begin -= 1
                depth += (text[begin] == '>') - (text[begin] == '<')
                if depth == 0:
                    break
        begin = re.search(r'[\w:]+$', text[:begin]).start()
        text = (text[:begin] + 'emulator::launcher(' + text[begin:at] + ', ' + text[at + 3:end] +
                ')' + text[end + 3:])


SHARED = re.compile(r'(extern\s+)?__shared__\s+((?:__align__\(\d+\)|alignas\(\d+\))\s*)?([^;]*);')


def shared_variable(m):
    align = re.search(r'\d+', m.group(2) or '0').group()
    declarators = split(flat(m.group(3)))
    first = re.match(r'(.*?)(\w+)\s*((?:\[[^\]]*\])*)$', declarators[0].strip())
    if not first:
        raise Bad('cannot read "%s"' % m.group(0))
    kind = first.group(1).strip()
    out = []
    for d in [first.group(2) + first.group(3)] + [x.strip() for x in declarators[1:]]:
        name, size = re.match(r'(\w+)\s*((?:\[[^\]]*\])*)$', d).groups()
        if m.group(1):
            out.append('%s *const %s = emulator::dynamic<%s>(%s);' % (kind, name, kind, align))
        else:
            out.append('static emulator::shared_slot %s_slot; auto &%s = '
                       'emulator::shared<%s%s>(%s_slot, "%s", %s);'
                       % (name, name, kind, size, name, name, align))
    return lines(' '.join(out), m.group(0))


def rewrite_kernels(text):
    """Calls enter_kernel at the beginning of each __global__ function's body."""
    out, done = '', 0
    for m in re.finditer(r'\b__global__\b', text):
        if any(a <= m.start() < b for a, b in comments(text)):
            continue
        at, bounds = m.end(), ''
        while True:
            opened = re.compile(r'[(;]').search(text, at)
            word = re.search(r'(\w+)\s*$', text[at:opened.start()])
            end = closing(text, opened.start())
            if not word or word.group(1) != '__launch_bounds__':
                break
            bounds = ', ' + flat(text[opened.start() + 1:end])
            at = end + 1
        rest = re.compile(r'\s*\{').match(text, end + 1)
        if rest:  # not only a declaration
            out += (text[done:rest.end()] + ' emulator::enter_kernel(__PRETTY_FUNCTION__' +
                    (bounds or ', 0') + ');')
            done = rest.end()
    return out + text[done:]


def rewrite_asm(text):
    out, done = '', 0
    for m in re.finditer(r'\basm\s*(volatile\s*)?\(', text):
        if any(a <= m.start() < b for a, b in comments(text)) or m.start() < done:
            continue
        end = closing(text, m.end() - 1)
        body = text[m.end():end]
        strings = re.match(r'(?:\s*"(?:[^"\\]|\\.)*")*', body).group()
        code = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings))
        if code:
            raise Bad('an instruction outside of kernels/ptx: ' + code)
        out += text[done:m.start()] + lines('(void)0', text[m.start():end + 1])
        done = end + 1
    return out + text[done:]


def rewrite(text):
    text = rewrite_launches(text)
    spans = comments(text)
    text = SHARED.sub(lambda m: m.group(0) if any(a <= m.start() < b for a, b in spans)
                      else shared_variable(m), text)
    text = rewrite_kernels(text)
    text = re.sub(r'reinterpret_cast<const void \*>\(', 'emulator::kernel_address(', text)
    return rewrite_asm(text)


def main():
    to_tree, *paths = sys.argv[1:]
    for path in paths:
        path = os.path.abspath(path)
        inside = path.startswith(TOP + os.sep)
        name = os.path.relpath(path, TOP) if inside else os.path.basename(path)
        text = open(path).read()
        try:
            text = rewrite(text)
        except Bad as e:
            sys.exit('rewrite.py: %s: %s' % (name, e))
        to = os.path.join(to_tree, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, 'w') as f:
            f.write('#line 1 "%s"\n' % path + text)


main()
