/* Writes a file of netCDF-4 in FOLDER, reads it again, and prints whose library did that. */
#include <ncirrus.h>
#include <netcdf.h>
#include <netcdf_meta.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#error "this is C"
#endif

int main(int count, char **arguments) {
    char path[4096];
    int ncid, dim, var, values[3] = {7, 8, 9}, back[3] = {0};
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/small.nc", arguments[1]);
    if (nc_create(path, NC_NETCDF4, &ncid) || nc_def_dim(ncid, "x", 3, &dim)) return 1;
    if (nc_def_var(ncid, "v", NC_INT, 1, &dim, &var) || nc_def_var_deflate(ncid, var, 1, 1, 2)) return 1;
    if (nc_put_var_int(ncid, var, values) || nc_close(ncid)) return 1;
    if (nc_open(path, NC_NOWRITE, &ncid) || nc_inq_varid(ncid, "v", &var)) return 1;
    if (nc_get_var_int(ncid, var, back) || nc_close(ncid) || nc_finalize()) return 1;
    printf("%d %d %d\n", back[0], back[1], back[2]);
    printf("same version: %d\n", strncmp(nc_inq_libvers(), NC_VERSION, strlen(NC_VERSION)) == 0);
    printf("ncirrus: %d\n", strlen(nci_version()) > 0);
    return 0;
}
