/* Attributes with names that the writer of Zarr keeps for itself, and lengths of strings that are none: FILE. */
#include <netcdf.h>
#include <stdio.h>

#define DO(call) printf("%s = %d\n", #call, (call))

/* An attribute of that name is put, renamed to it and copied. */
static void name(int ncid, int varid, const char *name) {
    int other, value = 7;
    printf("%s put = %d\n", name, nc_put_att_int(ncid, varid, name, NC_INT, 1, &value));
    printf("%s renamed = %d\n", name, nc_rename_att(ncid, varid, "from", name));
    DO(nc_create("other", NC_DISKLESS, &other));
    DO(nc_put_att_int(other, NC_GLOBAL, name, NC_INT, 1, &value));
    printf("%s copied = %d\n", name, nc_copy_att(other, NC_GLOBAL, name, ncid, varid));
    DO(nc_close(other));
}

static void lengths(int ncid, int s) {
    int none = 0, four = 4;
    DO(nc_put_att_text(ncid, s, "_nczarr_maxstrlen", 4, "four"));
    DO(nc_put_att_int(ncid, s, "_nczarr_maxstrlen", NC_INT, 1, &none));
    DO(nc_rename_att(ncid, s, "from", "_nczarr_maxstrlen"));
    DO(nc_put_att_int(ncid, s, "_nczarr_maxstrlen", NC_INT, 1, &four));
    DO(nc_put_att_text(ncid, NC_GLOBAL, "_nczarr_default_maxstrlen", 4, "four"));
}

int main(int count, char **arguments) {
    int ncid, x, s, v, value = 7;
    if (count < 2) return 2;
    DO(nc_create(arguments[1], NC_NETCDF4, &ncid));
    DO(nc_def_dim(ncid, "x", 2, &x));
    DO(nc_def_var(ncid, "s", NC_STRING, 1, &x, &s));
    DO(nc_def_var(ncid, "v", NC_INT, 1, &x, &v));
    DO(nc_put_att_text(ncid, NC_GLOBAL, "from", 4, "text"));
    DO(nc_put_att_text(ncid, s, "from", 4, "text"));
    DO(nc_put_att_text(ncid, v, "from", 4, "text"));
    name(ncid, NC_GLOBAL, "_nczarr_own");
    name(ncid, v, "_NCZARR_ATTR");
    name(ncid, v, "_ncirrus");
    lengths(ncid, s);
    DO(nc_put_att_int(ncid, NC_GLOBAL, "witness", NC_INT, 1, &value));
    DO(nc_close(ncid));
    value = 0;
    DO(nc_open(arguments[1], NC_NOWRITE, &ncid));
    DO(nc_get_att_int(ncid, NC_GLOBAL, "witness", &value));
    printf("witness is %d\n", value);
    DO(nc_get_att_int(ncid, s, "_nczarr_maxstrlen", &value));
    printf("length is %d\n", value);
    DO(nc_inq_attid(ncid, v, "from", &value));
    DO(nc_close(ncid));
    return 0;
}
