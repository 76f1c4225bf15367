/* Processes that make the same kind of change to one dataset at the same time, once for each of ROUNDS datasets:
 * races CHANGE ROUNDS BEFORE AFTER, where dataset N has the address BEFORE N AFTER. Prints one line: how many changes were
 * reported as kept and are not there (lost), how many datasets have something else (mixed), in how many races all writers
 * failed, how many writers got an error, and how many processes ended in another way. Then the codes of the errors. */
#define _GNU_SOURCE
#include <netcdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 4, PART = 5, LEN = WRITERS * PART, ALL = (1 << WRITERS) - 1 };
enum change { APPEND, REGION, ATTRIBUTE, VARIABLE, CREATION, REPLACEMENT };
static const char *const NAMES[] = {"append", "region", "attribute", "variable", "creation", "replacement"};

/* What all processes see. */
struct shared {
    pthread_barrier_t start;
    /* Of each race and writer: the code of its change. */
    int codes[];
};

static const char *before, *after;

static void set_path(char path[static 500], int round) {
    snprintf(path, 500, "%s%d%s", before, round, after);
}

/* A dataset whose variable `p` is `number` everywhere. */
static int create(const char *path, int mode, int number) {
    int ncid, time, n, v, t, p, code = 0, values[LEN];
    const size_t chunk = LEN;
    for (int at = 0; at < LEN; at++) values[at] = number;
    if ((code = nc_create(path, NC_NETCDF4 | mode, &ncid))) return code;
    code = nc_def_dim(ncid, "time", NC_UNLIMITED, &time);
    if (!code) code = nc_def_dim(ncid, "n", LEN, &n);
    if (!code) code = nc_def_var(ncid, "t", NC_INT, 1, &time, &t);
    if (!code) code = nc_def_var(ncid, "v", NC_INT, 1, &time, &v);
    if (!code) code = nc_def_var(ncid, "p", NC_INT, 1, &n, &p);
    if (!code) code = nc_def_var_chunking(ncid, p, NC_CHUNKED, &chunk);
    if (!code) code = nc_enddef(ncid);
    if (!code) code = nc_put_var_int(ncid, p, values);
    int closed = nc_close(ncid);
    return code ? code : closed;
}

static int append(int ncid, int number) {
    const char *const names[] = {"t", "v"};
    size_t len, count = 1;
    int id, dim, code = nc_inq_dimid(ncid, "time", &dim);
    if (!code) code = nc_inq_dimlen(ncid, dim, &len);
    for (int at = 0; !code && at < 2; at++) {
        code = nc_inq_varid(ncid, names[at], &id);
        if (!code) code = nc_put_vara_int(ncid, id, &len, &count, &number);
    }
    return code;
}

static int put_part(int ncid, int number) {
    int id, values[PART];
    size_t start = (size_t)number * PART, count = PART;
    for (int at = 0; at < PART; at++) values[at] = number;
    int code = nc_inq_varid(ncid, "p", &id);
    return code ? code : nc_put_vara_int(ncid, id, &start, &count, values);
}

static int define(int ncid, int number) {
    int id, dim, values[LEN];
    char name[20];
    for (int at = 0; at < LEN; at++) values[at] = number;
    snprintf(name, sizeof name, "v%d", number);
    int code = nc_inq_dimid(ncid, "n", &dim);
    if (!code) code = nc_def_var(ncid, name, NC_INT, 1, &dim, &id);
    if (!code) code = nc_enddef(ncid);
    return code ? code : nc_put_var_int(ncid, id, values);
}

/* 0 if the change is kept. */
static int make(const char *path, enum change change, int number) {
    int ncid, code;
    char name[20];
    if (change == CREATION) return create(path, NC_NOCLOBBER, number);
    if (change == REPLACEMENT) return create(path, NC_CLOBBER, number);
    if ((code = nc_open(path, NC_WRITE, &ncid))) return code;
    snprintf(name, sizeof name, "a%d", number);
    if (change == APPEND) code = append(ncid, number);
    else if (change == REGION) code = put_part(ncid, number);
    else if (change == ATTRIBUTE) code = nc_put_att_int(ncid, NC_GLOBAL, name, NC_INT, 1, &number);
    else code = define(ncid, number);
    int closed = nc_close(ncid);
    return code ? code : closed;
}

/* The writer that a run of values is of, -1 if it is of none. */
static int writer_of(const int *values, int len) {
    for (int at = 1; at < len; at++)
        if (values[at] != values[0]) return -1;
    return values[0] >= 0 && values[0] < WRITERS ? values[0] : -1;
}

static int appended(int ncid) {
    int dim, t, v, found = 0, values[2][WRITERS];
    size_t len;
    int code = nc_inq_dimid(ncid, "time", &dim) || nc_inq_dimlen(ncid, dim, &len) || len > WRITERS;
    code = code || nc_inq_varid(ncid, "t", &t) || nc_inq_varid(ncid, "v", &v);
    if (code || nc_get_var_int(ncid, t, values[0]) || nc_get_var_int(ncid, v, values[1])) return -1;
    for (size_t at = 0; at < len; at++) {
        int pair[] = {values[0][at], values[1][at]}, number = writer_of(pair, 2);
        if (number < 0 || found >> number & 1) return -1;
        found |= 1 << number;
    }
    return found;
}

static int named(int ncid, enum change change) {
    int found = 0, id, values[LEN];
    char name[20];
    for (int number = 0; number < WRITERS; number++) {
        snprintf(name, sizeof name, "%c%d", change == ATTRIBUTE ? 'a' : 'v', number);
        if (change == ATTRIBUTE) {
            if (nc_get_att_int(ncid, NC_GLOBAL, name, values)) continue;
            if (values[0] != number) return -1;
        } else {
            if (nc_inq_varid(ncid, name, &id)) continue;
            if (nc_get_var_int(ncid, id, values) || writer_of(values, LEN) != number) return -1;
        }
        found |= 1 << number;
    }
    return found;
}

static int parts(int ncid, int part) {
    int id, found = 0, values[LEN];
    if (nc_inq_varid(ncid, "p", &id) || nc_get_var_int(ncid, id, values)) return -1;
    for (int at = 0; at < LEN; at += part) {
        int number = writer_of(values + at, part);
        if (number >= 0 && (part == LEN || number == at / part)) found |= 1 << number;
        else
            for (int each = at; each < at + part; each++)
                if (values[each] != -1) return -1;
    }
    return found;
}

/* The writers whose changes are in the dataset, as bits; -1 if one is there in part. */
static int there(const char *path, enum change change) {
    int ncid;
    if (nc_open(path, NC_NOWRITE, &ncid)) return -1;
    int found = change == APPEND                         ? appended(ncid)
                : change == REGION                       ? parts(ncid, PART)
                : change == ATTRIBUTE || change == VARIABLE ? named(ncid, change)
                                                         : parts(ncid, LEN);
    nc_close(ncid);
    return found;
}

static void write_all(struct shared *shared, enum change change, int rounds, int number) {
    char path[500];
    alarm(3000);
    for (int round = 0; round < rounds; round++) {
        set_path(path, round);
        pthread_barrier_wait(&shared->start);
        shared->codes[round * WRITERS + number] = make(path, change, number);
    }
}

/* Makes the datasets that are changed, in a process of its own: no writer has threads of its parent. */
static int begin(int rounds) {
    int status = -1;
    pid_t maker = fork();
    if (maker == 0) {
        char path[500];
        int code = 0;
        for (int round = 0; !code && round < rounds; round++) {
            set_path(path, round);
            code = create(path, NC_CLOBBER, -1);
        }
        if (code) fprintf(stderr, "%s: %s\n", path, nc_strerror(code));
        _exit(code != 0);
    }
    waitpid(maker, &status, 0);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int change = 0, rounds = atoi(argv[2]), lost = 0, mixed = 0, failed = 0, errors = 0, broken = 0;
    while (change < REPLACEMENT && strcmp(argv[1], NAMES[change])) change++;
    before = argv[3], after = argv[4];
    size_t size = sizeof(struct shared) + sizeof(int) * WRITERS * (size_t)rounds;
    struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t between;
    if (shared == MAP_FAILED || (change != CREATION && begin(rounds))) return 1;
    pthread_barrierattr_init(&between);
    pthread_barrierattr_setpshared(&between, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->start, &between, WRITERS);
    pid_t children[WRITERS];
    for (int number = 0; number < WRITERS; number++) {
        children[number] = fork();
        if (children[number] == 0) {
            write_all(shared, change, rounds, number);
            _exit(0);
        }
    }
    for (int number = 0; number < WRITERS; number++) {
        int status = -1;
        waitpid(children[number], &status, 0);
        broken += status != 0;
    }
    for (int round = 0; round < rounds; round++) {
        char path[500];
        int kept = 0;
        for (int number = 0; number < WRITERS; number++)
            if (shared->codes[round * WRITERS + number]) errors++;
            else kept |= 1 << number;
        set_path(path, round);
        int found = there(path, change), is_one = found > 0 && !(found & (found - 1));
        int is_lost = change == REPLACEMENT ? kept && found >= 0 && !is_one : found >= 0 && (kept & ~found & ALL);
        int is_mixed = found < 0 || (found & ~kept);
        lost += is_lost != 0, mixed += is_mixed != 0, failed += kept == 0;
        if (is_lost || is_mixed) fprintf(stderr, "%s: kept %x, there %x\n", path, kept, (unsigned)found);
    }
    printf("lost %d, mixed %d, all failed %d, errors %d, broken %d\n", lost, mixed, failed, errors, broken);
    for (int code = 199; code > -200; code--) {
        int count = 0;
        for (int at = 0; at < rounds * WRITERS; at++) count += shared->codes[at] == code;
        if (code && count) printf("%d x %d: %s\n", count, code, nc_strerror(code));
    }
    return 0;
}
