/* What plugins export, as far as the tests need it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { DECODE = 0x0100, OPTIONAL = 0x0001, FILTER = 0 };

typedef size_t (*filter_fn)(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer);

struct filter {
    int version;
    int id;
    unsigned encodes, decodes;
    const char *name;
    void *can_apply, *set_local;
    filter_fn run;
};

/* Before filters had versions. */
struct old_filter {
    int id;
    const char *name;
    void *can_apply, *set_local;
    filter_fn run;
};

struct codec {
    int version, sort;
    const char *name;
    unsigned id;
    void (*initialize)(void), (*finalize)(void);
    int (*to_words)(const char *json, size_t *count, unsigned **words);
    int (*to_json)(size_t count, const unsigned *words, char **json);
    int (*complete)(int file, int variable, size_t *visible_count, unsigned **visible, size_t *count, unsigned **words);
};

/* Of the same version, but of an older release. */
struct short_codec {
    int version, sort;
    const char *name;
    unsigned id;
    int (*to_words)(const char *json, size_t *count, unsigned **words);
    int (*to_json)(size_t count, const unsigned *words, char **json);
};

/* The number behind a member's name, or a default. */
static inline unsigned member(const char *json, const char *name, unsigned missing) {
    const char *at = strstr(json, name);
    if (at == NULL)
        return missing;
    at += strlen(name);
    while (*at == '"' || *at == ':' || *at == ' ')
        at++;
    return (unsigned)strtoul(at, NULL, 10);
}

static inline int one_word(unsigned word, size_t *count, unsigned **words) {
    *words = malloc(sizeof(unsigned));
    if (*words == NULL)
        return -61;
    (*words)[0] = word;
    *count = 1;
    return 0;
}
