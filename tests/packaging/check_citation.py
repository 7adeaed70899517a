"""CITATION.cff is YAML, has what version 1.2.0 of the Citation File Format demands and nothing that it does not know, and names the
version of the project.

    check_citation.py SOURCE
"""
import pathlib
import re
import sys

import yaml

source = pathlib.Path(sys.argv[1])
citation = yaml.safe_load((source / "CITATION.cff").read_text())
required = {"cff-version", "message", "title", "authors"}
known = required | {"abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
                    "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url", "version"}
assert required <= citation.keys(), f"missing: {required - citation.keys()}"
assert citation.keys() <= known, f"unknown: {citation.keys() - known}"
assert citation["cff-version"] == "1.2.0"
assert citation["type"] in ("software", "dataset")
for author in citation["authors"]:  # an entity has a name, a person has others
    assert "name" in author or author.keys() & {"family-names", "given-names", "alias"}, author
version = re.search(r"project\(dtctl VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text()).group(1)
assert citation["version"] == version, f"CITATION.cff says {citation['version']}, and CMakeLists.txt {version}"
print("check_citation: version", version)
