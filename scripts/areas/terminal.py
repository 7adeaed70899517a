"""Draws what commands print in a terminal as an SVG file, for README.md: docs/guide/pictures/first-verdict.svg.

The commands are README.md's: a PyTorch script that nobody changed, from a new folder to its first verdict. They run in a folder and a home of
their own, for some seconds. Needs python3-torch.
"""
import html
import pathlib
import re

from measuring import run

PROGRAMS = ["dtctl", "dtjob"]
COMMANDS = (
    "dtctl new study.yaml --program train.py --ranks 1,2 --repeats 3",
    "dtctl sweep study.yaml --wait",
    "dtctl results study",
    "dtctl results study --why",
)
PROGRAM = '''import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
ddp = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01)
ranks = dist.get_world_size()
images, labels = torch.randn(256 // ranks, 1, 28, 28), torch.randint(0, 10, (256 // ranks,))
for step in range(300):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(ddp(images), labels).backward()
    optimizer.step()
'''
COLUMNS, WIDTH, HEIGHT = 118, 8.4, 19  # characters; pixels of a character and of a line
COLOURS = {"1": "font-weight:bold", "2": "opacity:0.6", "31": "fill:#ff7b72", "32": "fill:#7ee787", "33": "fill:#f2cc60", "34": "fill:#79c0ff",
           "35": "fill:#d2a8ff", "36": "fill:#76e3ea"}


def folded(line):
    """The line in pieces that fit, as a terminal shows it. A coloured one is short enough."""
    return [line] if "\x1b" in line or not line else [line[i : i + COLUMNS] for i in range(0, len(line), COLUMNS)]


def options(parser):
    parser.add_argument("file", type=pathlib.Path, metavar="FILE")


def recorded(place):
    """The lines of a session: prompts, and what the commands print."""
    place.write("train.py", PROGRAM)
    environment = {name: value for name, value in place.environment.items() if name != "NO_COLOR"}
    environment.update(PATH=f"{place.build}/bin:/usr/bin:/bin", FORCE_COLOR="1", COLUMNS=str(COLUMNS), OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    for command in COMMANDS:
        yield "\x1b[1m$ " + command + "\x1b[0m"
        said = run(["sh", "-c", f"exec 2>&1; {command}"], cwd=place.folder, env=environment)
        for line in said.rstrip("\n").replace(str(place.folder), "~").split("\n"):
            yield from folded(line)
        yield ""


def spans(line):
    """The line as SVG text, with the colours of its escape sequences."""
    styles, parts = [], []
    for piece in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", line):
        found = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if found:
            codes = found[1].split(";")
            styles = [] if codes in ([""], ["0"]) else styles + [COLOURS[code] for code in codes if code in COLOURS]
        elif not piece.startswith("\x1b"):
            text = html.escape(piece)
            parts.append(f'<tspan style="{";".join(styles)}">{text}</tspan>' if styles and text else text)
    return "".join(parts)


def measure(asked, place):
    lines = list(recorded(place))[:-1]
    width, height = COLUMNS * WIDTH + 32, len(lines) * HEIGHT + 32
    rows = "\n".join(f'<text x="16" y="{28 + i * HEIGHT}" xml:space="preserve">{spans(line)}</text>' for i, line in enumerate(lines))
    asked.file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        f'font-family="ui-monospace,DejaVu Sans Mono,monospace" font-size="14" fill="#e6edf3">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n{rows}\n</svg>\n')
