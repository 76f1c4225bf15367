/* Values that are put one by one: whoever reads next, by whatever call, gets them, and so does the file. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, COLUMNS = 700 };

static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4};

static unsigned seed = 7;

static unsigned any(unsigned limit) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

static void read_back(int ncid, int id, const char *how) {
    static float values[ROWS * COLUMNS];
    double sum = 0;
    size_t row = any(ROWS), column = any(COLUMNS), at[2] = {row, column}, start[2] = {row, 0}, count[2] = {1, COLUMNS};
    float one = -1;
    int code = 0;
    switch (any(3)) {
    case 0: code = nc_get_var1_float(ncid, id, at, &one); sum = one; break;
    case 1:
        code = nc_get_vara_float(ncid, id, start, count, values);
        for (int i = 0; i < COLUMNS; i++) sum = sum * 3 / 2 + values[i];
        break;
    default:
        code = nc_get_var_float(ncid, id, values);
        for (int i = 0; i < ROWS * COLUMNS; i++) sum += values[i] * (i % 97);
    }
    printf("%s %zu %zu: %d %.9g\n", how, row, column, code, sum);
}

static void run(const char *folder, int kind) {
    char path[4096];
    int ncid, dims[3], ids[3];
    snprintf(path, sizeof path, "%s/small%d.nc", folder, kind);
    if (nc_create(path, modes[kind], &ncid)) exit(1);
    nc_def_dim(ncid, "t", NC_UNLIMITED, dims + 2);
    nc_def_dim(ncid, "y", ROWS, dims);
    nc_def_dim(ncid, "x", COLUMNS, dims + 1);
    nc_def_var(ncid, "a", NC_FLOAT, 2, dims, ids);
    nc_def_var(ncid, "b", NC_FLOAT, 2, dims, ids + 1);
    nc_def_var(ncid, "r", NC_SHORT, 1, dims + 2, ids + 2);
    if (nc_enddef(ncid)) exit(1);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        float value = i % 1013;
        for (int of = 0; of < 2; of++) {
            size_t at[2] = {i / COLUMNS, i % COLUMNS};
            if (nc_put_var1_float(ncid, ids[of], at, &value)) exit(1);
        }
    }
    for (int step = 0; step < 400; step++) {
        size_t first = any(ROWS * COLUMNS), many = any(120);
        int of = any(2), width = 1 + any(3);
        for (size_t i = first; i < first + many && i < ROWS * COLUMNS; i++) {
            float values[3] = {step + i, step + i + 0.5f, step - 3.0f};
            size_t at[2] = {i / COLUMNS, i % COLUMNS}, count[2] = {1, width};
            if (at[1] + width > COLUMNS) continue;
            int code = width == 1 ? nc_put_var1_float(ncid, ids[of], at, values) : nc_put_vara_float(ncid, ids[of], at, count, values);
            if (code) printf("put: %d\n", code);
            if (width > 1) i += width - 1;
        }
        switch (any(8)) {
        case 0: printf("sync %d\n", nc_sync(ncid)); break;
        case 1: {
            short value = step;
            size_t at = any(20);
            printf("record %zu: %d\n", at, nc_put_var1_short(ncid, ids[2], &at, &value));
            break;
        }
        case 2: {
            double value = step + 0.25;
            size_t at[2] = {any(ROWS), any(COLUMNS)};
            printf("double %d\n", nc_put_var1_double(ncid, ids[of], at, &value));
            break;
        }
        case 3: {
            size_t at[2] = {ROWS, 0};
            float value = 1;
            printf("outside %d", nc_put_var1_float(ncid, ids[of], at, &value));
            at[0] = 0, at[1] = COLUMNS;
            printf(" %d\n", nc_put_var1_float(ncid, ids[of], at, &value));
            break;
        }
        case 4: printf("redef %d", nc_redef(ncid)); printf(" %d\n", nc_enddef(ncid)); break;
        default: read_back(ncid, ids[any(2)], "read");
        }
    }
    printf("close %d\n", nc_close(ncid));
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    for (int kind = 0; kind < 4; kind++) run(arguments[1], kind);
    return 0;
}
