/* Fill values that are given, changed and taken away before and after data, and what is told of them. FOLDER: makes files there. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

/* One call after the other: the arguments of one printf have no order. */
#define DO(call) do { int code = (call); printf(" %.14s %d", #call, code); } while (0)

static const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
static char path[4096];

static void attributes(int n, int v) {
    int count = -1;
    nc_inq_varnatts(n, v, &count);
    printf(" [%d:", count);
    for (int i = 0; i < count; i++) {
        char name[NC_MAX_NAME + 1] = "";
        nc_inq_attname(n, v, i, name);
        printf(" %s", name);
    }
    printf("]");
}

static void fill(int n, int v) {
    int off = -1;
    signed char value[8] = {99, 99, 99, 99, 99, 99, 99, 99};
    DO(nc_inq_var_fill(n, v, &off, value));
    printf(" %d %d", off, value[0]);
}

static void values(int n, int v) {
    signed char x[8] = {0};
    size_t len = 0;
    nc_inq_dimlen(n, 0, &len);
    DO(nc_get_var_schar(n, v, x));
    for (size_t i = 0; i < len && i < 8; i++) printf(" %d", x[i]);
}

/* What the file has when it is opened again; the end of a line. */
static void opened_again(int v) {
    int n;
    nc_open(path, NC_NOWRITE, &n);
    attributes(n, v);
    fill(n, v);
    values(n, v);
    nc_close(n);
    printf("\n");
}

/* Writes a value some records further, and opens the file again. */
static int written(int n, int v) {
    const signed char value = 12;
    const size_t five = 5;
    DO(nc_enddef(n));
    DO(nc_put_var1_schar(n, v, &five, &value));
    values(n, v);
    DO(nc_close(n));
    nc_open(path, NC_NOWRITE, &n);
    attributes(n, v);
    values(n, v);
    return n;
}

/* A classic file's attribute is taken away or renamed: new, with data, opened again. */
static void taken_away(int mode, int how) {
    const signed char data[3] = {12, 40, 62}, own = 13;
    const size_t start = 0, three = 3;
    int n, t, v;
    nc_create(path, mode, &n);
    nc_def_dim(n, "t", NC_UNLIMITED, &t);
    nc_def_var(n, "v", NC_BYTE, 1, &t, &v);
    printf("taken away %d:", how);
    DO(nc_put_att_schar(n, v, "_FillValue", NC_BYTE, 1, &own));
    if (how & 1) {
        DO(nc_enddef(n));
        DO(nc_put_vara_schar(n, v, &start, &three, data));
        DO(nc_redef(n));
    }
    if (how & 2) {
        DO(nc_close(n));
        DO(nc_open(path, NC_WRITE, &n));
        DO(nc_redef(n));
    }
    DO(how & 4 ? nc_rename_att(n, v, "_FillValue", "y") : nc_del_att(n, v, "_FillValue"));
    attributes(n, v);
    fill(n, v);
    n = written(n, v);
    fill(n, v);
    printf("\n");
    nc_close(n);
}

/* Another fill value, after data: what was filled keeps the one before, what comes has the new one. */
static void changed(int mode, int how) {
    const signed char data[3] = {12, 40, 62}, own = 13;
    const size_t start = 0, three = 3;
    int n, t, v, old;
    nc_create(path, mode, &n);
    nc_def_dim(n, "t", NC_UNLIMITED, &t);
    nc_def_var(n, "v", NC_BYTE, 1, &t, &v);
    printf("changed %d:", how);
    DO(nc_enddef(n));
    if (how & 1) DO(nc_put_vara_schar(n, v, &start, &three, data));
    if (how & 2) {
        DO(nc_close(n));
        DO(nc_open(path, NC_WRITE, &n));
    }
    DO(nc_redef(n));
    if (how & 4) DO(nc_set_fill(n, NC_FILL, &old));
    DO(how & 4 ? nc_put_att_schar(n, v, "_FillValue", NC_BYTE, 1, &own) : nc_def_var_fill(n, v, NC_FILL, &own));
    fill(n, v);
    n = written(n, v);
    printf("\n");
    nc_close(n);
}

/* That elements are not filled is told before and after nc_sync; in netCDF-4 it takes the value away. */
static void unfilled(int mode, int how) {
    const signed char own = 13;
    int n, x, v, old;
    nc_create(path, mode, &n);
    nc_def_dim(n, "x", 3, &x);
    if (how & 1) nc_set_fill(n, NC_NOFILL, &old);
    nc_def_var(n, "v", NC_BYTE, 1, &x, &v);
    printf("unfilled %d:", how);
    if (!(how & 1)) {
        if (how & 2) DO(nc_def_var_fill(n, v, NC_FILL, &own));
        DO(nc_def_var_fill(n, v, NC_NOFILL, how & 4 ? &own : NULL));
        attributes(n, v);
        fill(n, v);
        DO(nc_enddef(n));
        DO(nc_sync(n));
        fill(n, v);
    } else if (mode != NC_NETCDF4 && mode != (NC_NETCDF4 | NC_CLASSIC_MODEL)) {
        fill(n, v);
        DO(nc_enddef(n));
        DO(nc_sync(n));
        fill(n, v);
    }
    DO(nc_close(n));
    printf("\n");
}

static void enums(void) {
    const int types[] = {NC_BYTE, NC_UBYTE, NC_SHORT, NC_USHORT, NC_INT, NC_UINT, NC_INT64, NC_UINT64};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const long long one = 1;
        long long value = 0;
        int n, e, v, off = -1;
        nc_create(path, NC_NETCDF4, &n);
        nc_def_enum(n, types[i], "e", &e);
        nc_insert_enum(n, e, "one", &one);
        nc_def_var(n, "v", e, 0, NULL, &v);
        printf("enum of %d:", types[i]);
        DO(nc_inq_var_fill(n, v, &off, &value));
        printf(" %d %llx", off, value);
        value = 0;
        DO(nc_get_var(n, v, &value));
        printf(" %llx", value);
        DO(nc_close(n));
        printf("\n");
    }
}

/* HDF5 has a fill value of its own: it stays, and is told, when the attribute is taken away from a file that is there. */
static void without_attribute(int mode, int type) {
    const size_t start = 1, one = 1;
    const double own = 13;
    int n, x, v;
    nc_create(path, mode, &n);
    nc_def_dim(n, "x", 3, &x);
    nc_def_var(n, "v", type, 1, &x, &v);
    nc_put_att_double(n, v, "_FillValue", type, 1, &own);
    nc_enddef(n);
    nc_close(n);
    printf("without attribute, type %d:", type);
    nc_open(path, NC_WRITE, &n);
    if (mode & NC_CLASSIC_MODEL) nc_redef(n);
    DO(nc_del_att(n, v, "_FillValue"));
    fill(n, v);
    if (mode & NC_CLASSIC_MODEL) nc_enddef(n);
    DO(nc_put_vara_double(n, v, &start, &one, &own));
    fill(n, v);
    values(n, v);
    DO(nc_close(n));
    opened_again(v);
}

/* A new file of netCDF-4 is filled with what was put by that name, whatever becomes of the attribute. */
static void renamed(int mode, int is_defined, int type) {
    const double own = 95, other = 7;
    static const char *const steps[] = {"removed", "renamed", "named", "swapped", "put again"};
    int n, x, v;
    nc_create(path, mode, &n);
    nc_def_dim(n, "x", 3, &x);
    for (int step = 0; step < 5; step++) {
        nc_def_var(n, steps[step], type, 1, &x, &v);
        nc_put_att_double(n, v, "g", type, 1, &other);
        if (step != 2) nc_put_att_double(n, v, "_FillValue", type, 1, &own);
    }
    printf("renamed, type %d, %s:", type, is_defined ? "defined" : "new");
    if (is_defined) {
        DO(nc_enddef(n));
        DO(nc_redef(n));
    }
    DO(nc_del_att(n, 0, "_FillValue"));
    for (v = 1; v < 4; v += 2) DO(nc_rename_att(n, v, "_FillValue", "old"));
    if (!is_defined)
        for (v = 2; v < 4; v++) DO(nc_rename_att(n, v, "g", "_FillValue"));
    DO(nc_del_att(n, 4, "_FillValue"));
    if (!is_defined) DO(nc_put_att_double(n, 4, "_FillValue", type, 1, &other));
    for (v = 0; v < 5; v++) fill(n, v);
    DO(nc_enddef(n));
    for (v = 0; v < 5; v++) values(n, v);
    DO(nc_close(n));
    nc_open(path, NC_NOWRITE, &n);
    for (v = 0; v < 5; v++) attributes(n, v), fill(n, v), values(n, v);
    nc_close(n);
    printf("\n");
}

/* An attribute that gets the name of a fill value is none in a file that is there, even if that had another one. */
static void renamed_late(int mode, int how) {
    const int own = 95, other = 7;
    int n, x, v;
    nc_create(path, mode, &n);
    nc_def_dim(n, "x", 3, &x);
    nc_def_var(n, "v", NC_BYTE, 1, &x, &v);
    nc_put_att_int(n, v, "g", NC_BYTE, 1, &other);
    if (how & 1) nc_put_att_int(n, v, "_FillValue", NC_BYTE, 1, &own);
    printf("renamed late %d:", how);
    DO(nc_enddef(n));
    if (how & 2) DO(nc_sync(n));
    if (how & 4) {
        DO(nc_close(n));
        DO(nc_open(path, NC_WRITE, &n));
    }
    DO(nc_redef(n));
    if (how & 1) DO(nc_rename_att(n, v, "_FillValue", "o"));
    DO(nc_rename_att(n, v, "g", "_FillValue"));
    fill(n, v);
    DO(nc_enddef(n));
    values(n, v);
    DO(nc_close(n));
    opened_again(v);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/fill.nc", arguments[1]);
    for (int kind = 0; kind < 5; kind++) {
        for (int how = 0; how < 8; how++) {
            // What netCDF-4 fills does not change any more.
            if (kind < 3) taken_away(modes[kind], how);
            if (kind < 3) changed(modes[kind], how);
            unfilled(modes[kind], how);
            if (kind > 2) renamed_late(modes[kind], how);
        }
    }
    for (int kind = 3; kind < 5; kind++) {
        for (int type = NC_BYTE; type <= NC_DOUBLE; type++)
            if (type != NC_CHAR) without_attribute(modes[kind], type), renamed(modes[kind], 0, type), renamed(modes[kind], 1, type);
    }
    snprintf(path, sizeof path, "%s/enum.nc", arguments[1]);
    enums();
    return 0;
}
