/* Counts the calls of the system by which a file is opened, asked for its variables, and closed: FILE. With COUNT, those by which a
   new dataset FILE of that many small variables is written. Prints the smallest number of several times, or "untraced" where no
   process may trace another one. */
#include <netcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 5 };

static void check(int code) {
    if (code == NC_NOERR) return;
    fprintf(stderr, "%s\n", nc_strerror(code));
    exit(1);
}

/* The call of the system between which the others are counted: no library makes it. */
static void mark(void) { syscall(SYS_getpgid, 0); }

static void write_new(const char *file, int variables) {
    int ncid, dim, var;
    check(nc_create(file, NC_NETCDF4, &ncid));
    check(nc_def_dim(ncid, "x", 1, &dim));
    for (int i = 0; i < variables; i++) {
        char name[32];
        snprintf(name, sizeof name, "name_%d", i);
        check(nc_def_var(ncid, name, NC_INT, 1, &dim, &var));
        check(nc_put_att_text(ncid, var, "units", 1, "m"));
    }
    check(nc_enddef(ncid));
    for (int i = 0; i < variables; i++) check(nc_put_var_int(ncid, i, &i));
    check(nc_close(ncid));
}

static void traced(const char *file, int variables) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(2);
    raise(SIGSTOP);
    if (variables) {
        /* Only the calls of this thread are counted. */
        setenv("NCIRRUS_THREADS", "1", 1);
        mark();
        write_new(file, variables);
        mark();
        _exit(0);
    }
    for (int i = 0; i < TIMES; i++) {
        int ncid, count;
        mark();
        check(nc_open(file, NC_NOWRITE, &ncid));
        check(nc_inq_nvars(ncid, &count));
        check(nc_close(ncid));
    }
    mark();
    _exit(0);
}

int main(int count, char **arguments) {
    int status, enters = 1;
    long calls = 0, least = -1, marks = 0;
    if (count < 2) return 2;
    pid_t child = fork();
    if (child == 0) traced(arguments[1], count > 2 ? atoi(arguments[2]) : 0);
    if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) return puts("untraced"), 0;
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACESYSGOOD);
    for (int signal = 0;; enters = !enters) {
        struct __ptrace_syscall_info info;
        ptrace(PTRACE_SYSCALL, child, NULL, (void *)(long)signal);
        if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) break;
        signal = 0;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            signal = WSTOPSIG(status);
            enters = !enters;
            continue;
        }
        if (!enters) continue;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info) < 0) return puts("untraced"), 0;
        if (info.entry.nr != SYS_getpgid) {
            calls++;
            continue;
        }
        if (marks++ && (least < 0 || calls < least)) least = calls;
        calls = 0;
    }
    printf("%ld\n", least);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}
