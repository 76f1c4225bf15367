/* Defines user-defined types, storage and groups, with right and wrong arguments, and writes values. */
#include <netcdf.h>
#include <netcdf_aux.h>
#include <netcdf_filter.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

struct point { signed char tag; double x; short y[2][2]; char *label; };

static void types(int ncid) {
    int point = -7, row = -7, kind = -7, blob = -7, other = -7, dim = -7, id = -7, lens[2] = {2, 2}, number = -7, equal = -7;
    signed char no = 0, yes = 1;
    size_t size = 0;
    SHOW(nc_def_compound(ncid, sizeof(struct point), "point", &point));
    SHOW(nc_insert_compound(ncid, point, "tag", offsetof(struct point, tag), NC_BYTE));
    SHOW(nc_insert_compound(ncid, point, "x", offsetof(struct point, x), NC_DOUBLE));
    SHOW(nc_insert_array_compound(ncid, point, "y", offsetof(struct point, y), NC_SHORT, 2, lens));
    SHOW(nc_insert_compound(ncid, point, "label", offsetof(struct point, label), NC_STRING));
    SHOW(nc_insert_compound(ncid, NC_INT, "x", 0, NC_INT));
    SHOW(nc_def_compound(ncid, 0, "empty", &other));
    SHOW(nc_def_compound(ncid, 8, "point", &other));
    SHOW(nc_def_vlen(ncid, "row", NC_INT, &row));
    SHOW(nc_def_enum(ncid, NC_BYTE, "kind", &kind));
    SHOW(nc_insert_enum(ncid, kind, "no", &no));
    SHOW(nc_insert_enum(ncid, kind, "yes", &yes));
    SHOW(nc_insert_enum(ncid, row, "yes", &yes));
    SHOW(nc_def_opaque(ncid, 4, "blob", &blob));
    printf("%d %d %d %d\n", point, row, kind, blob);
    SHOW(nc_inq_compound_size(ncid, point, &size));
    SHOW(nc_inq_compound_fieldindex(ncid, point, "label", &number));
    printf("%zu %d\n", size, number);
    SHOW(nc_def_dim(ncid, "n", 2, &dim));
    struct point points[2] = {{1, 2.5, {{1, 2}, {3, 4}}, "first"}, {-1, 0.5, {{5, 6}, {7, 8}}, "second"}}, read[2];
    SHOW(nc_def_var(ncid, "p", point, 1, &dim, &id));
    SHOW(nc_put_var(ncid, id, points));
    SHOW(nc_inq_type_equal(ncid, point, ncid, point, &equal));
    printf("%d\n", equal);
    SHOW(nc_inq_type_equal(ncid, point, ncid, row, &equal));
    printf("%d\n", equal);
    SHOW(nc_get_var(ncid, id, read));
    printf("%d %g %d %s\n", read[1].tag, read[1].x, read[1].y[1][0], read[1].label);
    SHOW(nc_reclaim_data(ncid, point, read, 2));
    SHOW(nc_put_att(ncid, id, "at", point, 1, points));
    int elements[3] = {1, 2, 3};
    nc_vlen_t rows[2] = {{3, elements}, {0, NULL}};
    SHOW(nc_put_vlen_element(ncid, row, &rows[1], 2, elements));
    SHOW(nc_def_var(ncid, "r", row, 1, &dim, &id));
    SHOW(nc_put_var(ncid, id, rows));
    SHOW(nc_def_var(ncid, "k", kind, 1, &dim, &id));
    SHOW(nc_put_var(ncid, id, "\1\0"));
    SHOW(nc_def_var(ncid, "o", blob, 1, &dim, &id));
    SHOW(nc_put_var(ncid, id, "abcdefgh"));
    const char *words[2] = {"one", ""};
    SHOW(nc_def_var(ncid, "w", NC_STRING, 1, &dim, &id));
    SHOW(nc_put_var_string(ncid, id, words));
    SHOW(nc_put_att_string(ncid, id, "words", 2, words));
    SHOW(ncaux_class_alignment(NC_DOUBLE, &size));
    printf("%zu\n", size);
}

static void storage(int ncid) {
    int dims[2], id = -7, group = -7, child = -7, kind = -7, shuffle, deflate, level;
    size_t chunks[2] = {1, 4}, found[2] = {0, 0}, wrong[2] = {1, 400};
    unsigned parameters[8] = {0};
    size_t count = 0;
    float values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, fill = -1;
    SHOW(nc_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    SHOW(nc_def_dim(ncid, "x", 4, &dims[1]));
    SHOW(nc_def_grp(ncid, "g", &group));
    SHOW(nc_def_grp(group, "child", &child));
    SHOW(nc_def_grp(ncid, "g", &child));
    printf("%d\n", group - ncid);
    SHOW(nc_rename_grp(group, "renamed"));
    SHOW(nc_def_var(group, "v", NC_FLOAT, 2, dims, &id));
    SHOW(nc_inq_var_chunking(group, id, &kind, found));
    printf("%d %zu %zu\n", kind, found[0], found[1]);
    SHOW(nc_def_var_chunking(group, id, NC_CHUNKED, wrong));
    SHOW(nc_def_var_chunking(group, id, NC_CONTIGUOUS, NULL));
    SHOW(nc_def_var_chunking(group, id, 9, NULL));
    SHOW(nc_def_var_chunking(group, id, NC_CHUNKED, chunks));
    SHOW(nc_inq_var_chunking(group, id, &kind, found));
    printf("%d %zu %zu\n", kind, found[0], found[1]);
    SHOW(nc_def_var_deflate(group, id, 1, 1, 10));
    SHOW(nc_def_var_deflate(group, id, 1, 1, 4));
    SHOW(nc_inq_var_deflate(group, id, &shuffle, &deflate, &level));
    printf("%d %d %d\n", shuffle, deflate, level);
    SHOW(nc_def_var_fletcher32(group, id, NC_FLETCHER32));
    SHOW(nc_def_var_endian(group, id, 7));
    SHOW(nc_def_var_endian(group, id, NC_ENDIAN_BIG));
    SHOW(nc_def_var_fill(group, id, NC_FILL, &fill));
    SHOW(nc_def_var_quantize(group, id, NC_QUANTIZE_BITGROOM, 3));
    SHOW(nc_def_var_quantize(group, id, NC_QUANTIZE_BITGROOM, 300));
    size_t start[2] = {1, 0}, counts[2] = {1, 4};
    SHOW(nc_put_vara_float(group, id, start, counts, values));
    SHOW(nc_def_var_deflate(group, id, 1, 1, 4));
    SHOW(nc_def_var_fill(group, id, NC_FILL, &fill));
    SHOW(nc_def_var(ncid, "q", NC_FLOAT, 1, &dims[1], &id));
    SHOW(nc_def_var_filter(ncid, id, 1, 1, (unsigned[]){9}));
    SHOW(nc_def_var_filter(ncid, id, 32767, 0, NULL));
    SHOW(nc_inq_var_filter_ids(ncid, id, &count, parameters));
    printf("%zu %u\n", count, parameters[0]);
    SHOW(nc_put_var_float(ncid, id, values));
}

int main(int count, char **arguments) {
    int ncid = -7, from = -7, id = -7, out = -7;
    char path[4096];
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(path, sizeof path, "%s/types.nc", arguments[1]);
    SHOW(nc_create(path, NC_NETCDF4, &ncid));
    types(ncid);
    SHOW(nc_close(ncid));
    snprintf(path, sizeof path, "%s/storage.nc", arguments[1]);
    SHOW(nc_create(path, NC_NETCDF4, &ncid));
    storage(ncid);
    SHOW(nc_close(ncid));
    SHOW(nc_open(path, NC_NOWRITE, &from));
    snprintf(path, sizeof path, "%s/copy.nc", arguments[1]);
    SHOW(nc_create(path, NC_NETCDF4, &ncid));
    SHOW(nc_def_dim(ncid, "x", 4, &id));
    SHOW(nc_inq_varid(from, "q", &id));
    SHOW(nc_copy_var(from, id, ncid));
    SHOW(nc_inq_varid(ncid, "q", &out));
    SHOW(nc_close(from));
    SHOW(nc_close(ncid));
    return 0;
}
