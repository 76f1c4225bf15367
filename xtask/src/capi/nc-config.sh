#!/bin/sh
# How programs are compiled with the C library of ncirrus.
prefix='PREFIX_HERE'
version='netCDF VERSION_HERE'
cflags="-I$prefix/include"
libs="-L$prefix/lib -lnetcdf"
static='-lpthread -ldl -lm'

# The libraries of C++ and Fortran stand on this one, and have files of their own.
cxx4libs="-lnetcdf_c++4 $libs"
flibs="-lnetcdff $libs -lm"
has_library() {
  for folder in "$prefix/lib" /usr/lib /usr/lib64 /usr/local/lib /usr/lib/*-linux-gnu; do
    [ -e "$folder/lib$1.so" ] && { echo yes; return; }
  done
  echo no
}
# The program of that name, if there is one.
program() { command -v "$1" >/dev/null 2>&1 && echo "$1"; }
# Where Fortran's modules are.
fortran() { command -v nf-config >/dev/null 2>&1 && nf-config "$1"; }

help() {
  cat <<TEXT
Usage: nc-config [OPTION]

  --help          this text
  --all           all options and what they answer
  --cc            C compiler
  --cflags        flags of the preprocessor and the compiler
  --libs          libraries to link with
  --static        further libraries to link with the static one
  --prefix, --includedir, --libdir, --version
  --has-dap, --has-dap2, --has-dap4       whether OPeNDAP is read
  --has-nc2       whether the interface of version 2 is there
  --has-nc4, --has-hdf5                   whether netCDF-4 is
  --has-hdf4, --has-pnetcdf, --has-parallel, --has-parallel4, --has-logging
  --has-szlib     whether szip is there
  --has-cdf5      whether CDF-5 is
  --has-nczarr    whether NCZarr is
  --has-zstd, --has-quantize, --has-multifilters, --has-byterange
  --has-c++, --cxx                        the C++ interface of version 3
  --has-c++4, --cxx4, --cxx4flags, --cxx4libs
  --has-fortran, --has-f90, --has-f03, --fc, --fflags, --flibs
TEXT
}

answer() {
  case "$1" in
    --prefix) echo "$prefix" ;;
    --includedir) echo "$prefix/include" ;;
    --libdir) echo "$prefix/lib" ;;
    --version) echo "$version" ;;
    --cc) echo cc ;;
    --cflags) echo "$cflags" ;;
    --libs) echo "$libs" ;;
    --static) echo "$static" ;;
    --has-nc2|--has-nc4|--has-hdf5|--has-nczarr|--has-cdf5|--has-szlib|--has-quantize) echo yes ;;
    --has-dap|--has-dap2|--has-dap4|--has-zstd|--has-multifilters|--has-byterange) echo yes ;;
    --has-hdf4|--has-pnetcdf|--has-parallel|--has-parallel4|--has-logging|--has-c++) echo no ;;
    --has-c++4) has_library netcdf_c++4 ;;
    --has-fortran|--has-f03) has_library netcdff ;;
    --has-f90) echo ;;
    --cxx) echo ;;
    --cxx4) program c++ ;;
    --cxx4flags) echo "$cflags" ;;
    --cxx4libs) echo "$cxx4libs" ;;
    --fc) program gfortran ;;
    --fflags) fortran --fflags || echo "$cflags" ;;
    --flibs) echo "$flibs" ;;
    *) return 1 ;;
  esac
  return 0
}

all() {
  echo
  echo "This $version of ncirrus:"
  echo
  for option in cc cflags libs static has-c++ cxx has-c++4 cxx4 cxx4flags cxx4libs has-fortran fc fflags flibs has-f90 has-f03 \
    has-dap has-dap2 has-dap4 has-nc2 has-nc4 has-hdf5 has-hdf4 has-logging has-pnetcdf has-szlib has-cdf5 has-parallel4 \
    has-parallel has-nczarr has-zstd has-quantize prefix includedir libdir version; do
    printf '  --%-13s -> %s\n' "$option" "$(answer "--$option")"
  done
  echo
}

[ $# -gt 0 ] || { help >&2; exit 1; }
for option; do
  case "$option" in
    --help) help ;;
    --all) all ;;
    *) answer "$option" || { echo "unknown option: $option" >&2; help >&2; exit 1; } ;;
  esac
done
