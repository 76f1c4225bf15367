/* Threads write and read with one handle while another one closes it: calls return 0 or that the id is not valid, and the file has
   all that they wrote. */
#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 8, ROWS = 400, COLUMNS = 2000 };

static int ncid;
static atomic_int is_closed, late, others, reached[THREADS];

static void note(int code, int was_closed) {
    if (code == 0 && was_closed) atomic_fetch_add(&late, 1);
    if (code != 0 && code != NC_EBADID) {
        atomic_fetch_add(&others, 1);
        printf("%s\n", nc_strerror(code));
    }
}

static void *work(void *of) {
    int thread = (int)(size_t)of, values[COLUMNS], code = 0;
    size_t start[2] = {0, 0}, count[2] = {1, COLUMNS};
    for (int row = 0; row < ROWS && code == 0; row++) {
        for (int i = 0; i < COLUMNS; i++) values[i] = row * COLUMNS + i;
        start[0] = row;
        int was_closed = atomic_load(&is_closed);
        code = nc_put_vara_int(ncid, thread, start, count, values);
        note(code, was_closed);
        if (code == 0) atomic_store(reached + thread, row + 1);
        if (code == 0) note(nc_get_vara_int(ncid, thread, start, count, values), 0);
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    char path[4096], name[16];
    int dims[2], id, values[COLUMNS], lost = 0;
    size_t chunks[2] = {1, COLUMNS};
    if (count < 3) return 2;
    snprintf(path, sizeof path, "%s/closing.nc", arguments[1]);
    if (nc_create(path, NC_CLOBBER | (arguments[2][0] == '4' ? NC_NETCDF4 : 0), &ncid)) return 1;
    nc_def_dim(ncid, "row", ROWS, dims);
    nc_def_dim(ncid, "column", COLUMNS, dims + 1);
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "v%d", i);
        if (nc_def_var(ncid, name, NC_INT, 2, dims, &id)) return 1;
        if (arguments[2][0] == '4' && (nc_def_var_chunking(ncid, id, NC_CHUNKED, chunks) || nc_def_var_deflate(ncid, id, 1, 1, 1)))
            return 1;
    }
    if (nc_enddef(ncid)) return 1;
    for (int i = 0; i < THREADS; i++) pthread_create(threads + i, NULL, work, (void *)(size_t)i);
    usleep(20000);
    int code = nc_close(ncid);
    atomic_store(&is_closed, 1);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("close: %d, after it: %d, other codes: %d\n", code, atomic_load(&late), atomic_load(&others));
    if (nc_open(path, NC_NOWRITE, &id)) return 1;
    for (int thread = 0; thread < THREADS; thread++) {
        for (size_t row = 0; row < (size_t)reached[thread]; row++) {
            size_t start[2] = {row, 0}, all[2] = {1, COLUMNS};
            if (nc_get_vara_int(id, thread, start, all, values)) lost++;
            for (int i = 0; i < COLUMNS; i++) lost += values[i] != (int)row * COLUMNS + i;
        }
    }
    printf("lost: %d\n", lost);
    return nc_close(id);
}
