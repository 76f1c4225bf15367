/* Changes of files of HDF5 whose axes have no scales, and that have attributes which cannot be shown: FILE STEP. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#define DO(call) printf("%s = %d\n", #call, (call))

static void show(int ncid) {
    int vars = 0, dims[NC_MAX_VAR_DIMS], rank = 0;
    char name[NC_MAX_NAME + 1];
    DO(nc_inq_nvars(ncid, &vars));
    for (int var = 0; var < vars; var++) {
        DO(nc_inq_var(ncid, var, name, NULL, &rank, dims, NULL));
        printf("%s:", name);
        for (int axis = 0; axis < rank; axis++) {
            size_t len = 0;
            int code = nc_inq_dim(ncid, dims[axis], name, &len);
            printf(" %d %s %zu", code, name, len);
        }
        printf("\n");
    }
}

int main(int count, char **arguments) {
    int ncid, v, value = 7, dims[2] = {0, 1}, values[6] = {1, 2, 3, 4, 5, 6};
    if (count < 3) return 2;
    const char *file = arguments[1], *step = arguments[2];
    DO(nc_open(file, NC_WRITE, &ncid));
    DO(nc_put_att_int(ncid, NC_GLOBAL, "other", NC_INT, 1, &value));
    if (strstr(step, "rename")) DO(nc_rename_dim(ncid, 0, "first"));
    if (strstr(step, "define")) {
        DO(nc_def_var(ncid, "new", NC_INT, 2, dims, &v));
        DO(nc_put_var_int(ncid, v, values));
    }
    if (strstr(step, "attribute")) DO(nc_put_att_int(ncid, NC_GLOBAL, "reference", NC_INT, 1, &value));
    if (strstr(step, "title")) DO(nc_rename_att(ncid, NC_GLOBAL, "seen", "reference"));
    DO(nc_sync(ncid));
    show(ncid);
    DO(nc_close(ncid));
    DO(nc_open(file, NC_NOWRITE, &ncid));
    show(ncid);
    DO(nc_close(ncid));
    return 0;
}
