/* Threads open, read, change and close one file of KIND (3 or 4) in FOLDER at the same time: no call fails, and nothing that was written is
   lost. */
#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 6, ROUNDS = 100, LEN = 1000, UNCHANGED = 500 };

static char path[4096];
static atomic_int wrong, lost;

static int failed(int code, const char *what) {
    if (code == 0) return 0;
    if (atomic_fetch_add(&wrong, 1) < 20) printf("%s: %d, %s\n", what, code, nc_strerror(code));
    return 1;
}

static void expect(int id, size_t at, int expected) {
    int value = -1;
    if (failed(nc_get_var1_int(id, 0, &at, &value), "get")) return;
    if (value != expected && atomic_fetch_add(&lost, 1) < 20) printf("%zu: %d in the place of %d\n", at, value, expected);
}

/* Each thread has a value of its own, and opens the file for changes every third time. */
static void *work(void *of) {
    const size_t own = (size_t)of;
    int written = (int)own;
    for (int round = 0; round < ROUNDS; round++) {
        int id, writes = (own + round) % 3 == 0, value = 1000 * (round + 1) + (int)own;
        if (failed(nc_open(path, writes ? NC_WRITE : NC_NOWRITE, &id), writes ? "open for changes" : "open")) continue;
        expect(id, UNCHANGED, UNCHANGED);
        expect(id, own, written);
        if (writes && !failed(nc_put_var1_int(id, 0, &own, &value), "put")) written = value;
        if (writes && round % 2) expect(id, own, written);
        failed(nc_close(id), writes ? "close after changes" : "close");
    }
    return (void *)(size_t)written;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    int id, x, v, values[LEN], written[THREADS];
    if (count < 3) return 2;
    snprintf(path, sizeof path, "%s/one.nc", arguments[1]);
    for (int i = 0; i < LEN; i++) values[i] = i;
    if (nc_create(path, arguments[2][0] == '4' ? NC_NETCDF4 : 0, &id) || nc_def_dim(id, "x", LEN, &x)) return 1;
    if (nc_def_var(id, "v", NC_INT, 1, &x, &v) || nc_enddef(id)) return 1;
    if (nc_put_var_int(id, v, values) || nc_close(id)) return 1;
    for (size_t i = 0; i < THREADS; i++) pthread_create(threads + i, NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *last = NULL;
        pthread_join(threads[i], &last);
        written[i] = (int)(size_t)last;
    }
    if (failed(nc_open(path, NC_NOWRITE, &id), "open at the end")) return 1;
    for (int i = 0; i < THREADS; i++) expect(id, i, written[i]);
    failed(nc_close(id), "close at the end");
    printf("wrong: %d, lost: %d\n", atomic_load(&wrong), atomic_load(&lost));
    return 0;
}
