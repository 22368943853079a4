#include "cleave/status.h"

const char *clv_version(void)
{
    return CLEAVE_VERSION;
}

int clv_has_bk(void)
{
    return WITH_BK;
}
