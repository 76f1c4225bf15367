"""The command that the wheel brings is the one that cargo builds."""

import subprocess
import sys
from pathlib import Path

import ncirrus

EXAMPLE = Path(__file__).parents[3] / "examples" / "sst.nc"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as a module of Python."""
    command = [sys.executable, "-m", "ncirrus", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_tells_its_version() -> None:
    assert run("--version").stdout.strip() == f"ncirrus {ncirrus.__version__}"


def test_the_command_copies_and_prints_a_dataset(tmp_path: Path) -> None:
    copy = str(tmp_path / "sst.zarr")
    assert run("copy", str(EXAMPLE), copy).returncode == 0
    dump = run("dump", "-h", copy)
    assert dump.returncode == 0 and "float sst(" in dump.stdout, dump.stdout


def test_exit_codes_say_who_must_act(tmp_path: Path) -> None:
    for arguments, code in [(["dump"], 2), (["dump", str(tmp_path / "no.nc")], 3), (["no-such-command"], 2)]:
        ended = run(*arguments)
        assert ended.returncode == code, ended.stderr
        assert "Traceback" not in ended.stderr and "panicked" not in ended.stderr
