/* Single values of variables whose chunks have 4 MiB, one after the other and of several by turns: each is what was written. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { VARIABLES = 6, STEPS = 2, SIDE = 1024, READS = 3000 };

static float value(int variable, size_t step, size_t y, size_t x) { return variable * 1000 + step * 100 + y + x / 1024.0f; }

int main(int count, char **arguments) {
    char path[4096], name[8];
    int ncid, dims[3], ids[VARIABLES], wrong = 0;
    size_t chunks[3] = {1, SIDE, SIDE};
    float *values = malloc(sizeof(float) * STEPS * SIDE * SIDE), found;
    if (count < 2 || !values) return 2;
    snprintf(path, sizeof path, "%s/large.nc", arguments[1]);
    if (nc_create(path, NC_NETCDF4, &ncid) || nc_def_dim(ncid, "t", STEPS, dims) || nc_def_dim(ncid, "y", SIDE, dims + 1)) return 1;
    if (nc_def_dim(ncid, "x", SIDE, dims + 2)) return 1;
    for (int v = 0; v < VARIABLES; v++) {
        snprintf(name, sizeof name, "v%d", v);
        if (nc_def_var(ncid, name, NC_FLOAT, 3, dims, ids + v) || nc_def_var_chunking(ncid, ids[v], NC_CHUNKED, chunks)) return 1;
        if (nc_def_var_deflate(ncid, ids[v], 1, 1, 1)) return 1;
        for (size_t i = 0; i < STEPS * SIDE * SIDE; i++) values[i] = value(v, i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE);
        if (nc_put_var_float(ncid, ids[v], values)) return 1;
    }
    if (nc_close(ncid) || nc_open(path, NC_NOWRITE, &ncid)) return 1;
    /* One variable, two to seven by turns, and one again; rows, and back to the start. */
    for (int many = 1; many <= VARIABLES; many++) {
        for (size_t i = 0; i < READS; i++) {
            int v = i % many;
            size_t at[3] = {i / (READS / 2), i / 7 % SIDE, i * 5 % SIDE};
            if (nc_get_var1_float(ncid, ids[v], at, &found) || found != value(v, at[0], at[1], at[2])) wrong++;
        }
    }
    printf("wrong %d\n", wrong);
    if (nc_close(ncid) || nc_open(path, NC_WRITE, &ncid)) return 1;
    /* What is written is seen. */
    size_t at[3] = {1, 5, 6};
    float other = -3;
    for (int i = 0; i < 500; i++) wrong += nc_get_var1_float(ncid, ids[0], at, &found) != 0;
    printf("before %g", found);
    if (nc_put_var1_float(ncid, ids[0], at, &other)) return 1;
    for (int i = 0; i < 500; i++) wrong += nc_get_var1_float(ncid, ids[0], at, &found) != 0;
    printf(" after %g, wrong %d, close %d\n", found, wrong, nc_close(ncid));
    free(values);
    return 0;
}
