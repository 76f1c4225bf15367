/* Writes of values that are encoded: FOLDER STEP. */
#include <netcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { RECORDS = 20, SIDE = 200 };

static float values[SIDE * SIDE], found[SIDE * SIDE];
static size_t start[3], counts[3] = {1, SIDE, SIDE};

static int made(const char *path, int mode, int *ncid, int *id) {
    int dims[3];
    size_t chunks[3] = {1, SIDE, SIDE};
    return nc_create(path, NC_NETCDF4 | mode, ncid) || nc_def_dim(*ncid, "t", NC_UNLIMITED, dims) || nc_def_dim(*ncid, "y", SIDE, dims + 1) ||
           nc_def_dim(*ncid, "x", SIDE, dims + 2) || nc_def_var(*ncid, "v", NC_FLOAT, 3, dims, id) ||
           nc_def_var_chunking(*ncid, *id, NC_CHUNKED, chunks) || nc_def_var_deflate(*ncid, *id, 1, 1, 1);
}

static int put(int ncid, int id, size_t record, float with) {
    for (int i = 0; i < SIDE * SIDE; i++) values[i] = with + (i * 2654435761u >> 8) / 65536.0f;
    start[0] = record;
    int code = nc_put_vara_float(ncid, id, start, counts, values);
    /* The memory is the program's own again when the call returns. */
    memset(values, 0, sizeof values);
    return code;
}

static int is_there(int ncid, int id, size_t record, float with) {
    start[0] = record;
    if (nc_get_vara_float(ncid, id, start, counts, found)) return 0;
    for (int i = 0; i < SIDE * SIDE; i++) if (found[i] != with + (i * 2654435761u >> 8) / 65536.0f) return 0;
    return 1;
}

static int put_box(int ncid, int id, size_t record, size_t y, size_t height, size_t width, float with) {
    size_t from[3] = {record, y, 0}, lens[3] = {1, height, width};
    for (size_t i = 0; i < height * width; i++) values[i] = with;
    return nc_put_vara_float(ncid, id, from, lens, values);
}

/* The upper and the lower half of a record, which are apart, and the left half of both, which is the later one. */
static int put_halves(int ncid, int id, size_t record) {
    return put_box(ncid, id, record, 0, SIDE / 2, SIDE, 1) || put_box(ncid, id, record, SIDE / 2, SIDE / 2, SIDE, 2) ||
           put_box(ncid, id, record, 0, SIDE, SIDE / 2, 3);
}

static int has_halves(int ncid, int id, size_t record) {
    start[0] = record;
    if (nc_get_vara_float(ncid, id, start, counts, found)) return 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        float expected = i % SIDE < SIDE / 2 ? 3 : i / SIDE < SIDE / 2 ? 1 : 2;
        if (found[i] != expected) return 0;
    }
    return 1;
}

/* Records that are written over at once, numbers of records and values asked for in between, and a second variable. */
static int in_order(const char *path) {
    int ncid, id, other, dims[3] = {0, 1, 2}, wrong = 0;
    size_t len;
    double doubles[SIDE * 2] = {0};
    if (made(path, 0, &ncid, &id) || nc_def_var(ncid, "w", NC_INT, 3, dims, &other) || nc_def_var_deflate(ncid, other, 0, 1, 9)) return 1;
    for (size_t t = 0; t < RECORDS; t++) {
        wrong += put(ncid, id, t, 1) || put(ncid, id, t, 2) || put(ncid, id, t, t + 3.0f);
        if (t % 4 == 0) wrong += nc_inq_dimlen(ncid, 0, &len) || len != t + 1;
        if (t % 4 == 1) wrong += !is_there(ncid, id, t, t + 3.0f);
        if (t % 4 == 2) wrong += put(ncid, other, t, t) || nc_rename_dim(ncid, 1, t % 8 == 2 ? "y2" : "y") != 0;
    }
    size_t row[3] = {5, 3, 0}, two[3] = {1, 2, SIDE};
    for (size_t t = 0; t < RECORDS; t++) wrong += put_halves(ncid, id, RECORDS + t);
    wrong += put(ncid, id, 5, 70) || nc_put_vara_double(ncid, id, row, two, doubles);
    /* Too large for the type: told by this call, though the values are written later. */
    size_t box[3] = {1, SIDE, SIDE};
    double *large = malloc(sizeof(double) * SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) large[i] = i ? i : 1e40;
    row[0] = 6, row[1] = 0;
    printf("range %d", nc_put_vara_double(ncid, other, row, box, large));
    printf(" close %d", nc_close(ncid));
    printf(" open %d", nc_open(path, NC_NOWRITE, &ncid));
    for (size_t t = 0; t < RECORDS; t++) wrong += t != 5 && !is_there(ncid, id, t, t + 3.0f);
    for (size_t t = 0; t < RECORDS; t++) wrong += !has_halves(ncid, id, RECORDS + t);
    int ints[2] = {0};
    size_t two_of[3] = {1, 1, 2};
    nc_get_vara_int(ncid, other, row, two_of, ints);
    wrong += ints[1] != 1 || nc_get_vara_float(ncid, id, start, counts, found) != 0;
    printf(" wrong %d close %d\n", wrong, nc_close(ncid));
    free(large);
    return 0;
}

/* There is no room for what is written: some call tells it, and the file that was there before is whole. */
static int without_room(const char *path) {
    struct rlimit limit = {1 << 20, 1 << 20};
    int ncid, id, told = 0, old, old_id;
    if (made(path, 0, &ncid, &id) || put(ncid, id, 0, 9) || nc_close(ncid)) return 1;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit)) return 1;
    if (made(path, 0, &ncid, &id)) return 1;
    for (size_t t = 0; t < RECORDS * 2; t++) told += put(ncid, id, t, t * 0.37f) != 0;
    told += nc_close(ncid) != 0;
    printf("told %d", told > 0);
    if (nc_open(path, NC_NOWRITE, &old) || nc_inq_varid(old, "v", &old_id)) return 1;
    printf(" whole %d", is_there(old, old_id, 0, 9));
    printf(" close %d\n", nc_close(old));
    return 0;
}

int main(int count, char **arguments) {
    char path[4096];
    if (count < 3) return 2;
    snprintf(path, sizeof path, "%s/behind.nc", arguments[1]);
    return !strcmp(arguments[2], "order") ? in_order(path) : without_room(path);
}
