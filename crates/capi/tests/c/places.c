/* Where files are, and when: in memory, at their path from nc_sync on, under several handles. */
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

static void define(int ncid) {
    int dims[2], id, ints[6] = {1, 2, 3, 4, 5, 6};
    size_t start[2] = {0, 0}, count[2] = {2, 3};
    SHOW(nc_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    SHOW(nc_def_dim(ncid, "x", 3, &dims[1]));
    SHOW(nc_def_var(ncid, "v", NC_INT, 2, dims, &id));
    SHOW(nc_put_att_text(ncid, NC_GLOBAL, "title", 5, "hello"));
    SHOW(nc_enddef(ncid));
    SHOW(nc_put_vara_int(ncid, id, start, count, ints));
}

static void show(int ncid) {
    size_t len = 0;
    int ints[32] = {0};
    SHOW(nc_inq_dimlen(ncid, 0, &len));
    SHOW(nc_get_var_int(ncid, 0, ints));
    printf("%zu: %d %d %d\n", len, ints[0], ints[3], ints[6]);
}

int main(int count, char **arguments) {
    const int modes[] = {0, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
    char path[4096];
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int kind = 0; kind < 4; kind++) {
        int ncid = -7, other = -7, more[3] = {7, 8, 9};
        size_t start[2] = {2, 0}, counts[2] = {1, 3};
        NC_memio bytes = {0};
        printf("kind %d\n", kind);
        SHOW(nc_create_mem("in memory", modes[kind], 4096, &ncid));
        define(ncid);
        SHOW(nc_close_memio(ncid, &bytes));
        SHOW(bytes.memory == NULL);
        SHOW(nc_open_mem("in memory", NC_NOWRITE, bytes.size, bytes.memory, &ncid));
        show(ncid);
        SHOW(nc_put_var1_int(ncid, 0, start, more));
        SHOW(nc_close(ncid));
        /* Debian's library does not change netCDF-4 in memory. */
        if (kind < 2) {
            SHOW(nc_open_memio("in memory", NC_WRITE, &bytes, &ncid));
            SHOW(nc_put_vara_int(ncid, 0, start, counts, more));
            SHOW(nc_close_memio(ncid, &bytes));
            SHOW(nc_open_mem("in memory", NC_NOWRITE, bytes.size, bytes.memory, &ncid));
            show(ncid);
            SHOW(nc_close(ncid));
        }
        free(bytes.memory);
        SHOW(nc_open_mem("in memory", NC_NOWRITE, 0, NULL, &ncid));

        snprintf(path, sizeof path, "%s/%d.nc", arguments[1], kind);
        SHOW(nc_create(path, modes[kind], &ncid));
        define(ncid);
        SHOW(nc_sync(ncid));
        SHOW(nc_open(path, NC_NOWRITE, &other));
        printf("another id: %d\n", ncid != other);
        show(other);
        SHOW(nc_put_vara_int(ncid, 0, start, counts, more));
        SHOW(nc_sync(ncid));
        SHOW(nc_sync(other));
        SHOW(nc_close(other));
        SHOW(nc_inq_varid(ncid, "v", &other));
        SHOW(nc_redef(ncid));
        SHOW(nc_put_att_text(ncid, other, "units", 1, "K"));
        SHOW(nc_close(ncid));
        SHOW(nc_open(path, NC_NOWRITE, &ncid));
        show(ncid);
        SHOW(nc_close(ncid));

        snprintf(path, sizeof path, "%s/diskless%d.nc", arguments[1], kind);
        SHOW(nc_create(path, modes[kind] | NC_DISKLESS, &ncid));
        define(ncid);
        show(ncid);
        SHOW(nc_close(ncid));
        SHOW(nc_open(path, NC_NOWRITE, &ncid));
        SHOW(nc_create(path, modes[kind] | NC_DISKLESS | NC_PERSIST, &ncid));
        define(ncid);
        SHOW(nc_close(ncid));
        SHOW(nc_open(path, NC_DISKLESS, &ncid));
        show(ncid);
        SHOW(nc_close(ncid));
        SHOW(nc_delete(path));
        SHOW(nc_open(path, NC_NOWRITE, &ncid));

        snprintf(path, sizeof path, "%s/aborted%d.nc", arguments[1], kind);
        SHOW(nc_create(path, modes[kind], &ncid));
        SHOW(nc_def_dim(ncid, "x", 3, &other));
        SHOW(nc_abort(ncid));
        SHOW(nc_open(path, NC_NOWRITE, &ncid));
    }
    return 0;
}
