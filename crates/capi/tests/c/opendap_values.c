/* What reading a variable of a server answers: ADDRESS. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    int ncid, varid;
    double *values = calloc(1000000, sizeof *values);
    if (count < 2 || !values) return 2;
    printf("open %d\n", nc_open(arguments[1], NC_NOWRITE, &ncid));
    nc_inq_varid(ncid, "sst", &varid);
    printf("values %d\n", nc_get_var_double(ncid, varid, values));
    nc_close(ncid);
    free(values);
    return 0;
}
