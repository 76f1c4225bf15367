"""Installs the package, editable, in the environment of the Python that runs this: `editable.py MODULE SOURCES`.

What it installs is what `maturin develop` installs: the extension module beside the sources, a path that leads to
them, the description of the package with its entry points, and its program.
"""

import os
import shutil
import stat
import subprocess
import sys
import sysconfig
from importlib.metadata import PathDistribution
from pathlib import Path

module, sources = Path(sys.argv[1]), Path(sys.argv[2])
site, programs = Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("scripts"))

# A new file, as another program may have loaded the old one.
built = sources / "ncirrus" / "_ncirrus.abi3.so"
fresh = built.with_name(f"_ncirrus.{os.getpid()}.tmp")
shutil.copyfile(module, fresh)
subprocess.run(["strip", "--strip-all", fresh], check=True)
os.replace(fresh, built)

for old in [*site.glob("ncirrus-*.dist-info"), *site.glob("ncirrus.pth")]:
    shutil.rmtree(old) if old.is_dir() else old.unlink()
maturin = [sys.executable, "-m", "maturin", "pep517", "write-dist-info", "--metadata-directory", site]
name = subprocess.run(maturin, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
path, info = site / "ncirrus.pth", site / name
path.write_text(f"{sources}\n")

made = [path]
for entry in PathDistribution(info).entry_points.select(group="console_scripts"):
    program = programs / entry.name
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom {entry.module} import {entry.attr}\nsys.exit({entry.attr}())\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    made.append(program)
(info / "INSTALLER").write_text("maturin\n")
made += [found for found in info.rglob("*") if found.is_file()]
rows = [os.path.relpath(found, site) for found in [*made, info / "RECORD"]]
(info / "RECORD").write_text("".join(f"{row},,\n" for row in rows))
