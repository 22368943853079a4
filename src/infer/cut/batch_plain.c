/* The batch solver in plain C, for any machine; batch_kernel.h has the algorithm. */
#include <string.h>

#include "infer/cut/batch_solve.h"

#define KERNEL static inline

typedef struct {
    int32_t v[BATCH_LANES];
} wide;
typedef wide mask; /* -1 or 0 */
typedef struct {
    int16_t v[BATCH_LANES];
} shorts;

KERNEL wide wide_load(const int32_t *from)
{
    wide v;
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = from[l];
    return v;
}

KERNEL void wide_store(int32_t *to, wide v)
{
    for (int l = 0; l < BATCH_LANES; l++)
        to[l] = v.v[l];
}

KERNEL wide wide_of(int32_t value)
{
    wide v;
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = value;
    return v;
}

KERNEL wide wide_add(wide v, wide w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] += w.v[l];
    return v;
}

KERNEL wide wide_sub(wide v, wide w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] -= w.v[l];
    return v;
}

KERNEL wide wide_min(wide v, wide w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = v.v[l] < w.v[l] ? v.v[l] : w.v[l];
    return v;
}

/* Returns -v if sign is -1, v if it is 0. */
KERNEL wide wide_minus(wide v, int32_t sign)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = (v.v[l] ^ sign) - sign;
    return v;
}

KERNEL mask wide_less(wide v, wide w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = -(v.v[l] < w.v[l]);
    return v;
}

KERNEL mask wide_equal(wide v, wide w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = -(v.v[l] == w.v[l]);
    return v;
}

KERNEL wide wide_keep(mask where, wide v)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] &= where.v[l];
    return v;
}

KERNEL wide wide_choose(mask where, wide yes, wide no)
{
    for (int l = 0; l < BATCH_LANES; l++)
        no.v[l] = where.v[l] ? yes.v[l] : no.v[l];
    return no;
}

KERNEL wide wide_min_where(wide v, mask where, wide w)
{
    return wide_choose(where, wide_min(v, w), v);
}

KERNEL mask mask_and(mask v, mask w)
{
    return wide_keep(v, w);
}

KERNEL mask mask_or(mask v, mask w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] |= w.v[l];
    return v;
}

KERNEL int mask_any(mask m)
{
    int32_t any = 0;
    for (int l = 0; l < BATCH_LANES; l++)
        any |= m.v[l];
    return any != 0;
}

KERNEL shorts shorts_load(const int16_t *from)
{
    shorts v;
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = from[l];
    return v;
}

KERNEL void shorts_store(int16_t *to, shorts v)
{
    for (int l = 0; l < BATCH_LANES; l++)
        to[l] = v.v[l];
}

KERNEL shorts shorts_of(int16_t value)
{
    shorts v;
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = value;
    return v;
}

KERNEL shorts shorts_add(shorts v, shorts w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = (int16_t)(v.v[l] + w.v[l]);
    return v;
}

KERNEL shorts shorts_min(shorts v, shorts w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = v.v[l] < w.v[l] ? v.v[l] : w.v[l];
    return v;
}

KERNEL shorts shorts_and(shorts v, shorts w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] &= w.v[l];
    return v;
}

KERNEL shorts shorts_or(shorts v, shorts w)
{
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] |= w.v[l];
    return v;
}

KERNEL int shorts_differ(shorts v, shorts w)
{
    return memcmp(v.v, w.v, sizeof v.v) != 0;
}

KERNEL shorts shorts_where(mask where, int16_t yes, int16_t no)
{
    shorts v;
    for (int l = 0; l < BATCH_LANES; l++)
        v.v[l] = where.v[l] ? yes : no;
    return v;
}

KERNEL wide shorts_widen(shorts v)
{
    wide w;
    for (int l = 0; l < BATCH_LANES; l++)
        w.v[l] = v.v[l];
    return w;
}

#include "infer/cut/batch_kernel.h"

bool batch_solve_plain(struct batch *batch, const int32_t *capacity)
{
    return solve(batch, capacity);
}
