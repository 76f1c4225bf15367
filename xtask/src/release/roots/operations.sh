# Reads and writes by Debian's programs, with the variable `$1`, if it is not empty. Prints what they find, without dates and
# versions; /tmp/loaded lists the files of libnetcdf that the loader has initialised.
#
# Global attributes of what was written are sorted: if CDO overwrites one of a netCDF-4 file, it keeps its place on our library,
# and becomes the last one on netCDF-C (docs/c-library.md, "Attributes").
cd /data
rm -rf out /tmp/loaded /tmp/loader.*
mkdir out
[ -z "$1" ] || export "$1"
export LD_DEBUG=libs LD_DEBUG_OUTPUT=/tmp/loader
attribute="$(printf '^\t\t:')"

for file in sst.nc sst4.nc; do
  ncdump -p 9,17 "$file"
  ncks -H --trd -C -v sst -d time,3 "$file"
  ncwa -h -O -v sst -a time,lat,lon "$file" out/mean.nc
  ncra -h -O "$file" out/record.nc
  ncks -h -O -4 -L 1 -d lat,4,9 "$file" out/part.nc
  ncap2 -h -O -s 'kelvin=sst+273.15' "$file" out/kelvin.nc
  cdo -s infon "$file"
  cdo -s --no_history fldmean "$file" out/field.nc
  cdo -s --no_history -f nc4 -z zip_1 timmean "$file" out/time.nc
  cdo -s outputf,%.6g -fldmean -timmean "$file"
  for made in out/*.nc; do
    ncdump -p 9,17 "$made" | grep -v -E ':(history|CDO|CDI|NCO)' > /tmp/made.cdl
    grep -v -E "$attribute" /tmp/made.cdl
    grep -E "$attribute" /tmp/made.cdl | sort
  done
done

unset LD_DEBUG LD_DEBUG_OUTPUT
cat /tmp/loader.* | sed -n 's/.*calling init: \(.*libnetcdf\.so.*\)/\1/p' | sort -u > /tmp/loaded
