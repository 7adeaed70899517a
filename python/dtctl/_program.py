"""Calls the program dtctl and reads the JSON value that it prints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Dict, List, Optional

JSON_SCHEMA = 1  # of the values that this package can read (json_schema_version in cli/output/output.hpp)


class DtctlError(Exception):
    """dtctl refused or failed. The text is its message."""

    def __init__(self, message: str, kind: str, exit_code: Optional[int] = None,
                 diagnostics: Optional[List[Dict[str, Any]]] = None) -> None:
        super().__init__(message)
        self.kind = kind  #: "usage", "recipe", "scheduler", "environment", …: who can mend it
        self.exit_code = exit_code  #: of dtctl; None: it did not run, or this package cannot read what it printed
        self.diagnostics = diagnostics or []  #: of a recipe: for each mistake its file, line, column and message


class DtctlWarning(UserWarning):
    """A warning of dtctl."""


class Program:
    """The program dtctl and the home with which it works."""

    def __init__(self, home: Optional[str], program: str) -> None:
        self.environment = dict(os.environ)
        if home is not None:
            self.environment["DTCTL_HOME"] = os.path.abspath(os.path.expanduser(home))
        self.program = program
        self._columns: Optional[List[Dict[str, str]]] = None

    def call(self, *words: str, follow: bool = False) -> Dict[str, Any]:
        """Returns the JSON value of a command. With follow, prints its progress. Raises a DtctlError if dtctl reports an error."""
        with tempfile.TemporaryFile() as out:  # no pipe: it would fill up while the messages are read
            exit_code = self._run([self.program, *words, "--json"], out, follow)
            out.seek(0)
            text = out.read()
        return self._checked(text, exit_code, words)

    def query(self, sql: str) -> Dict[str, Any]:
        """Returns columns and rows of a statement that reads the results database."""
        value = self.call("query", sql, "--limit", "100000000", "--timeout", "600")
        if value["truncated"]:
            raise DtctlError("the answer has more rows than dtctl query returns at once; ask for a part of them", "usage")
        return value

    def columns(self) -> List[Dict[str, str]]:
        """The columns of views and tables: table, column, type, unit and definition of each."""
        if self._columns is None:
            self._columns = self.call("db", "columns")["columns"]
        return self._columns

    def _run(self, command: List[str], out: Any, follow: bool) -> int:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                       env=self.environment, text=True, errors="replace")
        except OSError as error:
            raise DtctlError(f"the program {self.program} cannot be started ({error.strerror}); put the folder of dtctl into "
                             "PATH, or name the program: dtctl.home(program=\"/path/to/dtctl\")", "environment") from error
        with process:
            try:
                assert process.stderr is not None
                for line in process.stderr:
                    _tell(line.rstrip("\n"), follow)
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)  # dtctl stops waiting; the jobs go on
                raise
        return process.returncode

    def _checked(self, text: bytes, exit_code: int, words: Any) -> Dict[str, Any]:
        try:
            value = json.loads(text)
            schema = value["schema"]
        except (ValueError, KeyError, TypeError) as error:
            begin = text[:200].decode("utf-8", "replace")
            raise DtctlError(f"{self.program} {words[0]} printed no JSON of dtctl (exit code {exit_code}): {begin!r}; is this "
                             "program dtctl?", "environment") from error
        if schema != JSON_SCHEMA:
            raise DtctlError(f"{self.program} prints JSON of schema {schema}, but this Python package reads schema {JSON_SCHEMA}; "
                             "install the package of the same release as the program", "environment")
        if "error" in value:
            error_of = value["error"]
            raise DtctlError(error_of["message"], error_of["kind"], exit_code, error_of.get("diagnostics"))
        return dict(value)


def _tell(line: str, follow: bool) -> None:
    mark = "dtctl: warning: "
    if line.startswith(mark):
        warnings.warn(line[len(mark):], DtctlWarning, stacklevel=5)
    elif follow and line:
        print(line, file=sys.stderr)
