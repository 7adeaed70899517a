"""The simulated figures in docs/papers: where they come from, and whether the pages still say them.

  scripts/measure papers check             compares the pages with docs/papers/results (seconds; no simulation)
  scripts/measure papers run [NAME...]     simulates the studies again at full size and compares them with docs/papers/results (an hour)
  scripts/measure papers write [NAME...]   simulates what $DTCTL_HOME lacks of them, and writes docs/papers/results and the pages' figures again
  scripts/measure papers pages             writes the pages' figures again from docs/papers/results

docs/papers/results/NAME.json is a study: what was run, when and by which dtctl, and a row for each point. docs/papers/results/quotes has the
lines of the pages with figures of these files: "PAGE: TEXT", in which {NAME WORDS FIGURE:FORMAT} is a figure of the point whose label has all
these words (nodes=1024 and ranks=4 are words too). `efficiency` and `communication_share` are percentages. The figures `least`, `most`,
`efficiency_least` and `efficiency_most` are the range over the assumed figures (study.sensitivity).

A simulation gives the same figures on every machine up to rounding, so `run` allows a difference of 0.1 % of a figure.
"""
import datetime
import json
import os
import pathlib
import re
import sys

from measuring import ROOT, one_of, stop

PROGRAMS = ["dtctl", "dtjob", "dtsim"]
PAGES = ROOT / "docs/papers"
RESULTS = PAGES / "results"
TOLERANCE = 1e-3
RANGE = ["--set", "study.sensitivity=20%"]
STUDIES = {  # name: options of dtctl sweep
    "swcaffe-resnet50": RANGE, "swcaffe-alexnet": RANGE, "swcaffe-order": [], "swcaffe-platforms": [],
    "swflow-period": [], "swflow-nodes": RANGE, "swflow-assumptions": [], "swflow-batch": [],
    "easgd-family-64": RANGE, "easgd-weak-scaling": RANGE, "easgd-weak-scaling-profile": [], "easgd-stragglers": [], "easgd-partition-64": [],
    "hsgd-scale": [], "tianhe3-models": RANGE, "tianhe3-dynamic": [],
}
FIGURES = ["throughput", "speedup", "efficiency", "efficiency_low", "efficiency_high", "communication_share"]
PERCENT = {"efficiency", "efficiency_low", "efficiency_high", "communication_share", "efficiency_least", "efficiency_most"}
PLACE = re.compile(r"\{([^{}]+)\}")


def options(parser):
    parser.add_argument("action", type=one_of(["check", "run", "write", "pages"]), metavar="check|run|write|pages")
    parser.add_argument("names", nargs="*", type=one_of(STUDIES), metavar="NAME", help="studies (all)")


def needs_programs(asked):
    return asked.action in ("run", "write")


def simulate(name, place):
    """The study as it is stored."""
    print(f"simulating {name}", file=sys.stderr, flush=True)
    place.dtctl("sweep", name, *STUDIES[name], "--wait", "-q")
    answer = place.json("dtctl", "results", name)
    kept = ["label", "platform", "nodes", "ranks", "runs", *FIGURES]
    return {"study": name, "command": " ".join(["dtctl", "sweep", name, *STUDIES[name], "--wait"]),
            "date": datetime.date.today().isoformat(), "version": place.dtctl("--version").strip(),
            "points": [{key: point[key] for key in kept} for point in answer["scaling"]], "sensitivities": answer.get("sensitivities", [])}


def as_text(study):
    """One line for a point, so that a change is one line."""
    head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in study.items() if key not in ("points", "sensitivities")]
    lists = [f'"{key}": [\n' + ",\n".join("  " + json.dumps(each) for each in study[key]) + "\n]" for key in ("points", "sensitivities")]
    return "{\n" + ",\n".join(head + lists) + "\n}\n"


def figures_of(study):
    """All figures of a study by what they are, for comparison."""
    figures = {(point["label"], point["nodes"], point["ranks"], key): point[key] for point in study["points"] for key in FIGURES}
    return figures | {(each["label"], figure["key"], end): figure[end] for each in study["sensitivities"] for figure in each["figures"]
                      for end in ("lower", "higher")}


def differences(kept, fresh):
    """Lines that say which figures differ."""
    old, new = figures_of(kept), figures_of(fresh)
    lines = [f"{what} is only in one of the two" for what in sorted(old.keys() ^ new.keys(), key=str)]
    for what in old.keys() & new.keys():
        one, other = old[what], new[what]
        if (one is None) != (other is None) or (one is not None and abs(one - other) > TOLERANCE * max(abs(one), abs(other))):
            lines.append(f"{what}: {one} in docs/papers/results, {other} now")
    return lines


def read(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def value_text(reference, where):
    """The text of a place in a quote: a figure of one point or of one range."""
    reference, _, form = reference.partition(":")
    name, *words, figure = reference.split(" ")
    if name not in STUDIES:
        stop(f"{where}: there is no study {name}; known: {', '.join(STUDIES)}", 1)
    rows = read(name)["sensitivities" if figure.endswith(("least", "most")) else "points"]
    found = [each for each in rows if set(words) <= {*each["label"].split(" "), f"nodes={each.get('nodes')}", f"ranks={each.get('ranks')}"}]
    if len(found) != 1:
        stop(f"{where}: {{{name} {' '.join(words)}}} means {len(found)} rows of {name}.json, not one", 1)
    return format(found[0][figure] * 100 if figure in PERCENT else found[0][figure], form)


def quotes():
    """Of each quote: its place in the file, page, text with places, text with figures."""
    for number, line in enumerate((RESULTS / "quotes").read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            where, (page, _, text) = f"docs/papers/results/quotes:{number}", line.partition(": ")
            yield where, page, text, PLACE.sub(lambda each: value_text(each[1], where), text)


def check(writes):
    """Compares or, if `writes`, corrects the pages. Returns lines that say what is wrong."""
    wrong, quoted = [], set()
    for where, page, text, filled in quotes():
        quoted |= {each.split(" ")[0] for each in PLACE.findall(text)}
        content = (PAGES / page).read_text()
        if content.count(filled) == 1:
            continue
        found = re.findall(r"-?[\d,.]+".join(map(re.escape, PLACE.split(text)[::2])), content)  # the quote with any figures
        if writes and len(found) == 1:
            (PAGES / page).write_text(content.replace(found[0], filled))
        elif len(found) == 1:
            wrong.append(f"docs/papers/{page}: says `{found[0]}`, but the simulation `{filled}` ({where})")
        else:
            wrong.append(f"docs/papers/{page}: has the text {len(found)} times, not once: `{filled}` ({where})")
    return wrong + [f"docs/papers/results/{name}.json is quoted by no page" for name in STUDIES if name not in quoted] + unquoted_rows()


def unquoted_rows():
    """Rows of a table under the comment <!-- simulated --> that are no quote."""
    wrong, texts = [], {(page, filled) for _, page, _, filled in quotes()}
    for path in sorted(PAGES.glob("*.md")):
        is_simulated = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.strip() == "<!-- simulated -->":
                is_simulated, begin = True, number + 3  # after the heading and the line below it
            elif is_simulated and number >= begin:
                is_simulated = line.startswith("|")
                if is_simulated and not any(page == path.name and text in line for page, text in texts):
                    wrong.append(f"docs/papers/{path.name}:{number}: no quote in docs/papers/results/quotes has this row's figures")
    return wrong


def measure(asked, place):
    wrong = []
    if asked.action == "write" and "DTCTL_HOME" in os.environ:
        place.use_home(pathlib.Path(os.environ["DTCTL_HOME"]).resolve())
    for name in asked.names or STUDIES if asked.action in ("run", "write") else ():
        fresh = simulate(name, place)
        if asked.action == "write":
            (RESULTS / f"{name}.json").write_text(as_text(fresh))
        else:
            wrong += [f"{name}: {line}" for line in differences(read(name), fresh)]
    if asked.action != "run":
        wrong += check(writes=asked.action != "check")
    print("\n".join(wrong) if wrong else "docs/papers agrees with its results", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0
