/* Replaces libjbig (GPL-2+) in packages under Apache-2.0: defines the functions that libtiff links, so that libtiff
 * reports an error for a TIFF with JBIG inside. */
#include <stddef.h>

enum { FAILED = 0x20 };

void jbg_dec_init(void *state)
{
    (void)state;
}

int jbg_dec_in(void *state, unsigned char *bytes, size_t size, size_t *used)
{
    (void)state, (void)bytes, (void)size, (void)used;
    return FAILED;
}

const char *jbg_strerror(int code)
{
    (void)code;
    return "this build reads no JBIG";
}

unsigned char *jbg_dec_getimage(const void *state, int plane)
{
    (void)state, (void)plane;
    return NULL;
}

long jbg_dec_getsize(const void *state)
{
    (void)state;
    return 0;
}

void jbg_dec_free(void *state)
{
    (void)state;
}

int jbg_newlen(unsigned char *bytes, size_t size)
{
    (void)bytes, (void)size;
    return FAILED;
}

void jbg_enc_init(void *state, unsigned long width, unsigned long height, int planes, unsigned char **bits,
                  void (*write)(unsigned char *, size_t, void *), void *file)
{
    (void)state, (void)width, (void)height, (void)planes, (void)bits, (void)write, (void)file;
}

void jbg_enc_out(void *state)
{
    (void)state;
}

void jbg_enc_free(void *state)
{
    (void)state;
}
