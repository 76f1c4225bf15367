/* What is beyond: records after the last one, lengths and offsets of each format, bytes as other bytes, names that are none. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <string.h>

enum { KINDS = 5 };

static const int modes[KINDS] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};

static void records(const char *path) {
    int ncid, dim, id, values[3] = {1, 2, 3};
    size_t start = 0, count = 3;
    if (nc_create(path, NC_CLOBBER, &ncid) || nc_def_dim(ncid, "t", NC_UNLIMITED, &dim)) return;
    if (nc_def_var(ncid, "v", NC_INT, 1, &dim, &id) || nc_enddef(ncid)) return;
    if (nc_put_vara_int(ncid, id, &start, &count, values) || nc_close(ncid)) return;
    for (int mode = 0; mode < 2; mode++) {
        if (nc_open(path, mode, &ncid)) return;
        for (start = 2; start < 6; start++) {
            printf("mode %d, record %zu: %d", mode, start, nc_get_var1_int(ncid, id, &start, values));
            for (count = 0; count < 2; count++) {
                printf(" %d", nc_get_vara_int(ncid, id, &start, &count, values));
            }
            printf("\n");
        }
        nc_close(ncid);
    }
}

static void bytes(const char *path, int kind) {
    int ncid, dim, id, format, mode;
    signed char some[3] = {-1, 2, -128};
    unsigned char found[3] = {9, 9, 9};
    if (nc_create(path, modes[kind] | NC_CLOBBER, &ncid)) return;
    nc_inq_format_extended(ncid, &format, &mode);
    printf("kind %d: %d %x", kind, format, mode);
    if (nc_def_dim(ncid, "x", 3, &dim) || nc_def_var(ncid, "b", NC_BYTE, 1, &dim, &id)) return;
    printf(" put %d", nc_put_att_schar(ncid, id, "a", NC_BYTE, 3, some));
    printf(" %d", nc_put_att_uchar(ncid, id, "u", NC_BYTE, 3, (unsigned char *)some));
    nc_enddef(ncid);
    printf(" %d", nc_put_var_schar(ncid, id, some));
    printf(" get %d", nc_get_var_uchar(ncid, id, found));
    printf(" [%d %d %d]", found[0], found[1], found[2]);
    printf(" %d %d", nc_get_var_ubyte(ncid, id, found), nc_get_att_uchar(ncid, id, "a", found));
    printf(" put %d\n", nc_put_var_uchar(ncid, id, found));
    nc_close(ncid);
}

static void lengths(const char *path, int kind) {
    static const size_t lens[] = {2147483644u, 2147483645u, 4294967292u, 4294967293u, 4294967295u, 4294967296u, (size_t)1 << 40};
    int ncid, dim;
    char name[8];
    if (nc_create(path, modes[kind] | NC_CLOBBER, &ncid)) return;
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "d%d", i);
        printf("kind %d, length %zu: %d\n", kind, lens[i], nc_def_dim(ncid, name, lens[i], &dim));
    }
    nc_abort(ncid);
}

static void names(const char *path, int kind) {
    int ncid, id;
    size_t len;
    char text[8];
    if (nc_create(path, modes[kind] | NC_CLOBBER, &ncid)) return;
    printf("no name: %d", nc_get_att(ncid, NC_GLOBAL, NULL, text));
    printf(" %d", nc_inq_att(ncid, NC_GLOBAL, NULL, &id, &len));
    printf(" %d", nc_inq_attid(ncid, NC_GLOBAL, NULL, &id));
    printf(" %d\n", nc_inq_atttype(ncid, NC_GLOBAL, NULL, &id));
    nc_close(ncid);
}

static void offsets(const char *path) {
    int ncid, dims[3], id;
    if (nc_create(path, NC_CLOBBER, &ncid) || nc_set_fill(ncid, NC_NOFILL, NULL)) return;
    if (nc_def_dim(ncid, "a", 1 << 29, dims) || nc_def_dim(ncid, "b", 1 << 29, dims + 1) || nc_def_dim(ncid, "c", 9, dims + 2)) return;
    nc_def_var(ncid, "first", NC_BYTE, 1, dims, &id);
    nc_def_var(ncid, "second", NC_SHORT, 1, dims + 1, &id);
    nc_def_var(ncid, "third", NC_BYTE, 1, dims, &id);
    nc_def_var(ncid, "last", NC_DOUBLE, 1, dims + 2, &id);
    printf("offsets: %d", nc_enddef(ncid));
    printf(" %d\n", nc_close(ncid));
}

static void long_names(const char *path, int kind) {
    int ncid, id;
    char name[258];
    memset(name, 'a', 257);
    name[257] = 0;
    if (nc_create(path, modes[kind] | NC_CLOBBER, &ncid)) return;
    printf("long names: dim %d", nc_inq_dimid(ncid, name, &id));
    printf(" var %d", nc_inq_varid(ncid, name, &id));
    printf(" att %d", nc_inq_att(ncid, NC_GLOBAL, name, NULL, NULL));
    printf(" attid %d", nc_inq_attid(ncid, NC_GLOBAL, name, &id));
    printf(" group %d", nc_inq_grp_ncid(ncid, name, &id));
    printf(" type %d\n", nc_inq_typeid(ncid, name, &id));
    nc_close(ncid);
}

static void late_fill(const char *path, int kind) {
    int ncid, dim, id, other, seven = 7;
    if (nc_create(path, modes[kind] | NC_CLOBBER, &ncid) || nc_def_dim(ncid, "x", 3, &dim)) return;
    if (nc_def_var(ncid, "v", NC_INT, 1, &dim, &id) || nc_enddef(ncid) || nc_redef(ncid)) return;
    printf("late fill: %d", nc_put_att_int(ncid, id, "_FillValue", NC_INT, 1, &seven));
    printf(" %d", nc_def_var_fill(ncid, id, 0, &seven));
    nc_def_var(ncid, "w", NC_INT, 1, &dim, &other);
    printf(" %d", nc_put_att_int(ncid, other, "_FillValue", NC_INT, 1, &seven));
    if (nc_close(ncid) || nc_open(path, NC_WRITE, &ncid) || nc_redef(ncid)) return;
    printf(" %d", nc_put_att_int(ncid, id, "_FillValue", NC_INT, 1, &seven));
    printf(" %d\n", nc_put_att_int(ncid, id, "_FillValue", NC_INT, 2, &seven));
    nc_close(ncid);
}

static void empty(const char *path, int kind) {
    int ncid, dim, id, some[2] = {8, 9}, mask = 8, pixels = 9;
    char text[4] = "abc";
    double number = 8;
    if (nc_create(path, modes[kind] | NC_CLOBBER, &ncid) || nc_def_dim(ncid, "x", 3, &dim)) return;
    if (nc_def_var(ncid, "v", NC_INT, 1, &dim, &id)) return;
    printf("empty: %d", nc_put_att_text(ncid, id, "t", 0, text));
    printf(" %d %d", nc_get_att_int(ncid, id, "t", some), nc_get_att_double(ncid, id, "t", &number));
    printf(" %d", nc_put_att_int(ncid, id, "i", NC_INT, 0, some));
    printf(" %d %d", nc_get_att_text(ncid, id, "i", text), nc_get_att_double(ncid, id, "i", &number));
    printf(" [%s %d %g]", text, some[0], number);
    printf(" szip %d", nc_inq_var_szip(ncid, id, &mask, &pixels));
    printf(" [%d %d]\n", mask, pixels);
    nc_close(ncid);
}

static void chunks(const char *path) {
    static const size_t lens[][3] = {{1804289383, 846930886, 1681692777}, {2048, 2048, 1}, {5, 4000, 8000}, {100, 20, 3}};
    int ncid, dims[3], id, storage;
    size_t found[3];
    char name[8];
    if (nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid)) return;
    for (int i = 0; i < 4; i++) {
        for (int axis = 0; axis < 3; axis++) {
            snprintf(name, sizeof name, "d%d%d", i, axis);
            nc_def_dim(ncid, name, lens[i][axis], &dims[axis]);
        }
        nc_def_var(ncid, name, NC_FLOAT, 3, dims, &id);
        printf("chunks: %d", nc_def_var_chunking(ncid, id, NC_CHUNKED, NULL));
        nc_inq_var_chunking(ncid, id, &storage, found);
        printf(" %d [%zu %zu %zu]\n", storage, found[0], found[1], found[2]);
    }
    nc_abort(ncid);
}

static void exclusions(const char *path) {
    int ncid, dim, id;
    size_t len = 1;
    unsigned chosen[2] = {NC_SZIP_NN, 32}, level = 1;
    if (nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid) || nc_def_dim(ncid, "x", 80, &dim)) return;
    nc_def_var(ncid, "scalar", NC_INT, 0, NULL, &id);
    printf("scalar: %d", nc_def_var_chunking(ncid, id, NC_CHUNKED, &len));
    printf(" %d", nc_def_var_chunking(ncid, id, NC_CHUNKED, NULL));
    printf(" %d\n", nc_def_var_chunking(ncid, id, NC_CONTIGUOUS, NULL));
    nc_def_var(ncid, "a", NC_INT64, 1, &dim, &id);
    printf("exclusive: %d", nc_def_var_deflate(ncid, id, 0, 1, 3));
    printf(" %d", nc_def_var_filter(ncid, id, 4, 2, chosen));
    nc_def_var(ncid, "b", NC_INT64, 1, &dim, &id);
    printf(" %d", nc_def_var_filter(ncid, id, 4, 2, chosen));
    printf(" %d", nc_def_var_deflate(ncid, id, 0, 1, 3));
    printf(" %d\n", nc_def_var_filter(ncid, id, 1, 1, &level));
    nc_close(ncid);
}

static void incomplete(const char *path) {
    int ncid, id;
    unsigned char value = 42;
    if (nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid) || nc_def_enum(ncid, NC_UBYTE, "e", &id)) return;
    printf("incomplete: %d", nc_close(ncid));
    printf(" %d", nc_redef(ncid));
    printf(" %d", nc_insert_enum(ncid, id, "one", &value));
    printf(" %d", nc_close(ncid));
    printf(" %d\n", nc_close(ncid));
}

static void szip(const char *path) {
    int ncid, dim, id, mask, pixels;
    unsigned chosen[2] = {NC_SZIP_NN, 32}, filter, found[4] = {9, 9, 9, 9};
    size_t len;
    if (nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid) || nc_def_dim(ncid, "x", 80, &dim)) return;
    if (nc_def_var(ncid, "v", NC_INT64, 1, &dim, &id)) return;
    printf("szip: %d", nc_def_var_filter(ncid, id, 4, 2, chosen));
    if (nc_close(ncid) || nc_open(path, 0, &ncid)) return;
    printf(" %d", nc_inq_var_filter(ncid, id, &filter, &len, found));
    printf(" [%u %zu %u %u %u]", filter, len, found[0], found[1], found[2]);
    printf(" %d", nc_inq_var_szip(ncid, id, &mask, &pixels));
    printf(" [%d %d]\n", mask, pixels);
    nc_close(ncid);
}

int main(int count, char **arguments) {
    char path[4096];
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/limits.nc", arguments[1]);
    records(path);
    for (int kind = 0; kind < KINDS; kind++) bytes(path, kind);
    for (int kind = 0; kind < KINDS; kind++) lengths(path, kind);
    for (int kind = 0; kind < KINDS; kind++) names(path, kind);
    for (int kind = 0; kind < KINDS; kind++) long_names(path, kind);
    for (int kind = 0; kind < KINDS; kind++) late_fill(path, kind);
    for (int kind = 0; kind < KINDS; kind++) empty(path, kind);
    szip(path);
    chunks(path);
    exclusions(path);
    incomplete(path);
    offsets(path);
    return 0;
}
