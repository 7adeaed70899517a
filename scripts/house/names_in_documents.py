#!/usr/bin/env python3
"""Holds what comments and documents name to the tree. Prints each name that the tree does not have; exit 1 when there is one.

  scripts/house/names_in_documents.py [FOLDER]       FOLDER is a git checkout; without it the current folder

In sources, scripts and documents: paths of files and folders that begin with a room (`engine/comm/machine/`). In documents, which are the
Markdown files of the root and of docs/, also

  - links to other files and to headings;
  - folders and files named relative to a folder of the tree, in backticks (`statistics/ranking`);
  - names of C++ in backticks and in code blocks without a language: `ns::name`, `Type::member`, `CamelCase`, `call()`, `snake_case`. Each
    must be a word of the code outside of comments; of `A::b`, a file that declares A must have b, or `A::b` stands somewhere.

A name with three capitals in a row, as in engine/comm/NAME.cpp, stands for any name. Words that are not ours, such as those of Slurm and
PyTorch, are listed in scripts/house/foreign-names, one a line.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOMS = "core|recipes|jobs|store|cli|engine|tests|docs|scripts|cmake"
PATH = re.compile(rf"(?<![\w./~$}}-])(?:{ROOMS})/[A-Za-z0-9_./*-]*[A-Za-z0-9_/*]")
CODE = (".hpp", ".cpp", ".h", ".py", ".js", ".css", ".cmake", "CMakeLists.txt")
QUALIFIED = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_~]\w*)+")
CAMEL = re.compile(r"(?<![\w.:<-])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?![\w:])")
CALL = re.compile(r"([A-Za-z_]\w*)\(\)")
WORD = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(?m:^\s*#[^\n]*)", re.S)


def slug(heading):  # as GitHub makes the anchor of a heading
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def is_apart(file):  # this check and its test name false paths and symbols on purpose
    return file.startswith("scripts/house/") or file == "tests/house/check_names_test"


def text_of(file):
    """None of a link, and of what is no text."""
    try:
        return None if os.path.islink(file) else pathlib.Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


class Tree:
    def __init__(self):
        listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0")
        files = [file for file in listed if file and os.path.exists(file)]
        folders = {str(folder) for file in files for folder in pathlib.PurePath(file).parents} - {"."}
        self.names = set(files) | folders
        self.stems = {re.sub(r"\.[a-z]+$", "", f) for f in files if "/" in f}
        # Every file, with and without its ending, and every folder, from any of its folders on.
        self.endings = {"/".join(parts[n:]) for parts in (name.split("/") for name in self.names | self.stems) for n in range(len(parts))}
        self.folder_names = {f.split("/")[-1] for f in folders}
        self.texts = {file: text for file in files if (text := text_of(file)) is not None}
        self.words, self.declared = {}, {}  # words of a file's code; a class, struct, enum or namespace: the files that declare or open it
        for file, text in self.texts.items():
            if not is_apart(file) and (file.endswith(CODE) or (not file.endswith(".md") and re.match(r"(scripts|tests|recipes|share|cmake)/", file))):
                # In C++ a name that only a comment has left is no name of the code. Elsewhere the whole text counts.
                self.words[file] = set(WORD.findall(COMMENT.sub(" ", text) if file.endswith((".hpp", ".cpp", ".h")) else text))
            if file.endswith((".hpp", ".cpp")):
                for names in re.findall(r"\b(?:class|struct|enum|namespace)\s+([\w:]+)", text):
                    for name in names.split("::"):
                        self.declared.setdefault(name, set()).add(file)
        self.all_words = set().union(*self.words.values())
        self.code = "\n".join(t for f, t in self.texts.items() if f.endswith((".hpp", ".cpp")))

    def has_path(self, path, behind):
        path = path.rstrip("/")
        if path in self.names or path in self.stems or re.search(r"[A-Z]{3}", path):
            return True
        if behind in tuple("<{[\\-"):  # the beginning of a pattern, as in cmd_<name>
            return any(name.startswith(path) for name in self.names)
        if "*" in path:
            pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*"))
            return any(pattern.match(name) for name in self.names)
        return False

    def has_symbol(self, symbol, known):
        parts = [p.lstrip("~") for p in symbol.split("::") if p not in ("dt", "std")]
        if symbol.startswith("std::") or parts == [] or parts[0] in known or symbol in known:
            return True
        if any(p not in self.all_words for p in parts):
            return False
        if len(parts) == 1 or "::".join(parts[-2:]) in self.code:
            return True
        return any(parts[-1] in self.words[file] for file in self.declared.get(parts[-2], ()))


def foreign_names():
    path = pathlib.Path("scripts/house/foreign-names")
    return {line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()} - {""} if path.exists() else set()


def spans(text):
    """Code in backticks and in code blocks without a language: (line number, code, whether it is a block)."""
    block = language = None
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.match(r"\s*```(.*)", line)
        if fence:
            block, language = (not block), fence.group(1).strip() if not block else None
        elif block:
            if language == "":
                yield number, line, True
        else:
            for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                yield number, code, False


def prose_lines(text):
    block = False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*```", line):
            block = not block
        elif not block:
            yield number, line


def check_links(tree, file, say):
    anchors = {f: {slug(m) for m in re.findall(r"(?m)^#+ (.*)$", t)} for f, t in tree.texts.items() if f.endswith(".md")}
    for number, line in prose_lines(tree.texts[file]):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
            if path not in tree.names:
                say(number, f"the link to {target} leads to no file")
            elif anchor and anchor not in anchors.get(path, {anchor}):
                say(number, f"the link to {target} leads to no heading")


def check_names(tree, file, known, say):
    short_folders = file in ("ARCHITECTURE.md", "CONTRIBUTING.md")
    for number, code, block in spans(tree.texts[file]):
        for symbol in QUALIFIED.findall(code):
            if not tree.has_symbol(symbol, known):
                say(number, f"the code has no {symbol}")
        names = CAMEL.findall(code)
        if not block:
            names += CALL.findall(code) + re.findall(r"^(?:[A-Z][a-z]+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)$", code)
            if re.fullmatch(r"[a-z0-9_]+(/[a-z0-9_.]+)+/?", code) and code.split("/")[0] in tree.folder_names:
                if code.rstrip("/") not in tree.endings and code not in known:
                    say(number, f"the tree has no {code}")
            if short_folders and re.fullmatch(r"[a-z0-9_]+/", code) and code[:-1] not in tree.folder_names:
                say(number, f"the tree has no folder {code}")
        for name in names:
            if name not in tree.all_words and name not in known:
                say(number, f"the code has no {name}")


def main():
    if len(sys.argv) > 1:
        os.chdir(sys.argv[1])
    tree, known, broken = Tree(), foreign_names(), []
    documents = [f for f in tree.texts if f.endswith(".md") and ("/" not in f or f.startswith("docs/"))]
    sources = [f for f in tree.texts if f.startswith("scripts/") or f.endswith((".hpp", ".cpp", ".md", ".cmake", "CMakeLists.txt", ".yaml", ".py", ".sh"))]
    for file in (f for f in sources if not is_apart(f)):
        for number, line in enumerate(tree.texts[file].split("\n"), 1):
            for match in PATH.finditer(line):
                if not tree.has_path(match[0], line[match.end():match.end() + 1]):
                    broken.append(f"{file}:{number}: {match[0]} does not exist")
    for file in documents:
        say = lambda number, what, file=file: broken.append(f"{file}:{number}: {what}")
        check_links(tree, file, say)
        check_names(tree, file, known, say)
    for line in dict.fromkeys(broken):
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
