/* Finds out which options of a training are set, for the rules of train_options.c: in the command options that were
 * given, in the library members that differ from their defaults. Also finds facts that depend on several options. Start
 * at train_rules_check. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "cleave/options.h"
#include "cleave/train.h"
#include "feature/blocks/blocks.h"
#include "intake/intake.h"
#include "train/train.h"

struct rule_context {
    const struct clv_train_options *options;
    struct clv_train_options usual; /* the defaults for comparison */
    option_is_given *is_given;      /* NULL: options that differ from `usual` are */
    const void *context;
    bool is_file; /* the data is a feature file */
    char words[512];
};

static const struct clv_option *find_row(const char *name, size_t length)
{
    for (size_t i = 0; clv_train_option_at(i); i++) {
        const struct clv_option *row = clv_train_option_at(i);
        if (strncmp(row->name, name, length) == 0 && !row->name[length])
            return row;
    }
    return NULL;
}

static size_t size_of(const struct clv_option *row)
{
    switch (row->kind) {
    case CLV_OPTION_FLAG:
    case CLV_OPTION_EITHER: return sizeof(bool);
    case CLV_OPTION_SET:
    case CLV_OPTION_CHOICE:
    case CLV_OPTION_AUTO_CHOICE: return sizeof(int);
    case CLV_OPTION_TEXT: return sizeof(const char *);
    case CLV_OPTION_INT: return sizeof(int32_t);
    case CLV_OPTION_UINT64: return sizeof(uint64_t);
    case CLV_OPTION_NUMBER:
    case CLV_OPTION_MEMORY: return sizeof(double);
    case CLV_OPTION_OTHER: break;
    }
    return row->size;
}

static bool is_same(const struct clv_option *row, const struct clv_train_options *a, const struct clv_train_options *b)
{
    return memcmp((const char *)a + row->offset, (const char *)b + row->offset, size_of(row)) == 0;
}

/* Whether an option has a value: setting it would change nothing. */
static bool has_value(const struct rule_context *self, const struct clv_option *row, const char *value)
{
    struct clv_train_options other = *self->options;
    struct clv_error ignored;
    return clv_option_set(&other, row, value, &ignored) == CLV_OK && is_same(row, self->options, &other);
}

/* Returns the description of a fact, or NULL if it does not hold. */
static const char *describe_fact(struct rule_context *self, const char *name)
{
    const struct clv_train_options *options = self->options;
    if (strcmp(name, "@recipe") == 0)
        return options->recipe_given;
    if (strcmp(name, "@grids") == 0)
        return options->n_grids ? "cv-grid" : NULL;
    if (strcmp(name, "@memory") == 0)
        return options->n_images ? "the images are in memory" : NULL;
    if (strcmp(name, "@no-maps") == 0)
        return options->no_maps ? "--blocks leaves them out" : NULL;
    if (strcmp(name, "@features") == 0) {
        snprintf(self->words, sizeof self->words, "%s is a feature file", self->is_file ? options->data : "");
        return self->is_file ? self->words : NULL;
    }
    if (strcmp(name, "@init") == 0) {
        snprintf(self->words, sizeof self->words, "features are those of the model %s",
                 options->init ? options->init : "");
        return options->init ? self->words : NULL;
    }
    const unsigned made_of = strcmp(name, "@sift") == 0 ? OF_SIFT : strcmp(name, "@words") == 0 ? OF_WORDS : HISTOGRAM;
    return block_that_is(options->recipe.blocks, made_of) ? name : NULL;
}

static const char *is_set(void *context, const char *name)
{
    struct rule_context *self = context;
    if (*name == '@')
        return describe_fact(self, name);
    const size_t length = strcspn(name, "=");
    const struct clv_option *row = find_row(name, length);
    bool is_so = name[length]     ? has_value(self, row, name + length + 1)
                 : self->is_given ? self->is_given(self->context, name)
                                  : !is_same(row, self->options, &self->usual);
    return is_so ? name : NULL;
}

enum clv_status train_rules_check(const struct option_rule *rules, const struct clv_train_options *options,
                                  option_is_given *is_given, const void *context, struct clv_error *err)
{
    struct rule_context self = {.options = options,
                                .is_given = is_given,
                                .context = context,
                                .is_file = options->data && !options->n_images && is_tensor_file(options->data)};
    clv_train_defaults(&self.usual, options->learner);
    if (options->recipe.nodes == CLV_NODES_PATCHES)
        clv_recipe_init_patches(&self.usual.recipe);
    if (options->recipe.scale > 0)
        clv_recipe_fix_scale(&self.usual.recipe, options->recipe.scale);
    self.usual.recipe.nodes = CLV_NODES_SUPERPIXELS;
    self.usual.recipe.scale = 0; /* of these two the defaults are fixed; those of others depend on them */
    return option_rules_check(rules, is_set, &self, err);
}
