/* The table of boxes that the page keeps. */
#include <unistd.h>

#include "page/page.h"
#include "page/small_page.h"
#include "support/requests.h"

TEST(a_table_stays_as_it_is_when_memory_runs_out)
{
    static const char old[] = "image\tlabel\tx\ty\tw\th\na.png\tcow\t1\t2\t3\t4\n";
    const struct page_box boxes[] = {{.label = "horse", .bounds = {5, 6, 12, 14}}};
    const char *path = here("boxes.tsv");
    spill(path, old, strlen(old));
    OWNED_ARRAY char *now = NULL;
    must_keep_when_requests_fail(page_boxes_replace(path, true, "b.png", boxes, 1, err), {
        now = slurp(path, NULL);
        ck_assert_str_eq(now, old);
        free(now);
    });
    now = slurp(path, NULL);
    ck_assert_str_eq(now, formatted("%sb.png\thorse\t5\t6\t7\t8\n", old));
}

/* A table's head of so many columns, the last ones what a row needs. */
static const char *head_of(int n_columns)
{
    static char head[4096];
    char *at = head;
    for (int k = 6; k < n_columns; k++)
        at += sprintf(at, "more%d\t", k);
    strcpy(at, "y\tx\th\tw\tlabel\timage\n");
    return head;
}

TEST(a_table_has_at_most_64_columns)
{
    const char *path = here("boxes.tsv");
    const struct page_box box = {.label = "horse", .bounds = {5, 6, 12, 15}};
    char row[4096];
    spill(path, head_of(64), strlen(head_of(64)));
    must(page_boxes_check(path, true, err));
    must(page_boxes_replace(path, true, "b.png", &box, 1, err));
    for (int k = 0; k < 2; k++) { /* replaced by itself */
        must(page_boxes_replace(path, true, "b.png", &box, 1, err));
        OWNED_ARRAY char *now = slurp(path, NULL);
        memset(row, '\t', 58);
        strcpy(row + 58, "6\t5\t9\t7\thorse\tb.png\n");
        ck_assert_str_eq(now, formatted("%s%s", head_of(64), row));
    }
    spill(path, head_of(65), strlen(head_of(65)));
    must_fail(CLV_ERR_DATA, "65 columns, the limit is 64", page_boxes_check(path, true, err));
    must_fail(CLV_ERR_DATA, "65 columns, the limit is 64", page_boxes_replace(path, true, "b.png", &box, 1, err));
}

TEST(every_column_of_a_box_is_needed)
{
    static const char *const names[] = {"image", "label", "x", "y", "w", "h"};
    const char *path = here("boxes.tsv");
    for (int without = 0; without < 6; without++) {
        char head[64] = "";
        for (int k = 0; k < 6; k++)
            if (k != without)
                strcat(strcat(head, names[k]), "\t");
        strcat(head, "more\n");
        spill(path, head, strlen(head));
        must_fail(CLV_ERR_DATA, formatted("no column \"%s\"", names[without]), page_boxes_check(path, true, err));
    }
    spill(path, "\xef\xbb\xbf", 3); /* a byte order mark alone */
    must_fail(CLV_ERR_DATA, "is empty", page_boxes_check(path, true, err));
    unlink(path);
    must(page_boxes_check(path, true, err)); /* a new one */
}

TEST(boxes_are_added_to_a_table_of_corners_without_labels)
{
    static const char old[] = "filename\twidth\theight\txmin\tymin\txmax\tymax\na.png\t99\t99\t1\t2\t3\t4\n";
    const struct page_box box = {.label = "foreground", .bounds = {5, 12, 6, 15}};
    const char *path = here("boxes.tsv");
    spill(path, old, strlen(old));
    must(page_boxes_check(path, false, err));
    must(page_boxes_replace(path, false, "b.png", &box, 1, err));
    must(page_boxes_rename(path, "foreground", "horse", err));
    OWNED_ARRAY char *now = slurp(path, NULL);
    ck_assert_str_eq(now, formatted("%sb.png\t\t\t%d\t%d\t%d\t%d\n", old, box.bounds.first_x, box.bounds.first_y,
                                    box.bounds.end_x, box.bounds.end_y));
    must_fail(CLV_ERR_DATA, "no column \"label\" in its header (columns are separated by tabs); new boxes",
              page_boxes_check(path, true, err));
    run_here("printf 'image,x,y,w,h\\n' >boxes.tsv");
    must_fail(CLV_ERR_DATA, "cannot be saved there: call the file otherwise", page_boxes_check(path, false, err));
    run_here("printf 'ImageID\\tXMin\\tYMin\\tXMax\\tYMax\\n' >boxes.tsv");
    must_fail(CLV_ERR_DATA, "shares of the images' sides, no pixels; new boxes of this folder cannot be saved there",
              page_boxes_check(path, false, err));
}
