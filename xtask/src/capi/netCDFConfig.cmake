# Found relative to this file.
get_filename_component(netCDF_INSTALL_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(NetCDFVersion "VERSION_HERE")
set(netCDF_INCLUDE_DIR "${netCDF_INSTALL_PREFIX}/include")
set(netCDF_LIB_DIR "${netCDF_INSTALL_PREFIX}/lib")
set(netCDF_LIBRARIES netCDF::netcdf)
set(netCDF_SHARED yes)
set(netCDF_STATIC yes)
set(netCDF_FOUND TRUE)

foreach(feature NC2 NC4 HDF5 DAP DAP2 DAP4 DISKLESS MMAP CDF5 ERANGE_FILL NCZARR)
  set(netCDF_HAS_${feature} yes)
endforeach()
foreach(feature HDF4 PNETCDF PARALLEL PARALLEL4 JNA)
  set(netCDF_HAS_${feature} no)
endforeach()

if(NOT TARGET netCDF::netcdf)
  add_library(netCDF::netcdf SHARED IMPORTED)
  set_target_properties(netCDF::netcdf PROPERTIES
    IMPORTED_LOCATION "${netCDF_LIB_DIR}/libnetcdf.so"
    IMPORTED_SONAME "libnetcdf.so.19"
    INTERFACE_INCLUDE_DIRECTORIES "${netCDF_INCLUDE_DIR}")
endif()
if(NOT TARGET netCDF::netcdf_static)
  add_library(netCDF::netcdf_static STATIC IMPORTED)
  set_target_properties(netCDF::netcdf_static PROPERTIES
    IMPORTED_LOCATION "${netCDF_LIB_DIR}/libnetcdf.a"
    INTERFACE_INCLUDE_DIRECTORIES "${netCDF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m")
endif()
