/* Questions about a compound `point` (byte, double, short[2][2], string) and vlens of a netCDF-4 file; values are copied and freed. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

int main(int count, char **arguments) {
    int ncid, type = -1, row = -1, number = -1, lens[4] = {0}, elements[9] = {0};
    size_t size = 0, len = 0;
    char name[NC_MAX_NAME + 1] = "";
    struct { signed char tag; double x; short y[2][2]; char *label; } points[2], copies[2];
    nc_vlen_t rows[2];
    if (count < 2) return 2;
    SHOW(nc_open(arguments[1], 0, &ncid));
    SHOW(nc_inq_typeid(ncid, "point", &type));
    SHOW(nc_inq_compound_name(ncid, type, name));
    SHOW(nc_inq_compound_size(ncid, type, &size));
    printf("%d %s %zu\n", type, name, size);
    SHOW(nc_inq_compound_nfields(ncid, type, &size));
    for (int field = -1; field < 5; field++) {
        SHOW(nc_inq_compound_fieldname(ncid, type, field, name));
        SHOW(nc_inq_compound_fieldoffset(ncid, type, field, &size));
        SHOW(nc_inq_compound_fieldtype(ncid, type, field, &number));
        printf("%s %zu %d\n", name, size, number);
    }
    SHOW(nc_inq_compound_fieldndims(ncid, type, 2, &number));
    SHOW(nc_inq_compound_fielddim_sizes(ncid, type, 2, lens));
    printf("%d %d %d\n", number, lens[0], lens[1]);
    SHOW(nc_inq_compound_fieldindex(ncid, type, "label", &number));
    printf("%d\n", number);
    SHOW(nc_get_var(ncid, 0, points));
    SHOW(nc_copy_data(ncid, type, points, 2, copies));
    SHOW(nc_reclaim_data(ncid, type, points, 2));
    for (int i = 0; i < 2; i++) printf("%d %g %d %s\n", copies[i].tag, copies[i].x, copies[i].y[1][0], copies[i].label);
    SHOW(nc_reclaim_data(ncid, type, copies, 2));
    SHOW(nc_inq_typeid(ncid, "row", &row));
    SHOW(nc_get_var(ncid, 1, rows));
    SHOW(nc_get_vlen_element(ncid, row, &rows[0], &len, elements));
    printf("%zu: %d %d %d\n", len, elements[0], elements[1], elements[2]);
    SHOW(nc_free_vlens(2, rows));
    SHOW(nc_inq_compound_name(ncid, row, name));
    SHOW(nc_inq_filter_avail(ncid, 1));
    SHOW(nc_inq_filter_avail(ncid, 32767));
    SHOW(nc_close(ncid));
    return 0;
}
