/* Classic files whose fill values change after their first nc_enddef: what nobody wrote has the value of then. */
#include <netcdf.h>
#include <stdio.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

static void change(int n, int v, int how) {
    const int fill = 84;
    switch (how) {
    case 0: SHOW(nc_put_att_int(n, v, "_FillValue", NC_INT, 1, &fill)); break;
    case 1: SHOW(nc_def_var_fill(n, v, NC_FILL, &fill)); break;
    case 2: SHOW(nc_del_att(n, v, "_FillValue")); break;
    case 3: SHOW(nc_rename_att(n, v, "_FillValue", "other")); break;
    case 4: SHOW(nc_rename_att(n, v, "another", "_FillValue")); break;
    }
}

static void values(int n, int v, size_t len) {
    int x[16] = {0};
    printf("get %d:", nc_get_var_int(n, v, x));
    for (size_t i = 0; i < len; i++) printf(" %d", x[i]);
    printf("\n");
}

int main(int count, char **arguments) {
    const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5};
    char path[4096];
    if (count < 2) return 2;
    for (int kind = 0; kind < 3; kind++) {
        for (int how = 0; how < 5; how++) {
            int n, x, t, fixed, first, second;
            const int old = 21, one = 1;
            size_t at = 3;
            snprintf(path, sizeof path, "%s/%d%d.nc", arguments[1], kind, how);
            SHOW(nc_create(path, modes[kind], &n));
            nc_def_dim(n, "x", 5, &x);
            nc_def_dim(n, "t", NC_UNLIMITED, &t);
            nc_def_var(n, "fixed", NC_INT, 1, &x, &fixed);
            nc_def_var(n, "first", NC_INT, 1, &t, &first);
            nc_def_var(n, "second", NC_INT, 1, &t, &second);
            if (how > 1) {
                nc_put_att_int(n, fixed, how == 4 ? "another" : "_FillValue", NC_INT, 1, &old);
                nc_put_att_int(n, second, how == 4 ? "another" : "_FillValue", NC_INT, 1, &old);
            }
            SHOW(nc_enddef(n));
            SHOW(nc_put_var1_int(n, fixed, &at, &one));
            SHOW(nc_put_var1_int(n, first, &at, &one));
            SHOW(nc_redef(n));
            change(n, fixed, how);
            change(n, second, how);
            nc_def_var(n, how ? "later" : "much_later", NC_INT, 1, &x, &x);
            SHOW(nc_enddef(n));
            values(n, fixed, 5);
            values(n, first, 4);
            values(n, second, 4);
            at = 6;
            SHOW(nc_put_var1_int(n, first, &at, &one));
            SHOW(nc_close(n));
            SHOW(nc_open(path, NC_WRITE, &n));
            values(n, second, 7);
            SHOW(nc_redef(n));
            SHOW(nc_put_att_int(n, fixed, "_FillValue", NC_INT, 1, &one));
            SHOW(nc_close(n));
        }
    }
    return 0;
}
