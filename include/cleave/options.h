/* Options by name: rows with the position of a value in a struct of options, and the values that are allowed. */
#ifndef CLEAVE_OPTIONS_H
#define CLEAVE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of an option: the type of its member, and how its text is read. */
enum clv_option_kind {
    CLV_OPTION_FLAG,        /* bool: true, without a value */
    CLV_OPTION_SET,         /* int: becomes `minimum`, without a value */
    CLV_OPTION_TEXT,        /* const char *: the typed text, which must stay in memory */
    CLV_OPTION_INT,         /* int32_t from minimum to maximum */
    CLV_OPTION_UINT64,      /* uint64_t from minimum on */
    CLV_OPTION_NUMBER,      /* double from minimum to maximum */
    CLV_OPTION_MEMORY,      /* double: bytes, as 800M or 2.5G */
    CLV_OPTION_CHOICE,      /* int: the index in `choices` */
    CLV_OPTION_AUTO_CHOICE, /* int: that index less 1, since the first choice is CLV_AUTO */
    CLV_OPTION_EITHER,      /* bool: whether it is the second of two choices */
    CLV_OPTION_OTHER,       /* set by `take` */
};
enum clv_option_flags {
    CLV_OPTION_NEEDED = 1,     /* the command cannot run without it */
    CLV_OPTION_BASIC = 2,      /* in the short help */
    CLV_OPTION_AGAIN = 4,      /* may be given several times */
    CLV_OPTION_UNRECORDED = 8, /* results do not depend on it */
    CLV_OPTION_HIDDEN = 16,    /* in no help */
    CLV_OPTION_PLAIN = 32      /* its help already describes its values */
};
struct clv_option {
    const char *name;     /* without dashes; NULL: the end of a table */
    char short_name;      /* 0: none */
    const char *argument; /* name of its value in the help: "N"; NULL: it has no value */
    const char *section;  /* of the help */
    int flags;            /* of enum clv_option_flags */
    enum clv_option_kind kind;
    size_t offset;    /* of the member */
    const char *help; /* the first line is a summary */
    double minimum, maximum;
    const char *const *choices; /* ends with NULL */
    enum clv_status (*take)(void *member, const struct clv_option *option, const char *typed, struct clv_error *err);
    size_t size; /* bytes of the member of CLV_OPTION_OTHER; 0: whether it was set is never asked */
};

/* Treatment of outputs that exist already: refuse to begin, replace them, or keep the finished ones. */
enum clv_existing { CLV_EXISTING_REFUSE, CLV_EXISTING_OVERWRITE, CLV_EXISTING_RESUME };

/* One of n equal parts of a list of inputs: number 1..count; count 0: the whole list. */
struct clv_shard {
    int32_t number, count;
};

/* Sets an option's member of *options, the struct that the table is of, as if the text had been typed after the option;
 * NULL for one without a value. CLV_ERR_USAGE names the option and what it may be; *options is then unchanged. */
CLV_API enum clv_status clv_option_set(void *options, const struct clv_option *option, const char *typed,
                                       struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
