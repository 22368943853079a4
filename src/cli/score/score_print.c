/* Prints the scores of a set as text, JSON or CSV. Start at score_print_text. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/score/score_set.h"
#include "data/data.h"

#define JSON_MAX ((size_t)1 << 30)
#define CSV_MAX  ((size_t)1 << 34)

/* Mean of one double over the images. struct scored_image is traversed as an array of doubles, so its members have the
 * size of one. */
#define MEAN(score, field, mean, error)                                                                                \
    mean_over_images(mean, error, &(score)->images[0].field, (score)->inputs->n,                                       \
                     sizeof(struct scored_image) / sizeof(double))

static bool is_void(const struct clv_labels *labels, int32_t label)
{
    return labels->is_void[label];
}

static double mean_iou_of_label(const struct set_score *score, int32_t label)
{
    double mean, error;
    size_t n_labels = (size_t)score->labels->n_labels;
    mean_over_images(&mean, &error, score->iou + label, score->inputs->n, n_labels);
    return mean;
}

/* The type of clv_confusion_class_accuracy and clv_confusion_iou. */
typedef double class_measure(const struct clv_confusion *confusion, int32_t label);

/* Returns the mean of a measure over the labels for which it is defined. */
static double mean_over_classes(const struct clv_confusion *confusion, const struct clv_labels *labels,
                                class_measure *measure)
{
    double sum = 0;
    int32_t n = 0;
    for (int32_t label = 0; label < labels->n_labels; label++) {
        double value = is_void(labels, label) ? NAN : measure(confusion, label);
        if (!isnan(value)) {
            sum += value;
            n++;
        }
    }
    return n ? sum / n : NAN;
}

/* Formats a number in a buffer; returns "-" for NaN. */
static const char *shown(char buffer[32], double value, double scale, int digits)
{
    if (isnan(value))
        return "-";
    snprintf(buffer, 32, "%.*f", digits, scale * value);
    return buffer;
}

static void print_measures(const char *title, double weighted, double weighted_error, double hamming, double iou)
{
    char a[32], b[32], c[32], d[32];
    printf("%-14s %18s %15s %10s %9s\n", title, shown(a, weighted, 100, 2), shown(b, weighted_error, 100, 2),
           shown(c, hamming, 100, 2), shown(d, iou, 1, 4));
}

/* Prints the measures of the labels that occur, with the accuracy of their patches or superpixels if these were
 * scored. */
static void print_labels(const struct set_score *score)
{
    char a[32], b[32], c[32];
    const char *node_title = !score->has_superpixels ? ""
                             : score->has_patches    ? "  of patches %"
                                                     : "  of superpixels %";
    printf("\nlabel                 mean IoU  accuracy %%%s\n", node_title);
    for (int32_t label = 0; label < score->labels->n_labels; label++) {
        double accuracy = clv_confusion_class_accuracy(&score->confusion, label);
        double label_iou = mean_iou_of_label(score, label);
        if (is_void(score->labels, label) || (isnan(label_iou) && isnan(accuracy)))
            continue;
        printf("%3d %-16s %9s %11s", label, score->labels->names[label], shown(a, label_iou, 1, 4),
               shown(b, accuracy, 100, 2));
        if (score->has_superpixels)
            printf(" %*s", (int)strlen(node_title) - 1,
                   shown(c, clv_confusion_class_accuracy(&score->nodes, label), 100, 2));
        printf("\n");
    }
}

static void print_totals(const char *what, const struct clv_confusion *confusion, const struct clv_labels *labels)
{
    char a[32], b[32], c[32];
    printf("%s accuracy %s %%, mean over labels %s %%; mean IoU with background %s\n", what,
           shown(a, 1 - clv_confusion_score(confusion).hamming, 100, 2),
           shown(b, mean_over_classes(confusion, labels, clv_confusion_class_accuracy), 100, 2),
           shown(c, mean_over_classes(confusion, labels, clv_confusion_iou), 1, 4));
}

static struct object_counts objects_of_all(const struct set_score *score)
{
    struct object_counts all = {0};
    for (size_t i = 0; i < score->inputs->n; i++) {
        const struct object_counts *counts = &score->images[i].objects;
        all.n_true += counts->n_true;
        all.n_found += counts->n_found;
        for (int t = 0; t < OBJECT_THRESHOLDS; t++)
            all.hits[t] += counts->hits[t];
    }
    return all;
}

static void print_sequences(const struct set_score *score)
{
    char a[32], b[32], j[32];
    printf("\nsequence                    frames  mean J  flicker %%  of the truth %%\n");
    for (size_t k = 0; k < score->n_sequences; k++) {
        const struct scored_sequence *sequence = &score->sequences[k];
        printf("%-26.60s %7zu %7s %10s %15s\n", sequence->name, sequence->n_frames, shown(j, sequence->mean_j, 1, 4),
               shown(a, sequence->flicker, 100, 2), shown(b, sequence->truth_flicker, 100, 2));
    }
    printf("mean over %-16zu %15s\n", score->n_sequences, shown(j, score->mean_j, 1, 4));
}

void score_print_text(const struct set_score *score, bool per_image)
{
    double weighted, weighted_error, hamming, iou, error;
    char a[32], b[32], c[32];
    if (per_image) {
        printf("weighted Hamming %%  Hamming %%  mean IoU  image\n");
        for (size_t i = 0; i < score->inputs->n; i++) {
            const struct clv_image_score *pixel = &score->images[i].pixel;
            printf("%18s %10s %9s  ", shown(a, pixel->weighted_hamming, 100, 2), shown(b, pixel->hamming, 100, 2),
                   shown(c, pixel->mean_iou, 1, 4));
            put_field(stdout, score->inputs->items[i].name);
            printf("\n");
        }
        printf("\n");
    }
    printf("%-14s weighted Hamming %%  standard error  Hamming %%  mean IoU\n", "");
    MEAN(score, pixel.weighted_hamming, &weighted, &weighted_error);
    MEAN(score, pixel.hamming, &hamming, &error);
    MEAN(score, pixel.mean_iou, &iou, &error);
    print_measures("per pixel", weighted, weighted_error, hamming, iou);
    if (score->has_superpixels) {
        MEAN(score, superpixel.weighted_hamming, &weighted, &weighted_error);
        MEAN(score, superpixel.hamming, &hamming, &error);
        MEAN(score, superpixel.mean_iou, &iou, &error);
        print_measures(score->has_patches ? "per patch" : "per superpixel", weighted, weighted_error, hamming, iou);
    }
    if (score->has_objects) {
        struct object_counts all = objects_of_all(score);
        MEAN(score, f1, &weighted, &weighted_error);
        MEAN(score, mean_precision, &iou, &error);
        printf("objects        F1 at IoU 0.5 %s, of all images together %.4f; mean precision over IoU 0.5:0.95 %s; "
               "%" PRId64 " true, %" PRId64 " found\n",
               shown(a, weighted, 1, 4), object_f1(&all), shown(b, iou, 1, 4), all.n_true, all.n_found);
    }
    print_labels(score);
    if (score->n_sequences)
        print_sequences(score);
    printf("\n%s; ", n_of(score->inputs->n, "image", "images").text);
    print_totals("pixel", &score->confusion, score->labels);
    if (score->has_superpixels)
        print_totals(score->has_patches ? "patch" : "superpixel", &score->nodes, score->labels);
}

static void put_csv_number(struct text *text, double value)
{
    text_put(text, ",");
    if (!isnan(value))
        text_put_json_number(text, value);
}

/* Writes a CSV field by RFC 4180. */
static void put_csv_string(struct text *text, const char *string)
{
    text_put(text, "\"");
    for (; *string; string++) {
        text_append(text, string, 1);
        if (*string == '"')
            text_put(text, "\"");
    }
    text_put(text, "\"");
}

enum clv_status score_print_csv(const struct set_score *score, struct clv_error *err)
{
    int32_t n_labels = score->labels->n_labels;
    struct text text;
    text_init(&text, CSV_MAX);
    text_put(&text, "image,pixels,weighted_hamming,hamming,mean_iou");
    if (score->has_superpixels)
        text_put(&text, ",superpixel_weighted_hamming,superpixel_hamming,superpixel_mean_iou");
    for (int32_t label = 0; label < n_labels; label++)
        if (!is_void(score->labels, label))
            text_printf(&text, ",iou_%d", label);
    text_put(&text, "\n");
    for (size_t i = 0; i < score->inputs->n; i++) {
        const struct scored_image *image = &score->images[i];
        put_csv_string(&text, score->inputs->items[i].name);
        put_csv_number(&text, (double)image->pixel.n_pixels);
        put_csv_number(&text, image->pixel.weighted_hamming);
        put_csv_number(&text, image->pixel.hamming);
        put_csv_number(&text, image->pixel.mean_iou);
        if (score->has_superpixels) {
            put_csv_number(&text, image->superpixel.weighted_hamming);
            put_csv_number(&text, image->superpixel.hamming);
            put_csv_number(&text, image->superpixel.mean_iou);
        }
        for (int32_t label = 0; label < n_labels; label++)
            if (!is_void(score->labels, label))
                put_csv_number(&text, score->iou[i * (size_t)n_labels + (size_t)label]);
        text_put(&text, "\n");
    }
    return console_output(&text, err);
}

static void put_image_fields(struct text *text, const struct clv_image_score *image)
{
    json_put_number(text, "weighted_hamming", image->weighted_hamming);
    json_put_number(text, "hamming", image->hamming);
    json_put_number(text, "mean_iou", image->mean_iou);
}

static void put_means(struct text *text, const struct set_score *score)
{
    double mean, error, ignored;
    MEAN(score, pixel.weighted_hamming, &mean, &error);
    json_put_number(text, "weighted_hamming", mean);
    json_put_number(text, "weighted_hamming_standard_error", error);
    MEAN(score, pixel.hamming, &mean, &ignored);
    json_put_number(text, "hamming", mean);
    text_put(text, ",\"iou\":{");
    for (int32_t label = 0; label < score->labels->n_labels; label++) {
        char number[16];
        double iou = mean_iou_of_label(score, label);
        snprintf(number, sizeof number, "%d", label);
        if (!is_void(score->labels, label) && !isnan(iou))
            json_put_number(text, number, iou);
    }
    text_put(text, "}");
    MEAN(score, pixel.mean_iou, &mean, &ignored);
    json_put_number(text, "mean_iou", mean);
}

static void put_classes(struct text *text, const char *name, const char *mean_name,
                        const struct clv_confusion *confusion, const struct clv_labels *labels, class_measure *measure)
{
    text_printf(text, ",\"%s\":{", name);
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (labels_have(labels, label))
            json_put_number(text, labels->names[label], measure(confusion, label));
    text_put(text, "}");
    json_put_number(text, mean_name, mean_over_classes(confusion, labels, measure));
}

/* Appends accuracies over all pixels, or nodes, of the set. */
static void put_accuracies(struct text *text, const struct clv_confusion *confusion, const struct clv_labels *labels)
{
    json_put_number(text, "accuracy", 1 - clv_confusion_score(confusion).hamming);
    put_classes(text, "class_accuracy", "mean_class_accuracy", confusion, labels, clv_confusion_class_accuracy);
    put_classes(text, "class_iou", "mean_class_iou", confusion, labels, clv_confusion_iou);
}

enum clv_status score_print_json(const struct set_score *score, bool per_image, struct clv_error *err)
{
    struct text text;
    text_init(&text, JSON_MAX);
    text_put(&text, "{");
    json_put_number(&text, "images", (double)score->inputs->n);
    put_means(&text, score);
    json_put_number(&text, "pixels", (double)clv_confusion_score(&score->confusion).n_pixels);
    put_accuracies(&text, &score->confusion, score->labels);
    if (score->has_objects) {
        struct object_counts all = objects_of_all(score);
        double mean, ignored;
        text_put(&text, ",\"objects\":{");
        json_put_number(&text, "true", (double)all.n_true);
        json_put_number(&text, "found", (double)all.n_found);
        json_put_number(&text, "f1_of_all", object_f1(&all));
        MEAN(score, f1, &mean, &ignored);
        json_put_number(&text, "f1", mean);
        MEAN(score, mean_precision, &mean, &ignored);
        json_put_number(&text, "mean_precision", mean);
        text_put(&text, "}");
    }
    if (score->has_superpixels) {
        struct clv_image_score means = {0};
        double ignored;
        MEAN(score, superpixel.weighted_hamming, &means.weighted_hamming, &ignored);
        MEAN(score, superpixel.hamming, &means.hamming, &ignored);
        MEAN(score, superpixel.mean_iou, &means.mean_iou, &ignored);
        text_put(&text, score->has_patches ? ",\"patch\":{" : ",\"superpixel\":{");
        put_image_fields(&text, &means);
        put_accuracies(&text, &score->nodes, score->labels);
        text_put(&text, "}");
    }
    if (score->n_sequences) {
        json_put_number(&text, "mean_j", score->mean_j);
        text_put(&text, ",\"sequences\":{");
    }
    for (size_t k = 0; k < score->n_sequences; k++) {
        const struct scored_sequence *sequence = &score->sequences[k];
        text_put(&text, k ? "," : "");
        text_put_json(&text, sequence->name);
        text_put(&text, ":{");
        json_put_number(&text, "frames", (double)sequence->n_frames);
        json_put_number(&text, "mean_j", sequence->mean_j);
        json_put_number(&text, "flicker", sequence->flicker);
        json_put_number(&text, "truth_flicker", sequence->truth_flicker);
        text_put(&text, k + 1 < score->n_sequences ? "}" : "}}");
    }
    if (per_image) {
        text_put(&text, ",\"per_image\":[");
        for (size_t i = 0; i < score->inputs->n; i++) {
            text_put(&text, i ? ",{\"image\":" : "{\"image\":");
            text_put_json(&text, score->inputs->items[i].name);
            put_image_fields(&text, &score->images[i].pixel);
            if (score->has_objects && !isnan(score->images[i].f1)) {
                json_put_number(&text, "f1", score->images[i].f1);
                json_put_number(&text, "mean_precision", score->images[i].mean_precision);
            }
            text_put(&text, "}");
        }
        text_put(&text, "]");
    }
    text_put(&text, "}\n");
    return console_output(&text, err);
}
