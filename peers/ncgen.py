"""What Debian's ncgen makes of the texts in crates/tools/tests/ncgen: writes the outcomes into the files anew.

    python3 peers/ncgen.py

A file has cases: a line `=== NAME [FLAG]`, a CDL text, a line `--- exit N` with what follows (`crashes`, and the first
message), and what `ncdump -s` prints of the result, without `_NCProperties` and `_SuperblockVersion`, which contain versions.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "crates/tools/tests/ncgen"
VERSIONS = ("_NCProperties", "_SuperblockVersion")


def outcome(text: str, flags: list[str], folder: Path) -> str:
    """What becomes of a text."""
    (folder / "t.cdl").write_text(text, encoding="utf-8")
    made = subprocess.run(
        ["ncgen", *flags, "-o", "t.nc", "t.cdl"], cwd=folder, capture_output=True, check=False
    )
    if made.returncode != 0:
        message = made.stderr.decode(errors="replace").splitlines()
        crash = " crashes" if made.returncode < 0 else ""
        return f"--- exit {made.returncode}{crash}{': ' + message[0] if message else ''}\n"
    dump = subprocess.run(["ncdump", "-s", "t.nc"], cwd=folder, capture_output=True, check=False).stdout
    lines = dump.decode(errors="surrogateescape").splitlines()
    kept = [line for line in lines if not any(word in line for word in VERSIONS)]
    return "--- exit 0\n" + "".join(f"{line}\n" for line in kept)


def main() -> None:
    """Writes all outcomes anew."""
    for file in sorted(FOLDER.glob("*.txt")):
        parts = re.split(r"^(=== .*\n)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        whole = parts[0]
        for head, body in zip(parts[1::2], parts[2::2], strict=True):
            text = body.split("\n--- exit ", 1)[0].rstrip("\n") + "\n"
            with tempfile.TemporaryDirectory() as folder:
                whole += head + text + outcome(text, head.split()[2:], Path(folder))
        file.write_text(whole, encoding="utf-8", errors="surrogateescape")


if __name__ == "__main__":
    main()
