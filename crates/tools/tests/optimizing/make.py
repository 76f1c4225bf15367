"""Makes netCDF-4 files of many shapes, as archives have them: make.py FOLDER NUMBER..."""

import sys

import netCDF4
import numpy as np

KINDS = ["cmip", "era", "roms", "swath", "groups", "strings", "records", "types"]


class Maker:
    """One file; the number decides its kind, sizes, filters and chunks."""

    def __init__(self, folder, number):
        self.number, self.random = number, np.random.default_rng(number)
        self.kind = KINDS[number % len(KINDS)]
        self.round = number // len(KINDS)
        # pyfive does not read variables of committed types, which are how netCDF stores those of users.
        self.typed = self.kind == "types" or (self.kind == "swath" and self.round % 2 == 1)
        self.path = f"{folder}/{number:03}_{self.kind}{'_typed' * self.typed}.nc"
        classic = self.kind in ("cmip", "era", "records") and self.round % 4 == 3
        self.file = netCDF4.Dataset(self.path, "w", format="NETCDF4_CLASSIC" if classic else "NETCDF4")
        self.filters = [
            {},
            {"zlib": True, "complevel": 1},
            {"zlib": True, "shuffle": True, "complevel": 4},
            {"zlib": True, "complevel": 2, "fletcher32": True},
            {"compression": "zstd", "complevel": 3},
        ][self.round % 5]

    def make(self):
        getattr(self, self.kind)()
        self.file.close()

    def one_of(self, *choices):
        return choices[self.round % len(choices)]

    def field(self, *shape):
        axes = np.meshgrid(*(np.arange(length) for length in shape), indexing="ij")
        field = sum(np.sin(axis / (7 + place)) for place, axis in enumerate(axes))
        return np.round(field + self.random.random(shape) / 8, 3).astype("f4")

    def times(self, group, name, length, chunk, bounds=True, unlimited=True):
        group.createDimension(name, None if unlimited else length)
        time = group.createVariable(name, "f8", (name,), chunksizes=None if chunk is None else (chunk,), **self.filters)
        time.units, time.calendar, time.axis = "days since 1850-01-01", "noleap", "T"
        if bounds:
            if "bnds" not in self.file.dimensions:
                self.file.createDimension("bnds", 2)
            time.bounds = f"{name}_bnds"
            chunks = None if chunk is None else (chunk, 2)
            edges = group.createVariable(f"{name}_bnds", "f8", (name, "bnds"), chunksizes=chunks)
            edges[0:length] = np.arange(length)[:, None] + [[0.0, 1.0]]
        time[0:length] = np.arange(length) + 0.5

    def grid(self, group, **lengths):
        for name, length in lengths.items():
            group.createDimension(name, length)
            axis = group.createVariable(name, "f8", (name,))
            axis.units = f"degrees_{name}"
            axis[:] = np.linspace(-90, 90, length)

    def cmip(self):
        length, rows, columns = self.one_of(400, 120, 1, 730), self.one_of(48, 72), self.one_of(96, 144)
        name = self.one_of("tas", "pr", "hus")
        self.file.setncatts({"variable_id": name, "Conventions": "CF-1.11", "mip_era": "CMIP7", "history": "made"})
        self.times(self.file, "time", length, self.one_of(1, 512, 30))
        self.grid(self.file, lat=rows, lon=columns)
        height = self.file.createVariable("height", "f8", ())
        height[...] = 2.0
        chunks = self.one_of((1, rows, columns), (1, 24, 24), (7, rows, columns), None)
        kind = self.one_of("f4", "f8", "f4")
        data = self.file.createVariable(
            name, kind, ("time", "lat", "lon"), chunksizes=chunks, fill_value=1e20, **self.filters
        )
        data.coordinates, data.cell_methods = "height", "area: time: mean"
        for step in range(length):
            data[step] = self.field(rows, columns) + step / 100

    def era(self):
        length, rows, columns = self.one_of(48, 120), 91, 180
        self.times(self.file, "valid_time", length, None, bounds=False, unlimited=self.round % 2 == 0)
        self.grid(self.file, latitude=rows, longitude=columns)
        number = self.file.createVariable("number", "i4", ())
        number[...] = 0
        for name in ("t2m", "u10", "tp"):
            chunks = self.one_of(None, (1, rows, columns), (12, 31, 45))
            data = self.file.createVariable(
                name,
                self.one_of("f4", "i2"),
                ("valid_time", "latitude", "longitude"),
                chunksizes=chunks,
                fill_value=self.one_of(np.nan, -32767),
                **self.filters,
            )
            if data.dtype == np.int16:
                data.scale_factor, data.add_offset = np.float64(0.001), np.float64(1.5)
            data.GRIB_paramId = np.int32(167)
            data[0:length] = np.stack([self.field(rows, columns)] * length)

    def roms(self):
        length, levels, rows, columns = self.one_of(10, 31), 12, 40, 60
        self.times(self.file, "ocean_time", length, self.one_of(1, 512), bounds=False)
        for name, size in (("s_rho", levels), ("eta_rho", rows), ("xi_rho", columns), ("xi_u", columns - 1)):
            self.file.createDimension(name, size)
        for name, dims in (("lon_rho", ("eta_rho", "xi_rho")), ("mask_u", ("eta_rho", "xi_u"))):
            self.file.createVariable(name, "f8", dims)[:] = self.field(rows, len(self.file.dimensions[dims[1]]))
        for name, last in (("temp", "xi_rho"), ("u", "xi_u")):
            width = len(self.file.dimensions[last])
            chunks = self.one_of(None, (1, 1, rows, width), (1, 3, 10, 20))
            data = self.file.createVariable(
                name, "f4", ("ocean_time", "s_rho", "eta_rho", last), chunksizes=chunks, endian="little", **self.filters
            )
            data.time = "ocean_time"
            for step in range(length):
                data[step] = self.field(levels, rows, width)

    def swath(self):
        lines, pixels, channels = self.one_of(300, 900), 120, 9
        product = self.file.createGroup("PRODUCT")
        for name, size in (("scanline", lines), ("ground_pixel", pixels), ("channel", channels), ("corner", 4)):
            product.createDimension(name, size)
        flag = "u1"
        if self.typed:
            flag = product.createEnumType(np.uint8, "flag_t", {"good": 0, "bad": 1, "missing": 255})
        quality = product.createVariable("qa", flag, ("scanline", "ground_pixel"), chunksizes=(10, pixels), fill_value=255)
        quality[:] = self.random.integers(0, 2, (lines, pixels)).astype("u1")
        support = product.createGroup("SUPPORT_DATA").createGroup("GEOLOCATIONS")
        bounds = support.createVariable(
            "latitude_bounds", "f4", ("scanline", "ground_pixel", "corner"), chunksizes=(1, pixels, 4), **self.filters
        )
        bounds[:] = self.field(lines, pixels, 4)
        radiance = product.createVariable(
            "radiance",
            self.one_of("f4", "u2"),
            ("scanline", "ground_pixel", "channel"),
            chunksizes=self.one_of((1, pixels, channels), (50, 30, 1), (7, 11, 3)),
            **self.filters,
        )
        radiance[:] = np.abs(self.field(lines, pixels, channels)) * 100

    def groups(self):
        self.file.title = "groups in groups"
        for place in range(self.one_of(4, 12)):
            group = self.file.createGroup(f"station_{place:02}")
            self.times(group, "time", 50 + place, self.one_of(1, 1024, None))
            inner = group.createGroup("profile")
            inner.createDimension("level", 20 + place)
            data = inner.createVariable("speed", "f8", ("time", "level"), **self.filters)
            data.valid_range = np.array([0.0, 90.0])
            data[0 : 50 + place] = self.field(50 + place, 20 + place)

    def strings(self):
        length = self.one_of(40, 700)
        self.file.createDimension("record", None)
        self.file.createDimension("letters", 12)
        names = self.file.createVariable("name", str, ("record",), chunksizes=(self.one_of(1, 64),))
        names.setncattr_string("aliases", ["eins", "zwei", "drei"])
        for record in range(length):
            names[record] = f"Δ station {record}" * (record % 3)
        code = self.file.createVariable("code", "S1", ("record", "letters"), **self.filters)
        code[0:length] = np.array([list(f"{record:012}") for record in range(length)], dtype="S1")
        self.file.createVariable("value", "f4", ("record",), chunksizes=(1,))[0:length] = self.field(length)

    def records(self):
        length = self.one_of(300, 2000)
        self.file.createDimension("time", None)
        time = self.file.createVariable("time", "f8", ("time",), chunksizes=(1,))
        time.units = "seconds since 2000-01-01"
        series = [
            self.file.createVariable(f"sensor_{place}", kind, ("time",), chunksizes=(1,), **self.filters)
            for place, kind in enumerate(("f4", "f8", "i4", "i2"))
        ]
        for record in range(0, length, 50):
            time[record : record + 50] = np.arange(record, record + 50)
            for variable in series:
                variable[record : record + 50] = self.random.integers(0, 1000, 50)

    def types(self):
        length = self.one_of(200, 1000)
        self.file.createDimension("x", length)
        self.file.createDimension("y", 7)
        point = self.file.createCompoundType(np.dtype([("lat", "f4"), ("lon", "f4"), ("depth", "i2")]), "point_t")
        color = self.file.createEnumType(np.int8, "color_t", {"red": 1, "green": 2})
        points = self.file.createVariable("points", point, ("x",), chunksizes=(self.one_of(1, 33),))
        values = np.zeros(length, point.dtype)
        values["lat"], values["depth"] = self.random.random(length), 5
        points[:] = values
        if self.round % 2:
            ragged = self.file.createVLType(np.int32, "ragged_t")
            lists = self.file.createVariable("lists", ragged, ("y",))
            for place in range(7):
                lists[place] = np.arange(place * self.number % 50, dtype="i4")
        colors = self.file.createVariable("colors", color, ("x", "y"), chunksizes=(10, 3), fill_value=1)
        colors[:] = 2
        big = self.file.createVariable("big", ">f8", ("x", "y"), endian="big", chunksizes=(5, 7), **self.filters)
        big[:] = self.field(length, 7)
        partly = self.file.createVariable("partly", "i4", ("x", "y"), chunksizes=(20, 7), fill_value=-9)
        partly[40:60] = 3
        self.file.createVariable("never", "u1", ("x", "y"), fill_value=False)[:] = 1
        self.file.createVariable("unwritten", "f4", ("x",), chunksizes=(9,))


folder, *numbers = sys.argv[1:]
for number in numbers:
    Maker(folder, int(number)).make()
