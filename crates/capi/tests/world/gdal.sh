#!/bin/sh
# GDAL reads every file of the folder and writes each kind: its own checksums are over the values.
for file in *.nc; do
    # It does not know CDF-5, and only one file has a group: what it says then is compared, too.
    gdalinfo -checksum "$file" 2>&1
    gdalinfo -checksum -stats "NETCDF:$file:v" 2>&1
    gdalinfo -checksum "NETCDF:$file:/inside/d" 2>&1
    gdalmdiminfo -detailed "$file" 2>&1
done
set -e
for kind in NC NC2 NC4 NC4C; do
    gdal_translate -q -of netCDF -co FORMAT=$kind NETCDF:classic.nc:p "gdal-$kind.nc"
done
gdal_translate -q -of netCDF -co FORMAT=NC4 -co COMPRESS=DEFLATE -co ZLEVEL=6 NETCDF:enhanced.nc:v gdal-deflate.nc
gdal_translate -q -of netCDF -ot Int16 -b 2 NETCDF:netCDF-4.nc:v gdal-append.nc
gdalmdimtranslate -of netCDF enhanced.nc gdal-multidim.nc
gdalinfo -checksum gdal-deflate.nc
rm -f ./*.aux.xml
