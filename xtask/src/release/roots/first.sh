# The README's first command, by the program `$1`, and whether the copy has the values of the file.
cd /data
"$1" copy --overwrite sst.nc sst.zarr
"$1" dump -n sst sst.zarr > zarr.cdl
"$1" dump -n sst sst.nc > nc.cdl
sed -n '/^data:/,$p' zarr.cdl > zarr.data
sed -n '/^data:/,$p' nc.cdl > nc.data
test -s nc.data
cmp zarr.data nc.data
"$1" compare sst.nc sst.zarr
