/* Dimensions of groups by their full names, renamed from below and numbered in the order of definition; what nc_abort leaves; files that are
   created twice; text of which all records are short. FOLDER: makes files there. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

/* One call after the other: the arguments of one printf have no order. */
#define DO(call) do { int code = (call); printf(" %.14s %d", #call, code); } while (0)

static char path[4096];

static void full_names(void) {
    const char *names[] = {"/", "/x", "//x", "/g/y", "/g//y", "/g/", "/g/z", "/q/z", "g/y", "x", "y"};
    int n, g, h, id;
    nc_create(path, NC_NETCDF4, &n);
    nc_def_grp(n, "g", &g);
    nc_def_grp(g, "h", &h);
    nc_def_dim(n, "x", 1, &id);
    nc_def_dim(g, "y", 2, &id);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int of = 0; of < 2; of++) {
            id = -7;
            int code = nc_inq_dimid(of ? h : n, names[i], &id);
            printf("dimension %s: %d %d\n", names[i], code, code ? 0 : id);
        }
    }
    SHOW(nc_close(n));
}

static void renamed_from_below(void) {
    int n, g, x, t, y;
    char name[NC_MAX_NAME + 1] = "";
    nc_create(path, NC_NETCDF4, &n);
    nc_def_dim(n, "x", 3, &x);
    nc_def_dim(n, "t", NC_UNLIMITED, &t);
    nc_def_grp(n, "g", &g);
    nc_def_dim(g, "y", 2, &y);
    SHOW(nc_rename_dim(g, x, "newx"));
    SHOW(nc_rename_dim(g, t, "y"));
    SHOW(nc_rename_dim(g, t, "newt"));
    SHOW(nc_rename_dim(n, y, "z"));
    SHOW(nc_rename_dim(g, 17, "z"));
    SHOW(nc_close(n));
    SHOW(nc_open(path, NC_NOWRITE, &n));
    for (int id = 0; id < 3; id++) {
        SHOW(nc_inq_dimname(n, id, name));
        printf("%s\n", name);
    }
    SHOW(nc_close(n));
}

/* Dimensions that are added to a file have the next numbers, in whatever groups. */
static void numbered(void) {
    int n, g, id;
    char name[NC_MAX_NAME + 1] = "";
    nc_create(path, NC_NETCDF4, &n);
    nc_def_dim(n, "t", NC_UNLIMITED, &id);
    nc_def_grp(n, "g", &g);
    SHOW(nc_close(n));
    SHOW(nc_open(path, NC_WRITE, &n));
    nc_inq_ncid(n, "g", &g);
    nc_def_dim(n, "first", 1, &id);
    nc_def_dim(g, "second", 2, &id);
    nc_def_dim(n, "third", 3, &id);
    SHOW(nc_close(n));
    SHOW(nc_open(path, NC_NOWRITE, &n));
    nc_inq_ncid(n, "g", &g);
    for (int of = 0; of < 2; of++) {
        int count = 0, ids[8] = {0};
        SHOW(nc_inq_dimids(of ? g : n, &count, ids, 0));
        for (int i = 0; i < count; i++) {
            nc_inq_dimname(of ? g : n, ids[i], name);
            printf("%d %s\n", ids[i], name);
        }
    }
    SHOW(nc_close(n));
}

/* An attribute that was put over another one of a netCDF-4 file, without nc_redef, is given up too. */
static void given_up(void) {
    const int values[3] = {1, 2, 3};
    for (int how = 0; how < 6; how++) {
        int n, v, w, type = 0;
        size_t len = 0;
        nc_create(path, NC_NETCDF4, &n);
        nc_def_var(n, "v", NC_INT, 0, NULL, &v);
        nc_put_att_int(n, v, "y", NC_USHORT, 2, values);
        nc_enddef(n);
        if (how & 1) {
            DO(nc_close(n));
            DO(nc_open(path, NC_WRITE, &n));
        }
        if (how / 2) DO(nc_redef(n));
        if (how / 2 == 2) DO(nc_def_var(n, "w", NC_INT, 0, NULL, &w));
        DO(nc_put_att_int(n, v, "y", NC_BYTE, 3, values));
        DO(nc_abort(n));
        DO(nc_open(path, NC_NOWRITE, &n));
        DO(nc_inq_att(n, v, "y", &type, &len));
        printf(" %d %zu", type, len);
        DO(nc_close(n));
        printf("\n");
    }
}

/* A longer name in data mode does not begin define mode. */
static void longer_names(void) {
    const int value = 1;
    int n;
    nc_create(path, NC_NETCDF4, &n);
    SHOW(nc_put_att_int(n, NC_GLOBAL, "short", NC_INT, 1, &value));
    SHOW(nc_enddef(n));
    SHOW(nc_rename_att(n, NC_GLOBAL, "short", "a longer name"));
    SHOW(nc_enddef(n));
    SHOW(nc_rename_att(n, NC_GLOBAL, "a longer name", "short"));
    SHOW(nc_enddef(n));
    SHOW(nc_redef(n));
    SHOW(nc_enddef(n));
    SHOW(nc_del_att(n, NC_GLOBAL, "short"));
    SHOW(nc_enddef(n));
    SHOW(nc_put_att_int(n, NC_GLOBAL, "new", NC_INT, 1, &value));
    SHOW(nc_enddef(n));
    SHOW(nc_close(n));
}

/* A classic file that is created again while another handle has not finished creating it. */
static void created_twice(void) {
    for (int how = 0; how < 4; how++) {
        const int value = 5;
        int first, second, n, x, v, read = 0;
        char name[NC_MAX_NAME + 1] = "";
        remove(path);
        nc_create(path, NC_CLOBBER, &first);
        if (how & 1) nc_def_var(first, "v", NC_INT, 0, NULL, &v);
        if (how & 2) DO(nc_enddef(first));
        DO(nc_create(path, NC_NOCLOBBER, &second));
        DO(nc_create(path, NC_CLOBBER, &second));
        nc_def_dim(second, "x", 1, &x);
        nc_def_var(second, "w", NC_INT, 1, &x, &v);
        DO(nc_enddef(second));
        DO(nc_put_var_int(second, v, &value));
        DO(nc_close(second));
        DO(nc_open(path, NC_NOWRITE, &n));
        DO(nc_inq_varname(n, 0, name));
        DO(nc_get_var_int(n, 0, &read));
        printf(" %s %d", name, read);
        DO(nc_close(n));
        DO(nc_close(first));
        printf("\n");
    }
}

static void short_text(void) {
    const char *text = "text";
    const size_t first[2] = {0, 0}, second = 1;
    int n, dims[2], a, b;
    SHOW(nc_create(path, NC_NETCDF4, &n));
    nc_def_dim(n, "t", NC_UNLIMITED, &dims[0]);
    nc_def_dim(n, "x", 4, &dims[1]);
    nc_def_var(n, "a", NC_STRING, 2, dims, &a);
    nc_def_var(n, "b", NC_STRING, 1, dims, &b);
    SHOW(nc_put_var1_string(n, a, first, &text));
    SHOW(nc_put_var1_string(n, b, &second, &text));
    SHOW(nc_close(n));
}

/* A fill value can be given until nc_enddef, or until the variable is used. */
static void late_values(void) {
    for (int how = 0; how < 4; how++) {
        const int value = 1;
        int n, x, a, b, read[2];
        const size_t at = 0;
        nc_create(path, NC_NETCDF4, &n);
        nc_def_dim(n, "x", 2, &x);
        nc_def_var(n, "a", NC_INT, 1, &x, &a);
        nc_def_var(n, "b", NC_INT, 1, &x, &b);
        DO(nc_put_var1_int(n, a, &at, &value));
        if (how & 1) {
            DO(nc_redef(n));
            DO(nc_get_var_int(n, a, read));
        }
        if (how & 2) DO(nc_get_var_int(n, b, read));
        DO(nc_put_att_int(n, b, "_FillValue", NC_INT, 1, &value));
        DO(nc_close(n));
        printf("\n");
    }
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/again.nc", arguments[1]);
    full_names();
    renamed_from_below();
    numbered();
    given_up();
    longer_names();
    created_twice();
    late_values();
    snprintf(path, sizeof path, "%s/text.nc", arguments[1]);
    short_text();
    return 0;
}
