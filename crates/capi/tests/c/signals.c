/* Handlers of signals run in threads of the program, not in those of the library. FOLDER: makes a file there. */
#include <netcdf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t many, foreign;
static pthread_t first;

static void handler(int number) {
    (void)number;
    many++;
    if (!pthread_equal(pthread_self(), first)) foreign++;
}

/* A signal comes while the first thread takes none, and is handled when it does. */
static void round_of(const char *path) {
    const size_t chunk = 1000;
    int n, x, v;
    static int values[100000];
    many = foreign = 0;
    nc_create(path, NC_NETCDF4, &n);
    nc_def_dim(n, "x", 100000, &x);
    nc_def_var(n, "v", NC_INT, 1, &x, &v);
    nc_def_var_chunking(n, v, NC_CHUNKED, &chunk);
    nc_def_var_deflate(n, v, 1, 1, 1);
    printf("put %d\n", nc_put_var_int(n, v, values));
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, &before);
    kill(getpid(), SIGUSR1);
    printf("get %d\n", nc_get_var_int(n, v, values));
    usleep(20000);
    printf("while it waits: %d\n", (int)many);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    printf("then: %d, in other threads: %d\n", (int)many, (int)foreign);
    printf("close %d\n", nc_close(n));
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s/signals.nc", arguments[1]);
    first = pthread_self();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    for (int round = 0; round < 8; round++) round_of(path);
    return 0;
}
