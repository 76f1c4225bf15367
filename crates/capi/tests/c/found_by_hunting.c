/* Axes that nc_put_varm and nc_get_varm turn around in memory; records that locked memory has no room for, after others that it has.
   FOLDER: makes files there. FOLDER given_up: ends with a file there that cannot be closed. */
#include "locked_memory.h"
#include <stdlib.h>

/* One call after the other: the arguments of one printf have no order. */
#define DO(call) do { int code = (call); printf(" %.15s %d", #call, code); } while (0)

static const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
static char path[4096];

/* How elements stand in memory: what is between them, and where the first one is. */
static const struct {
    ptrdiff_t map[2];
    int first;
} maps[] = {
    {{3, 1}, 0}, {{-3, 1}, 3}, {{3, -1}, 2}, {{-3, -1}, 5}, {{1, 2}, 0}, {{-1, 2}, 1}, {{1, -2}, 4}, {{-1, -2}, 5},
    {{0, 1}, 0}, {{0, -1}, 2}, {{3, 0}, 0}, {{-3, 0}, 3}, {{0, 0}, 0},
};

static void integers(int n, int v) {
    int x[6] = {0};
    DO(nc_get_var_int(n, v, x));
    for (int i = 0; i < 6; i++) printf(" %d", x[i]);
}

/* Fixed variables, and one with records, are written and read by way of a map. */
static void turned(int mode, int how) {
    const int whole[6] = {1, 2, 3, 4, 5, 6};
    const double real[6] = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5};
    const size_t start[2] = {0, 0}, count[2] = {2, 3}, second[2] = {0, 1}, one[2] = {2, 1}, two[2] = {2, 2};
    const ptrdiff_t *map = maps[how].map, step[2] = {1, 1}, skip[2] = {1, 2}, none[2] = {0, 1};
    const int first = maps[how].first;
    int n, dims[2], records[2], v, r, c;
    nc_create(path, mode, &n);
    nc_def_dim(n, "y", 2, dims);
    nc_def_dim(n, "x", 3, dims + 1);
    nc_def_dim(n, "t", NC_UNLIMITED, records);
    records[1] = dims[1];
    nc_def_var(n, "v", NC_INT, 2, dims, &v);
    nc_def_var(n, "r", NC_SHORT, 2, records, &r);
    nc_def_var(n, "c", NC_CHAR, 2, dims, &c);
    nc_enddef(n);
    printf("turned %d:", how);
    DO(nc_put_varm_int(n, v, start, count, step, map, whole + first));
    integers(n, v);
    DO(nc_put_varm_double(n, r, start, count, step, map, real + first));
    integers(n, r);
    DO(nc_put_varm_text(n, c, start, count, step, map, "abcdef" + first));
    DO(nc_put_varm(n, v, second, one, skip, map, whole + first));
    integers(n, v);
    DO(nc_put_varm_int(n, v, start, count, none, map, whole + first));
    printf("\n");
    nc_put_var_int(n, v, whole);
    int out[6] = {0};
    char text[7] = "------";
    double far[6] = {0};
    DO(nc_get_varm_int(n, v, start, count, step, map, out + first));
    for (int i = 0; i < 6; i++) printf(" %d", out[i]);
    DO(nc_get_varm_double(n, r, start, two, skip, map, far + first));
    for (int i = 0; i < 6; i++) printf(" %g", far[i]);
    DO(nc_get_varm_text(n, c, start, count, step, map, text + first));
    printf(" %s", text);
    DO(nc_get_varm(n, v, start, count, none, map, out + first));
    DO(nc_close(n));
    printf("\n");
}

static void again(size_t len) {
    int n, x[32] = {0};
    size_t records = 0;
    DO(nc_open_mem(path, 0, len, memory, &n));
    nc_inq_dimlen(n, 0, &records);
    DO(nc_get_var_int(n, 0, x));
    printf(" %zu:", records);
    for (size_t i = 0; i < records && i < 32; i++) printf(" %d", x[i]);
    DO(nc_close(n));
    printf("\n");
}

/* Puts before and after one that locked memory has no room for. */
static void refused(int mode, int how) {
    const size_t far = how & 1 ? 50000 : 8 + (how & 2 ? 1 : 0), first = 0, third = 2, next = 8;
    const int five = 5, six = 6, seven = 7;
    const size_t len = filled(path, mode), room = how & 2 ? 4 : 0;
    NC_memio block = {len + room, memory, NC_MEMIO_LOCKED}, out = {0, NULL, 0};
    int n;
    printf("refused %d:", how);
    DO(nc_open_memio(path, NC_WRITE, &block, &n));
    DO(nc_put_var1_int(n, 0, &first, &five));
    if (room) DO(nc_put_var1_int(n, 0, &next, &seven));
    DO(nc_put_var1_int(n, 0, &far, &six));
    if (how & 4) {
        DO(nc_sync(n));
        DO(nc_put_var1_int(n, 0, &far, &six));
    }
    DO(nc_put_var1_int(n, 0, &third, &six));
    if (how & 8) {
        DO(nc_close(n));
    } else {
        DO(nc_close_memio(n, &out));
        printf(" %d %d", out.size == len + room, out.memory == memory);
    }
    printf("\n");
    again(len + room);
}

/* What nc_close_memio says of the memory: netCDF-4 whose it is, netCDF-3 nothing. */
static void flags(int mode) {
    NC_memio bytes = {0, NULL, 77}, out = {0, NULL, 77};
    const int how[] = {0, NC_MEMIO_LOCKED};
    int n;
    printf("flags:");
    DO(nc_create_mem(path, mode, 100, &n));
    DO(nc_close_memio(n, &bytes));
    printf(" %d", bytes.flags);
    DO(nc_open_mem(path, 0, bytes.size, bytes.memory, &n));
    DO(nc_close_memio(n, &out));
    printf(" %d %d", out.flags, out.memory == bytes.memory);
    for (int i = 1; i >= 0; i--) {
        bytes.flags = how[i];
        out.flags = 77;
        DO(nc_open_memio(path, 0, &bytes, &n));
        DO(nc_close_memio(n, &out));
        printf(" %d %d", out.flags, out.memory == bytes.memory);
    }
    printf("\n");
    free(out.memory);
}

/* A type without members: the file stays open, and the program ends. */
static int given_up(void) {
    int n, type;
    DO(nc_create(path, NC_NETCDF4, &n));
    DO(nc_def_enum(n, NC_INT, "empty", &type));
    DO(nc_close(n));
    printf("\n");
    return 0;
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/hunted.nc", arguments[1]);
    if (count > 2) return given_up();
    for (int kind = 0; kind < 5; kind++) {
        for (size_t how = 0; how < sizeof maps / sizeof *maps; how++) turned(modes[kind], (int)how);
    }
    for (int kind = 0; kind < 5; kind++) flags(modes[kind]);
    for (int kind = 0; kind < 3; kind++) {
        for (int how = 0; how < 16; how++) refused(modes[kind], how);
    }
    return 0;
}
