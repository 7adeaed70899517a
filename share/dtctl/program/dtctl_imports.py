"""Which of some packages a program imports, as far as its files say so. Nothing is imported.

    python3 dtctl_imports.py WORDS PACKAGES      # both as JSON: the words of the command, names of packages

It reads the Python files that the command names, the modules that they import from the program's own folders, and what the
imported packages require. Without a file in the command, all Python files of the current folder count. Prints one line of JSON:
{"packages": [...]}, or {"unknown": why} as a clause."""

import ast
import json
import os
import re
import shutil
import sys
import sysconfig
from importlib.machinery import PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))  # dtctl's own modules, which need the standard library and what imports them
_WORK = os.path.realpath(os.getcwd())


class Unknown(Exception):
    pass


def plain(name):
    return re.sub("[-_.]+", "-", name).lower()


def is_own(path):
    return (os.path.realpath(path) + os.sep).startswith(_WORK + os.sep)


def is_script(path):
    with open(path, "rb") as file:
        head = file.read(256)
    return path.endswith(".py") or (head.startswith(b"#!") and b"python" in b"".join(head.split(b"\n")[:2]))


def files_in(folder):
    return [os.path.join(top, name) for top, _, names in os.walk(folder) for name in sorted(names) if name.endswith(".py")]


def files_of_module(path):
    """Those of a module at this path without ".py". All of a package count."""
    return [path + ".py"] if os.path.isfile(path + ".py") else files_in(path)


class Program:
    """What a command starts: its files, the code behind -c, and the modules behind -m."""

    def __init__(self, words):
        self.files, self.codes, self.modules = [], [], set()
        for at, word in enumerate(words):
            path = (shutil.which(word) or word) if at == 0 else word
            if at > 0 and words[at - 1] == "-m":
                self.modules.add(word.split(".")[0])
            elif at > 0 and words[at - 1] == "-c":
                self.codes.append(word)
            elif os.path.isfile(path) and is_script(path):
                self.files.append(path)
            elif os.path.isfile(os.path.join(path, "__main__.py")):
                self.files += files_in(path)
        if not (self.files or self.codes or self.modules):
            self.files = files_in(".")
        if not (self.files or self.codes or self.modules):
            raise Unknown("the command names no Python file")
        self.folders = [os.path.dirname(os.path.abspath(file)) for file in self.files if is_own(file)]
        self.folders += [_WORK] + [entry for entry in sys.path if entry and is_own(entry)]

    def files_of(self, module):
        return [file for folder in self.folders for file in files_of_module(os.path.join(folder, module))]

    def files_named(self, text):
        """exec(open("configurator.py").read())"""
        return [path for path in (os.path.join(folder, text) for folder in self.folders) if os.path.isfile(path)]


def module_of_call(call):
    """The name in import_module("numpy"); None if the call imports nothing."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called not in ("import_module", "__import__", "run_module") or not call.args:
        return None
    name = call.args[0]
    is_begin = isinstance(name, ast.JoinedStr) and name.values  # f"models.{name}": of the package models
    text = getattr(name.values[0] if is_begin else name, "value", None)
    if not isinstance(text, str) or (is_begin and "." not in text):
        raise Unknown("what line %d imports is only known when it runs" % call.lineno)
    return text


def imports_of(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.module
        elif isinstance(node, ast.Call):
            name = module_of_call(node)
            if name and not name.startswith("."):
                yield name


def texts_of(tree):
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def parsed(text, name):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise Unknown("%s cannot be parsed: %s" % (name, error))


def tree_of(path):
    try:
        with open(path, "rb") as file:
            return parsed(file.read(), os.path.relpath(path))
    except OSError as error:
        raise Unknown("%s cannot be read: %s" % (os.path.relpath(path), error.strerror))


def is_standard(module):
    names = getattr(sys, "stdlib_module_names", None)  # Python 3.10
    if names or module in sys.builtin_module_names:
        return module in (names or sys.builtin_module_names)
    folders = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    places = [place for folder in folders for place in (folder, os.path.join(folder, "lib-dynload"))]
    return PathFinder.find_spec(module, places) is not None


class Installed:
    """The packages that are installed now."""

    def __init__(self):
        try:
            from importlib import metadata
        except ImportError:
            raise Unknown("this Python is older than 3.8")
        self.packages, self.packages_of = {}, {}
        for package in metadata.distributions():
            name = package.metadata["Name"]
            if name and plain(name) not in self.packages:
                self.packages[plain(name)] = package
                for module in modules_of(package):
                    self.packages_of.setdefault(module.lower(), set()).add(plain(name))

    def with_requirements(self, names):
        seen, todo = set(), [(name, frozenset()) for name in names]
        while todo:
            name, extras = todo.pop()
            if (name, extras) not in seen:
                seen.add((name, extras))
                todo += requirements(self.packages[name], extras) if name in self.packages else []
        return {name for name, _ in seen}


def modules_of(package):
    """The names under which its modules are imported."""
    found = set((package.read_text("top_level.txt") or "").split())
    for file in () if found else package.files or ():
        if len(file.parts) > 1 or file.name.endswith((".py", ".so")):
            found.add(file.parts[0].split(".")[0])
    return found | {plain(package.metadata["Name"]).replace("-", "_")}


def requirements(package, extras):
    for text in package.requires or ():
        needs, _, marker = text.partition(";")
        of_extra = re.search("extra *== *['\"]([^'\"]+)['\"]", marker)
        found = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^]]*)\])?", needs)
        if found and (not of_extra or plain(of_extra.group(1)) in extras):
            yield plain(found.group(1)), frozenset(plain(word.strip()) for word in (found.group(2) or "").split(",") if word)


def used_packages(program, installed, asked):
    """Those of `asked` that the program imports, or that an imported package requires."""
    used, modules, read, seen = set(), set(program.modules), set(), set()

    def look_into(tree, name):
        try:
            modules.update(module.split(".")[0] for module in imports_of(tree))
        except Unknown as why:
            raise Unknown("%s: %s" % (name, why))
        for text in texts_of(tree):
            if text.endswith(".py"):
                program.files.extend(program.files_named(text))

    for code in program.codes:
        look_into(parsed(code, "the code behind -c"), "the code behind -c")
    while program.files or modules - seen:
        for path in program.files[:]:
            program.files.remove(path)
            if os.path.realpath(path) not in read:
                read.add(os.path.realpath(path))
                look_into(tree_of(path), os.path.relpath(path))
        for module in modules - seen:
            seen.add(module)
            own = program.files_of(module)
            if own:
                program.files += own
            elif not is_standard(module) and not files_of_module(os.path.join(_HERE, module)):
                found = installed.packages_of.get(module.lower())
                used |= found or of_no_package(module, program, installed, asked)
    return installed.with_requirements(used) & asked


def of_no_package(module, program, installed, asked):
    spec = PathFinder.find_spec(module, [entry for entry in sys.path if os.path.abspath(entry) != _HERE])
    if spec is None:  # one of those that are not installed any more may have held it
        return asked - set(installed.packages)
    files = [file for folder in spec.submodule_search_locations or () for file in files_in(folder)]
    files += [spec.origin] if (spec.origin or "").endswith(".py") else []
    if not files:
        raise Unknown("no installed package is known to hold the module %s" % module)
    program.files += files
    return set()


def main(words, asked):
    try:
        return {"packages": sorted(used_packages(Program(words), Installed(), asked))}
    except Unknown as why:
        return {"unknown": str(why)}


if __name__ == "__main__":
    print("\n" + json.dumps(main(json.loads(sys.argv[1]), set(json.loads(sys.argv[2])))))
