/* The four sizes of nc__enddef: where the variables of classic files begin, at first and after each redefinition. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 3, SHAPES = 6, TABLE = 14 };

static const int modes[KINDS] = {NC_CLOBBER, NC_CLOBBER | NC_64BIT_OFFSET, NC_CLOBBER | NC_64BIT_DATA};

/* Bytes free after the header, alignment of the variables, bytes free after them, alignment of the records. */
static const size_t sizes[TABLE][4] = {
    {0, 1, 0, 1},    {0, 4, 0, 4},       {100, 4, 0, 4},      {0, 512, 0, 4},  {0, 4, 0, 1024}, {0, 4, 100, 4},  {1000, 256, 300, 128},
    {1, 1, 1, 1},    {13, 7, 11, 5},     {5000, 4096, 1, 4096}, {0, 3, 2, 6},  {64, 64, 64, 64}, {0, NC_ALIGN_CHUNK, 0, NC_ALIGN_CHUNK}, {100, 1, 100, 1},
};

static unsigned char *bytes;
static size_t len;

static size_t number(size_t *at, int width) {
    size_t value = 0;
    while (width-- > 0) value = value << 8 | bytes[(*at)++];
    return value;
}

static void skip_text(size_t *at, int width) {
    size_t count = number(at, width);
    *at += (count + 3) & ~(size_t)3;
}

static void skip_attributes(size_t *at, int width) {
    static const int element[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    number(at, 4);
    for (size_t left = number(at, width); left > 0; left--) {
        skip_text(at, width);
        int type = (int)number(at, 4);
        size_t count = number(at, width);
        *at += (count * element[type] + 3) & ~(size_t)3;
    }
}

/* Prints where the variables of a file begin, and how long it is; after data were moved Debian's is longer than its header says. */
static void begins(const char *path, int is_whole) {
    FILE *file = fopen(path, "rb");
    bytes = malloc(1 << 22);
    len = file ? fread(bytes, 1, 1 << 22, file) : 0;
    if (file) fclose(file);
    if (len < 32) {
        printf(" [%zu bytes]\n", len);
        free(bytes);
        return;
    }
    int width = bytes[3] == 5 ? 8 : 4, offset = bytes[3] == 1 ? 4 : 8;
    size_t at = 4;
    printf(" %zu records,", number(&at, width));
    number(&at, 4);
    for (size_t left = number(&at, width); left > 0; left--) {
        skip_text(&at, width);
        number(&at, width);
    }
    skip_attributes(&at, width);
    number(&at, 4);
    printf(" begins");
    for (size_t left = number(&at, width); left > 0; left--) {
        skip_text(&at, width);
        size_t rank = number(&at, width);
        at += rank * width;
        skip_attributes(&at, width);
        number(&at, 4);
        number(&at, width);
        printf(" %zu", number(&at, offset));
    }
    printf(", header %zu", at);
    if (is_whole) printf(", file %zu", len);
    printf("\n");
    free(bytes);
}

static void put(int ncid, const char *name, size_t rows) {
    double values[64];
    int id, rank, dims[4];
    size_t start[4] = {0, 0, 0, 0}, count[4];
    if (nc_inq_varid(ncid, name, &id)) return;
    nc_inq_varndims(ncid, id, &rank);
    nc_inq_vardimid(ncid, id, dims);
    for (int i = 0; i < 64; i++) values[i] = i + name[0] % 16;
    for (int i = 0; i < rank; i++) nc_inq_dimlen(ncid, dims[i], count + i);
    if (rank > 0 && dims[0] == 0) count[0] = rows;
    int code = nc_put_vara_double(ncid, id, start, count, values);
    if (code) printf("put %s: %d\n", name, code);
}

static int sized(int ncid, const size_t *of) { return nc__enddef(ncid, of[0], of[1], of[2], of[3]); }

static void define(int ncid, int shape) {
    int dims[2], id;
    nc_def_dim(ncid, "t", NC_UNLIMITED, dims);
    nc_def_dim(ncid, "x", 3, dims + 1);
    if (shape == 5) return;
    if (shape != 1 && shape != 4) {
        nc_def_var(ncid, "a", NC_SHORT, 1, dims + 1, &id);
        nc_def_var(ncid, "b", NC_DOUBLE, 1, dims + 1, &id);
    }
    if (shape != 2) nc_def_var(ncid, "r", NC_SHORT, 2, dims, &id);
    if (shape == 0 || shape == 1) nc_def_var(ncid, "s", NC_BYTE, 2, dims, &id);
    if (shape == 3) nc_def_var(ncid, "c", NC_BYTE, 1, dims + 1, &id);
}

static void put_all(int ncid, size_t rows) {
    static const char *names[] = {"a", "b", "c", "r", "s", "new", "more"};
    for (int i = 0; i < 7; i++) put(ncid, names[i], rows);
}

static void change(int ncid, int how, const char *name) {
    int dims[2] = {0, 1}, id;
    char text[64];
    memset(text, 'x', sizeof text);
    switch (how) {
    case 1: nc_put_att_text(ncid, NC_GLOBAL, name, 8, text); break;
    case 2: nc_put_att_text(ncid, NC_GLOBAL, name, 64, text); break;
    case 3: nc_def_var(ncid, name, NC_INT, 1, dims + 1, &id); break;
    case 4: nc_def_var(ncid, name, NC_INT, 2, dims, &id); break;
    }
}

static void one(const char *folder, int kind, int shape, int row) {
    char path[4096];
    int ncid;
    snprintf(path, sizeof path, "%s/%d_%d_%d.nc", folder, kind, shape, row);
    if (nc_create(path, modes[kind], &ncid)) return;
    define(ncid, shape);
    printf("kind %d, shape %d, row %d: %d", kind, shape, row, sized(ncid, sizes[row]));
    put_all(ncid, 2);
    printf(" %d", nc_close(ncid));
    begins(path, 1);
}

static void check(const char *path) {
    double values[64], sum = 0;
    int ncid, vars, rank, dims[4];
    if (nc_open(path, 0, &ncid)) return;
    nc_inq_nvars(ncid, &vars);
    for (int id = 0; id < vars; id++) {
        size_t count = 1, len;
        nc_inq_varndims(ncid, id, &rank);
        nc_inq_vardimid(ncid, id, dims);
        for (int i = 0; i < rank; i++) nc_inq_dimlen(ncid, dims[i], &len), count *= len;
        nc_get_var_double(ncid, id, values);
        for (size_t i = 0; i < count; i++) sum = sum * 3 + values[i];
    }
    printf("values %.17g\n", sum);
    nc_close(ncid);
}

static void again(const char *folder, int kind, int shape, int row, int how, int steps) {
    char path[4096];
    int ncid, code, other = (row * 5 + how + 3) % TABLE;
    snprintf(path, sizeof path, "%s/again_%d_%d_%d_%d_%d.nc", folder, kind, shape, row, how, steps);
    if (nc_create(path, modes[kind], &ncid)) return;
    define(ncid, shape);
    printf("kind %d, shape %d, row %d, change %d then row %d, %d: %d", kind, shape, row, how, other, steps, sized(ncid, sizes[row]));
    if (steps & 1) put_all(ncid, 2);
    if (steps & 2) {
        code = nc_close(ncid);
        printf(" %d %d", code, nc_open(path, NC_WRITE, &ncid));
    }
    printf(" %d", nc_redef(ncid));
    change(ncid, how, "new");
    printf(" %d", sized(ncid, sizes[other]));
    if (steps & 4) put_all(ncid, 3);
    printf(" %d", nc_redef(ncid));
    change(ncid, 4 - how, "more");
    printf(" %d", nc_enddef(ncid));
    put_all(ncid, 3);
    printf(" %d", nc_close(ncid));
    begins(path, 0);
    check(path);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    int step = count > 2 ? atoi(arguments[2]) : 1, number = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            for (int row = 0; row < TABLE; row++) one(arguments[1], kind, shape, row);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            for (int row = 0; row < TABLE; row++) {
                for (int how = 0; how < 5; how++) {
                    for (int steps = 0; steps < 8; steps++) {
                        if (number++ % step == 0) again(arguments[1], kind, shape, row, how, steps);
                    }
                }
            }
        }
    }
    return 0;
}
