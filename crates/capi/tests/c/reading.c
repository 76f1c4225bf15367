/* Calls with right and wrong arguments on a dataset of an unlimited t, x = 3, v(t, x), c(x), f(x), b(x): prints what each returns. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

static void ints(const char *what, const int *list, int len) {
    printf("%s:", what);
    for (int i = 0; i < len; i++) printf(" %d", list[i]);
    printf("\n");
}

int main(int count, char **arguments) {
    int ncid = -7, id = -7, ndims = -7, nvars = -7, natts = -7, unlim = -7, type = -7, list[9] = {0};
    size_t len = 77;
    char name[NC_MAX_NAME + 1] = "";
    if (count < 2) return 2;
    SHOW(nc_open("not-there.nc", 0, &ncid));
    SHOW(nc_open(NULL, 0, &ncid));
    SHOW(nc_close(-1));
    SHOW(nc_close(0));
    SHOW(nc_close(65535));
    SHOW(nc_close(65536));
    SHOW(nc_open(arguments[1], 0, &ncid));
    printf("ncid %d\n", ncid);
    SHOW(nc_inq(ncid, &ndims, &nvars, &natts, &unlim));
    printf("%d %d %d %d\n", ndims, nvars, natts, unlim);
    SHOW(nc_inq(ncid, NULL, NULL, NULL, NULL));
    SHOW(nc_inq(ncid + 1, &ndims, NULL, NULL, NULL));
    SHOW(nc_inq(ncid + 65536, &ndims, NULL, NULL, NULL));
    SHOW(nc_inq_dimid(ncid, "x", &id));
    printf("%d\n", id);
    SHOW(nc_inq_dimid(ncid, "none", &id));
    SHOW(nc_inq_dim(ncid, 1, name, &len));
    printf("%s %zu\n", name, len);
    SHOW(nc_inq_dim(ncid, 2, name, &len));
    SHOW(nc_inq_dim(ncid, -1, name, &len));
    SHOW(nc_inq_dimlen(ncid, 0, &len));
    printf("%zu\n", len);
    SHOW(nc_inq_varid(ncid, "f", &id));
    printf("%d\n", id);
    SHOW(nc_inq_varid(ncid, "none", &id));
    SHOW(nc_inq_var(ncid, 0, name, &type, &ndims, list, &natts));
    printf("%s %d %d %d\n", name, type, ndims, natts);
    ints("dims", list, 2);
    SHOW(nc_inq_var(ncid, 4, name, &type, &ndims, list, &natts));
    SHOW(nc_inq_vartype(ncid, -2, &type));
    SHOW(nc_inq_varids(ncid, &nvars, list));
    ints("varids", list, nvars);
    SHOW(nc_inq_att(ncid, 0, "a", &type, &len));
    printf("%d %zu\n", type, len);
    SHOW(nc_inq_att(ncid, 0, "none", &type, &len));
    SHOW(nc_inq_att(ncid, 9, "a", &type, &len));
    SHOW(nc_inq_attname(ncid, 0, 1, name));
    printf("%s\n", name);
    SHOW(nc_inq_attname(ncid, 0, 2, name));
    SHOW(nc_inq_attid(ncid, 0, "text", &id));
    printf("%d\n", id);
    SHOW(nc_get_att_int(ncid, 0, "a", list));
    ints("att", list, 2);
    SHOW(nc_get_att_int(ncid, 0, "text", list));
    SHOW(nc_get_att_text(ncid, 0, "a", name));
    unsigned char bytes[9] = {0};
    signed char small[9] = {0};
    SHOW(nc_get_att_uchar(ncid, 0, "a", bytes));
    SHOW(nc_inq_type(ncid, NC_INT, name, &len));
    printf("%s %zu\n", name, len);
    SHOW(nc_inq_type(ncid, 0, name, &len));
    SHOW(nc_inq_type(ncid, 13, name, &len));
    size_t start[2] = {0, 0}, edge[2] = {2, 3};
    ptrdiff_t stride[2] = {1, 2}, map[2] = {1, 2};
    SHOW(nc_get_vara_int(ncid, 0, start, edge, list));
    ints("vara", list, 6);
    SHOW(nc_get_var_int(ncid, 0, list));
    ints("var", list, 6);
    SHOW(nc_get_var_int(ncid, 1, list));
    SHOW(nc_get_var_text(ncid, 0, name));
    SHOW(nc_get_var_text(ncid, 1, name));
    printf("%.3s\n", name);
    SHOW(nc_get_var_schar(ncid, 0, small));
    for (int i = 0; i < 5; i++) printf("%d ", small[i]);
    printf("\n");
    SHOW(nc_get_var_int(ncid, 2, list));
    ints("double", list, 2);
    SHOW(nc_get_var_schar(ncid, 3, small));
    edge[0] = 2;
    edge[1] = 2;
    SHOW(nc_get_vars_int(ncid, 0, start, edge, stride, list));
    ints("vars", list, 4);
    SHOW(nc_get_varm_int(ncid, 0, start, edge, stride, map, list));
    ints("varm", list, 4);
    start[1] = 3;
    SHOW(nc_get_vara_int(ncid, 0, start, edge, list));
    start[1] = 2;
    SHOW(nc_get_vara_int(ncid, 0, start, edge, list));
    start[1] = 9;
    SHOW(nc_get_var1_int(ncid, 0, start, list));
    start[1] = 1;
    SHOW(nc_get_var1_int(ncid, 0, start, list));
    printf("%d\n", list[0]);
    stride[1] = 0;
    SHOW(nc_get_vars_int(ncid, 0, start, edge, stride, list));
    stride[1] = -1;
    SHOW(nc_get_vars_int(ncid, 0, start, edge, stride, list));
    SHOW(nc_get_var_int(ncid, 7, list));
    SHOW(nc_get_var_int(ncid, -1, list));
    SHOW(nc_get_var_int(ncid + 65536, 0, list));
    SHOW(nc_inq_format(ncid, &id));
    printf("%d\n", id);
    SHOW(nc_close(ncid));
    SHOW(nc_close(ncid));
    for (int code = 0; code > -160; code--) printf("%s\n", nc_strerror(code));
    printf("%s\n", nc_strerror(2));
    return 0;
}
