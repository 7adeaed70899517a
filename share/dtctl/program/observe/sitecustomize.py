"""Python imports this at its start in a run whose program is observed (program.observe). It lets dtctl_observe watch torch, if the
program imports torch, has lines written whole, and then imports the sitecustomize that this one hides. Where packages have changed
since the submission, it tells at the end which of them were imported."""

import atexit
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class _TorchFinder:
    """Finds torch as the other finders do, and watches it as soon as it is imported. Being looked for is not being imported."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "torch":
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not cls and hasattr(finder, "find_spec") else None
            if spec is not None:
                if spec.loader is not None:
                    _watch_after(spec.loader)
                return spec
        return None


def _watch_after(loader):
    load = loader.exec_module

    def exec_module(module):
        load(module)
        if _TorchFinder in sys.meta_path:
            sys.meta_path.remove(_TorchFinder)
        try:
            import dtctl_observe

            dtctl_observe.watch(module)
        except Exception as error:
            print(f"dtctl: this program is not observed: {type(error).__name__}: {error}", file=sys.stderr)

    loader.exec_module = exec_module


def _import_hidden():
    """The sitecustomize of the user or of the system, which is next in the path."""
    others = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _write_whole_lines():
    """Unbuffered (PYTHONUNBUFFERED), each argument of print is a write of its own, and the ranks' words mix within a line of the log."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True, write_through=False)


def _is_rank():
    """Not the launcher of the ranks, such as torchrun."""
    report = os.environ.get("DTCTL_REPORT", "")
    return os.environ.get("RANK") if report.endswith("{RANK}") else report and os.environ.get("DTCTL_LAUNCHER") != str(os.getpid())


def _tell_imported(names):
    """Packages have changed since the submission, of which the program's files do not say that it imports them. Tells if it did."""
    from importlib import metadata

    from dtctl_imports import modules_of

    imported = {module.split(".")[0] for module in sys.modules}
    for name in names:
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # it cannot have been imported
        if imported & modules_of(package):
            text = f"it imported {name} {package.version}, which has changed since the run was submitted"
            with open(os.environ["DTCTL_REPORT"].replace("{RANK}", os.environ.get("RANK", "")), "a") as report:
                report.write(f"caveat packages\t{text}\n")


_write_whole_lines()
if os.environ.get("DTCTL_OBSERVE") and _is_rank():
    sys.meta_path.insert(0, _TorchFinder)
if os.environ.get("DTCTL_UNUSED_CHANGES") and _is_rank():
    atexit.register(_tell_imported, os.environ["DTCTL_UNUSED_CHANGES"].split())
_import_hidden()
