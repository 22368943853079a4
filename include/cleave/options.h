/* Options by name: rows with the offset of a member in a struct of options, and the allowed values. */
#ifndef CLEAVE_OPTIONS_H
#define CLEAVE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of an option: the type of its member, and how its text is parsed. */
enum clv_option_kind {
    CLV_OPTION_FLAG,        /* bool: true, without a value */
    CLV_OPTION_SET,         /* int: becomes `minimum`, without a value */
    CLV_OPTION_TEXT,        /* const char *: the typed text, which must stay in memory */
    CLV_OPTION_INT,         /* int32_t from minimum to maximum */
    CLV_OPTION_UINT64,      /* uint64_t from minimum on */
    CLV_OPTION_NUMBER,      /* double from minimum to maximum */
    CLV_OPTION_MEMORY,      /* double: bytes, as 800M or 2.5G */
    CLV_OPTION_CHOICE,      /* int: the index in `choices` */
    CLV_OPTION_AUTO_CHOICE, /* int: the index minus 1, since the first choice is CLV_AUTO */
    CLV_OPTION_EITHER,      /* bool: false for the first of two choices, true for the second */
    CLV_OPTION_OTHER,       /* set by `take` */
};
enum clv_option_flags {
    CLV_OPTION_NEEDED = 1,     /* the command cannot run without it */
    CLV_OPTION_BASIC = 2,      /* in the short help */
    CLV_OPTION_AGAIN = 4,      /* may be given several times */
    CLV_OPTION_UNRECORDED = 8, /* results do not depend on it */
    CLV_OPTION_HIDDEN = 16,    /* not in the help */
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
    size_t size; /* bytes of the member of CLV_OPTION_OTHER; 0: no rule needs to know whether it was set */
};

/* Treatment of existing outputs: end with an error, replace them, or keep the finished ones. */
enum clv_existing { CLV_EXISTING_REFUSE, CLV_EXISTING_OVERWRITE, CLV_EXISTING_RESUME };

/* One of n equal parts of a list of inputs: number 1..count; count 0: the whole list. */
struct clv_shard {
    int32_t number, count;
};

/* Sets an option's member in *options, the struct that its table describes, from the text of its value (NULL for an
 * option without a value). CLV_ERR_USAGE names the option and its allowed values; *options is then unchanged. */
CLV_API enum clv_status clv_option_set(void *options, const struct clv_option *option, const char *typed,
                                       struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
