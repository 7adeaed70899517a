"""How often verdicts, intervals and races are right, in simulated studies whose truth is known.

The machines drift, have two speeds, outliers, … Options are those of the program bench_statistics, which prints the tables:

  scripts/measure statistics                  all of it, 4,000 studies a case: ten minutes on two cores
  scripts/measure statistics --quick          400 studies a case, one minute
  scripts/measure statistics --json FILE      also writes a JSON object for each row
  scripts/measure statistics --only races     one part: comparisons, gains, studies, races or tunings
  scripts/measure statistics --only studies --machine unequal --candidates 2 --repeats 3 --trials 100000
"""
import subprocess

PROGRAMS = ["bench_statistics"]
PASSES_ON = True  # what scripts/measure does not know


def measure(asked, place):
    return subprocess.run([place.program(PROGRAMS[0]), *asked.more]).returncode
