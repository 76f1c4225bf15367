/* SECONDS of THREADS threads that create, write, read and close files of all kinds in FOLDER, and read one shared handle:
   prints what went wrong, and how many files each kind had. */
#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 24, COLUMNS = 40, KINDS = 12 };

static const struct {
    const char *name, *path;
    int mode, deflate, records;
} kinds[KINDS] = {
    {"classic", "%s/%d.nc", 0, 0, 0},
    {"classic records", "%s/%d.nc", 0, 0, 1},
    {"64-bit offset", "%s/%d.nc", NC_64BIT_OFFSET, 0, 1},
    {"cdf5", "%s/%d.nc", NC_64BIT_DATA, 0, 0},
    {"classic model", "%s/%d.nc", NC_NETCDF4 | NC_CLASSIC_MODEL, 0, 1},
    {"netCDF-4", "%s/%d.nc", NC_NETCDF4, 0, 0},
    {"netCDF-4 deflated", "%s/%d.nc", NC_NETCDF4, 1, 0},
    {"netCDF-4 records", "%s/%d.nc", NC_NETCDF4, 1, 1},
    {"nczarr", "file://%s/%d.zarr#mode=nczarr,file", NC_NETCDF4, 0, 0},
    {"zarr", "file://%s/%d.zarr#mode=zarr,file", NC_NETCDF4, 1, 0},
    {"in memory", "%s/%d.nc", NC_NETCDF4 | NC_DISKLESS | NC_PERSIST, 0, 0},
    {"shared classic", "%s/%d.nc", NC_SHARE, 0, 1},
};

static const char *folder;
static int shared;
static time_t end;
static atomic_int wrong;
static atomic_long files[KINDS];

static int value(int seed, int row, int column) { return seed * 1000003 + row * 257 + column; }

static int failed(int code, const char *what, int kind) {
    if (code == 0) return 0;
    atomic_fetch_add(&wrong, 1);
    printf("%s of %s: %s\n", what, kind < 0 ? "the shared file" : kinds[kind].name, nc_strerror(code));
    return 1;
}

static void compare(const int *found, int seed, int row, int rows, const char *of) {
    for (int i = 0; i < rows * COLUMNS; i++) {
        if (found[i] == value(seed, row + i / COLUMNS, i % COLUMNS)) continue;
        atomic_fetch_add(&wrong, 1);
        printf("%s: a value differs\n", of);
        return;
    }
}

static int write_file(const char *path, int kind, int seed) {
    int ncid, dims[2], id, values[ROWS * COLUMNS];
    size_t start[2] = {0, 0}, count[2] = {ROWS / 2, COLUMNS}, chunks[2] = {5, 16};
    for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = value(seed, i / COLUMNS, i % COLUMNS);
    if (failed(nc_create(path, kinds[kind].mode | NC_CLOBBER, &ncid), "create", kind)) return 1;
    int code = nc_def_dim(ncid, "row", kinds[kind].records ? NC_UNLIMITED : ROWS, dims);
    if (!code) code = nc_def_dim(ncid, "column", COLUMNS, dims + 1);
    if (!code) code = nc_def_var(ncid, "v", NC_INT, 2, dims, &id);
    if (!code && kinds[kind].deflate) code = nc_def_var_chunking(ncid, id, NC_CHUNKED, chunks);
    if (!code && kinds[kind].deflate) code = nc_def_var_deflate(ncid, id, 1, 1, 1);
    if (!code) code = nc_put_att_int(ncid, id, "seed", NC_INT, 1, &seed);
    if (!code) code = nc_enddef(ncid);
    for (int half = 0; half < 2 && !code; half++) {
        start[0] = half * ROWS / 2;
        code = nc_put_vara_int(ncid, id, start, count, values + start[0] * COLUMNS);
    }
    return failed(code, "write", kind) | failed(nc_close(ncid), "close", kind);
}

static void read_file(const char *path, int kind, int seed) {
    int ncid, id, found = -1, values[ROWS * COLUMNS] = {0};
    if (failed(nc_open(path, NC_NOWRITE, &ncid), "open", kind)) return;
    int code = nc_inq_varid(ncid, "v", &id);
    if (!code) code = nc_get_att_int(ncid, id, "seed", &found);
    if (!code) code = nc_get_var_int(ncid, id, values);
    failed(code, "read", kind);
    if (!code) compare(values, seed, 0, ROWS, kinds[kind].name);
    failed(nc_close(ncid), "close", kind);
}

static void read_shared(unsigned *random) {
    int values[ROWS * COLUMNS];
    size_t start[2] = {rand_r(random) % ROWS, 0}, count[2] = {1, COLUMNS};
    count[0] = 1 + rand_r(random) % (ROWS - start[0]);
    if (failed(nc_get_vara_int(shared, 0, start, count, values), "read", -1)) return;
    compare(values, 7, (int)start[0], (int)count[0], "the shared file");
}

static void *work(void *of) {
    int number = (int)(size_t)of;
    unsigned random = (unsigned)number + 1;
    char path[4096];
    for (int round = 0; time(NULL) < end && atomic_load(&wrong) < 20; round++) {
        int kind = (number + round) % KINDS;
        snprintf(path, sizeof path, kinds[kind].path, folder, number * KINDS + kind);
        if (write_file(path, kind, round) == 0) read_file(path, kind, round);
        atomic_fetch_add(&files[kind], 1);
        for (int i = 0; i < 50; i++) read_shared(&random);
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[64];
    char path[4096];
    if (count < 4) return 2;
    folder = arguments[1];
    end = time(NULL) + atol(arguments[2]);
    int many = atoi(arguments[3]) < 64 ? atoi(arguments[3]) : 64;
    snprintf(path, sizeof path, "%s/shared.nc", folder);
    if (write_file(path, 6, 7) || failed(nc_open(path, NC_NOWRITE, &shared), "open", -1)) return 1;
    for (int i = 0; i < many; i++) pthread_create(threads + i, NULL, work, (void *)(size_t)i);
    for (int i = 0; i < many; i++) pthread_join(threads[i], NULL);
    failed(nc_close(shared), "close", -1);
    failed(nc_finalize(), "finalize", -1);
    for (int kind = 0; kind < KINDS; kind++) printf("%s: %s\n", kinds[kind].name, atomic_load(&files[kind]) ? "done" : "never");
    fprintf(stderr, "%ld files of the first kind\n", atomic_load(&files[0]));
    return atomic_load(&wrong) != 0;
}
