/* Filters in the words of Zarr: makes DATASET, prints codes and filters, and reads the values back. */
#include <ncirrus.h>
#include <netcdf_filter.h>
#include <stdio.h>

static int ncid, dim, count;

static void defined(int type, const char *json) {
    char name[16];
    int id, storage = -1, code;
    size_t filters = 0, chunk = 0;
    unsigned ids[10];
    snprintf(name, sizeof name, "v%d", count++);
    if (nc_def_var(ncid, name, type, 1, &dim, &id)) return;
    code = nc_def_var_filter_json(ncid, id, json);
    nc_inq_var_chunking(ncid, id, &storage, &chunk);
    nc_inq_var_filter_ids(ncid, id, &filters, ids);
    printf("%s: %d |", name, code);
    for (size_t i = 0; i < filters; i++) printf(" %u", ids[i]);
    printf(" | %d\n", storage);
}

int main(int arguments, char **argument) {
    int values[30], found[30] = {0}, id, same = 1, scalar;
    if (arguments < 2 || nc_create(argument[1], NC_NETCDF4, &ncid) || nc_def_dim(ncid, "x", 30, &dim)) return 1;
    defined(NC_INT, "{\"id\": \"zstd\", \"level\": 5}");
    defined(NC_INT, "[{\"id\": \"shuffle\", \"elementsize\": 4}, {\"id\": \"zlib\", \"level\": 3}]");
    defined(NC_INT, "{\"name\": \"zstd\", \"configuration\": {\"level\": 2, \"checksum\": false}}");
    defined(NC_DOUBLE, "{\"id\": \"delta\", \"dtype\": \"<f8\"}");
    defined(NC_INT, "{\"id\": \"none of these\"}");
    defined(NC_INT, "[{\"id\": \"zstd\"}, {\"id\": \"none of these\"}]");
    defined(NC_INT, "{\"id\": \"zstd\"");
    defined(NC_INT, "{\"level\": 5}");
    defined(NC_INT, "7");
    defined(NC_INT, NULL);
    if (nc_def_var(ncid, "scalar", NC_INT, 0, NULL, &scalar)) return 1;
    printf("scalar: %d\n", nc_def_var_filter_json(ncid, scalar, "{\"id\": \"zstd\"}"));
    for (int i = 0; i < 30; i++) values[i] = i * i;
    if (nc_inq_varid(ncid, "v1", &id) || nc_put_var_int(ncid, id, values)) return 1;
    printf("late: %d\n", nc_def_var_filter_json(ncid, id, "{\"id\": \"zstd\"}"));
    printf("close: %d\n", nc_close(ncid));
    if (nc_open(argument[1], NC_NOWRITE, &ncid) || nc_inq_varid(ncid, "v1", &id)) return 1;
    if (nc_get_var_int(ncid, id, found)) return 1;
    for (int i = 0; i < 30; i++) same &= found[i] == values[i];
    printf("same: %d\n", same);
    return nc_close(ncid);
}
