/* Codes that are told, and what our library says about them. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only ours has it. */
__attribute__((weak)) const char *nci_last_error(void);
static int is_own(void) { return nci_last_error != NULL; }

/* Whether the last error says something. */
static int says(const char *text) { return !is_own() || strstr(nci_last_error(), text); }

/* What must hold on our library. */
static void hold(int holds, const char *what) {
    if (!holds && is_own()) printf("wrong: %s (%s)\n", what, nci_last_error());
}
#define HOLD(condition) hold(condition, #condition)

/* Tells the code of a call, and of a failed one that it says which object had it. */
static int told(const char *call, int code, const char *object) {
    printf("%s = %d\n", call, code);
    if (code && !says(object)) printf("wrong: %s does not say %s: %s\n", call, object, nci_last_error());
    return code;
}
