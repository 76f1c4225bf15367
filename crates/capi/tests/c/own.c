/* The functions of ncirrus.h: makes a file in FOLDER and prints what they answer. */
#include <ncirrus.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *other_thread(void *unused) {
    printf("another thread: [%s]\n", nci_last_error());
    return unused;
}

int main(int count, char **arguments) {
    char path[4096], *json = NULL;
    int ncid, group, type, dims[2], ids[2], ints[60], part[6] = {0};
    double doubles[10], some[3] = {0};
    size_t chunks[2] = {4, 5}, start[2] = {3, 1}, box[2] = {2, 3}, first[1] = {4}, three[1] = {3}, far[1] = {9};
    const size_t *starts[2] = {start, first}, *counts[2] = {box, three};
    void *values[2] = {part, some};
    pthread_t thread;
    if (count < 2) return 2;
    printf("version %d\n", strlen(nci_version()) > 4);
    printf("[%s]\n", nci_last_error());
    printf("%d\n", nc_open("none.nc", NC_NOWRITE, &ncid));
    printf("names the file: %d\n", strstr(nci_last_error(), "none.nc") != NULL);
    if (pthread_create(&thread, NULL, other_thread, NULL) || pthread_join(thread, NULL)) return 1;
    printf("%d", nc_close(77));
    printf(" %s\n", nci_last_error());
    snprintf(path, sizeof path, "%s/own.nc", arguments[1]);
    for (int i = 0; i < 60; i++) ints[i] = i;
    for (int i = 0; i < 10; i++) doubles[i] = i / 2.0;
    if (nc_create(path, NC_NETCDF4, &ncid) || nc_def_dim(ncid, "y", 6, dims) || nc_def_dim(ncid, "x", 10, dims + 1)) return 1;
    if (nc_def_var(ncid, "i", NC_INT, 2, dims, ids) || nc_def_var(ncid, "d", NC_DOUBLE, 1, dims + 1, ids + 1)) return 1;
    if (nc_def_var_chunking(ncid, ids[0], NC_CHUNKED, chunks) || nc_def_var_deflate(ncid, ids[0], 1, 1, 1)) return 1;
    if (nc_put_var_int(ncid, ids[0], ints) || nc_put_var_double(ncid, ids[1], doubles) || nc_close(ncid)) return 1;
    printf("configure: %d", nci_configure("memory", "64M"));
    printf(" %d", nci_configure("memory", "much"));
    printf(" %d", nci_configure("memori", "64M"));
    printf(": %s\n", nci_last_error());
    printf("rc: %d", nc_rc_set("HTTP.TIMEOUT", "7"));
    json = nc_rc_get("HTTP.TIMEOUT");
    printf(" %s %d\n", json, nc_rc_get("NONE") == NULL);
    nci_free(json);
    if (nc_open(path, NC_NOWRITE, &ncid)) return 1;
    printf("many: %d\n", nci_read_many(ncid, 2, ids, starts, counts, values));
    for (int i = 0; i < 6; i++) printf("%d ", part[i]);
    for (int i = 0; i < 3; i++) printf("%g ", some[i]);
    counts[1] = far;
    printf("\nmany: %d", nci_read_many(ncid, 2, ids, starts, counts, values));
    printf(" %s\n", nci_last_error());
    printf("many: %d\n", nci_read_many(ncid, 2, ids, NULL, counts, values));
    printf("explain: %d", nci_explain(ncid, ids[0], start, box, &json));
    printf(" %d %d\n", strstr(json, "\"chunks\":2,") != NULL, strstr(json, "\"result_bytes\":24") != NULL);
    nci_free(json);
    printf("explain: %d", nci_explain(ncid, ids[0], NULL, NULL, &json));
    printf(" %d\n", strstr(json, "\"chunks\":4,") != NULL);
    nci_free(json);
    printf("statistics: %d", nci_statistics(&json));
    printf(" %d\n", strstr(json, "\"chunks_decoded\":2,") != NULL);
    nci_free(json);
    nci_free(NULL);
    if (nc_close(ncid)) return 1;
    snprintf(path, sizeof path, "%s/empty.nc", arguments[1]);
    if (nc_create(path, NC_NETCDF4, &ncid) || nc_def_grp(ncid, "g", &group) || nc_def_compound(group, 4, "pair", &type)) return 1;
    printf("compound: %d", nc_enddef(ncid));
    printf(" %s\n", nci_last_error());
    if (nc_insert_compound(group, type, "x", 0, NC_INT) || nc_def_enum(group, NC_INT, "state", &type)) return 1;
    printf("enum: %d", nc_close(ncid));
    printf(" %s\n", nci_last_error());
    if (nc_insert_enum(group, type, "on", part)) return 1;
    return nc_close(ncid);
}
