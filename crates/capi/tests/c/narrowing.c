/* Doubles beyond the floats, put and read as floats: values and attributes, at once, mapped and one by one. */
#include <float.h>
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 8 };

static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};

static void show(const char *what, int code, float *floats) {
    printf("%s %d:", what, code);
    for (int i = 0; i < COUNT; i++) printf(" %.9g", floats[i]), floats[i] = -7;
    puts("");
}

static void run(const char *folder, int kind) {
    double values[COUNT] = {1e300, -1e300, INFINITY, -INFINITY, NAN, FLT_MAX * 1.00000001, -FLT_MAX * 1.00000001, 5};
    float floats[COUNT] = {-7, -7, -7, -7, -7, -7, -7, -7};
    char path[4096];
    int ncid, dim, doubles, narrow;
    size_t start = 0, count = COUNT;
    ptrdiff_t step = 1;
    snprintf(path, sizeof path, "%s/narrowing%d.nc", folder, kind);
    if (nc_create(path, modes[kind], &ncid)) exit(1);
    nc_def_dim(ncid, "x", COUNT, &dim);
    nc_def_var(ncid, "d", NC_DOUBLE, 1, &dim, &doubles);
    nc_def_var(ncid, "f", NC_FLOAT, 1, &dim, &narrow);
    nc_put_att_double(ncid, doubles, "wide", NC_DOUBLE, COUNT, values);
    printf("attribute %d\n", nc_put_att_double(ncid, doubles, "narrow", NC_FLOAT, COUNT, values));
    if (nc_enddef(ncid)) exit(1);
    nc_put_var_double(ncid, doubles, values);
    printf("put %d\n", nc_put_var_double(ncid, narrow, values));
    show("read", nc_get_var_float(ncid, doubles, floats), floats);
    show("mapped", nc_get_varm_float(ncid, doubles, &start, &count, &step, &step, floats), floats);
    show("narrow", nc_get_var_float(ncid, narrow, floats), floats);
    show("wide attribute", nc_get_att_float(ncid, doubles, "wide", floats), floats);
    show("narrow attribute", nc_get_att_float(ncid, doubles, "narrow", floats), floats);
    for (size_t at = 0; at < COUNT; at++) printf("%d ", nc_get_var1_float(ncid, doubles, &at, floats + at));
    show("one by one", 0, floats);
    printf("close %d\n", nc_close(ncid));
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    for (int kind = 0; kind < 5; kind++) run(arguments[1], kind);
    return 0;
}
