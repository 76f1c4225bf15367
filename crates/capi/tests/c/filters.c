/* Filters that are chosen one after the other: what stays of the calls before, and in which order they are. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>

static int ncid, id;

static void state(void) {
    int shuffle = -9, deflate = -9, level = -9, checksum = -9, storage = -9;
    size_t chunk = 0, count = 0;
    unsigned ids[10];
    printf(" [%d:", nc_inq_var_deflate(ncid, id, &shuffle, &deflate, &level));
    printf(" %d %d %d | %d:", shuffle, deflate, level, nc_inq_var_fletcher32(ncid, id, &checksum));
    printf(" %d | %d:", checksum, nc_inq_var_chunking(ncid, id, &storage, &chunk));
    printf(" %d %zu | %d:", storage, chunk, nc_inq_var_filter_ids(ncid, id, &count, ids));
    for (size_t i = 0; i < count; i++) printf(" %u", ids[i]);
    printf("]\n");
}

#define SHOW(call) \
    printf("%s = %d", #call, (call)); \
    state()

static void one_after_the_other(int dim) {
    unsigned szip[2] = {NC_SZIP_NN, 8}, level = 0;
    nc_def_var(ncid, "a", NC_INT, 1, &dim, &id);
    SHOW(nc_def_var_deflate(ncid, id, 0, 0, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 10));
    SHOW(nc_def_var_deflate(ncid, id, 1, 1, -1));
    SHOW(nc_def_var_deflate(ncid, id, 0, 0, 0));
    nc_def_var(ncid, "b", NC_INT, 1, &dim, &id);
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 4));
    SHOW(nc_def_var_deflate(ncid, id, 0, 0, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 7));
    SHOW(nc_def_var_deflate(ncid, id, 1, 0, 0));
    SHOW(nc_def_var_chunking(ncid, id, NC_CONTIGUOUS, NULL));
    SHOW(nc_def_var_deflate(ncid, id, 0, 0, 12));
    SHOW(nc_def_var_deflate(ncid, id, 1, 1, 3));
    nc_def_var(ncid, "c", NC_INT, 1, &dim, &id);
    SHOW(nc_def_var_fletcher32(ncid, id, 1));
    SHOW(nc_def_var_fletcher32(ncid, id, 0));
    SHOW(nc_def_var_chunking(ncid, id, NC_CONTIGUOUS, NULL));
    SHOW(nc_def_var_deflate(ncid, id, 1, 1, 2));
    nc_def_var(ncid, "d", NC_DOUBLE, 1, &dim, &id);
    SHOW(nc_def_var_deflate(ncid, id, 1, 1, 2));
    SHOW(nc_def_var_fletcher32(ncid, id, 1));
    nc_def_var(ncid, "e", NC_INT, 0, NULL, &id);
    SHOW(nc_def_var_deflate(ncid, id, 1, 0, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 0, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 1));
    SHOW(nc_def_var_fletcher32(ncid, id, 1));
    SHOW(nc_def_var_filter(ncid, id, 2, 0, NULL));
    nc_def_var(ncid, "f", NC_INT, 1, &dim, &id);
    SHOW(nc_def_var_szip(ncid, id, NC_SZIP_NN, 8));
    SHOW(nc_def_var_deflate(ncid, id, 1, 1, 0));
    SHOW(nc_def_var_deflate(ncid, id, 0, 1, 3));
    SHOW(nc_def_var_filter(ncid, id, 4, 2, szip));
    nc_def_var(ncid, "g", NC_INT, 1, &dim, &id);
    SHOW(nc_def_var_filter(ncid, id, 1, 1, &level));
    SHOW(nc_def_var_filter(ncid, id, 2, 0, NULL));
    SHOW(nc_def_var_filter(ncid, id, 3, 0, NULL));
}

int main(int count, char **arguments) {
    char path[4096];
    int dim, vars;
    double values[40];
    if (count < 2) return 2;
    for (int i = 0; i < 40; i++) values[i] = i * 3 - 7;
    for (int kind = 0; kind < 2; kind++) {
        snprintf(path, sizeof path, "%s/filters%d.nc", arguments[1], kind);
        if (nc_create(path, NC_NETCDF4 | (kind ? NC_CLASSIC_MODEL : 0), &ncid)) return 1;
        nc_def_dim(ncid, "x", 40, &dim);
        one_after_the_other(dim);
        nc_enddef(ncid);
        nc_inq_nvars(ncid, &vars);
        for (id = 0; id < vars; id++) printf("put %d\n", nc_put_var_double(ncid, id, values));
        printf("close %d\n", nc_close(ncid));
        if (nc_open(path, NC_NOWRITE, &ncid)) return 1;
        for (id = 0; id < vars; id++) state();
        nc_close(ncid);
    }
    return 0;
}
