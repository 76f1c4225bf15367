/* Variables without fill value that have fewer records than others: what is told of the records behind their end, by the program
 * that writes and by those after it. FOLDER: makes files there. */
#include <netcdf.h>
#include <stdio.h>

#define DO(call) do { int code = (call); printf("%.16s %d\n", #call, code); } while (0)

enum { SHORT, NEVER, FILLED, TEXT, KIND, STRING, VARIABLES };

/* Runs of equal values. */
static void values(int n, int v) {
    double all[64], last = 0;
    size_t len = 0;
    for (int i = 0; i < 64; i++) all[i] = -5;
    nc_inq_dimlen(n, 0, &len);
    printf("%d: %d:", v, nc_get_var_double(n, v, all));
    for (size_t i = 0; i < len; i++) {
        if (i == 0 || all[i] != last) printf(" [%zu] %g", i, all[i]);
        last = all[i];
    }
    printf("\n");
}

static void show(int n) {
    char text[64] = "";
    int off = -1;
    double value[2] = {0};
    for (int v = 0; v <= FILLED; v++) {
        DO(nc_inq_var_fill(n, v, &off, value));
        printf("off %d\n", off);
        values(n, v);
    }
    printf("text %d %d %d\n", nc_get_var_text(n, TEXT, text), text[0], text[5]);
    values(n, KIND);
    char *strings[64] = {0};
    printf("strings %d", nc_get_var_string(n, STRING, strings));
    printf(" '%s' '%s'\n", strings[0] ? strings[0] : "none", strings[5] ? strings[5] : "none");
}

static void made(const char *path, size_t chunk) {
    float data[40];
    const size_t start = 0, two = 2, many = 40;
    for (int i = 0; i < 40; i++) data[i] = (float)i;
    int n, t, v, old;
    DO(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &n));
    DO(nc_set_fill(n, NC_NOFILL, &old));
    DO(nc_def_dim(n, "t", NC_UNLIMITED, &t));
    DO(nc_def_var(n, "short", NC_FLOAT, 1, &t, &v));
    DO(nc_def_var(n, "never", NC_SHORT, 1, &t, &v));
    DO(nc_def_var(n, "filled", NC_INT, 1, &t, &v));
    DO(nc_def_var_fill(n, v, NC_FILL, NULL));
    DO(nc_def_var(n, "text", NC_CHAR, 1, &t, &v));
    DO(nc_def_var(n, "kind", NC_BYTE, 1, &t, &v));
    DO(nc_def_var(n, "string", NC_STRING, 1, &t, &v));
    DO(nc_def_var(n, "long", NC_DOUBLE, 1, &t, &v));
    for (v = 0; v <= VARIABLES; v++) nc_def_var_chunking(n, v, NC_CHUNKED, &chunk);
    DO(nc_enddef(n));
    DO(nc_put_vara_float(n, SHORT, &start, &two, data));
    DO(nc_put_vara_float(n, VARIABLES, &start, &many, data));
    DO(nc_close(n));
    DO(nc_open(path, NC_NOWRITE, &n));
    show(n);
    DO(nc_close(n));
}

/* More records of one variable. */
static void grown(const char *path) {
    const float value = 8;
    const size_t further = 40, third = 2;
    int n;
    DO(nc_open(path, NC_WRITE, &n));
    DO(nc_put_var1_float(n, VARIABLES, &further, &value));
    DO(nc_put_var1_float(n, SHORT, &third, &value));
    show(n);
    DO(nc_close(n));
    DO(nc_open(path, NC_NOWRITE, &n));
    show(n);
    DO(nc_close(n));
}

int main(int count, char **arguments) {
    char path[4096];
    for (size_t chunk = 1; chunk <= 4 && count == 2; chunk += 3) {
        snprintf(path, sizeof path, "%s/unfilled%zu.nc", arguments[1], chunk);
        made(path, chunk);
        grown(path);
    }
    return 0;
}
