"""Executes the directives of packaging/spack's package without Spack: its variants and CMake options must be those of CMakeLists.txt, and
each library that a CMake file looks for must be named.

    check_spack.py SOURCE
"""
import ast
import pathlib
import re
import sys
import types
from contextlib import contextmanager

source = pathlib.Path(sys.argv[1])
recipe = source / "packaging/spack/packages/dtctl/package.py"
said = {"version": [], "variant": [], "depends_on": [], "conflicts": []}


def directive(name):
    return lambda *words, **more: said[name].append((words, more))


@contextmanager
def when(_condition):
    yield


class CMakePackage:
    stage = types.SimpleNamespace(source_path="/stage")

    def define(self, name, value):
        return name

    def define_from_variant(self, name, variant):
        assert variant in {words[0] for words, _ in said["variant"]}, f"cmake_args names the variant {variant}, which is not declared"
        return name


fake = types.ModuleType("spack.package")
fake.__dict__.update({name: directive(name) for name in said}, when=when, generator=lambda *_: None, resource=lambda **_: None,
                     join_path=lambda *parts: "/".join(parts), CMakePackage=CMakePackage)
sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": fake})
package = {}
exec(compile(ast.parse(recipe.read_text()), str(recipe), "exec"), package)

project = (source / "CMakeLists.txt").read_text()
files = project + "".join(path.read_text() for path in [*source.glob("cmake/*.cmake"), *source.glob("*/CMakeLists.txt")])
version = re.search(r"project\(dtctl VERSION ([0-9.]+)", project).group(1)
assert [words[0] for words, _ in said["version"]] == [version], f"the version is not {version}"
for option in package["Dtctl"]().cmake_args():
    assert re.search(rf"(option|find_file)\({option}\b", files), f"CMake has no option {option}"

needed = {"fmt": "fmt", "spdlog": "spdlog", "nlohmann_json": "nlohmann-json", "yaml-cpp": "yaml-cpp", "CLI11": "cli11", "SQLite3": "sqlite",
          "Boost": "boost", "ZLIB": "zlib-api", "JPEG": "jpeg", "LibArchive": "libarchive", "MPI": "openmpi"}
names = {re.split(r"[@ ~+]", words[0])[0] for words, _ in said["depends_on"]}
for found in set(re.findall(r"^\s*find_package\((\S+) ", project, re.M)) - {"Threads", "Catch2"}:
    assert found in needed, f"check_spack.py does not know Spack's name of {found}"
    assert needed[found] in names, f"the package does not depend on {needed[found]} ({found})"
print(f"check_spack: {len(names)} dependencies, version {version}")
