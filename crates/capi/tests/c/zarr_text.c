/* Text that is JSON is written to FILE, strings that contain NUL are read from STRINGS, and JSON of it is copied to COPY. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DO(call) printf("%s = %d\n", #call, (call))

static void json(const char *path) {
    const char *text = "{\"a\": [1,\n2]}";
    char found[100] = "";
    nc_type type;
    int ncid;
    DO(nc_create(path, NC_NETCDF4, &ncid));
    DO(nc_put_att_text(ncid, NC_GLOBAL, "json", strlen(text), text));
    DO(nc_put_att_text(ncid, NC_GLOBAL, "word", 4, "word"));
    DO(nc_close(ncid));
    DO(nc_open(path, NC_NOWRITE, &ncid));
    DO(nc_inq_atttype(ncid, NC_GLOBAL, "json", &type));
    DO(nc_get_att_text(ncid, NC_GLOBAL, "json", found));
    printf("json is %s, a char: %d\n", found, type == NC_CHAR);
    DO(nc_close(ncid));
}

static void strings(const char *path) {
    char *found[2] = {NULL, NULL}, bytes[4] = "";
    size_t one = 1;
    int ncid, s;
    DO(nc_open(path, NC_NOWRITE, &ncid));
    DO(nc_inq_varid(ncid, "s", &s));
    DO(nc_get_var_string(ncid, s, found));
    DO(nc_get_var1_string(ncid, s, &one, found));
    printf("s[1] is %s\n", found[0]);
    DO(nc_get_att_string(ncid, s, "list", found));
    DO(nc_get_att_text(ncid, s, "text", bytes));
    printf("text is %d %d %d\n", bytes[0], bytes[1], bytes[2]);
    DO(nc_close(ncid));
}

static void copied(const char *from, const char *to) {
    int ncid, other;
    DO(nc_open(from, NC_NOWRITE, &ncid));
    DO(nc_create(to, NC_NETCDF4, &other));
    DO(nc_copy_att(ncid, NC_GLOBAL, "mixed", other, NC_GLOBAL));
    DO(nc_close(other));
    DO(nc_close(ncid));
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    json(arguments[1]);
    strings(arguments[2]);
    copied(arguments[2], arguments[3]);
    return 0;
}
