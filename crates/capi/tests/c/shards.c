/* Shards: makes DATASET, prints what the calls return and what it has, and reads the values back. */
#include <ncirrus.h>
#include <stdio.h>

static int ncid, dims[2];

static void inquired(const char *what, int id) {
    int has = -1;
    size_t shape[2] = {0, 0};
    int code = nci_inq_var_shards(ncid, id, &has, shape);
    printf("%s: %d | %d | %zu %zu\n", what, code, has, shape[0], shape[1]);
}

int main(int arguments, char **argument) {
    int values[60], found[60] = {0}, id, other, same = 1;
    size_t chunks[2] = {2, 3}, shards[2] = {4, 6}, odd[2] = {4, 7}, none[2] = {0, 6};
    if (arguments < 2 || nc_create(argument[1], NC_NETCDF4, &ncid)) return 1;
    if (nc_def_dim(ncid, "y", 6, &dims[0]) || nc_def_dim(ncid, "x", 10, &dims[1])) return 1;
    if (nc_def_var(ncid, "v", NC_INT, 2, dims, &id) || nc_def_var(ncid, "w", NC_INT, 2, dims, &other)) return 1;
    nc_def_var_chunking(ncid, id, NC_CHUNKED, chunks);
    inquired("before", id);
    printf("odd: %d\n", nci_def_var_shards(ncid, id, odd));
    printf("none: %d\n", nci_def_var_shards(ncid, id, none));
    printf("shards: %d\n", nci_def_var_shards(ncid, id, shards));
    inquired("after", id);
    printf("no variable: %d\n", nci_def_var_shards(ncid, 7, shards));
    nc_def_var_chunking(ncid, other, NC_CHUNKED, chunks);
    nci_def_var_shards(ncid, other, shards);
    printf("taken back: %d\n", nci_def_var_shards(ncid, other, NULL));
    inquired("taken back", other);
    for (int i = 0; i < 60; i++) values[i] = i * i;
    if (nc_put_var_int(ncid, id, values)) return 1;
    printf("late: %d\n", nci_def_var_shards(ncid, id, shards));
    printf("close: %d\n", nc_close(ncid));
    if (nc_open(argument[1], NC_NOWRITE, &ncid) || nc_inq_varid(ncid, "v", &id)) return 1;
    inquired("opened", id);
    if (nc_get_var_int(ncid, id, found)) return 1;
    for (int i = 0; i < 60; i++) same &= found[i] == values[i];
    printf("same: %d\n", same);
    printf("null: %d\n", nci_inq_var_shards(ncid, id, NULL, NULL));
    return nc_close(ncid);
}
