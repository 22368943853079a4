#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "support/support.h"

TEST(values_are_read_by_type_in_the_order_of_the_file)
{
    const char *text = "{\"z\": 1, \"a\": [2, 2.5, \"x\", {}], \"m\": null}";
    OWNED(json_drop) struct json_value *root = NULL;
    must(json_parse(&root, text, strlen(text), "t", err));
    size_t n;
    ck_assert(json_get_object(root, &n) && n == 3);
    char keys[8] = "";
    const struct json_value *value;
    for (const char *key = NULL; (key = json_next_member(&value, root, key));)
        strcat(keys, key);
    ck_assert_str_eq(keys, "zam");

    int64_t integer = 0;
    double number = 0;
    const char *string;
    ck_assert(json_get_int64(json_member(root, "z"), &integer) && integer == 1);
    ck_assert(json_get_double(json_member(root, "z"), &number) && number == 1);
    const struct json_value *array = json_member(root, "a");
    ck_assert(json_get_array(array, &n) && n == 4);
    ck_assert(!json_get_int64(json_element(array, 1), &integer) && integer == 1);
    ck_assert(json_get_double(json_element(array, 1), &number) && number == 2.5);
    ck_assert(json_get_text(json_element(array, 2), &string) && strcmp(string, "x") == 0);
    ck_assert(json_get_object(json_element(array, 3), &n) && n == 0);

    /* what is absent, or of another type, gives no value rather than a crash */
    ck_assert_ptr_null(json_element(array, 4));
    ck_assert_ptr_null(json_element(root, 0));
    ck_assert_ptr_null(json_member(array, "z"));
    ck_assert_ptr_null(json_member(root, "zz"));
    ck_assert(!json_get_text(NULL, &string) && !json_get_array(NULL, &n) && !json_get_object(NULL, &n));
    ck_assert(!json_get_double(json_member(root, "m"), &number) && !json_get_int64(NULL, &integer));
    ck_assert(json_is_missing(NULL) && json_is_missing(json_member(root, "m")) && !json_is_missing(array));
    ck_assert_ptr_null(json_next_member(&value, array, NULL));
    json_root_free(NULL);
}

TEST(bad_json_is_refused_with_its_place)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "file.json: bad JSON in line 1"},
        {"{\"a\": 1,\n \"a\": 2}", "line 2, column 4: duplicate"},
        {"{} x", "end of file expected"},
        {"5", "expected near '5'"},
        {"{\"a\": \"\\u0000\"}", "u0000"},
        {"{\"a\": 1e999}", "overflow"},
        {"{\"a\": 99999999999999999999}", "too big"},
        {"{\"a\": nan}", "invalid token"},
        {"{\"a\": \"\xff\"}", "0xff"},
        {"{'a': 1}", "bad JSON"},
        {"{\"a\": [1, 2", "']' expected"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json_value *root = (struct json_value *)1;
        must_fail(CLV_ERR_DATA, bad[i].part, json_parse(&root, bad[i].text, strlen(bad[i].text), "file.json", err));
        ck_assert_ptr_null(root);
    }
}

TEST(deep_nesting_is_refused_before_it_recurses)
{
    char text[200001];
    OWNED(json_drop) struct json_value *root = NULL;
    memset(text, '[', 100000);
    memset(text + 100000, ']', 100000);
    must_fail(CLV_ERR_DATA, "deeper than 32", json_parse(&root, text, 200000, "t", err));
    must(json_parse(&root, text + 100000 - 32, 64, "t", err));
    json_root_free(root);
    const char *quoted = "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[\"]"; /* brackets in strings do not nest */
    must(json_parse(&root, quoted, strlen(quoted), "t", err));
}

TEST(a_text_that_memory_does_not_suffice_for_is_refused)
{
    OWNED(json_drop) struct json_value *root = (struct json_value *)1;
    const char *text = "{\"a\": [1, 2, {\"b\": \"c\"}]}";
    array_fail_request(1);
    must_fail(CLV_ERR_MEMORY, "memory", json_parse(&root, text, strlen(text), "t", err));
    ck_assert_ptr_null(root);
    array_fail_request(0);
    must(json_parse(&root, text, strlen(text), "t", err));
}
