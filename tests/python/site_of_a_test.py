"""A folder with a home of dtctl for the tests of one file, and the programs of this build. DTCTL_BINARY_DIR names the build."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ["DTCTL_BINARY_DIR"]) / "bin"
DTCTL = str(BINARIES / "dtctl")

# A strong-scaling study of two sizes, three runs each, of ten steps.
TINY = {
    "version": 1,
    "name": "tiny",
    "model": {"name": "lenet"},
    "data": {"name": "synthetic", "train_samples": 256, "test_samples": 64},
    "train": {"global_batch": 32, "steps": 10, "warmup_steps": 2},
    "resources": {"oversubscribe": True, "time_limit": "5m"},
    "study": {"mode": "strong", "ranks": [1, 2], "repeats": 3},
}


def enter() -> Path:
    """Makes the folder, makes it the current one, and puts this build's programs and /usr/bin first in PATH."""
    folder = Path(tempfile.mkdtemp(prefix="dtctl-python-"))
    os.environ["DTCTL_HOME"] = str(folder / "home")
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    os.environ["DTCTL_CORE_LOCKS"] = str(folder / "locks")
    os.environ["PATH"] = f"{BINARIES}:/usr/bin:{os.environ['PATH']}"
    os.environ.pop("DTCTL_ENGINE", None)
    os.environ.pop("DTCTL_JOB_AGENT", None)
    os.chdir(folder)
    return folder


def leave(folder: Path) -> None:
    """Ends what still runs there, and removes the folder."""
    subprocess.run([DTCTL, "cancel", "all", "--quiet"], check=False, stderr=subprocess.DEVNULL)
    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)


def use_sources() -> None:
    """Imports the package from python/, not an installed one."""
    sys.path.insert(0, str(SOURCE / "python"))
