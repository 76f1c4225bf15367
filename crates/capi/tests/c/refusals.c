/* Definitions that a file refuses, beside others that it takes: FILE STEP. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#define DO(call) printf("%s = %d\n", #call, (call))

static int made(const char *file) {
    int ncid, group, x, v, value = 1, values[3] = {1, 2, 3};
    if (nc_create(file, NC_NETCDF4, &ncid) || nc_def_grp(ncid, "g", &group) || nc_def_dim(ncid, "x", 3, &x)) return 0;
    if (nc_def_var(ncid, "v", NC_INT, 1, &x, &v) || nc_put_att_int(ncid, v, "missing", NC_SHORT, 1, &value)) return 0;
    return !nc_put_var_int(ncid, v, values) && !nc_close(ncid);
}

static void show(const char *file) {
    int ncid, value = -1, values[3] = {0};
    DO(nc_open(file, NC_NOWRITE, &ncid));
    printf("witness %d", nc_get_att_int(ncid, NC_GLOBAL, "witness", &value));
    printf(" %d\n", value);
    printf("of v %d", nc_get_att_int(ncid, 0, "witness", &value));
    printf(" %d\n", value);
    printf("fill %d", nc_get_att_int(ncid, 0, "_FillValue", &value));
    printf(" %d\n", value);
    printf("values %d", nc_get_var_int(ncid, 0, values));
    printf(" %d %d %d\n", values[0], values[1], values[2]);
    DO(nc_close(ncid));
}

int main(int count, char **arguments) {
    int ncid, id, value = 7, values[3] = {4, 5, 6};
    if (count < 3 || !made(arguments[1])) return 2;
    const char *file = arguments[1], *step = arguments[2];
    DO(nc_open(file, NC_WRITE, &ncid));
    DO(nc_put_att_int(ncid, NC_GLOBAL, "witness", NC_INT, 1, &value));
    DO(nc_put_att_int(ncid, 0, "witness", NC_INT, 1, &value));
    DO(nc_put_var_int(ncid, 0, values));
    if (!strcmp(step, "fill")) {
        DO(nc_rename_att(ncid, 0, "missing", "_FillValue"));
    } else {
        DO(nc_redef(ncid));
        /* The name of a group. */
        DO(nc_def_dim(ncid, "g", 4, &id));
        value = 8;
        DO(nc_put_att_int(ncid, 0, "witness", NC_INT, 1, &value));
    }
    DO(nc_enddef(ncid));
    DO(nc_close(ncid));
    show(file);
    return 0;
}
