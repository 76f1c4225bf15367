/* Creates a file of each kind with right and wrong calls: prints what each returns, and leaves FOLDER/KIND.nc. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))
#define CODE(call) printf(" %d", (call))

/* Definitions with wrong names, types, ranks and dimensions. */
static void definitions(int ncid) {
    int id = -7, dims[2] = {0, 9};
    char name[16];
    SHOW(nc_def_dim(ncid, "t", NC_UNLIMITED, &id));
    SHOW(nc_def_dim(ncid, "x", 3, &id));
    SHOW(nc_def_dim(ncid, "x", 3, &id));
    SHOW(nc_def_dim(ncid, "", 3, &id));
    SHOW(nc_def_dim(ncid, "a/b", 3, &id));
    SHOW(nc_def_dim(ncid + 1, "y", 3, &id));
    SHOW(nc_def_var(ncid, "bad", NC_INT, 2, dims, &id));
    SHOW(nc_def_var(ncid, "bad", NC_INT, -1, dims, &id));
    SHOW(nc_def_var(ncid, "ends in a blank ", NC_INT, 1, dims, &id));
    for (int type = -2; type < 36; type++) {
        snprintf(name, sizeof name, "v%d", type + 2);
        dims[0] = 1;
        printf("%d:", type);
        CODE(nc_def_var(ncid, name, type, 1, dims, &id));
        printf(" %d\n", id);
    }
    dims[0] = 0;
    dims[1] = 1;
    SHOW(nc_def_var(ncid, "grows", NC_SHORT, 2, dims, &id));
    SHOW(nc_def_var(ncid, "grows", NC_SHORT, 2, dims, &id));
    SHOW(nc_def_var(ncid, "scalar", NC_DOUBLE, 0, NULL, &id));
    SHOW(nc_rename_var(ncid, id, "grows"));
    SHOW(nc_rename_var(ncid, id, "one"));
    SHOW(nc_rename_var(ncid, 99, "none"));
    SHOW(nc_rename_dim(ncid, 1, "t"));
    SHOW(nc_rename_dim(ncid, 1, "width"));
    SHOW(nc_rename_dim(ncid, 7, "none"));
}

static void attributes(int ncid) {
    int ints[4] = {1, -2, 300, 70000};
    double doubles[3] = {1.5, -2.5, 1e10};
    unsigned char bytes[3] = {1, 200, 3};
    /* Debian's library leaves a broken attribute behind where a type is not known. */
    for (int type = -2; type < 13; type++) {
        printf("%d:", type);
        CODE(nc_put_att_int(ncid, NC_GLOBAL, "ints", type, 4, ints));
        CODE(nc_put_att_double(ncid, 0, "doubles", type, 3, doubles));
        CODE(nc_put_att_uchar(ncid, 0, "bytes", type, 3, bytes));
        printf("\n");
    }
    SHOW(nc_put_att_text(ncid, NC_GLOBAL, "title", 5, "hello"));
    SHOW(nc_put_att_text(ncid, NC_GLOBAL, "empty", 0, ""));
    SHOW(nc_put_att_text(ncid, 99, "title", 5, "hello"));
    SHOW(nc_put_att_text(ncid, NC_GLOBAL, "a/b", 5, "hello"));
    SHOW(nc_put_att_int(ncid, 0, "_FillValue", NC_DOUBLE, 1, ints));
    SHOW(nc_put_att_int(ncid, 0, "_FillValue", NC_BYTE, 2, ints));
    SHOW(nc_put_att_int(ncid, 0, "_FillValue", NC_BYTE, 1, ints));
    SHOW(nc_copy_att(ncid, NC_GLOBAL, "title", ncid, 0));
    SHOW(nc_copy_att(ncid, NC_GLOBAL, "none", ncid, 0));
    SHOW(nc_rename_att(ncid, 0, "title", "name"));
    SHOW(nc_rename_att(ncid, 0, "none", "other"));
    SHOW(nc_rename_att(ncid, NC_GLOBAL, "title", "ints"));
    SHOW(nc_del_att(ncid, NC_GLOBAL, "empty"));
    SHOW(nc_del_att(ncid, NC_GLOBAL, "empty"));
    SHOW(nc_del_att(ncid, 99, "empty"));
}

/* Every form of writing and reading of one variable, with starts and strides that are wrong in some. */
static void values(int ncid, int varid) {
    int ints[32] = {1, 2, 3, 300, -70000, 6, 7, 8, 9, 10, 11, 12}, out[32] = {0};
    ptrdiff_t none[2] = {0, 1}, map[2] = {3, 1}, step[2] = {1, 2};
    for (size_t first = 0; first < 5; first++)
        for (size_t second = 0; second < 4; second++) {
            size_t start[2] = {first, second}, count[2] = {1, 2}, empty[2] = {1, 0};
            printf("%d %zu %zu:", varid, first, second);
            CODE(nc_put_var1_int(ncid, varid, start, ints));
            CODE(nc_put_vara_int(ncid, varid, start, count, ints));
            CODE(nc_put_vara_int(ncid, varid, start, empty, ints));
            CODE(nc_put_vars_int(ncid, varid, start, count, step, ints));
            CODE(nc_put_vars_int(ncid, varid, start, count, NULL, ints));
            CODE(nc_put_vars_int(ncid, varid, start, count, none, ints));
            CODE(nc_put_varm_int(ncid, varid, start, count, NULL, map, ints));
            CODE(nc_put_vara_text(ncid, varid, start, count, "abcdef"));
            CODE(nc_get_vara_int(ncid, varid, start, count, out));
            CODE(nc_get_vars_int(ncid, varid, start, count, step, out));
            CODE(nc_get_varm_int(ncid, varid, start, count, step, map, out));
            CODE(nc_get_var1_int(ncid, varid, start, out));
            printf("\n");
        }
    memset(out, 0, sizeof out);
    CODE(nc_put_var_int(ncid, varid, ints));
    CODE(nc_get_var_int(ncid, varid, out));
    for (int i = 0; i < 6; i++) printf(" %d", out[i]);
    printf("\n");
}

int main(int count, char **arguments) {
    const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
    char path[4096];
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int kind = 0; kind < 5; kind++) {
        int ncid = -7, nvars = 0, old = -7, grows = -7;
        printf("kind %d\n", kind);
        snprintf(path, sizeof path, "%s/%d.nc", arguments[1], kind);
        SHOW(nc_create(path, modes[kind] | NC_NOCLOBBER, &ncid));
        definitions(ncid);
        attributes(ncid);
        SHOW(nc_set_fill(ncid, 7, &old));
        SHOW(nc_enddef(ncid));
        SHOW(nc_enddef(ncid));
        SHOW(nc_inq_nvars(ncid, &nvars));
        SHOW(nc_inq_varid(ncid, "grows", &grows));
        values(ncid, -1);
        values(ncid, nvars);
        for (int varid = 0; varid < nvars; varid++)
            if (varid != grows) values(ncid, varid);
        values(ncid, grows);
        SHOW(nc_put_att_text(ncid, NC_GLOBAL, "title", 3, "bye"));
        SHOW(nc_sync(ncid));
        SHOW(nc_redef(ncid));
        SHOW(nc_redef(ncid));
        SHOW(nc_put_att_text(ncid, NC_GLOBAL, "later", 5, "added"));
        SHOW(nc_close(ncid));
        SHOW(nc_close(ncid));
        SHOW(nc_create(path, modes[kind] | NC_NOCLOBBER, &ncid));
        SHOW(nc_open(path, NC_NOWRITE, &ncid));
        SHOW(nc_redef(ncid));
        SHOW(nc_def_dim(ncid, "more", 2, &old));
        SHOW(nc_put_att_text(ncid, NC_GLOBAL, "title", 3, "bye"));
        SHOW(nc_rename_var(ncid, 0, "w"));
        SHOW(nc_close(ncid));
        SHOW(nc_open(path, NC_WRITE, &ncid));
        values(ncid, grows);
        SHOW(nc_close(ncid));
    }
    for (int mode = 0; mode < 0x10000; mode = mode ? mode * 2 : 1)
        for (int other = 0; other <= mode; other = other ? other * 2 : 1) {
            int ncid = -7, format = -7, extended = -7, bits = -7, code;
            /* Parallel access, user-defined formats, and files that exist only in memory differ by how a library was built. */
            if ((mode | other) & (NC_MPIIO | NC_UDF0 | NC_UDF1 | NC_MMAP)) continue;
            snprintf(path, sizeof path, "%s/modes.nc", arguments[1]);
            remove(path);
            code = nc_create(path, mode | other, &ncid);
            printf("%x %x: %d", mode, other, code);
            if (!code) {
                CODE(nc_inq_format(ncid, &format));
                CODE(nc_inq_format_extended(ncid, &extended, &bits));
                printf(" %d %d", format, extended);
                CODE(nc_close(ncid));
            }
            printf("\n");
        }
    return 0;
}
