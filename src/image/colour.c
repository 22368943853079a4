/* Converts sRGB to CIE L*a*b*, for superpixels and colour features, and L*a*b* to sRGB, for TIFFs that store it.
 *
 * Blocks of pixels go through three loops: bytes to linear light by table, linear light to Lab in plain vectorisable
 * arithmetic, and interleaving. Every operation is an IEEE one in a fixed order, so the result does not depend on the
 * vector width. Start at clv_rgb_to_lab. */
#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"
#include "cleave/image.h"
#include "image/image.h"

#define BLOCK 256

/* The sRGB decoding curve, IEC 61966-2-1: v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055)^2.4, v = i / 255. */
static float linear[256];
static pthread_once_t linear_once = PTHREAD_ONCE_INIT;

static void fill_linear(void)
{
    for (int i = 0; i < 256; i++) {
        double v = i / 255.0;
        linear[i] = (float)(v <= 0.04045 ? v / 12.92 : portable_pow((v + 0.055) / 1.055, 2.4));
    }
}

static inline int32_t bits_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float from_bits(int32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* f of CIE 15: t^(1/3), and a straight line below (6/29)^3; t in 0..1.1.
 *
 * Dividing the exponent by three approximates the cube root to 3.5 %; one Halley step (relative error e becomes 2/3
 * e^3) reduces the error to 3e-5. Comparisons use the bits, whose order is that of positive floats, and a mask selects
 * the result: a comparison of floats would keep compilers from vectorising. */
static inline float cie_f(float t)
{
    const float slope = 841.0f / 108, offset = 4.0f / 29;
    const int32_t knee = 0x3c111aa7; /* (6/29)^3 */
    int32_t bits = bits_of(t), clamped = bits > knee ? bits : knee;
    float s = from_bits(clamped), y = from_bits((int32_t)((uint32_t)clamped / 3 + 0x2a514067));
    float y3 = y * y * y, root = y * ((y3 + (s + s)) / (y3 + y3 + s));
    int32_t above = -(int32_t)(bits > knee); /* all ones or none */
    return from_bits((bits_of(root) & above) | (bits_of(slope * t + offset) & ~above));
}

/* Converts linear light (red, green, blue)[n] to (L, a, b)[n] in place. The matrix and white point are those of sRGB
 * primaries and D65. */
FOR_EVERY_WIDTH static void to_lab(float (*plane)[BLOCK], int n)
{
    for (int i = 0; i < n; i++) {
        float red = plane[0][i], green = plane[1][i], blue = plane[2][i];
        float x = 0.4124564f / 0.95047f * red + 0.3575761f / 0.95047f * green + 0.1804375f / 0.95047f * blue;
        float y = 0.2126729f * red + 0.7151522f * green + 0.0721750f * blue;
        float z = 0.0193339f / 1.08883f * red + 0.1191920f / 1.08883f * green + 0.9503041f / 1.08883f * blue;
        float fx = cie_f(x), fy = cie_f(y), fz = cie_f(z);
        plane[0][i] = 116 * fy - 16;
        plane[1][i] = 500 * (fx - fy);
        plane[2][i] = 200 * (fy - fz);
    }
}

void clv_rgb_to_lab(float *lab, const uint8_t *rgb, size_t n)
{
    float plane[3][BLOCK];
    pthread_once(&linear_once, fill_linear);
    for (size_t from = 0; from < n; from += BLOCK) {
        int count = n - from < BLOCK ? (int)(n - from) : BLOCK;
        const uint8_t *source = rgb + 3 * from;
        float *target = lab + 3 * from;
        for (int i = 0; i < count; i++) {
            plane[0][i] = linear[source[3 * i]];
            plane[1][i] = linear[source[3 * i + 1]];
            plane[2][i] = linear[source[3 * i + 2]];
        }
        to_lab(plane, count);
        for (int i = 0; i < count; i++) {
            target[3 * i] = plane[0][i];
            target[3 * i + 1] = plane[1][i];
            target[3 * i + 2] = plane[2][i];
        }
    }
}

/* The inverse of f of CIE 15. */
static double cie_f_inverse(double f)
{
    const double knee = 6.0 / 29;
    return f > knee ? f * f * f : 3 * knee * knee * (f - 4.0 / 29);
}

/* The white point is D50 of ICC.1:2010. The matrix is that of sRGB, adapted to D50 by Bradford's method. */
void lab_d50_to_rgb(uint8_t rgb[3], const double lab[3])
{
    static const double matrix[3][3] = {
        {3.1338561, -1.6168667, -0.4906146}, {-0.9787684, 1.9161415, 0.0334540}, {0.0719453, -0.2289914, 1.4052427}};
    double fy = (lab[0] + 16) / 116;
    double x = 0.9642 * cie_f_inverse(fy + lab[1] / 500), y = cie_f_inverse(fy),
           z = 0.8249 * cie_f_inverse(fy - lab[2] / 200);
    for (int c = 0; c < 3; c++) {
        double light = matrix[c][0] * x + matrix[c][1] * y + matrix[c][2] * z;
        light = light < 0 ? 0 : light > 1 ? 1 : light;
        double value = light <= 0.0031308 ? 12.92 * light : 1.055 * portable_pow(light, 1 / 2.4) - 0.055;
        rgb[c] = (uint8_t)(255 * value + 0.5);
    }
}
