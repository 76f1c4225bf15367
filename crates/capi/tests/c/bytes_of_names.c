/* Names of files and folders are bytes, UTF-8 or not: each has its own file. FOLDER: makes files there. */
#include <dirent.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One call after the other: the arguments of one printf have no order. */
#define DO(call) do { int code = (call); printf(" %.14s %d", #call, code); } while (0)

static const int modes[] = {0, NC_CDF5, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};

/* A replacement character and an escape in per cent are names like others, and so are blanks that are not ASCII. */
static const char *names[] = {
    "\xe9t\xe9.nc", "\xe8t\xe8.nc", "\xef\xbf\xbdt\xef\xbf\xbd.nc", "%E9t%E9.nc", "\xc3\xa9t\xe9.nc",
    "\xc3.nc", "\xed\xa0\x80.nc", "x.nc", "\xc2\xa0x.nc", "\xe2\x80\x83x.nc", "\xa0x.nc", "\xff",
    "a-name-of-which-the-first-forty-eight-letters-are-\xe9\xe8\xe9\xe8\xe9\xe8\xe9\xe8.nc",
};
enum { COUNT = sizeof names / sizeof *names };

static void show_bytes(const char *bytes, size_t len) {
    printf(" ");
    for (size_t i = 0; i < len; i++) printf("%02x", (unsigned char)bytes[i]);
}

static int is_shown(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static int by_bytes(const struct dirent **one, const struct dirent **other) {
    return strcmp((*one)->d_name, (*other)->d_name);
}

static void list(void) {
    struct dirent **found;
    int count = scandir(".", &found, is_shown, by_bytes);
    printf("\n%d names:", count);
    for (int i = 0; i < count; i++) {
        show_bytes(found[i]->d_name, strlen(found[i]->d_name));
        free(found[i]);
    }
    if (count >= 0) free(found);
    printf("\n");
}

static void make(const char *name, int mode, int value) {
    int n, dim, v;
    DO(nc_create(name, mode, &n));
    DO(nc_def_dim(n, "x", value + 1, &dim));
    DO(nc_def_var(n, "v", NC_INT, 0, NULL, &v));
    DO(nc_enddef(n));
    DO(nc_put_var_int(n, v, &value));
    DO(nc_close(n));
    printf("\n");
}

static void show(const char *name) {
    int n, value = -1;
    size_t len = 0;
    char path[256] = "";
    int code = nc_open(name, NC_NOWRITE, &n);
    printf("\nread");
    show_bytes(name, strlen(name));
    printf(": %d", code);
    if (code) return;
    DO(nc_get_var_int(n, 0, &value));
    DO(nc_inq_dimlen(n, 0, &len));
    printf(" %d %zu", value, len);
    DO(nc_inq_path(n, &len, path));
    show_bytes(path, len);
    DO(nc_close(n));
}

/* A long attribute moves the data of netCDF-3; what was open before sees it. */
static void change(const char *name) {
    int n, reader, value = 0;
    char text[3000];
    memset(text, 't', sizeof text);
    printf("\nchange");
    DO(nc_open(name, NC_WRITE, &n));
    DO(nc_redef(n));
    DO(nc_put_att_text(n, NC_GLOBAL, "long", sizeof text, text));
    DO(nc_enddef(n));
    DO(nc_get_var_int(n, 0, &value));
    value += 100;
    DO(nc_put_var_int(n, 0, &value));
    DO(nc_sync(n));
    DO(nc_open(name, NC_NOWRITE, &reader));
    DO(nc_get_var_int(reader, 0, &value));
    printf(" %d", value);
    DO(nc_sync(reader));
    DO(nc_close(reader));
    DO(nc_close(n));
}

/* A file that others made. */
static void found(int mode) {
    int n;
    make("plain.nc", mode, 7);
    DO(rename("plain.nc", "\xfc.nc"));
    show("\xfc.nc");
    show("\xfd.nc");
    show("\xef\xbf\xbd.nc");
    change("\xfc.nc");
    show("\xfc.nc");
    DO(symlink("\xfc.nc", "\xfb.nc"));
    show("\xfb.nc");
    DO(nc_create("\xfc.nc", mode | NC_NOCLOBBER, &n));
    DO(unlink("\xfb.nc"));
    DO(nc_delete("\xfd.nc"));
    DO(nc_delete("\xfc.nc"));
    list();
}

/* Folders that differ in one byte, and the working directory in one of them. */
static void folders(int mode) {
    int n;
    DO(mkdir("\xe9", 0755));
    DO(mkdir("\xe8", 0755));
    make("\xe9/x.nc", mode, 1);
    make("\xe8/x.nc", mode, 2);
    make("\xe8/\xe8.nc", mode, 3);
    show("\xe9/x.nc");
    DO(chdir("\xe8"));
    show("x.nc");
    show("\xe8.nc");
    show("../\xe9/x.nc");
    make("y\xe8.nc", mode, 4);
    change("x.nc");
    change("y\xe8.nc");
    DO(nc_create("late.nc", mode, &n));
    DO(chdir(".."));
    DO(nc_close(n));
    show("\xe8/late.nc");
    show("\xe8/x.nc");
    show("\xe9/x.nc");
    DO(nc_delete("\xe8/late.nc"));
    DO(nc_delete("\xe8/x.nc"));
    DO(chdir("\xe8"));
    list();
    DO(nc_delete("y\xe8.nc"));
    DO(nc_delete("\xe8.nc"));
    DO(chdir("../\xe9"));
    list();
    DO(nc_delete("x.nc"));
    DO(chdir(".."));
    DO(rmdir("\xe8"));
    DO(rmdir("\xe9"));
    list();
}

int main(int count, char **arguments) {
    char plain[16];
    if (count < 2 || chdir(arguments[1])) return 2;
    for (int kind = 0; kind < 4; kind++) {
        printf("kind %d\n", kind);
        for (int i = 0; i < COUNT; i++) make(names[i], modes[kind], i);
        list();
        for (int i = 0; i < COUNT; i++) show(names[i]);
        for (int i = 0; i < COUNT; i++) change(names[i]);
        for (int i = 0; i < COUNT; i++) show(names[i]);
        /* netCDF-C takes all bytes up to the blank for white space before a name. */
        show(" \t\x01\x0b\x7f.nc");
        show(" \t\x01\x0b\xe9t\xe9.nc");
        snprintf(plain, sizeof plain, "%d.nc", kind);
        DO(rename(names[0], plain));
        for (int i = 1; i < COUNT; i++) DO(nc_delete(names[i]));
        list();
        found(modes[kind]);
        folders(modes[kind]);
    }
    return 0;
}
