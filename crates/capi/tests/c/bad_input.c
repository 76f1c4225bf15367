/* What the system refuses, takes away or damages: the code of each call; on our library the error names what it is about, what was there
   before is whole, and everything else goes on. bad_input CASE KIND, in an empty folder. */
#include "last_errors.h"
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 5, COUNT = 1000, RECORDS = 3 };
static const int modes[KINDS] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
static int mode;
static const char *const path = "old.nc";

static int make_file(const char *name, int how) {
    int id, dims[2], v, r, number = 7, values[COUNT];
    size_t start = 0, count = RECORDS;
    for (int i = 0; i < COUNT; i++) values[i] = i;
    int failed = nc_create(name, how | NC_CLOBBER, &id);
    failed |= nc_def_dim(id, "t", NC_UNLIMITED, dims) | nc_def_dim(id, "x", COUNT, dims + 1);
    failed |= nc_def_var(id, "v", NC_INT, 1, dims + 1, &v) | nc_def_var(id, "r", NC_INT, 1, dims, &r);
    failed |= nc_put_att_int(id, NC_GLOBAL, "a", NC_INT, 1, &number) | nc_enddef(id);
    failed |= nc_put_var_int(id, v, values) | nc_put_vara_int(id, r, &start, &count, values);
    return failed | nc_close(id);
}

/* The file has what it had, and perhaps more records. */
static int is_whole(const char *name) {
    int id, number = 0, values[COUNT], is_right = 1;
    size_t start = 0, count = RECORDS;
    if (nc_open(name, NC_NOWRITE, &id)) return 0;
    is_right &= nc_get_att_int(id, NC_GLOBAL, "a", &number) == 0 && number == 7;
    is_right &= nc_inq_varid(id, "w", &number) == NC_ENOTVAR;
    is_right &= nc_get_var_int(id, 0, values) == 0;
    for (int i = 0; i < COUNT; i++) is_right &= values[i] == i;
    is_right &= nc_get_vara_int(id, 1, &start, &count, values) == 0;
    for (int i = 0; i < RECORDS; i++) is_right &= values[i] == i;
    return is_right & (nc_close(id) == 0);
}

/* Does something in another process, and waits for it. */
static int elsewhere(int (*act)(void)) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(act());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void limit_files(rlim_t len) {
    struct rlimit limit = {len, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static off_t len_of(const char *name) {
    struct stat found;
    return stat(name, &found) ? -1 : found.st_size;
}

static int entries(void) {
    int count = 0;
    FILE *list = popen("ls -A | wc -l", "r");
    if (!list || fscanf(list, "%d", &count) != 1) count = -1;
    if (list) pclose(list);
    return count;
}

/* A new file over an old one does not fit; another one that is open does. */
static void full_new(void) {
    enum { LARGE = 1 << 20 };
    static int large[LARGE];
    int id, other, dim, w, number = 8;
    size_t at = 5;
    HOLD(make_file(path, mode) == 0 && make_file("other.nc", mode) == 0 && nc_open("other.nc", NC_WRITE, &other) == 0);
    int before = entries();
    limit_files(200000);
    HOLD(nc_create(path, mode | NC_CLOBBER, &id) == 0 && nc_def_dim(id, "x", LARGE, &dim) == 0);
    HOLD(nc_def_var(id, "w", NC_INT, 1, &dim, &w) == 0 && nc_enddef(id) == 0);
    int put = told("nc_put_var_int", nc_put_var_int(id, w, large), path);
    HOLD(put == 0 || says("file too large"));
    int closed = told("nc_close", nc_close(id), path);
    HOLD(put || closed);
    HOLD(put || says("file too large"));
    HOLD(nc_put_var1_int(other, 0, &at, &number) == 0 && nc_sync(other) == 0 && nc_close(other) == 0);
    limit_files(RLIM_INFINITY);
    HOLD(is_whole(path));
    HOLD(entries() == before);
}

/* Records do not fit into a file that is there. */
static void full_old(void) {
    enum { MANY = 100000 };
    static int many[MANY];
    int id;
    size_t start = RECORDS, count = MANY;
    HOLD(make_file(path, mode) == 0 && nc_open(path, NC_WRITE, &id) == 0);
    limit_files((rlim_t)len_of(path) + 100000);
    int put = told("nc_put_vara_int", nc_put_vara_int(id, 1, &start, &count, many), path);
    HOLD(put == 0 || says("file too large"));
    int synced = told("nc_sync", nc_sync(id), path);
    HOLD(put || synced == 0 || says("file too large"));
    int closed = told("nc_close", nc_close(id), path);
    HOLD(put || synced || closed);
    limit_files(RLIM_INFINITY);
    HOLD(is_whole(path));
}

static int cut(void) { return truncate(path, len_of(path) / 2); }

/* Another program cuts a file off while it is open. */
static void cut_off(void) {
    enum { LARGE = 1 << 18 };
    static int large[LARGE];
    int id, dim, early, late;
    size_t at = LARGE - 5, count = 5;
    for (int i = 0; i < LARGE; i++) large[i] = i;
    HOLD(nc_create(path, mode | NC_CLOBBER, &id) == 0 && nc_def_dim(id, "x", LARGE, &dim) == 0);
    HOLD(nc_def_var(id, "early", NC_INT, 1, &dim, &early) == 0 && nc_def_var(id, "late", NC_INT, 1, &dim, &late) == 0);
    HOLD(nc_enddef(id) == 0 && nc_put_var_int(id, early, large) == 0 && nc_put_var_int(id, late, large) == 0 && nc_close(id) == 0);
    HOLD(nc_open(path, NC_NOWRITE, &id) == 0 && nc_get_vara_int(id, early, &at, &count, large) == 0);
    HOLD(elsewhere(cut) == 0);
    told("nc_get_vara_int(late)", nc_get_vara_int(id, late, &at, &count, large), "late");
    told("nc_get_var_int(late)", nc_get_var_int(id, late, large), "late");
    at = 0;
    memset(large, 0, 20);
    // It may be refused, because the file is not what it was, but not be something else.
    HOLD(nc_get_vara_int(id, early, &at, &count, large) == NC_EIO || large[4] == 4);
    HOLD(nc_inq_varid(id, "late", &late) == 0);
    told("nc_close", nc_close(id), path);
    int code = nc_open(path, NC_NOWRITE, &id);
    if (code == 0) {
        code = nc_get_vara_int(id, late, &at, &count, large);
        nc_close(id);
    }
    HOLD(code == 0 || says(path));
}

/* Places where no file can be. */
static void no_place(void) {
    static const char *const places[] = {"none/new.nc", "old.nc/new.nc", "folder", "folder/", "", ".", "/dev/null", "/dev/full"};
    HOLD(make_file(path, mode) == 0 && mkdir("folder", 0755) == 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int id = -7, is_folder = strcmp(places[i], "folder/") == 0;
        const char *object = is_folder ? "folder" : places[i];
        printf("%s: ", places[i]);
        told("read", nc_open(places[i], NC_NOWRITE, &id), object);
        printf("%s: ", places[i]);
        told("write", nc_open(places[i], NC_WRITE, &id), object);
        // A device is not replaced.
        if (places[i][0] == '/') continue;
        printf("%s: ", places[i]);
        int code = nc_create(places[i], mode | NC_CLOBBER, &id);
        if (code == 0) code = nc_close(id);
        told("create", code, object);
        HOLD(code != 0);
    }
    struct stat found;
    HOLD(stat("folder", &found) == 0 && S_ISDIR(found.st_mode));
    HOLD(is_whole(path));
}

/* A user who may not write there. */
static int as_nobody(void) {
    int id, number = 9;
    size_t at = 5;
    if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534))) return 1;
    told("create", nc_create("closed/new.nc", mode, &id), "new.nc");
    told("replace", nc_create("closed/seen.nc", mode | NC_CLOBBER, &id), "seen.nc");
    told("write", nc_open("closed/seen.nc", NC_WRITE, &id), "seen.nc");
    told("read hidden", nc_open("closed/hidden.nc", NC_NOWRITE, &id), "hidden.nc");
    told("read", nc_open("closed/seen.nc", NC_NOWRITE, &id), "seen.nc");
    HOLD(nc_put_var1_int(id, 0, &at, &number) == (mode & NC_NETCDF4 ? NC_EHDFERR : NC_EPERM) && nc_close(id) == 0);
    HOLD(is_whole("closed/seen.nc"));
    // The folder may not be written, but this file.
    told("change", nc_open("closed/open.nc", NC_WRITE, &id), "open.nc");
    told("put", nc_put_var1_int(id, 0, &at, &number), "open.nc");
    told("close", nc_close(id), "open.nc");
    number = 0;
    HOLD(nc_open("closed/open.nc", 0, &id) == 0 && nc_get_var1_int(id, 0, &at, &number) == 0 && number == 9 && nc_close(id) == 0);
    // Its header grows: there is no place for another file beside it.
    static char text[3000];
    size_t len = 0;
    memset(text, 'q', sizeof text);
    told("change again", nc_open("closed/open.nc", NC_WRITE, &id), "open.nc");
    told("redef", nc_redef(id), "open.nc");
    told("grow", nc_put_att_text(id, NC_GLOBAL, "text", sizeof text, text), "open.nc");
    told("enddef", nc_enddef(id), "open.nc");
    number = 10;
    told("put", nc_put_var1_int(id, 0, &at, &number), "open.nc");
    told("sync", nc_sync(id), "open.nc");
    told("close", nc_close(id), "open.nc");
    number = 0;
    HOLD(nc_open("closed/open.nc", 0, &id) == 0 && nc_get_var1_int(id, 0, &at, &number) == 0 && number == 10);
    at = 6;
    HOLD(nc_get_var1_int(id, 0, &at, &number) == 0 && number == 6);
    HOLD(nc_inq_attlen(id, NC_GLOBAL, "text", &len) == 0 && len == sizeof text && nc_close(id) == 0);
    fflush(stdout);
    return 0;
}

static void denied(void) {
    HOLD(mkdir("closed", 0755) == 0 && chmod(".", 0755) == 0);
    HOLD(make_file("closed/seen.nc", mode) == 0 && chmod("closed/seen.nc", 0444) == 0);
    HOLD(make_file("closed/hidden.nc", mode) == 0 && chmod("closed/hidden.nc", 0) == 0);
    HOLD(make_file("closed/open.nc", mode) == 0 && chmod("closed/open.nc", 0666) == 0);
    HOLD(chmod("closed", 0555) == 0);
    // The library was used before: the child has a session of its own.
    HOLD(elsewhere(as_nobody) == 0);
    chmod("closed", 0755);
    HOLD(is_whole("closed/seen.nc"));
}

static int lock_of_child;
static int take_lock(void) { return flock(open(path, O_RDONLY), lock_of_child | LOCK_NB) == 0; }

/* Runs while another process has the file locked. */
static void while_locked(int lock, void (*act)(void)) {
    int ready[2], done[2];
    char byte = 0;
    if (pipe(ready) || pipe(done)) exit(3);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(done[1]);
        _exit(flock(open(path, O_RDONLY), lock) || write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) < 0);
    }
    if (read(ready[0], &byte, 1) != 1) exit(3);
    act();
    close(done[1]);
    close(done[0]);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

static void open_locked(void) {
    int id = -7;
    if (told("read", nc_open(path, NC_NOWRITE, &id), path) == 0) HOLD(nc_close(id) == 0);
    if (told("write", nc_open(path, NC_WRITE, &id), path) == 0) HOLD(nc_close(id) == 0);
}

static void locked(void) {
    int id, is_netcdf4 = mode & NC_NETCDF4;
    HOLD(make_file(path, mode) == 0);
    puts("exclusive");
    while_locked(LOCK_EX, open_locked);
    puts("shared");
    while_locked(LOCK_SH, open_locked);
    puts("released");
    open_locked();
    HOLD(is_whole(path));
    HOLD(nc_open(path, NC_WRITE, &id) == 0);
    lock_of_child = LOCK_SH;
    int is_free = elsewhere(take_lock);
    printf("others read it while it is written: %d\n", is_free);
    HOLD(!is_netcdf4 || !is_free);
    HOLD(nc_close(id) == 0);
    lock_of_child = LOCK_EX;
    HOLD(elsewhere(take_lock) == 1);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"full_new", full_new}, {"full_old", full_old}, {"cut_off", cut_off}, {"no_place", no_place}, {"denied", denied}, {"locked", locked}};
    if (count < 3) return 2;
    mode = modes[atoi(arguments[2])];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(arguments[1], cases[i].name) == 0) cases[i].run();
    puts("done");
    return 0;
}
