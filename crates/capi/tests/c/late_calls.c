/* Calls that come late: from functions of atexit, and from destructors of the data of a thread, when what the library keeps for the thread
   is gone. FOLDER: makes files there. */
#include <netcdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOW(call) printf("%s: %s = %d\n", of, #call, (call))

enum { LEN = 5, MANY = 5000, MOST_ROUNDS = 3 };

/* A file that a destructor closes. */
typedef struct {
    char of[32];
    int mode, id, rounds;
    pthread_key_t *key;
} ThreadFile;

static const char *folder;
static int first, last[2];
static pthread_key_t before, after;

static const char *path_of(const char *of) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.nc", folder, of);
    return path;
}

static int created(const char *of, int mode) {
    const double values[LEN] = {1, 2, 3, 4, 5};
    const size_t chunk = 1000;
    int n = -1, x, many, v, w;
    SHOW(nc_create(path_of(of), mode, &n));
    SHOW(nc_def_dim(n, "x", LEN, &x));
    SHOW(nc_def_dim(n, "many", MANY, &many));
    SHOW(nc_def_var(n, "v", NC_DOUBLE, 1, &x, &v));
    SHOW(nc_def_var(n, "w", NC_DOUBLE, 1, &many, &w));
    if (mode) {
        SHOW(nc_def_var_chunking(n, w, NC_CHUNKED, &chunk));
        SHOW(nc_def_var_deflate(n, w, 1, 1, 1));
    }
    SHOW(nc_enddef(n));
    SHOW(nc_put_var_double(n, v, values));
    return n;
}

/* Reads, writes and defines something, and closes. */
static void completed(const char *of, int n) {
    const size_t start = 1, end = LEN - 1;
    const double value = 7;
    double read = 0, values[MANY];
    for (int i = 0; i < MANY; i++) values[i] = i / 7;
    SHOW(nc_get_var1_double(n, 0, &start, &read));
    printf("%s: %g\n", of, read);
    SHOW(nc_put_var1_double(n, 0, &end, &value));
    SHOW(nc_put_var_double(n, 1, values));
    SHOW(nc_sync(n));
    SHOW(nc_redef(n));
    SHOW(nc_put_att_double(n, NC_GLOBAL, "a", NC_DOUBLE, 1, &value));
    SHOW(nc_enddef(n));
    SHOW(nc_close(n));
}

/* Opens a file that is there. */
static void changed(const char *of) {
    const size_t start = 0;
    const double value = 9;
    double read[LEN];
    int n = -1;
    SHOW(nc_open(path_of(of), NC_WRITE, &n));
    SHOW(nc_get_var_double(n, 0, read));
    printf("%s: %g %g\n", of, read[0], read[LEN - 1]);
    SHOW(nc_put_var1_double(n, 0, &start, &value));
    SHOW(nc_close(n));
}

static void at_end_of_thread(void *data) {
    ThreadFile *file = data;
    /* The system calls destructors again for what is set in one. */
    if (file->rounds-- > 0) pthread_setspecific(*file->key, file);
    else completed(file->of, file->id);
}

static void *work(void *data) {
    ThreadFile *file = data;
    file->id = created(file->of, file->mode);
    pthread_setspecific(*file->key, file);
    return NULL;
}

static void in_thread(int kind, int is_after, int rounds) {
    ThreadFile file = {"", kind == 4 ? NC_NETCDF4 : 0, -1, rounds, is_after ? &after : &before};
    pthread_t thread;
    snprintf(file.of, sizeof file.of, "thread%d%d%d", kind, is_after, rounds);
    if (pthread_create(&thread, NULL, work, &file) || pthread_join(thread, NULL)) exit(1);
}

/* Called last, and known before the library was used. Debian's has finished with netCDF-4 by then, and opens nothing any more. */
static void at_very_end(void) { completed("first3", first); }

static void at_end(void) {
    completed("last3", last[0]);
    completed("last4", last[1]);
    completed("new3", created("new3", 0));
    completed("new4", created("new4", NC_NETCDF4));
    changed("last3");
    changed("last4");
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    folder = arguments[1];
    if (pthread_key_create(&before, at_end_of_thread) || atexit(at_very_end)) return 1;
    first = created("first3", 0);
    /* Destructors of later keys are called later. */
    if (pthread_key_create(&after, at_end_of_thread)) return 1;
    for (int kind = 3; kind < 5; kind++)
        for (int is_after = 0; is_after < 2; is_after++)
            for (int rounds = 0; rounds < MOST_ROUNDS; rounds++) in_thread(kind, is_after, rounds);
    last[0] = created("last3", 0);
    last[1] = created("last4", NC_NETCDF4);
    return atexit(at_end);
}
