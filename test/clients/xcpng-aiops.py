"""Runs commands of xcpng-aiops one after another in one process: each start of the program
takes 2 s of CPU time to import its modules.

Argument: a JSON array of commands, each an array of arguments. Prints a JSON array with one
object for each: {"code": exit code, "stdout": what it printed, "stderr": the same}.
"""

import contextlib
import io
import json
import sys

from xcpng_aiops.cli import app


def run(arguments):
    stdout, stderr = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            app(arguments, prog_name="xcpng-aiops")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}


print(json.dumps([run(command) for command in json.loads(sys.argv[1])]))
