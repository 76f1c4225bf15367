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

/* Records that are added one value at a time, as numbers of every type; some are outside the range of the variable's. */
static void add_records(const char *folder, int kind) {
    enum { WIDTH = 3, VARIABLES = 5 };
    static const nc_type types[VARIABLES] = {NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE, NC_BYTE};
    static short seen[WIDTH * 4096];
    char path[4096], name[8];
    int ncid, dims[2], ids[VARIABLES * 2];
    size_t next[VARIABLES * 2] = {0};
    snprintf(path, sizeof path, "%s/records%d.nc", folder, kind);
    if (nc_create(path, modes[kind], &ncid)) exit(1);
    nc_def_dim(ncid, "t", NC_UNLIMITED, dims);
    nc_def_dim(ncid, "x", WIDTH, dims + 1);
    for (int i = 0; i < VARIABLES * 2; i++) {
        snprintf(name, sizeof name, "v%d", i);
        nc_def_var(ncid, name, types[i % VARIABLES], 1 + i / VARIABLES, dims, ids + i);
    }
    if (nc_enddef(ncid)) exit(1);
    for (int step = 0; step < 600; step++) {
        int of = any(VARIABLES * 2), is_wide = of >= VARIABLES, as = any(5);
        for (unsigned many = any(60); many > 0; many--) {
            size_t at[2] = {is_wide ? next[of] / WIDTH : next[of], next[of] % WIDTH};
            double number = (double)any(70000) - 35000.5;
            if (any(50) == 0) number *= 1e300;
            int code;
            switch (as) {
            case 0: { double value = number; code = nc_put_var1_double(ncid, ids[of], at, &value); break; }
            case 1: { float value = number > 1e30 ? 9e37f : number < -1e30 ? -9e37f : (float)number; code = nc_put_var1_float(ncid, ids[of], at, &value); break; }
            case 2: { int value = (int)any(200000) - 100000; code = nc_put_var1_int(ncid, ids[of], at, &value); break; }
            case 3: { short value = (short)any(30000); code = nc_put_var1_short(ncid, ids[of], at, &value); break; }
            default: { signed char value = (signed char)any(200); code = nc_put_var1_schar(ncid, ids[of], at, &value); }
            }
            if (code) printf("%d of %d as %d: %d\n", step, of, as, code);
            next[of]++;
        }
        size_t len = 0, start[2] = {0, 0}, count[2] = {4, WIDTH};
        int code;
        switch (any(6)) {
        case 0: nc_inq_dimlen(ncid, dims[0], &len); printf("records %zu\n", len); break;
        case 1: printf("sync %d\n", nc_sync(ncid)); break;
        case 2:
            code = nc_get_vara_short(ncid, ids[of], start, count, seen);
            printf("read %d: %d %d\n", code, seen[0], seen[3]);
            break;
        case 3: next[of] = any(next[of] + 1); break;
        case 4: next[of] += any(4); break;
        default: break;
        }
    }
    printf("close %d\n", nc_close(ncid));
    if (nc_open(path, NC_NOWRITE, &ncid)) exit(1);
    /* Numbers of one type, read one by one as those of another. */
    for (int of = 0; of < VARIABLES; of++)
        for (size_t at = 0; at < 200; at++) {
            int whole = -7;
            float broken = -7;
            short narrow = -7;
            double wide = -7;
            int codes[4] = {nc_get_var1_int(ncid, ids[of], &at, &whole), nc_get_var1_float(ncid, ids[of], &at, &broken),
                            nc_get_var1_short(ncid, ids[of], &at, &narrow), nc_get_var1_double(ncid, ids[of], &at, &wide)};
            printf("%d: %d %d, %d %g, %d %d, %d %g\n", of, codes[0], whole, codes[1], broken, codes[2], narrow, codes[3], wide);
        }
    nc_close(ncid);
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

/* Records of several variables in turn, as a model writes them: of every width, in any order, some left out, some written again. */
static void take_turns(const char *folder, int kind) {
    enum { VARIABLES = 8, WIDEST = 5000, STEPS = 600 };
    static const nc_type types[VARIABLES] = {NC_DOUBLE, NC_FLOAT, NC_SHORT, NC_BYTE, NC_INT, NC_FLOAT, NC_FLOAT, NC_DOUBLE};
    static const size_t widths[VARIABLES] = {0, 0, 0, 0, 5, 70, 3000, WIDEST};
    static double values[WIDEST], found[WIDEST];
    char path[4096], name[8];
    int ncid, dims[2], ids[VARIABLES], many = kind == 3 ? 6 : VARIABLES;
    snprintf(path, sizeof path, "%s/turns%d.nc", folder, kind);
    if (nc_create(path, modes[kind], &ncid)) exit(1);
    nc_def_dim(ncid, "t", NC_UNLIMITED, dims);
    for (int i = 0; i < many; i++) {
        snprintf(name, sizeof name, "x%d", i);
        if (widths[i]) nc_def_dim(ncid, name, widths[i], dims + 1);
        snprintf(name, sizeof name, "v%d", i);
        nc_def_var(ncid, name, types[i], widths[i] ? 2 : 1, dims, ids + i);
    }
    if (nc_enddef(ncid)) exit(1);
    size_t record = 0, len = 0;
    for (int step = 0; step < STEPS; step++) {
        int first = any(12) ? 0 : (int)any(many);
        for (int turn = 0; turn < many; turn++) {
            int of = (first + turn) % many, code;
            size_t width = widths[of] ? widths[of] : 1, at = any(15) ? record : any(record + 1);
            if ((width > 5 && step % 50) || !any(30)) continue;
            for (size_t i = 0; i < width; i++) values[i] = (step + of + i) % 120;
            if (!any(60)) values[any(width)] = 1e200;
            size_t start[2] = {at, 0}, count[2] = {1, width};
            code = nc_put_vara_double(ncid, ids[of], start, count, values);
            if (code) printf("%d of %d: %d\n", step, of, code);
        }
        record++;
        int of = any(many);
        size_t start[2] = {record ? any(record) : 0, 0}, count[2] = {1, widths[of] ? widths[of] : 1};
        switch (any(25)) {
        case 0: nc_inq_dimlen(ncid, dims[0], &len); printf("records %zu\n", len); break;
        case 1: printf("sync %d\n", nc_sync(ncid)); break;
        case 2: printf("redef %d", nc_redef(ncid)); printf(" %d", nc_put_att_int(ncid, ids[of], "step", NC_INT, 1, &step)); printf(" %d\n", nc_enddef(ncid)); break;
        case 3: case 4: {
            int code = nc_get_vara_double(ncid, ids[of], start, count, found);
            printf("read %d of %zu: %d %g %g\n", of, start[0], code, found[0], found[count[1] - 1]);
            break;
        }
        case 5: record += any(3); break;
        case 6: {
            int code = nc_put_var1_double(ncid, ids[of], start, values);
            printf("one %d\n", code);
            break;
        }
        default: break;
        }
    }
    printf("close %d\n", nc_close(ncid));
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    for (int kind = 0; kind < 4; kind++) run(arguments[1], kind), add_records(arguments[1], kind), take_turns(arguments[1], kind);
    return 0;
}
