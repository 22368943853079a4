#include "cli/common/suggest.h"

#include <string.h>

#define LONGEST 31

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance; names longer than LONGEST are as far away as they can be. */
static int distance(const char *a, const char *b)
{
    int table[LONGEST + 1][LONGEST + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (!i || !j) {
                table[i][j] = i + j;
                continue;
            }
            int best = min(table[i - 1][j], table[i][j - 1]) + 1;
            best = min(best, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = min(best, table[i - 2][j - 2] + 1);
            table[i][j] = best;
        }
    }
    return table[n][m];
}

const char *suggest(const char *typed, const char *const *choices, size_t n)
{
    const char *nearest = NULL;
    int least = LONGEST;
    for (size_t i = 0; i < n; i++) {
        /* A beginning that is typed right counts as near: "seg" means "segment". */
        size_t length = strlen(typed);
        int far = length >= 2 && strncmp(typed, choices[i], length) == 0 ? 1 : distance(typed, choices[i]);
        if (far < least) {
            least = far;
            nearest = choices[i];
        }
    }
    return nearest && least <= 2 && least < (int)strlen(nearest) - 1 ? nearest : NULL;
}
