/* What functions answer for the dataset at an address: formats, variables, and the code of what a server does not take. */
#include <netcdf.h>
#include <stdio.h>

int main(int count, char **arguments) {
    int ncid, many, format, extended, mode, value = 1;
    char name[NC_MAX_NAME + 1];
    if (count < 2) return 2;
    printf("open %d\n", nc_open(arguments[1], NC_NOWRITE, &ncid));
    printf("format %d", nc_inq_format(ncid, &format));
    printf(" %d\n", format);
    printf("extended %d", nc_inq_format_extended(ncid, &extended, &mode));
    printf(" %d\n", extended);
    printf("variables %d", nc_inq_nvars(ncid, &many));
    printf(" %d\n", many);
    for (int i = 0; i < many; i++) {
        nc_type type;
        int rank, dims[NC_MAX_VAR_DIMS], attributes;
        printf("variable %d", nc_inq_var(ncid, i, name, &type, &rank, dims, &attributes));
        printf(" %s %d %d %d\n", name, type, rank, attributes);
    }
    printf("attribute %d\n", nc_put_att_int(ncid, NC_GLOBAL, "a", NC_INT, 1, &value));
    int dim, variable;
    size_t start[4] = {0}, counts[4] = {1, 1, 1, 1};
    printf("define %d", nc_redef(ncid));
    printf(" %d", nc_def_dim(ncid, "new", 3, &dim));
    printf(" %d", nc_def_var(ncid, "new", NC_INT, 0, NULL, &variable));
    printf(" %d\n", nc_enddef(ncid));
    printf("put %d\n", nc_put_vara_int(ncid, 0, start, counts, &value));
    printf("sync %d\n", nc_sync(ncid));
    printf("close %d\n", nc_close(ncid));
    printf("open to write %d\n", nc_open(arguments[1], NC_WRITE, &ncid));
    return 0;
}
