/* How new variables of NCZarr are stored, from their definition on. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void show(const char *what, int ncid, int id, int rank) {
    int storage = -7, code;
    size_t lens[3] = {777, 777, 777};
    code = nc_inq_var_chunking(ncid, id, &storage, lens);
    printf("  %s: %d %d [", what, code, storage);
    for (int i = 0; i < rank; i++) printf(" %zu", lens[i]);
    printf(" ]\n");
}

static void defined(int ncid, int type, int rank, const int *dims, int way) {
    static const size_t own[] = {2, 3, 4};
    char name[32];
    int id, code = 0;
    snprintf(name, sizeof name, "t%d_%d_%d", type, rank, way);
    printf("%s %d\n", name, nc_def_var(ncid, name, type, rank, dims, &id));
    show("new", ncid, id, rank);
    if (way >= 4) printf("  filter %d\n", nc_def_var_deflate(ncid, id, 0, 1, 1));
    switch (way % 4) {
    case 0: code = nc_def_var_chunking(ncid, id, NC_CHUNKED, NULL); break;
    case 1: code = nc_def_var_chunking(ncid, id, NC_CONTIGUOUS, NULL); break;
    case 2: code = nc_def_var_chunking(ncid, id, NC_COMPACT, NULL); break;
    case 3: code = nc_def_var_chunking(ncid, id, NC_CHUNKED, own); break;
    }
    printf("  chosen %d\n", code);
    show("chosen", ncid, id, rank);
}

int main(int count, char **arguments) {
    static const int types[] = {NC_BYTE, NC_SHORT, NC_INT, NC_DOUBLE};
    char folder[4096], url[8192], name[64];
    int ncid, dims[3], variables, rank;
    if (count < 2 || !realpath(arguments[1], folder)) return 2;
    snprintf(url, sizeof url, "file://%s/chunks.zarr#mode=nczarr,file", folder);
    printf("create %d\n", nc_create(url, NC_NETCDF4, &ncid));
    nc_def_dim(ncid, "a", 5, dims);
    nc_def_dim(ncid, "b", 40, dims + 1);
    nc_def_dim(ncid, "c", 2000000, dims + 2);
    for (int type = 0; type < 4; type++) {
        for (int way = 0; way < 8; way++) {
            for (int i = 0; i < 4; i++) {
                // Without dimensions nothing is filtered.
                if (i || way < 4) defined(ncid, types[type], i, dims, way);
            }
            defined(ncid, types[type], 1, dims + 2, way);
        }
    }
    printf("enddef %d\n", nc_enddef(ncid));
    nc_inq_nvars(ncid, &variables);
    for (int id = 0; id < variables; id++) {
        nc_inq_var(ncid, id, name, NULL, &rank, NULL, NULL);
        show(name, ncid, id, rank);
    }
    fflush(stdout);
    // Debian's library crashes in `nc_close` after some of them.
    _exit(0);
}
