"""A plugin of pytest: `import netCDF4` is answered by ours."""

import ncirrus.netCDF4

ncirrus.netCDF4.install()
