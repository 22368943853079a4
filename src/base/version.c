/* Returns the version of the library, and whether it was built with the max-flow code of Boykov and Kolmogorov. */
#include "cleave/version.h"

#define TEXT_OF(number) TEXT(number)
#define TEXT(number)    #number

const char *clv_version(void)
{
    return "cleave " TEXT_OF(CLV_VERSION_MAJOR) "." TEXT_OF(CLV_VERSION_MINOR) "." TEXT_OF(CLV_VERSION_PATCH);
}

int clv_version_number(void)
{
    return CLV_VERSION_NUMBER;
}

bool clv_has_bk(void)
{
    return WITH_BK;
}
