#!/usr/bin/env python3
"""Values of trec_eval for a run, a query at a time, as JSON: query -> measure -> value.

Usage: trec_eval.py QRELS RUN [RELEVANCE_LEVEL]      (level: grade from which an id is relevant, default 2)

trec_eval's own C code computes them, through the Python package pytrec_eval-terrier. When the package is not here it is
installed into a virtual environment in the folder for temporary files. Exit code 3: it cannot be installed.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

PACKAGE = "pytrec_eval-terrier==0.5.11"
CUTS = [1, 3, 5, 10, 20]


def evaluator():
    """The module, installed if need be; starts this script again inside the environment."""
    try:
        import pytrec_eval

        return pytrec_eval
    except ImportError:
        pass
    home = pathlib.Path(tempfile.gettempdir()) / "hookbench-trec-eval"
    python = home / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == home.resolve():
        sys.exit(3)
    try:
        if not python.exists():
            venv.create(home, with_pip=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
        subprocess.run(install, check=True, stdout=sys.stderr)
    except (OSError, subprocess.CalledProcessError) as fault:
        print(f"{PACKAGE} cannot be installed: {fault}", file=sys.stderr)
        sys.exit(3)
    os.execv(python, [str(python), *sys.argv])


def read(path, key, value, kind):
    """Query -> document -> value, from the columns of a TREC file."""
    table = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words:
            table.setdefault(words[0], {})[words[key]] = kind(words[value])
    return table


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    qrels, run = read(sys.argv[1], 2, 3, int), read(sys.argv[2], 2, 4, float)
    level = int(sys.argv[3]) if len(sys.argv) == 4 else 2
    cuts = ",".join(map(str, CUTS))
    measures = {f"{name}.{cuts}" for name in ("P", "recall", "ndcg_cut", "success")} | {"recip_rank"}
    found = evaluator().RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)
    values = {query: dict(sorted(found[query].items())) for query in sorted(found)}
    json.dump(values, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
