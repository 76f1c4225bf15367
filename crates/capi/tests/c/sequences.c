/* Sequences of calls that seeds choose, with right and wrong arguments, on one or two files of every kind.
   sequences run FOLDER FIRST COUNT [CALLS]: each sequence in a process of its own, so that one that crashes ends no other. CALLS has a 1
   for each call that is made and a 0 for each that is left out; with it the arguments are told, too.
   sequences dump FOLDER FIRST COUNT: what is in the files that they left. */
#include "sequences/draw.h"
#include "sequences/values.h"
#include "sequences/storage.h"
#include "sequences/define.h"
#include "sequences/inquire.h"
#include "sequences/files.h"
#include "sequences/contents.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CALLS = 60 };

static void put(void) {
    if (one_in(3)) own_values(1);
    else put_numbers();
}
static void get(void) {
    if (one_in(3)) own_values(0);
    else get_numbers();
}
static void look(void) {
    int has_order = !is_netcdf4(A.slot) || !A.slot->is_unordered;
    tell_contents(A.nc, has_order ? ORDER : 0);
}

static const struct {
    unsigned weight;
    void (*make)(void);
} calls[] = {
    {6, define_dimension}, {9, define_variable}, {3, define_group}, {5, define_type}, {9, put_attribute}, {5, get_attribute},
    {5, change_attribute}, {4, rename_member}, {1, copy_variable}, {8, choose_storage}, {5, ask_storage}, {5, ask_file},
    {8, ask_member}, {4, ask_attribute}, {3, ask_type}, {1, compare_types}, {14, put}, {12, get}, {9, change_mode}, {3, reopen}, {2, look},
};

static void make_call(void) {
    unsigned whole = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) whole += calls[i].weight;
    unsigned at = pick(whole);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (at < calls[i].weight) {
            calls[i].make();
            return;
        }
        at -= calls[i].weight;
    }
}

/* What most sequences begin with, so that later calls have something to work on. */
static void begin(void) {
    int id, dims[2] = {0, 1}, ids[2] = {-1, -1};
    nc_def_dim(slots[0].ncid, "t", NC_UNLIMITED, ids);
    nc_def_dim(slots[0].ncid, "x", 1 + pick(4), ids + 1);
    A.slot = slots;
    nc_def_var(slots[0].ncid, "a", draw_type(slots), (int)pick(3), dims, &id);
    nc_def_var(slots[0].ncid, "b", draw_type(slots), 1, ids + one_in(2), &id);
    if (one_in(3)) nc_enddef(slots[0].ncid);
}

/* What later calls are drawn by, so that a difference is told where it begins. */
static void tell_state(void) {
    const char *how = code && code != NC_ERANGE ? "refused" : "done";
    int dims = 0, vars = 0, atts = 0, list[NC_MAX_DIMS];
    printf("%s: dims", how);
    if (nc_inq_dimids(A.nc, &dims, list, 1) == 0)
        for (int i = 0; i < dims; i++) {
            size_t len = 0;
            nc_inq_dimlen(A.nc, list[i], &len);
            printf(" %zu", len);
        }
    nc_inq_nvars(A.nc, &vars);
    atts = count_attributes(A.nc, A.att_v);
    printf("\n%s: vars %d\n%s: atts %d\n", how, vars, how, atts);
}

static void run(unsigned long long seed, const char *chosen) {
    seed_with(seed, 1000);
    unsigned count = 10 + pick(MOST_CALLS - 9);
    memset(slots, 0, sizeof slots);
    may_rename = one_in(6);
    for (int i = 0; i < 2; i++) {
        snprintf(slots[i].path, sizeof slots[i].path, "%llu%c.nc", seed, 'a' + i);
        slots[i].kind = kind_of(seed + (unsigned long long)i * pick(7));
        if (i == 0 || one_in(3)) create_file(&slots[i]);
        else slots[i].path[0] = 0;
    }
    if (!one_in(6)) begin();
    for (unsigned i = 0; i < count; i++) {
        if (chosen && (i >= strlen(chosen) || chosen[i] != '1')) continue;
        seed_with(seed, i);
        if (chosen) printf("  call %u\n", i);
        draw_arguments();
        make_call();
        tell_state();
        fflush(stdout);
    }
    for (int i = 0; i < 2; i++) {
        if (!slots[i].is_open) continue;
        int has_order = !is_netcdf4(slots + i) || !slots[i].is_unordered;
        tell_contents(slots[i].ncid, has_order ? ORDER : 0);
        fflush(stdout);
        CALL(nc_close, slots[i].ncid);
    }
    // What the dump does not look at is in the name.
    for (int i = 0; i < 2; i++) {
        char path[80];
        snprintf(path, sizeof path, "%llu%c%s%s.dump", seed, 'a' + i, slots[i].is_unfilled ? ".unfilled" : "", slots[i].is_unordered ? ".unordered" : "");
        if (slots[i].path[0]) rename(slots[i].path, path);
    }
}

static void dump(unsigned long long seed) {
    for (int i = 0; i < 2; i++)
        for (int how = 0; how < 4; how++) {
            char path[80];
            int ncid;
            snprintf(path, sizeof path, "%llu%c%s%s.dump", seed, 'a' + i, how & 1 ? ".unfilled" : "", how & 2 ? ".unordered" : "");
            if (access(path, R_OK)) continue;
            CALL(nc_open, path, NC_NOWRITE, &ncid);
            if (code) continue;
            tell_contents(ncid, WHOLE | (how & 1 ? 0 : VALUES) | (how & 2 ? 0 : ORDER));
            fflush(stdout);
            nc_close(ncid);
        }
}

static void make_given(void) {
    static const char *const some[] = {"", "a", "some words", "\xc3\xa9", "0123456789012345678901234567890123456789"};
    seed_with(7, 7);
    for (int i = 0; i < ELEMENTS; i++) letters[i] = (char)('a' + pick(26)), words[i] = some[pick(5)];
    memset(long_name, 'n', NC_MAX_NAME + 1);
}

int main(int count, char **arguments) {
    if (count < 5 || chdir(arguments[2])) return 2;
    unsigned long long first = strtoull(arguments[3], 0, 10), many = strtoull(arguments[4], 0, 10);
    make_given();
    is_verbose = count > 5;
    for (unsigned long long seed = first; seed < first + many; seed++) {
        int status;
        printf("seed %llu %s\n", seed, kind_names[kind_of(seed)]);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            if (strcmp(arguments[1], "dump") == 0) dump(seed);
            else run(seed, count > 5 ? arguments[5] : NULL);
            fflush(stdout);
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) < 0) return 3;
        if (WIFSIGNALED(status)) printf(WTERMSIG(status) == SIGALRM ? "hang\n" : "crash\n");
        else if (WEXITSTATUS(status)) printf("exit %d\n", WEXITSTATUS(status));
    }
    return 0;
}
