/* What versions of netCDF-C after 4.9.0 added: folders of plugins, copies, types of any class, the parts of _NCProperties. */
#include <netcdf.h>
#include <netcdf_aux.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *what, NCPluginList *list) {
    printf("%s:", what);
    for (size_t i = 0; i < list->ndirs; i++) printf(" [%s]", list->dirs[i]);
    printf("\n");
}

static void lists(void) {
    NCPluginList list = {0, NULL}, *own = calloc(1, sizeof *own);
    char *text = NULL;
    printf("parse %d", ncaux_plugin_path_parse("/a:/b;c:", 0, &list));
    show("", &list);
    printf("text %d", ncaux_plugin_path_tostring(&list, ';', &text));
    printf(" [%s]\n", text);
    free(text);
    printf("append %d", ncaux_plugin_path_append(&list, "/z"));
    printf(", prepend %d", ncaux_plugin_path_prepend(&list, "/first"));
    show("", &list);
    printf("clear %d", ncaux_plugin_path_clear(&list));
    printf(" %zu %d\n", list.ndirs, list.dirs == NULL);
    printf("part %d", ncaux_plugin_path_parsen(5, "/x;/y;/z", ';', own));
    show("", own);
    printf("reclaim %d\n", ncaux_plugin_path_reclaim(own));
    printf("nothing %d", ncaux_plugin_path_parse("", ':', &list));
    printf(" %zu\n", list.ndirs);
    printf("null %d %d %d %d\n", ncaux_plugin_path_parse("/a", ':', NULL), ncaux_plugin_path_tostring(NULL, ':', &text),
           ncaux_plugin_path_append(&list, NULL), ncaux_plugin_path_clear(NULL));
}

static void paths(void) {
    NCPluginList list = {0, NULL};
    char text[64];
    size_t count = 9;
    printf("ndirs %d", nc_plugin_path_ndirs(&count));
    printf(" %zu\n", count);
    printf("get %d", nc_plugin_path_get(&list));
    show("", &list);
    ncaux_plugin_path_append(&list, "/more");
    printf("set %d\n", nc_plugin_path_set(&list));
    ncaux_plugin_path_clear(&list);
    printf("len %d, get %d", ncaux_plugin_path_stringlen(), ncaux_plugin_path_stringget(sizeof text, text));
    printf(" [%s]\n", text);
    memset(text, '#', sizeof text);
    printf("short %d [%.6s]\n", ncaux_plugin_path_stringget(4, text), text);
    printf("set %d", ncaux_plugin_path_stringset(4, "/p;q/ignored"));
    nc_plugin_path_get(&list);
    show("", &list);
    ncaux_plugin_path_clear(&list);
    printf("null %d %d %d %d\n", nc_plugin_path_get(NULL), nc_plugin_path_set(NULL), ncaux_plugin_path_stringget(0, text),
           ncaux_plugin_path_stringset(4, NULL));
}

static void types(const char *path) {
    int ncid, id, base, class, from[3] = {1, 2, 3}, to[3] = {0, 0, 0};
    int *copy = NULL;
    size_t size, fields;
    char name[NC_MAX_NAME + 1];
    if (nc_create(path, NC_NETCDF4, &ncid) || nc_def_vlen(ncid, "rows", NC_INT, &id)) return;
    for (int i = 0; i < 3; i++) {
        int type = i == 0 ? NC_SHORT : i == 1 ? id : 77;
        int code = ncaux_inq_any_type(ncid, type, name, &size, &base, &fields, &class);
        printf("type %d", code);
        if (!code) printf(" %s %zu %d %zu %d", name, size, base, fields, class);
        printf("\n");
    }
    printf("copy %d", ncaux_copy_data(ncid, NC_INT, from, 3, to));
    printf(" [%d %d %d]", to[0], to[1], to[2]);
    printf(" %d", ncaux_copy_data_all(ncid, NC_INT, from, 3, (void **)&copy));
    printf(" [%d %d %d]\n", copy[0], copy[1], copy[2]);
    free(copy);
    nc_close(ncid);
}

static void provenance(const char *text) {
    char **pairs = NULL;
    printf("provenance %d", ncaux_parse_provenance(text, &pairs));
    for (int i = 0; pairs && pairs[i]; i += 2) {
        printf(" [%s=%s]", pairs[i], pairs[i + 1]);
        free(pairs[i]);
        free(pairs[i + 1]);
    }
    printf("\n");
    free(pairs);
}

int main(int count, char **arguments) {
    char path[4096];
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/newer.nc", arguments[1]);
    lists();
    paths();
    types(path);
    provenance("version=2,netcdf=4.9.0,hdf5=1.10.8");
    provenance("a=1|b\\,c=2\\=3|d");
    provenance("");
    provenance("a=1,,b");
    return 0;
}
