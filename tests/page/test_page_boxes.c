/* The table of boxes that the page keeps. */
#include "page/page_boxes.h"
#include "page/small_page.h"
#include "support/requests.h"

TEST(a_table_stays_as_it_is_when_memory_runs_out)
{
    static const char old[] = "image\tlabel\tx\ty\tw\th\na.png\tcow\t1\t2\t3\t4\n";
    const struct page_box boxes[] = {{.label = "horse", .place = {5, 6, 12, 14}}};
    const char *path = formatted("%s/boxes.tsv", temporary_folder());
    spill(path, old, strlen(old));
    char *now = NULL;
    must_keep_when_requests_fail(page_boxes_replace(path, "b.png", boxes, 1, err), {
        now = slurp(path, NULL);
        ck_assert_str_eq(now, old);
        free(now);
    });
    now = slurp(path, NULL);
    ck_assert_str_eq(now, formatted("%sb.png\thorse\t5\t6\t7\t8\n", old));
    free(now);
}
