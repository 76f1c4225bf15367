/* Puts a variable of records of 4 MB in pieces, five of which fill a chunk: FILE RECORDS. Prints the peak of its memory in KiB. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { SIDE = 1000, PIECE = 100 };

static void check(int code) {
    if (code == NC_NOERR) return;
    fprintf(stderr, "%s\n", nc_strerror(code));
    exit(1);
}

static float values[PIECE * PIECE];

static void put_record(int ncid, int id, size_t record) {
    for (size_t y = 0; y < SIDE; y += PIECE)
        for (size_t x = 0; x < SIDE; x += PIECE) {
            size_t start[3] = {record, y, x}, counts[3] = {1, PIECE, PIECE};
            values[0] = record + y + x;
            check(nc_put_vara_float(ncid, id, start, counts, values));
        }
}

static void compare(int ncid, int id, size_t record) {
    float found[PIECE * PIECE];
    size_t start[3] = {record, SIDE - PIECE, PIECE}, counts[3] = {1, PIECE, PIECE};
    values[0] = record + SIDE;
    check(nc_get_vara_float(ncid, id, start, counts, found));
    for (int i = 0; i < PIECE * PIECE; i++)
        if (found[i] != values[i]) check(NC_EINVAL);
}

int main(int count, char **arguments) {
    int ncid, id, dims[3];
    size_t chunks[3] = {1, 5 * PIECE, PIECE / 5}, records = count > 2 ? atol(arguments[2]) : 1;
    struct rusage usage;
    for (int i = 0; i < PIECE * PIECE; i++) values[i] = 273 + (i * 2654435761u >> 20) / 64.0f;
    check(nc_create(arguments[1], NC_CLOBBER | NC_NETCDF4, &ncid));
    check(nc_def_dim(ncid, "time", NC_UNLIMITED, dims));
    check(nc_def_dim(ncid, "y", SIDE, dims + 1));
    check(nc_def_dim(ncid, "x", SIDE, dims + 2));
    check(nc_def_var(ncid, "v", NC_FLOAT, 3, dims, &id));
    check(nc_def_var_chunking(ncid, id, NC_CHUNKED, chunks));
    check(nc_def_var_deflate(ncid, id, 1, 1, 1));
    check(nc_enddef(ncid));
    for (size_t record = 0; record < records; record++) put_record(ncid, id, record);
    check(nc_close(ncid));
    getrusage(RUSAGE_SELF, &usage);
    check(nc_open(arguments[1], NC_NOWRITE, &ncid));
    for (size_t record = 0; record < records; record += 7) compare(ncid, id, record);
    check(nc_close(ncid));
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}
