"""A build backend that builds nothing. pip asks for the metadata of a source distribution that it only downloads, and that of
S3netCDF4 cannot be built: it lacks its sources in Cython."""

import pathlib


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    lines = [line.partition(": ") for line in pathlib.Path("PKG-INFO").read_text().splitlines()]
    told = {key: value for key, _, value in reversed(lines)}
    name, version = told["Name"], told["Version"]
    folder = pathlib.Path(metadata_directory, f"{name}-{version}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder.name
