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
    printf("close %d\n", nc_close(ncid));
    return 0;
}
