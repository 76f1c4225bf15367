/* Codecs only: for filter 40002, which is in another library, for Zstandard, and for a filter that is nowhere. */
#include "records.h"
#include <stdio.h>

static int times_to_words(const char *json, size_t *count, unsigned **words) {
    return one_word(member(json, "times", 2), count, words);
}

static int times_to_json(size_t count, const unsigned *words, char **json) {
    *json = malloc(64);
    snprintf(*json, 64, "{\"id\":\"repeat\",\"times\":%u}", count > 0 ? words[0] : 2);
    return 0;
}

static int prepared;

static void initialize(void) { prepared++; }

static int level_to_words(const char *json, size_t *count, unsigned **words) {
    if (prepared != 1)
        return -137;
    return one_word(member(json, "effort", 3), count, words);
}

static int level_to_json(size_t count, const unsigned *words, char **json) {
    *json = malloc(64);
    snprintf(*json, 64, "{\"id\":\"squeeze\",\"effort\":%u}", count > 0 ? words[0] : 3);
    return 0;
}

static int failing_complete(int file, int variable, size_t *visible_count, unsigned **visible, size_t *count, unsigned **words) {
    (void)file, (void)variable, (void)visible_count, (void)visible, (void)count, (void)words;
    return -33;
}

static const struct codec repeat = {1, 1, "repeat", 40002, NULL, NULL, times_to_words, times_to_json, failing_complete};
static const struct codec squeeze = {1, 1, "squeeze", 32015, initialize, NULL, level_to_words, level_to_json, NULL};
static const struct codec nowhere = {1, 1, "nowhere", 40099, NULL, NULL, level_to_words, level_to_json, NULL};
static const struct codec *all[] = {&repeat, &squeeze, &nowhere, NULL};

const void *NCZ_codec_info_defaults(void) { return all; }
