/* Finds the photos of masks by their names. Names are split into tokens (at separators, in a second pass also at
 * digits). A token of masks is ignored if no photo has it, and all masks have it or it is a usual word for masks; a
 * token of photos is ignored if all photos have it and no mask. So 104_sat.jpg matches 104_mask.png, and
 * aachen_7_leftImg8bit matches aachen_7_gtFine_labelIds. Ambiguous names are not paired, but reported. Start at
 * masks_pair. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "masks/masks.h"

enum { OF_MASKS, OF_IMAGES };

/* A word of names, and the numbers of masks and of photos whose names have it. */
struct token {
    uint64_t hash;
    size_t n[2];
};

struct tokens {
    struct token *tokens; /* [n] sorted */
    size_t n, capacity, n_names[2];
};

static void tokens_release(struct tokens *self)
{
    array_free(self->tokens);
    *self = (struct tokens){0};
}

/* Usual words in the names of masks, in lower case. */
static const char *const mask_words[] = {
    "mask",   "msk",      "masks",       "label",  "labels", "labelids",     "labeltrainids", "lbl",        "gt",
    "gtfine", "gtcoarse", "groundtruth", "seg",    "segm",   "segmentation", "annot",         "annotation", "anno",
    "matte",  "l",        "truth",       "trimap", "target", "binary",       "ann",           "masque"};

static uint64_t hash_word(const char *word, size_t length)
{
    uint64_t hash = HASH_START;
    for (size_t k = 0; k < length; k++)
        hash = hash_bytes(hash, (const char[]){lower_letter(word[k])}, 1);
    return hash;
}

static bool is_mask_word(uint64_t hash)
{
    for (size_t k = 0; k < sizeof mask_words / sizeof *mask_words; k++)
        if (hash == hash_word(mask_words[k], strlen(mask_words[k])))
            return true;
    return false;
}

/* Returns the hash of the next token of a name of `length` bytes, and advances *at behind it. 0: no token remains. */
static uint64_t next_token(const char *name, size_t length, size_t *at, bool cuts_digits)
{
    size_t first = *at;
    while (first < length && strchr("_-. ()", name[first]))
        first++;
    size_t end = first;
    const bool is_number = first < length && is_digit(name[first]);
    while (end < length && !strchr("_-. ()", name[end]) && (!cuts_digits || is_digit(name[end]) == is_number))
        end++;
    *at = end;
    return end > first ? hash_word(name + first, end - first) : 0;
}

/* The name of a file without its extension. */
static const char *stem_of(size_t *length, const char *path)
{
    const char *name = path_name(path), *page = strrchr(name, '#');
    const char *end = page ? page : name + strlen(name), *dot = end;
    while (dot > name && *dot != '.')
        dot--;
    *length = (size_t)((dot > name ? dot : end) - name);
    return name;
}

static int compare_tokens(const void *a, const void *b)
{
    const struct token *s = a, *t = b;
    return (s->hash > t->hash) - (s->hash < t->hash);
}

static enum clv_status count_tokens(struct tokens *self, const struct path_list *const lists[2], bool cuts_digits,
                                    struct clv_error *err)
{
    OWNED(tokens_release) struct tokens result = {.n_names = {lists[0]->n, lists[1]->n}};
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < lists[list]->n; i++) {
            size_t length, at = 0, begin = result.n;
            const char *stem = stem_of(&length, lists[list]->paths[i]);
            for (uint64_t hash; (hash = next_token(stem, length, &at, cuts_digits));) {
                size_t k = begin; /* a token counts once per name */
                while (k < result.n && result.tokens[k].hash != hash)
                    k++;
                if (k < result.n)
                    continue;
                NEED(array_reserve((void **)&result.tokens, &result.capacity, result.n + 1, sizeof *result.tokens) ==
                     0);
                result.tokens[result.n] = (struct token){.hash = hash};
                result.tokens[result.n++].n[list] = 1;
            }
        }
    size_t kept = 0;
    if (result.n)
        qsort(result.tokens, result.n, sizeof *result.tokens, compare_tokens);
    for (size_t k = 0; k < result.n; k++) {
        if (kept && result.tokens[kept - 1].hash == result.tokens[k].hash) {
            result.tokens[kept - 1].n[0] += result.tokens[k].n[0];
            result.tokens[kept - 1].n[1] += result.tokens[k].n[1];
        } else {
            result.tokens[kept++] = result.tokens[k];
        }
    }
    result.n = kept;
    *self = TAKE(result);
    return CLV_OK;
}

static bool counts(const struct tokens *self, uint64_t hash, int list)
{
    const struct token *token =
        bsearch(&(struct token){.hash = hash}, self->tokens, self->n, sizeof *token, compare_tokens);
    if (!token || token->n[!list])
        return true;
    return token->n[list] < self->n_names[list] && !(list == OF_MASKS && is_mask_word(hash));
}

/* The hash of a name, by which names are compared. */
struct key {
    uint64_t hash;
    size_t index;
    int list;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *s = a, *t = b;
    if (s->hash != t->hash)
        return s->hash < t->hash ? -1 : 1;
    if (s->list != t->list)
        return s->list - t->list;
    return (s->index > t->index) - (s->index < t->index);
}

/* A way to compare names: the whole stem or its tokens, with or without the folder. */
struct way {
    bool is_whole, has_folder, cuts_digits;
};

static uint64_t key_of(const char *path, int list, const struct way *way, const struct tokens *tokens)
{
    size_t length, at = 0, n_kept = 0;
    const char *stem = stem_of(&length, path);
    uint64_t hash = HASH_START;
    if (way->has_folder)
        hash = hash_bytes(hash, path, (size_t)(stem - path));
    const uint64_t folder = hash;
    if (way->is_whole)
        return hash_bytes(hash, stem, length);
    for (uint64_t token; (token = next_token(stem, length, &at, way->cuts_digits));)
        if (counts(tokens, token, list)) {
            hash = hash_bytes(hash, &token, sizeof token);
            n_kept++;
        }
    return n_kept ? hash : hash_bytes(folder, stem, length);
}

struct pairing_state {
    const struct path_list *lists[2];
    size_t *mask_of;   /* [lists[1]->n] */
    bool *is_taken[2]; /* [lists[k]->n] */
    struct key *keys;
};

static void pairing_release(struct pairing_state *self)
{
    arrays_free(self->is_taken[0], self->is_taken[1], self->keys);
}

static void join(struct pairing_state *self, size_t mask, size_t image)
{
    self->mask_of[image] = mask;
    self->is_taken[OF_MASKS][mask] = self->is_taken[OF_IMAGES][image] = true;
}

/* Pairs masks that are named after their photo with its extension: a.jpg.png. */
static void pair_whole_names(struct pairing_state *self)
{
    size_t n = 0;
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < self->lists[list]->n; i++) {
            const char *path = self->lists[list]->paths[i];
            size_t length;
            const char *stem = stem_of(&length, path);
            length = list == OF_MASKS ? (size_t)(stem - path) + length : strlen(path);
            self->keys[n++] = (struct key){hash_bytes(HASH_START, path, length), i, list};
        }
    qsort(self->keys, n, sizeof *self->keys, compare_keys);
    for (size_t k = 0; k + 1 < n; k++)
        if (self->keys[k].hash == self->keys[k + 1].hash && self->keys[k].list == OF_MASKS &&
            self->keys[k + 1].list == OF_IMAGES)
            join(self, self->keys[k].index, self->keys[k + 1].index);
}

/* Pairs the remaining files where exactly one mask and one photo have equal keys. With `faults`, reports keys of
 * several masks or photos. */
static enum clv_status pair_by(struct pairing_state *self, struct path_list *faults, const struct way *way,
                               struct clv_error *err)
{
    OWNED(tokens_release) struct tokens tokens = {0};
    size_t n = 0;
    MUST(count_tokens(&tokens, self->lists, way->cuts_digits, err));
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < self->lists[list]->n; i++)
            if (!self->is_taken[list][i])
                self->keys[n++] = (struct key){key_of(self->lists[list]->paths[i], list, way, &tokens), i, list};
    if (n)
        qsort(self->keys, n, sizeof *self->keys, compare_keys);
    for (size_t k = 0, end; k < n; k = end) {
        size_t n_of[2] = {0, 0};
        for (end = k; end < n && self->keys[end].hash == self->keys[k].hash; end++)
            n_of[self->keys[end].list]++;
        if (n_of[0] == 1 && n_of[1] == 1)
            join(self, self->keys[k].index, self->keys[k + 1].index);
        if (!faults || !n_of[0] || !n_of[1] || end - k < 3)
            continue;
        char message[1024];
        const char *mask = self->lists[OF_MASKS]->paths[self->keys[k].index];
        if (n_of[0] > 1)
            snprintf(message, sizeof message, "%s and %s are masks of one image, %s; leave one of them", mask,
                     self->lists[OF_MASKS]->paths[self->keys[k + 1].index],
                     self->lists[OF_IMAGES]->paths[self->keys[k + n_of[0]].index]);
        else {
            const char *first = self->lists[OF_IMAGES]->paths[self->keys[k + 1].index],
                       *second = self->lists[OF_IMAGES]->paths[self->keys[k + 2].index];
            snprintf(message, sizeof message, "%s: could be of %s or %s; call it %s.png or %s.png", mask, first, second,
                     first, second);
        }
        MUST(path_list_add(faults, message, err));
    }
    return CLV_OK;
}

enum clv_status masks_pair(size_t *mask_of, struct path_list *faults, const struct path_list *masks,
                           const struct path_list *images, struct clv_error *err)
{
    static const struct way ways[] = {{true, true, false},  {false, true, false},  {false, true, true},
                                      {true, false, false}, {false, false, false}, {false, false, true}};
    const size_t n_ways = sizeof ways / sizeof *ways;
    OWNED(pairing_release) struct pairing_state self = {.lists = {masks, images}, .mask_of = mask_of};
    self.is_taken[OF_MASKS] = array_zalloc(masks->n, sizeof(bool));
    self.is_taken[OF_IMAGES] = array_zalloc(images->n, sizeof(bool));
    self.keys = array_alloc(masks->n + images->n, sizeof *self.keys);
    NEED(self.is_taken[0] && self.is_taken[1] && self.keys);
    for (size_t i = 0; i < images->n; i++)
        mask_of[i] = NO_MASK;
    if (!masks->n || !images->n)
        return CLV_OK;
    pair_whole_names(&self);
    for (size_t k = 0; k < n_ways; k++)
        MUST(pair_by(&self, k + 1 == n_ways ? faults : NULL, &ways[k], err));
    return CLV_OK;
}

/* The number of colours in a file, with 4 bits per channel. A mask, even a blurred one, has few. 4096 if it cannot be
 * read. */
static int roughness(const char *folder, const char *below, const struct clv_image_limits *limits)
{
    OWNED(foreign_mask_release) struct foreign_mask mask = {0};
    OWNED_ARRAY char *path = path_join(folder, below);
    struct clv_error ignored;
    bool seen[4096] = {false};
    int n_seen = 0;
    if (!path || foreign_mask_read(&mask, path, limits, &ignored) != CLV_OK)
        return 4096;
    foreign_mask_show(&mask);
    for (size_t p = 0, n = (size_t)mask.width * (size_t)mask.height; p < n; p++) {
        const uint32_t code = mask.codes[p];
        bool *at = &seen[(code >> 20 & 15) << 8 | (code >> 12 & 15) << 4 | (code >> 4 & 15)];
        n_seen += !*at;
        *at = true;
    }
    return n_seen;
}

/* Whether the files match as masks and photos: at least half of the masks have a photo, and most of a sample of masks
 * have fewer colours than their photos. */
static enum clv_status files_match(bool *match, const struct path_list *masks, const struct path_list *images,
                                   const char *folder, const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list faults = {0};
    OWNED_ARRAY size_t *mask_of = array_alloc(images->n, sizeof *mask_of);
    size_t n_paired = 0, n_smoother = 0, n_compared = 0;
    *match = false;
    NEED(mask_of);
    MUST(masks_pair(mask_of, &faults, masks, images, err));
    for (size_t i = 0; i < images->n; i++)
        n_paired += mask_of[i] != NO_MASK;
    for (size_t i = 0; i < images->n && n_compared < 4; i++) {
        if (mask_of[i] == NO_MASK)
            continue;
        n_compared++;
        n_smoother += roughness(folder, masks->paths[mask_of[i]], limits) < roughness(folder, images->paths[i], limits);
    }
    *match = n_paired && 2 * n_paired >= masks->n && 2 * n_smoother > n_compared;
    return CLV_OK;
}

/* The first folder of a path, or its extension; it has *length bytes. */
static const char *part_of(size_t *length, const char *path, bool by_folder)
{
    const char *slash = strchr(path, '/'), *dot = strrchr(path_name(path), '.');
    if (by_folder) {
        *length = slash ? (size_t)(slash - path) : 0;
        return path;
    }
    *length = dot ? strlen(dot) : 0;
    return dot ? dot : "";
}

static bool has_mask_word(const char *path)
{
    size_t length, at = 0;
    const char *stem = stem_of(&length, path);
    for (uint64_t hash; (hash = next_token(stem, length, &at, true));)
        if (is_mask_word(hash))
            return true;
    return false;
}

enum { BY_FOLDER, BY_EXTENSION, BY_WORD };

/* Whether a file is of the second of two kinds; the file `first` is of the first kind. *other is the first file of the
 * second kind. Sets *is_third if the file is of a third kind. */
static bool is_second(bool *is_third, const char *path, const char *first, const char **other, int way)
{
    size_t length, length_first, length_other;
    if (way == BY_WORD)
        return has_mask_word(path);
    const char *part = part_of(&length, path, way == BY_FOLDER);
    const char *part_first = part_of(&length_first, first, way == BY_FOLDER);
    if (length == length_first && text_matches_n(part, part_first, length))
        return false;
    if (!*other)
        *other = path;
    const char *part_other = part_of(&length_other, *other, way == BY_FOLDER);
    *is_third |= length != length_other || !text_matches_n(part, part_other, length);
    return true;
}

enum clv_status masks_part(struct path_list *masks, struct path_list *images, const char *folder,
                           const struct path_list *files, const struct clv_image_limits *limits, struct clv_error *err)
{
    for (int way = BY_FOLDER; way <= BY_WORD; way++) {
        OWNED(path_list_release) struct path_list first = {0}, second = {0};
        const char *other = NULL;
        bool is_third = false, fits = false;
        for (size_t i = 0; i < files->n; i++)
            MUST(path_list_add(is_second(&is_third, files->paths[i], files->paths[0], &other, way) ? &second : &first,
                               files->paths[i], err));
        for (int turn = 0; turn < (way == BY_WORD ? 1 : 2) && !is_third && first.n && second.n; turn++) {
            const struct path_list *as_masks = turn ? &first : &second, *as_images = turn ? &second : &first;
            MUST(files_match(&fits, as_masks, as_images, folder, limits, err));
            if (!fits)
                continue;
            *masks = turn ? TAKE(first) : TAKE(second);
            *images = turn ? TAKE(second) : TAKE(first);
            return CLV_OK;
        }
    }
    return CLV_OK;
}
