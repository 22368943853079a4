/* Decides from a survey how the masks of a dataset become labels. The first that applies is used: a labels.tsv; a table
 * of colours or of a known dataset; numbers of objects; cut-outs; the values or colours found, if they are few; levels
 * that JPEG or soft edges have blurred. Start at mask_plan_make. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "masks/masks.h"

#define MAX_LEVELS 8
#define NOISE      16 /* largest difference between a grey of a JPEG and its level */
#define FAR        48 /* colours closer than this are one colour, blurred by JPEG */

void mask_plan_release(struct mask_plan *plan)
{
    clv_labels_release(&plan->labels);
    *plan = (struct mask_plan){0};
}

static int compare_rules(const void *a, const void *b)
{
    const struct mask_rule *s = a, *t = b;
    return (s->code > t->code) - (s->code < t->code);
}

const struct mask_rule *mask_rule_find(const struct mask_plan *plan, uint32_t code)
{
    const struct mask_rule wanted = {.code = code};
    return plan->n_rules ? bsearch(&wanted, plan->rules, plan->n_rules, sizeof wanted, compare_rules) : NULL;
}

/* Adds a rule, unless the code has one already. */
static void add_rule(struct mask_plan *plan, uint32_t code, uint8_t value)
{
    size_t at = plan->n_rules;
    if (mask_rule_find(plan, code) || at == sizeof plan->rules / sizeof *plan->rules)
        return;
    for (; at && plan->rules[at - 1].code > code; at--)
        plan->rules[at] = plan->rules[at - 1];
    plan->rules[at] = (struct mask_rule){code, value};
    plan->n_rules++;
}

double mask_code_distance(uint32_t a, uint32_t b)
{
    if ((a | b) & CODE_CLEAR || (a ^ b) & CODE_COLOUR)
        return INFINITY;
    if (!(a & CODE_COLOUR))
        return fabs((double)a - (double)b);
    const double red = (double)(a >> 16 & 255) - (double)(b >> 16 & 255),
                 green = (double)(a >> 8 & 255) - (double)(b >> 8 & 255), blue = (double)(a & 255) - (double)(b & 255);
    return sqrt(red * red + green * green + blue * blue);
}

/* Sets the largest distance between a code of a lossy mask and its rule: less than half the distance of any two rules
 * of different values, and at most `most`. */
static void choose_tolerance(struct mask_plan *plan, double most)
{
    plan->tolerance = most;
    for (size_t i = 0; i < plan->n_rules; i++)
        for (size_t k = 0; k < i; k++) {
            const double half = (mask_code_distance(plan->rules[i].code, plan->rules[k].code) - 1) / 2;
            if (plan->rules[i].value != plan->rules[k].value && half < plan->tolerance)
                plan->tolerance = half;
        }
}

/* Adds a rule that treats transparent pixels like black ones. */
static void clear_as_black(struct mask_plan *plan)
{
    const struct mask_rule *rule = mask_rule_find(plan, plan->shows ? CODE_COLOUR : 0);
    rule = rule ? rule : mask_rule_find(plan, CODE_COLOUR);
    if (rule)
        add_rule(plan, CODE_CLEAR, rule->value);
}

static enum clv_status begin_labels(struct mask_plan *plan, struct clv_error *err)
{
    MUST(labels_init(&plan->labels, CLV_MAX_LABELS, err));
    plan->labels.from_file = true;
    plan->labels.n_labels = 0;
    return CLV_OK;
}

static void set_colour(struct mask_plan *plan, int32_t label, uint32_t colour)
{
    for (int c = 0; c < 3; c++)
        plan->labels.palette[label][c] = (uint8_t)(colour >> (16 - 8 * c));
}

/* Adds a label and returns its value. */
static uint8_t add_label(struct mask_plan *plan, const char *name, int32_t colour)
{
    const int32_t label = plan->labels.n_labels++;
    snprintf(plan->labels.names[label], sizeof *plan->labels.names, "%s", name);
    if (colour >= 0)
        set_colour(plan, label, (uint32_t)colour);
    return (uint8_t)label;
}

static bool is_found(const struct mask_survey *survey, bool shows, uint32_t code)
{
    for (size_t k = 0; k < survey->n_codes[shows]; k++)
        if (survey->codes[shows][k].code == code)
            return true;
    return false;
}

/* Makes the rules of a labels.tsv: its values and its colours. */
static enum clv_status plan_by_labels(struct mask_plan *plan, const struct mask_survey *survey,
                                      const struct clv_labels *labels, struct clv_error *err)
{
    const struct code_count *codes = survey->codes[plan->shows];
    const size_t n_codes = survey->n_codes[plan->shows];
    int32_t named[CLV_MAX_LABELS];
    size_t n_named = 0, n_known = 0;
    MUST(clv_labels_copy(&plan->labels, labels, err));
    plan->is_by_labels = true;
    for (int32_t v = 0; v < CLV_VOID; v++) {
        const uint8_t *colour = labels->palette[v];
        const bool has_name = v < labels->n_labels && labels->names[v][0];
        if (!has_name && !labels->is_void[v])
            continue;
        const uint8_t value = labels->is_void[v] ? CLV_VOID : (uint8_t)v;
        add_rule(plan, (uint32_t)v, value);
        add_rule(plan, CODE_COLOUR | (uint32_t)colour[0] << 16 | (uint32_t)colour[1] << 8 | colour[2], value);
        if (has_name && !labels->is_void[v])
            named[n_named++] = v;
    }
    for (size_t k = 0; k < n_codes; k++)
        n_known += codes[k].code != 0 && codes[k].code != CODE_COLOUR && mask_rule_find(plan, codes[k].code);
    if (n_codes && !n_known && n_codes == n_named) { /* such as 0 and 255 for two names */
        plan->n_rules = 0;
        plan->has_order = true;
        for (size_t k = 0; k < n_codes; k++)
            add_rule(plan, codes[k].code, (uint8_t)named[k]);
    }
    add_rule(plan, CLV_VOID, CLV_VOID);
    FAIL_IF(n_codes && !n_known && !plan->has_order && survey->n_rough < survey->n_read, CLV_ERR_DATA,
            "the masks hold no %s that labels.tsv names", plan->shows ? "colour" : "value");
    choose_tolerance(plan, 2 * NOISE);
    return CLV_OK;
}

/* Makes the rules of a published table, or of a table of colours beside the masks, for the labels that occur in the
 * masks. */
static enum clv_status plan_by_table(struct mask_plan *plan, const struct mask_survey *survey,
                                     const struct code_table *table, struct clv_error *err)
{
    const bool is_rough = survey->n_rough == survey->n_read;
    MUST(begin_labels(plan, err));
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct code_row *row = &table->rows[i];
        const uint32_t colour = CODE_COLOUR | (uint32_t)(row->colour & 0xffffff);
        const bool has_value = row->value >= 0 && is_found(survey, false, (uint32_t)row->value) && !plan->shows,
                   has_colour = row->colour >= 0 && is_found(survey, true, colour) && plan->shows;
        uint8_t value = CLV_VOID;
        if (!has_value && !has_colour && !is_rough)
            continue;
        if (row->name) {
            int32_t same = 0; /* several colours may have one name */
            while (same < plan->labels.n_labels && strcmp(plan->labels.names[same], row->name) != 0)
                same++;
            FAIL_IF(same == CLV_MAX_LABELS, CLV_ERR_DATA, "more than %d labels", CLV_MAX_LABELS);
            value = same < plan->labels.n_labels ? (uint8_t)same : add_label(plan, row->name, row->colour);
        }
        if (row->value >= 0)
            add_rule(plan, (uint32_t)row->value, value);
        if (row->colour >= 0)
            add_rule(plan, colour, value);
    }
    FAIL_IF(plan->labels.n_labels < 2, CLV_ERR_DATA, "the masks hold %d of the labels of %s, two are needed",
            plan->labels.n_labels, table->title);
    choose_tolerance(plan, FAR);
    return CLV_OK;
}

/* Returns the only table that has all colours of the masks, including its mark. NULL: there is none, or several. */
static const struct code_table *recognise(const struct mask_survey *survey, bool shows)
{
    const struct code_table *found = NULL;
    size_t n_found = 0;
    for (size_t t = 0; t < n_code_tables && shows && survey->n_rough < survey->n_read; t++) {
        const struct code_table *table = &code_tables[t];
        bool fits = is_found(survey, true, CODE_COLOUR | (uint32_t)(table->mark & 0xffffff)) && table->mark >= 0;
        for (size_t k = 0; k < survey->n_codes[1] && fits; k++) {
            size_t row = 0;
            const uint32_t code = survey->codes[1][k].code;
            while (row < table->n_rows && (CODE_COLOUR | (uint32_t)(table->rows[row].colour & 0xffffff)) != code)
                row++;
            fits = code == CODE_CLEAR || (row < table->n_rows && table->rows[row].colour >= 0);
        }
        n_found += fits;
        found = fits ? table : found;
    }
    return n_found == 1 ? found : NULL;
}

static enum clv_status plan_objects(struct mask_plan *plan, struct clv_error *err)
{
    plan->are_objects = true;
    MUST(begin_labels(plan, err));
    add_label(plan, "background", -1);
    add_label(plan, "object", -1);
    return CLV_OK;
}

static enum clv_status plan_cutouts(struct mask_plan *plan, struct clv_error *err)
{
    plan->are_cutouts = true;
    MUST(begin_labels(plan, err));
    add_label(plan, "background", -1);
    add_label(plan, "foreground", -1);
    return CLV_OK;
}

/* Names a label by its code: "label 7" or "#c80000". */
static const char *name_of(char name[32], uint32_t code)
{
    if (code & CODE_COLOUR)
        snprintf(name, 32, "#%06x", code & 0xffffff);
    else
        snprintf(name, 32, "label %u", code);
    return name;
}

static bool is_black(uint32_t code)
{
    return code == 0 || code == CODE_COLOUR;
}

/* Makes a label of each of codes[n], which are sorted by code. Label 0 is black, or else the more frequent of two
 * codes, or else the first. */
static enum clv_status plan_codes(struct mask_plan *plan, const struct code_count *codes, size_t n, bool names_two,
                                  struct clv_error *err)
{
    char name[32];
    size_t first = n == 2 && codes[1].n_pixels > codes[0].n_pixels && !is_black(codes[0].code);
    for (size_t k = 0; k < n; k++)
        first = is_black(codes[k].code) ? k : first;
    MUST(begin_labels(plan, err));
    for (size_t k = 0; k < n; k++) {
        const size_t index = k == 0 ? first : k <= first ? k - 1 : k; /* moves codes[first] before the others */
        const uint32_t code = codes[index].code;
        const bool is_background = k == 0 && (is_black(code) || (n == 2 && names_two));
        const char *given = is_background ? "background" : n == 2 && names_two ? "foreground" : name_of(name, code);
        const int32_t colour = code & CODE_COLOUR ? (int32_t)(code & 0xffffff) : -1;
        add_rule(plan, code, add_label(plan, given, colour));
    }
    return CLV_OK;
}

/* Makes a label of each value or colour in the masks that are not rough. */
static enum clv_status plan_as_found(struct mask_plan *plan, const struct mask_survey *survey, int white,
                                     struct clv_error *err)
{
    struct code_count codes[MASK_MAX_LABELS + 1];
    const struct code_count *found = survey->codes[plan->shows];
    size_t n = 0, n_others = 0;
    bool has_white = false;
    for (size_t k = 0; k < survey->n_codes[plan->shows]; k++) {
        const uint32_t code = found[k].code;
        if (code == CODE_CLEAR || (!plan->shows && code & CODE_COLOUR))
            continue;
        has_white |= code == CLV_VOID;
        n_others += code != 0 && code != CLV_VOID;
        if (n <= MASK_MAX_LABELS)
            codes[n++] = found[k];
    }
    const bool is_odd = has_white && n_others; /* 255 with values other than 0 */
    if (is_odd && white != WHITE_LABEL) {
        size_t at = 0;
        while (at + 1 < n && codes[at].code != CLV_VOID)
            at++;
        memmove(codes + at, codes + at + 1, (--n - at) * sizeof *codes);
    }
    FAIL_IF(n < 2 && is_odd, CLV_ERR_DATA, "the masks hold one value beside 255, %u", n ? codes[0].code : 0);
    if (n == 1 && codes[0].code != 0 && is_found(survey, plan->shows, CODE_CLEAR)) { /* one colour, cut out */
        codes[1] = codes[0];
        codes[0] = (struct code_count){plan->shows ? CODE_COLOUR : 0, 0};
        n = 2;
    }
    FAIL_IF(n < 2, CLV_ERR_DATA, "the masks hold one %s alone", plan->shows ? "colour" : "value");
    MUST(plan_codes(plan, codes, n, !plan->shows || is_black(codes[0].code), err));
    plan->is_white_void = is_odd && white == WHITE_AS_FOUND;
    if (is_odd && white != WHITE_LABEL)
        add_rule(plan, CLV_VOID, white == WHITE_FOREGROUND ? 1 : CLV_VOID);
    choose_tolerance(plan, 2 * NOISE);
    return CLV_OK;
}

/* Finds levels: greys of at least 0.5 % of all pixels, such that at least 95 % of the pixels are near one. Writes them
 * in ascending order. Returns their number, 0 if there are none. */
static int find_levels(int levels[MAX_LEVELS], const uint64_t n_pixels[256])
{
    uint64_t n_all = 0, n_off = 0;
    int n = 0, last = 0;
    for (int v = 0; v < 256; v++)
        n_all += n_pixels[v];
    for (int v = 0; v < 256; v++) {
        if (200 * n_pixels[v] < n_all || !n_pixels[v])
            continue;
        const bool is_new = !n || v - last > NOISE;
        if (is_new && n == MAX_LEVELS)
            return 0;
        if (is_new)
            levels[n++] = v;
        else if (n_pixels[v] > n_pixels[levels[n - 1]])
            levels[n - 1] = v;
        last = v;
    }
    for (int v = 0, k = 0; v < 256 && n; v++) {
        k += k + 1 < n && 2 * v > levels[k] + levels[k + 1];
        n_off += abs(v - levels[k]) > NOISE ? n_pixels[v] : 0;
    }
    return 20 * n_off <= n_all ? n : 0;
}

/* Whether at least three quarters of the pixels are near black or white, as with soft edges or probabilities. */
static bool has_soft_edges(const uint64_t n_pixels[256])
{
    uint64_t n_between = 0, n_ends = 0;
    for (int v = 0; v < 256; v++)
        *(v <= NOISE || v >= 255 - NOISE ? &n_ends : &n_between) += n_pixels[v];
    return n_pixels[0] && n_pixels[255] && 3 * n_between <= n_ends;
}

/* Whether each level has more than 3 greys around it, as JPEG's noise makes them. */
static bool are_noisy(const uint64_t n_pixels[256], const int *levels, int n)
{
    int least = 255;
    for (int k = 0; k < n; k++) {
        int n_near = 0;
        for (int v = 0; v < 256; v++)
            n_near += n_pixels[v] && abs(v - levels[k]) <= NOISE;
        least = n_near < least ? n_near : least;
    }
    return least > 3;
}

static enum clv_status plan_levels(struct mask_plan *plan, const int *levels, int n, const uint64_t n_pixels[256],
                                   struct clv_error *err)
{
    struct code_count codes[MAX_LEVELS];
    for (int k = 0; k < n; k++)
        codes[k] = (struct code_count){.code = (uint32_t)levels[k]};
    for (int v = 0, k = 0; v < 256; v++) {
        k += k + 1 < n && 2 * v > levels[k] + levels[k + 1];
        codes[k].n_pixels += n_pixels[v];
    }
    MUST(plan_codes(plan, codes, (size_t)n, true, err));
    plan->is_nearest = true;
    choose_tolerance(plan, 2 * NOISE);
    if (n == 2)
        plan->tolerance = 256; /* every grey gets the nearer level */
    return CLV_OK;
}

/* Rounds a channel to a usual level if it is within 8 of it, to undo the noise of JPEG. */
static uint32_t snap(double value)
{
    static const int usual[] = {0, 64, 128, 192, 255};
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        if (fabs(value - usual[k]) <= 8)
            return (uint32_t)usual[k];
    return (uint32_t)(value + 0.5);
}

/* Makes labels of the colours of rough masks: picks bins with at least 0.5 % of the pixels, the most frequent first,
 * whose colours are farther than FAR from those picked before. */
static enum clv_status plan_blurred_colours(struct mask_plan *plan, const struct mask_survey *survey,
                                            struct clv_error *err)
{
    struct code_count codes[MASK_MAX_LABELS];
    size_t n = 0;
    double n_all = 0, n_near = 0;
    for (size_t b = 0; b < MASK_BINS; b++)
        n_all += survey->bins[b][0];
    for (bool goes_on = true; goes_on && n < MASK_MAX_LABELS;) {
        const double *best = NULL;
        uint32_t best_code = 0;
        for (size_t b = 0; b < MASK_BINS; b++) {
            const double *bin = survey->bins[b];
            if (200 * bin[0] < n_all || (best && bin[0] <= best[0]))
                continue;
            const uint32_t code =
                CODE_COLOUR | snap(bin[1] / bin[0]) << 16 | snap(bin[2] / bin[0]) << 8 | snap(bin[3] / bin[0]);
            size_t k = 0;
            while (k < n && mask_code_distance(codes[k].code, code) > FAR)
                k++;
            if (k == n) {
                best = bin;
                best_code = code;
            }
        }
        goes_on = best != NULL;
        if (best)
            codes[n++] = (struct code_count){best_code, (uint64_t)best[0]};
    }
    for (size_t b = 0; b < MASK_BINS; b++) {
        const uint32_t code = CODE_COLOUR | (uint32_t)(b >> 10 << 19 | (b >> 5 & 31) << 11 | (b & 31) << 3) | 0x040404;
        size_t k = 0;
        while (k < n && mask_code_distance(codes[k].code, code) > FAR)
            k++;
        n_near += k < n ? survey->bins[b][0] : 0;
    }
    FAIL_IF(n < 2 || n == MASK_MAX_LABELS || 10 * n_near < 9 * n_all, CLV_ERR_DATA,
            "more than %d colours are not labels: photographs, or smooth edges?", MASK_MAX_LABELS);
    for (size_t k = 1; k < n; k++) /* sorts the codes for plan_codes */
        for (size_t i = k; i && codes[i - 1].code > codes[i].code; i--) {
            const struct code_count other = codes[i];
            codes[i] = codes[i - 1];
            codes[i - 1] = other;
        }
    MUST(plan_codes(plan, codes, n, is_black(codes[0].code), err));
    choose_tolerance(plan, FAR);
    plan->is_nearest = survey->n_lossy > 0;
    return CLV_OK;
}

static enum clv_status plan_by_content(struct mask_plan *plan, const struct mask_survey *survey,
                                       const struct mask_options *options, struct clv_error *err)
{
    int levels[MAX_LEVELS];
    size_t n_codes = 0, n_clear = 0;
    for (size_t k = 0; k < survey->n_codes[plan->shows]; k++)
        n_codes += plan->shows || !(survey->codes[0][k].code & CODE_COLOUR);
    for (size_t i = 0; i < survey->n; i++)
        n_clear += survey->facts[i].has_clear;
    const bool are_few = n_codes <= MASK_MAX_LABELS && 2 * survey->n_rough <= survey->n_read;
    const bool may_be_objects = 2 * survey->n_objects > survey->n_read;
    if (options->as == MASKS_AS_OBJECTS || (options->as == MASKS_AS_FOUND && may_be_objects && !are_few))
        return plan_objects(plan, err);
    if (n_clear == survey->n_read && 2 * survey->n_rough > survey->n_read)
        return plan_cutouts(plan, err);
    const int n = plan->shows ? 0 : find_levels(levels, survey->levels);
    const bool is_noise = n > 1 && are_noisy(survey->levels, levels, n) && !survey->has_fine_steps;
    if (are_few && !is_noise) {
        plan->may_be_objects = may_be_objects && options->as == MASKS_AS_FOUND;
        return plan_as_found(plan, survey, options->white, err);
    }
    if (plan->shows && survey->bins)
        return plan_blurred_colours(plan, survey, err);
    FAIL_IF(survey->has_fine_steps, CLV_ERR_DATA,
            "JPEG has mixed labels that are next to each other: save the masks as PNG where they were drawn");
    if (has_soft_edges(survey->levels) && n <= 2)
        return plan_levels(plan, (const int[]){0, 255}, 2, survey->levels, err);
    if (n > 1)
        return plan_levels(plan, levels, n, survey->levels, err);
    return fail(err, CLV_ERR_DATA, "more than %d values are not labels: photographs, or smooth edges?",
                MASK_MAX_LABELS);
}

enum clv_status mask_plan_make(struct mask_plan *plan, const struct mask_survey *survey,
                               const struct mask_options *options, struct clv_error *err)
{
    OWNED(mask_plan_release) struct mask_plan result = {.stretches = options->stretches};
    FAIL_IF(!survey->n_read, CLV_ERR_DATA, "none of the masks can be read");
    result.turns = survey->n_turned && !survey->n_upright;
    result.shows = 2 * survey->n_coloured > survey->n_read || (survey->n_coloured && survey->has_palettes) ||
                   survey->palettes_disagree;
    const bool takes_table = !options->labels && options->as != MASKS_AS_OBJECTS;
    result.codes = !takes_table     ? NULL
                   : options->codes ? options->codes
                   : survey->named  ? survey->named
                   : options->table ? options->table
                                    : recognise(survey, result.shows);
    if (result.codes && survey->has_palettes && !is_found(survey, true, CODE_CLEAR)) {
        bool has_values = false; /* for tables with colours only (CamVid), use the colours of palettes */
        for (size_t i = 0; i < result.codes->n_rows; i++)
            has_values |= result.codes->rows[i].value >= 0;
        result.shows |= !has_values;
    }
    MUST(options->labels && options->as != MASKS_AS_OBJECTS ? plan_by_labels(&result, survey, options->labels, err)
         : result.codes                                     ? plan_by_table(&result, survey, result.codes, err)
                                                            : plan_by_content(&result, survey, options, err));
    clear_as_black(&result);
    *plan = TAKE(result);
    return CLV_OK;
}

static void put_code(struct text *text, uint32_t code)
{
    if (code & CODE_COLOUR)
        text_printf(text, "#%06x", code & 0xffffff);
    else
        text_printf(text, "%u", code);
}

void mask_plan_describe(struct text *text, const struct mask_plan *plan, const struct mask_survey *survey)
{
    size_t n = 0, n_put = 0;
    for (size_t k = 0; k < plan->n_rules; k++)
        n += plan->rules[k].value != CLV_VOID && plan->rules[k].code != CODE_CLEAR;
    if (plan->are_objects)
        text_put(text, "each number an object of one label");
    else if (plan->are_cutouts)
        text_put(text, "what is opaque foreground");
    else if (plan->is_by_labels && !plan->has_order)
        text_put(text, "labels by labels.tsv, and void of what it does not name");
    else if (plan->codes)
        text_printf(text, "labels by the codes of %s", plan->codes->title);
    else if (plan->labels.from_file && n > MAX_LEVELS)
        text_printf(text, "labels of %zu %s", n, plan->shows ? "colours" : "values");
    else {
        text_printf(text, "labels of %s", plan->is_nearest ? "what is near " : "");
        for (size_t k = 0; k < plan->n_rules; k++) {
            if (plan->rules[k].value == CLV_VOID || plan->rules[k].code == CODE_CLEAR)
                continue;
            text_put(text, !n_put ? "" : n_put + 1 < n ? ", " : " and ");
            put_code(text, plan->rules[k].code);
            n_put++;
        }
        text_put(text, plan->is_white_void ? ", and void of 255" : "");
    }
    if (survey->factor > 1 || survey->factor < 0)
        text_printf(text, ", of masks %d times as %s as their images", abs(survey->factor),
                    survey->factor > 0 ? "small" : "large");
    if (survey->n_turned)
        text_put(text, ", and turns masks as EXIF turns their images");
}
