/* A file of which one chunk, one checksum or one filter is not as it should be: its own values fail, and all others are read.
   damaged make, with the filter in HDF5_PLUGIN_PATH, makes damaged.nc; damaged read reads it. */
#define _GNU_SOURCE
#include "last_errors.h"
#include <netcdf_filter.h>

enum { CHUNKS = 4, LEN = 64, ALL = CHUNKS * LEN, FILTER = 40001 };
static const char *const damaged_path = "damaged.nc";

/* Numbers that are nowhere else in the file, and that deflate cannot shorten. */
static void make_values(int *values, unsigned seed) {
    for (int i = 0; i < ALL; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (int)(seed ^ seed >> 13);
    }
}

static const char *const names[] = {"deflated", "summed", "plain", "filtered", "shuffled"};
enum { VARIABLES = sizeof names / sizeof *names };

static void make(void) {
    int id, dim, v, values[ALL];
    size_t chunk = LEN;
    unsigned no_parameter = 0;
    if (nc_create(damaged_path, NC_NETCDF4 | NC_CLOBBER, &id) || nc_def_dim(id, "x", ALL, &dim)) exit(3);
    for (int i = 0; i < VARIABLES; i++) {
        nc_def_var(id, names[i], NC_INT, 1, &dim, &v);
        nc_put_att_text(id, v, "of", strlen(names[i]), names[i]);
        if (i != 2) nc_def_var_chunking(id, v, NC_CHUNKED, &chunk);
        // Numbers that are not made shorter stay as they are, after a header.
        if (i == 0) nc_def_var_deflate(id, v, 0, 1, 1);
        if (i == 1) nc_def_var_fletcher32(id, v, 1);
        if (i == 3 && nc_def_var_filter(id, v, FILTER, 1, &no_parameter)) exit(4);
        if (i == 4) nc_def_var_deflate(id, v, 1, 1, 6);
        make_values(values, (unsigned)i + 1);
        if (nc_put_var_int(id, v, values)) exit(5);
    }
    if (nc_close(id)) exit(6);
}

/* Changes bytes beside the first number of a chunk. */
static void damage(int variable, int chunk, int distance, int len) {
    static char bytes[1 << 20];
    int values[ALL];
    make_values(values, (unsigned)variable + 1);
    FILE *file = fopen(damaged_path, "r+b");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    const char *at = size ? memmem(bytes, size, values + chunk * LEN, 16) : NULL;
    if (!at) exit(7);
    fseek(file, at - bytes + distance, SEEK_SET);
    for (int i = 0; i < len; i++) fputc(at[distance + i] ^ 0x55, file);
    fclose(file);
}

static void read_variable(int id, int v) {
    int values[ALL], found[ALL];
    char text[NC_MAX_NAME + 1] = "";
    make_values(values, (unsigned)v + 1);
    printf("%s: %d ", names[v], nc_get_att_text(id, v, "of", text));
    printf("%s\n", text);
    for (size_t chunk = 0; chunk < CHUNKS; chunk++) {
        size_t start = chunk * LEN, count = LEN;
        int code = told(" chunk", nc_get_vara_int(id, v, &start, &count, found), names[v]);
        HOLD(code || memcmp(found, values + start, sizeof *found * LEN) == 0);
    }
    told(" all", nc_get_var_int(id, v, found), names[v]);
}

static void read_all(void) {
    int id, v, n = 0;
    unsigned filter = 0;
    size_t count = 0;
    if (told("nc_open", nc_open(damaged_path, NC_NOWRITE, &id), damaged_path)) return;
    for (v = 0; v < VARIABLES; v++) read_variable(id, v);
    told("filter", nc_inq_var_filter(id, 3, &filter, &count, NULL), names[3]);
    printf("%u %zu\n", filter, count);
    told("available", nc_inq_filter_avail(id, FILTER), "");
    told("variables", nc_inq_nvars(id, &n), damaged_path);
    HOLD(n == VARIABLES);
    told("nc_close", nc_close(id), damaged_path);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    if (strcmp(arguments[1], "make") == 0) {
        make();
        damage(0, 2, -7, 7);
        damage(1, 1, 20, 4);
        return 0;
    }
    read_all();
    puts("done");
    return 0;
}
