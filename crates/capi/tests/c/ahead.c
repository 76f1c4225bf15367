/* A variable that is read slab after slab: what follows is decoded before it is asked for, each chunk about once, and every value is right.
   FOLDER: makes a file there. */
#include <ncirrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 203, LEVELS = 3, SIDE = 100, DEEP = 4 };

static float value(size_t t, size_t z, size_t y, size_t x) { return t * 1000.0f + z * 200 + y + x / 128.0f; }

static long decoded(void) {
    char *json = NULL;
    if (nci_statistics(&json)) return -1;
    const char *found = strstr(json, "\"chunks_decoded\":");
    long count = found ? strtol(found + strlen("\"chunks_decoded\":"), NULL, 10) : -1;
    nci_free(json);
    return count;
}

static int wrong_in(const float *values, size_t t, size_t records, size_t z, size_t levels) {
    int wrong = 0;
    for (size_t i = 0; i < records * levels * SIDE * SIDE; i++) {
        size_t x = i % SIDE, y = i / SIDE % SIDE, level = i / SIDE / SIDE % levels, record = i / SIDE / SIDE / levels;
        wrong += values[i] != value(t + record, z + level, y, x);
    }
    return wrong;
}

int main(int count, char **arguments) {
    char path[4096];
    int ncid, dims[4], id, wrong = 0;
    size_t chunks[4] = {DEEP, 1, SIDE, SIDE}, start[4] = {0}, counts[4] = {1, LEVELS, SIDE, SIDE};
    float *values = malloc(sizeof(float) * LEVELS * SIDE * SIDE * 3);
    if (count < 2 || !values) return 2;
    snprintf(path, sizeof path, "%s/ahead.nc", arguments[1]);
    if (nc_create(path, NC_NETCDF4, &ncid) || nc_def_dim(ncid, "t", NC_UNLIMITED, dims) || nc_def_dim(ncid, "z", LEVELS, dims + 1)) return 1;
    if (nc_def_dim(ncid, "y", SIDE, dims + 2) || nc_def_dim(ncid, "x", SIDE, dims + 3)) return 1;
    if (nc_def_var(ncid, "v", NC_FLOAT, 4, dims, &id) || nc_def_var_chunking(ncid, id, NC_CHUNKED, chunks)) return 1;
    if (nc_def_var_deflate(ncid, id, 1, 1, 1)) return 1;
    for (size_t t = 0; t < RECORDS; t++) {
        for (size_t i = 0; i < LEVELS * SIDE * SIDE; i++) values[i] = value(t, i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE);
        start[0] = t;
        if (nc_put_vara_float(ncid, id, start, counts, values)) return 1;
    }
    if (nc_close(ncid) || nc_open(path, NC_NOWRITE, &ncid)) return 1;
    /* Two slabs that follow each other: the third is decoded without a call. */
    for (start[0] = 0; start[0] < 2; start[0]++) wrong += nc_get_vara_float(ncid, id, start, counts, values) || wrong_in(values, start[0], 1, 0, LEVELS);
    long first = decoded();
    for (int wait = 0; wait < 6000 && decoded() == first; wait++) usleep(10000);
    printf("decoded ahead: %d\n", decoded() > first);
    for (; start[0] < RECORDS; start[0]++) wrong += nc_get_vara_float(ncid, id, start, counts, values) || wrong_in(values, start[0], 1, 0, LEVELS);
    long all = (RECORDS + DEEP - 1) / DEEP * LEVELS;
    printf("wrong: %d, each chunk about once: %d\n", wrong, decoded() <= all + 4 * LEVELS);
    /* Level by level, the records one after the other; and three records at a time, as another type, the last ones fewer. */
    counts[1] = 1;
    for (start[0] = wrong = 0; start[0] < RECORDS; start[0]++) {
        for (start[1] = 0; start[1] < LEVELS; start[1]++) wrong += nc_get_vara_float(ncid, id, start, counts, values) || wrong_in(values, start[0], 1, start[1], 1);
    }
    printf("levels: %d", wrong);
    double *doubles = malloc(sizeof(double) * LEVELS * SIDE * SIDE * 3);
    for (start[0] = start[1] = wrong = 0, counts[1] = LEVELS; start[0] < RECORDS; start[0] += 3) {
        counts[0] = RECORDS - start[0] < 3 ? RECORDS - start[0] : 3;
        wrong += nc_get_vara_double(ncid, id, start, counts, doubles) != 0;
        for (size_t i = 0; i < counts[0] * LEVELS * SIDE * SIDE; i++) values[i] = (float)doubles[i];
        wrong += wrong_in(values, start[0], counts[0], 0, LEVELS);
    }
    printf(" threes: %d", wrong);
    /* Backwards, here and there, and out of the variable. */
    counts[0] = 1, wrong = 0;
    for (size_t t = RECORDS; t-- > 0;) {
        start[0] = t % 5 ? t : t * 7 % RECORDS;
        wrong += nc_get_vara_float(ncid, id, start, counts, values) || wrong_in(values, start[0], 1, 0, LEVELS);
    }
    start[0] = RECORDS;
    printf(" others: %d after the end: %d", wrong, nc_get_vara_float(ncid, id, start, counts, values));
    printf(" close: %d\n", nc_close(ncid));
    free(values);
    free(doubles);
    return 0;
}
