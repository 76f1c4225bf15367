/* Chunks that nobody chose, and chunks of the largest sizes: which they are, and whether the file can be closed with them. */
#include <netcdf.h>
#include <stdio.h>

// For Fortran: no header declares it.
int nc_inq_var_chunking_ints(int ncid, int varid, int *storagep, int *chunksizesp);

static unsigned seed = 1;

static size_t any(unsigned limit) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 1) % limit;
}

static void defaults(const char *path, const size_t *lens) {
    static const int types[] = {NC_BYTE, NC_FLOAT, NC_DOUBLE};
    char name[16];
    int ncid, dims[3], id, storage = -1;
    if (nc_create(path, NC_NETCDF4, &ncid)) return;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "d%d", i);
        nc_def_dim(ncid, name, lens[i], dims + i);
    }
    printf("%zu %zu %zu:", lens[0], lens[1], lens[2]);
    for (int i = 0; i < 3; i++) {
        size_t chunks[3] = {0, 0, 0};
        snprintf(name, sizeof name, "v%d", i);
        printf(" %d", nc_def_var(ncid, name, types[i], 3, dims, &id));
        printf(" %d", nc_def_var_chunking(ncid, id, NC_CHUNKED, NULL));
        nc_inq_var_chunking(ncid, id, &storage, chunks);
        printf(" %d [%zu %zu %zu]", storage, chunks[0], chunks[1], chunks[2]);
    }
    printf(" close %d\n", nc_close(ncid));
}

static void largest(const char *path, const size_t *lens, int type) {
    int ncid, dims[2], id, storage = -1, narrow[2] = {-7, -7}, code;
    size_t chunks[2] = {0, 0};
    if (nc_create(path, NC_NETCDF4, &ncid)) return;
    nc_def_dim(ncid, "a", NC_UNLIMITED, dims);
    nc_def_dim(ncid, "b", NC_UNLIMITED, dims + 1);
    nc_def_var(ncid, "v", type, 2, dims, &id);
    printf("%zu %zu, type %d: %d", lens[0], lens[1], type, nc_def_var_chunking(ncid, id, NC_CHUNKED, lens));
    nc_inq_var_chunking(ncid, id, &storage, chunks);
    code = nc_inq_var_chunking_ints(ncid, id, &storage, narrow);
    printf(" [%zu %zu] %d [%d %d]", chunks[0], chunks[1], code, narrow[0], narrow[1]);
    printf(" enddef %d", nc_enddef(ncid));
    printf(" close %d\n", nc_close(ncid));
}

int main(int count, char **arguments) {
    static const size_t lens[][3] = {
        {1804289383, 846930886, 0}, {1967513926, 1365180540, 426}, {0, 1365180540, 1967513926}, {2000000000, 0, 0},
        {1804289383, 846930886, 1}, {1, 1000000000, 1000000000},   {0, 0, 0},                   {5, 40, 7},
    };
    static const size_t sizes[][2] = {{1, 2147483648u}, {1, 4294967295u}, {2, 2147483647u}, {2, 2147483648u}, {65536, 65535}, {65536, 65536}};
    static const int types[] = {NC_BYTE, NC_SHORT, NC_INT, NC_DOUBLE};
    char path[4096];
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/chunks.nc", arguments[1]);
    for (int i = 0; i < 8; i++) defaults(path, lens[i]);
    for (int i = 0; i < 60; i++) {
        size_t some[3] = {any(0x7fffffff), any(0x7fffffff), any(1000)};
        some[i % 3] = i % 4 ? some[i % 3] : any(30);
        defaults(path, some);
    }
    for (int i = 0; i < 6; i++) {
        for (int type = 0; type < 4; type++) largest(path, sizes[i], types[type]);
    }
    return 0;
}
