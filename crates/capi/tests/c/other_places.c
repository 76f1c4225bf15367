/* Files under several names, and programs that change their working directory; numbers of dimensions that groups have. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOW(call) printf("%s = %d\n", #call, call)

static void show_place(const char *path) {
    struct stat found;
    printf("%s: %s\n", path, lstat(path, &found) ? "absent" : S_ISLNK(found.st_mode) ? "link" : "there");
}

static void elsewhere(const char *name, int mode) {
    char below[64];
    float values[4] = {1, 2, 3, 4};
    int n, dim, v;
    snprintf(below, sizeof below, "sub/%s", name);
    printf("%s\n", name);
    SHOW(nc_create(name, mode, &n));
    SHOW(nc_def_dim(n, "x", 4, &dim));
    SHOW(nc_def_var(n, "v", NC_FLOAT, 1, &dim, &v));
    SHOW(nc_enddef(n));
    SHOW(chdir("sub"));
    SHOW(nc_put_var_float(n, v, values));
    SHOW(nc_sync(n));
    values[0] = 9;
    SHOW(nc_put_var_float(n, v, values));
    SHOW(nc_close(n));
    SHOW(chdir(".."));
    show_place(name);
    show_place(below);
    SHOW(nc_open(name, NC_WRITE, &n));
    SHOW(chdir("sub"));
    SHOW(nc_redef(n));
    SHOW(nc_rename_var(n, v, "a_longer_name"));
    SHOW(nc_def_dim(n, "y", 2, &dim));
    SHOW(nc_enddef(n));
    SHOW(nc_close(n));
    SHOW(chdir(".."));
    SHOW(nc_open(name, NC_NOWRITE, &n));
    SHOW(chdir("sub"));
    SHOW(nc_sync(n));
    SHOW(nc_get_var_float(n, v, values));
    printf("%g\n", values[0]);
    SHOW(nc_close(n));
    SHOW(chdir(".."));
}

static void not_there_until_it_is_closed(const char *name, int mode) {
    int n;
    printf("%s\n", name);
    SHOW(nc_create(name, mode, &n));
    SHOW(nc_put_att_text(n, NC_GLOBAL, "title", 2, "hi"));
    SHOW(chdir("sub"));
    SHOW(nc_close(n));
    SHOW(chdir(".."));
    show_place(name);
}

static void by_a_link(const char *name, const char *link, int mode) {
    int n, other, dim, v, value = 5, found = 0;
    printf("%s\n", name);
    SHOW(nc_create(name, mode, &n));
    SHOW(nc_def_dim(n, "x", 1, &dim));
    SHOW(nc_def_var(n, "v", NC_INT, 1, &dim, &v));
    SHOW(nc_enddef(n));
    SHOW(nc_put_var_int(n, v, &value));
    SHOW(nc_close(n));
    SHOW(symlink(name, link));
    SHOW(nc_open(link, NC_NOWRITE, &n));
    SHOW(nc_open(name, NC_NOWRITE, &other));
    SHOW(nc_get_var_int(n, v, &found));
    printf("%d\n", found);
    found = 0;
    SHOW(nc_get_var_int(other, v, &found));
    printf("%d\n", found);
    SHOW(nc_close(n));
    SHOW(nc_close(other));
    SHOW(nc_delete(link));
    show_place(name);
    show_place(link);
}

static void show_dimensions(int n) {
    int count = 0, ids[8], unlimited[8], many = 0, axes[4];
    char name[NC_MAX_NAME + 1];
    size_t len;
    SHOW(nc_inq_dimids(n, &count, ids, 0));
    for (int i = 0; i < count; i++) {
        SHOW(nc_inq_dim(n, ids[i], name, &len));
        printf("%d %s %zu\n", ids[i], name, len);
    }
    SHOW(nc_inq_unlimdims(n, &many, unlimited));
    for (int i = 0; i < many; i++) printf("unlimited %d\n", unlimited[i]);
    SHOW(nc_inq_nvars(n, &count));
    for (int v = 0; v < count; v++) {
        SHOW(nc_inq_var(n, v, name, 0, &many, axes, 0));
        for (int i = 0; i < many; i++) printf("%s %d\n", name, axes[i]);
    }
}

static void dimensions_of_groups(void) {
    int n, inner, deeper, a, b, c, d, v;
    SHOW(nc_create("groups.nc", NC_NETCDF4, &n));
    SHOW(nc_def_grp(n, "inner", &inner));
    SHOW(nc_def_grp(inner, "deeper", &deeper));
    SHOW(nc_def_dim(deeper, "a", 2, &a));
    SHOW(nc_def_dim(n, "b", NC_UNLIMITED, &b));
    SHOW(nc_def_dim(inner, "c", 3, &c));
    SHOW(nc_def_dim(n, "d", 4, &d));
    SHOW(nc_def_var(deeper, "v", NC_INT, 3, (int[]){b, c, a}, &v));
    SHOW(nc_def_var(n, "w", NC_INT, 2, (int[]){b, d}, &v));
    show_dimensions(deeper);
    SHOW(nc_close(n));
    SHOW(nc_open("groups.nc", NC_NOWRITE, &n));
    SHOW(nc_inq_grp_full_ncid(n, "/inner", &inner));
    SHOW(nc_inq_grp_full_ncid(n, "/inner/deeper", &deeper));
    show_dimensions(n);
    show_dimensions(inner);
    show_dimensions(deeper);
    SHOW(nc_close(n));
}

int main(int count, char **arguments) {
    if (count > 1 && chdir(arguments[1])) return 2;
    if (mkdir("sub", 0755)) return 2;
    elsewhere("old.nc", 0);
    elsewhere("new.nc", NC_NETCDF4);
    not_there_until_it_is_closed("late.nc", 0);
    not_there_until_it_is_closed("late4.nc", NC_NETCDF4);
    by_a_link("here.nc", "link.nc", 0);
    by_a_link("here4.nc", "link4.nc", NC_NETCDF4);
    dimensions_of_groups();
    return 0;
}
