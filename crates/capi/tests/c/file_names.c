/* Names that lead to files in other ways: several names of one file, links, slashes and signs of addresses. In an empty FOLDER. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_file(const char *name, int mode, int value) {
    int n, x, v;
    int code = nc_create(name, mode, &n);
    if (code) return code;
    nc_def_dim(n, "x", 1, &x);
    nc_def_var(n, "v", NC_INT, 1, &x, &v);
    nc_enddef(n);
    nc_put_var_int(n, v, &value);
    return nc_close(n);
}

static int value_of(const char *name) {
    int n, value = -1;
    if (nc_open(name, NC_NOWRITE, &n)) return -2;
    nc_get_var_int(n, 0, &value);
    nc_close(n);
    return value;
}

static int opened(const char *name, int mode) {
    int n, code = nc_open(name, mode, &n);
    if (code == 0) nc_close(n);
    return code;
}

static int is_there(const char *name) { return access(name, F_OK) == 0; }

static void several_names(int mode) {
    int n, value = 5;
    char text[3000];
    memset(text, 't', sizeof text);
    unlink("a.nc");
    unlink("b.nc");
    printf("several names: %d", make_file("a.nc", mode, 1));
    if (link("a.nc", "b.nc")) return;
    printf(" %d", make_file("b.nc", mode, 2));
    printf(" a %d b %d", value_of("a.nc"), value_of("b.nc"));
    printf(" %d", nc_open("b.nc", NC_WRITE, &n));
    nc_redef(n);
    printf(" %d", nc_put_att_text(n, NC_GLOBAL, "text", sizeof text, text));
    nc_enddef(n);
    printf(" %d", nc_put_var_int(n, 0, &value));
    printf(" %d", nc_close(n));
    printf(" a %d b %d\n", value_of("a.nc"), value_of("b.nc"));
}

static void signs_of_addresses(int mode) {
    static const char *const names[] = {"s#mode=nc3.nc", "s#zarr", "s#mode=nczarr,file", "s#dap2", "s#log"};
    printf("signs: %d\n", make_file("s", mode, 7));
    for (int i = 0; i < 5; i++) {
        printf("%d ", opened(names[i], NC_WRITE));
        printf("%s %d", names[i], make_file(names[i], mode, 10 + i));
        printf(" there %d, value %d, of the other %d", is_there(names[i]), value_of(names[i]), value_of("s"));
        printf(" again %d value %d\n", make_file(names[i], mode, 20 + i), value_of(names[i]));
        unlink(names[i]);
    }
}

static void slashes(int mode) {
    make_file("c.nc", mode, 1);
    printf("slashes: %d %d", make_file("c.nc/", mode, 2), make_file("none.nc/", mode, 2));
    printf(" %d %d %d\n", value_of("c.nc"), is_there("none.nc"), opened("c.nc/", NC_NOWRITE));
}

static void links(int mode) {
    unlink("link.nc");
    unlink("gone.nc");
    if (symlink("gone.nc", "link.nc")) return;
    printf("links: %d", make_file("link.nc", mode | NC_NOCLOBBER, 1));
    printf(" %d", is_there("gone.nc"));
    printf(" %d", make_file("link.nc", mode, 3));
    printf(" %d\n", value_of("gone.nc"));
}

static void long_names(int mode) {
    char name[300];
    memset(name, 'n', sizeof name);
    strcpy(name + 290, ".nc");
    printf("long: %d %d\n", make_file(name, mode, 1), opened(name, NC_NOWRITE));
}

static void usual_formats(void) {
    for (int format = 1; format <= 5; format++) {
        int n, old, found = -1;
        nc_set_default_format(format, &old);
        nc_create("usual.nc", NC_CLOBBER | NC_CLASSIC_MODEL, &n);
        nc_inq_format(n, &found);
        nc_close(n);
        printf("usual format %d: %d\n", format, found);
    }
}

int main(int count, char **arguments) {
    if (count < 2 || chdir(arguments[1])) return 2;
    static const int modes[] = {0, NC_64BIT_DATA, NC_NETCDF4};
    for (int kind = 0; kind < 3; kind++) {
        several_names(modes[kind]);
        signs_of_addresses(modes[kind]);
        slashes(modes[kind]);
        links(modes[kind]);
        long_names(modes[kind]);
    }
    usual_formats();
    return 0;
}
