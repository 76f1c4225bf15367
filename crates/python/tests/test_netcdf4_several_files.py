"""Variables that continue through several files give what `MFDataset` of netCDF4-python gives."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirrus.netCDF4 import several_files

original = pytest.importorskip("netCDF4")

OPENED = several_files._opened
LENGTHS = [3, 0, 4, 1]


@pytest.fixture(autouse=True, scope="module")
def _one_at_a_time():
    """The original dies where threads use it at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(several_files, "_opened", lambda open, files: [open(file) for file in files])
        yield


class Joined:
    """What variables ask of their dataset."""

    def __init__(self, *arguments, **words):
        parts = several_files.Parts(original.Dataset, *arguments, **words)
        self.parts = parts
        self._cdfRecVar, self._cdfVLen = parts.variables, parts.lengths
        self.dimensions = dict(parts.master.dimensions)
        grown = several_files._Dimension(parts.dimension, None, parts.lengths, sum(parts.lengths))
        self.dimensions[parts.dimension] = grown
        self.variables = {
            name: several_files._Variable(self, name, parts.master.variables[name], parts.dimension)
            for name in parts.names
        }


def made(folder, **changes):
    first = 0
    for number, length in enumerate(LENGTHS):
        with original.Dataset(folder / f"part{number}.nc", "w", format="NETCDF4_CLASSIC") as file:
            file.createDimension("t", None)
            file.createDimension("x", changes.get("x", {}).get(number, 5))
            plain = file.createVariable("plain", changes.get("type", {}).get(number, "i4"), ("t", "x"))
            packed = file.createVariable("packed", "i2", ("t", "x"), fill_value=-1)
            packed.scale_factor, packed.long_name = 0.5, "packed"
            time = file.createVariable("time", "f8", ("t",))
            time.units = f"days since 2000-01-{number + 1:02}"
            if number not in changes.get("calendarless", []):
                time.calendar = changes.get("calendar", {}).get(number, "standard")
            file.createVariable("x", "f4", ("x",))[:] = 1
            if length:
                shape = (length, len(file.dimensions["x"]))
                plain[:] = np.arange(first, first + length)[:, None] * 10 + np.arange(shape[1])
                values = np.ma.arange(shape[0] * shape[1]).reshape(shape) * 0.5
                packed[:] = np.ma.masked_where((values * 2).astype(int) % 7 == 3, values)
                time[:] = np.arange(length)
        first += length
    return [str(folder / f"part{number}.nc") for number in range(len(LENGTHS))]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    files = made(tmp_path_factory.mktemp("parts"))
    return Joined(files), original.MFDataset(files)


def outcome(call):
    try:
        return "result", call()
    except Exception as error:
        return "error", (type(error), str(error))


def assert_same(found, expected):
    assert found[0] == expected[0], (found, expected)
    if expected[0] == "error":
        # An index past the end is an error of numpy's concatenation there.
        assert found[1][0] in (expected[1][0], IndexError), (found, expected)
        return
    one, two = found[1], expected[1]
    assert (one is np.ma.masked) == (two is np.ma.masked)
    if one is np.ma.masked:
        return
    assert np.ma.isMA(one) == np.ma.isMA(two)
    assert (np.shape(one), np.asarray(one).dtype) == (np.shape(two), np.asarray(two).dtype)
    assert np.ma.getmaskarray(one).tolist() == np.ma.getmaskarray(two).tolist()
    assert np.ma.filled(one).tolist() == np.ma.filled(two).tolist()


def keys(length):
    maybe = st.one_of(st.none(), st.integers(-length - 2, length + 2))
    return st.one_of(
        st.integers(-length - 1, length),
        st.builds(slice, maybe, maybe, st.sampled_from([None, 1, 2, 3])),
        st.lists(st.integers(-length, length - 1), min_size=1, max_size=4).map(np.array),
        st.lists(st.booleans(), min_size=length, max_size=length).map(np.array),
    )


@settings(max_examples=500, deadline=None)
@given(name=st.sampled_from(["plain", "packed"]), data=st.data())
def test_a_selection_is_that_of_the_original(both, name, data):
    selection = data.draw(st.one_of(keys(8), st.tuples(keys(8), keys(5)), st.just(Ellipsis), st.just((Ellipsis, 1))))
    ours, theirs = both[0].variables[name], both[1].variables[name]
    assert_same(outcome(lambda: ours[selection]), outcome(lambda: theirs[selection]))


def test_steps_backwards_are_refused(both):
    with pytest.raises(IndexError, match="^negative strides not allowed when slicing MFVariable Variable instance$"):
        both[0].variables["plain"][::-1]


def test_what_a_variable_tells_is_that_of_the_original(both):
    for name in "plain", "packed", "time":
        ours, theirs = both[0].variables[name], both[1].variables[name]
        for attribute in "shape", "ndim", "name", "dtype", "dimensions":
            assert getattr(ours, attribute) == getattr(theirs, attribute)
        assert (len(ours), ours.ncattrs(), ours.typecode()) == (len(theirs), theirs.ncattrs(), theirs.typecode())
        assert repr(ours).splitlines()[1:] == repr(theirs).splitlines()[1:]
    ours, theirs = both[0].dimensions["t"], both[1].dimensions["t"]
    assert (len(ours), ours.isunlimited(), ours.dimlens) == (len(theirs), theirs.isunlimited(), theirs.dimlens)
    assert repr(ours) == repr(theirs)
    with pytest.raises(AttributeError, match="^absent$"):
        both[0].variables["plain"].absent  # noqa: B018


@pytest.mark.parametrize("words", [{}, {"units": "hours since 1999-12-31"}, {"calendar": "noleap"}])
def test_times_are_in_common_units(both, words):
    ours = several_files.MFTime(both[0].variables["time"], **words)
    theirs = original.MFTime(both[1].variables["time"], **words)
    assert (ours.units, ours.calendar) == (theirs.units, theirs.calendar)
    for selection in slice(None), 4, slice(1, 7, 2), -1:
        assert_same(outcome(lambda: ours[selection]), outcome(lambda: theirs[selection]))


@pytest.mark.parametrize("changes", [{"calendarless": [2]}, {"calendar": {2: "noleap"}}])
def test_times_without_a_common_calendar_are_refused(tmp_path, changes):
    files = made(tmp_path, **changes)
    found, expected = (
        outcome(lambda: several_files.MFTime(Joined(files).variables["time"])),
        outcome(lambda: original.MFTime(original.MFDataset(files).variables["time"])),
    )
    assert found == expected and found[0] == "error"


@pytest.mark.parametrize("changes", [{"x": {2: 4}}, {"type": {3: "f4"}}])
def test_files_that_differ_are_refused_where_that_is_checked(tmp_path, changes):
    files = made(tmp_path, **changes)
    found, expected = outcome(lambda: Joined(files, True)), outcome(lambda: original.MFDataset(files, True))
    assert found == expected and found[0] == "error"


@pytest.mark.parametrize(
    "words", [{"aggdim": "q"}, {"exclude": ["plain", "packed", "time"]}, {"master_file": "absent.nc"}]
)
def test_what_cannot_be_put_together_is_refused(tmp_path, words):
    files = made(tmp_path)
    found, expected = outcome(lambda: Joined(files, **words)), outcome(lambda: original.MFDataset(files, **words))
    assert found == expected and found[0] == "error"


def test_files_are_found_by_wildcards(tmp_path):
    files = made(tmp_path)
    assert Joined(str(tmp_path / "part*.nc")).parts.files == files
    for given in str(tmp_path / "absent*.nc"), [], "http://host.invalid/*.nc":
        assert outcome(lambda: Joined(given)) == outcome(lambda: original.MFDataset(given))
    with pytest.raises(FileNotFoundError):
        Joined([files[0], str(tmp_path / "absent.nc")])


def test_a_master_file_of_choice_gives_names_and_attributes(tmp_path):
    files = made(tmp_path)
    ours, theirs = Joined(files, master_file=files[2]), original.MFDataset(files, master_file=files[2])
    assert ours.variables["time"].units == theirs.variables["time"].units == "days since 2000-01-03"
    assert_same(outcome(lambda: ours.variables["plain"][:]), outcome(lambda: theirs.variables["plain"][:]))


def test_files_are_opened_side_by_side_and_closed_where_one_cannot_be():
    closed, barrier = [], threading.Barrier(3, timeout=10)

    class File:
        def __init__(self, name):
            barrier.wait()
            if name == "b":
                raise FileNotFoundError(2, "No such file or directory", name)
            self.close = lambda: closed.append(name)

    with pytest.raises(FileNotFoundError):
        OPENED(File, ["a", "b", "c"])
    assert sorted(closed) == ["a", "c"]
