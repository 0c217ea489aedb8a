/* Plain loops in C for the computations of Lehr's kernels, to count their instructions beside (tools/instructions.py).
 *
 * loops nearest D N K STEPS | products N M K STEPS | bits STEPS | alignments STEPS      with -DREAL=float or -DREAL=double */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REAL
#define REAL double
#endif
#define BLOCK 64

static REAL *numbers(long count) {
    REAL *made = aligned_alloc(64, (size_t)(count * (long)sizeof(REAL) + 63) / 64 * 64);
    for (long i = 0; i < count; i++) made[i] = (REAL)((i * 7919 % 1009) / 1009.0);
    return made;
}

/* The nearest of K centres of each row: blocks of rows coordinate by coordinate, so that rows are handled side by side. */
static double nearest(int d, long n, int k_count, int steps) {
    const REAL *restrict x = numbers(n * d), *restrict y = numbers((long)k_count * d);
    int *restrict labels = malloc(sizeof(int) * (size_t)n);
    for (int step = 0; step < steps; step++)
        for (long start = 0; start + BLOCK <= n; start += BLOCK) {
            REAL best[BLOCK], distance[BLOCK];
            REAL label[BLOCK];
            for (int i = 0; i < BLOCK; i++) best[i] = (REAL)1e30, label[i] = 0;
            for (int k = 0; k < k_count; k++) {
                for (int i = 0; i < BLOCK; i++) distance[i] = 0;
                for (int j = 0; j < d; j++) {
                    const REAL c = y[(long)k * d + j];
                    const REAL *restrict column = x + start * d + (long)j * BLOCK;
                    for (int i = 0; i < BLOCK; i++) {
                        const REAL apart = column[i] - c;
                        distance[i] += apart * apart;
                    }
                }
                for (int i = 0; i < BLOCK; i++) {
                    label[i] = distance[i] < best[i] ? (REAL)k : label[i];
                    best[i] = distance[i] < best[i] ? distance[i] : best[i];
                }
            }
            for (int i = 0; i < BLOCK; i++) labels[start + i] = (int)label[i];
        }
    double sum = 0;
    for (long i = 0; i < n; i++) sum += labels[i];
    return sum;
}

/* n rows of m numbers times K columns. */
static double products(long n, long m, int k_count, int steps) {
    const REAL *restrict x = numbers(n * m), *restrict y = numbers(m * k_count);
    double *restrict out = calloc((size_t)(n * k_count), sizeof(double));
    for (int step = 0; step < steps; step++)
        for (long i = 0; i < n; i++)
            for (int k = 0; k < k_count; k++) {
                REAL sum = 0;
                for (long j = 0; j < m; j++) sum += x[i * m + j] * y[k * m + j];
                out[i * k_count + k] += (double)sum;
            }
    return out[0];
}

enum { ITEMS = 512, WIDTH = 17, SEQUENCES = 64, LETTERS = 300, LANES = 32 };

/* The Tanimoto dissimilarities of all pairs. */
static double bits(int steps) {
    uint64_t *words = malloc(sizeof(uint64_t) * ITEMS * WIDTH);
    for (long i = 0; i < ITEMS * WIDTH; i++) words[i] = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    int counts[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        counts[i] = 0;
        for (int w = 0; w < WIDTH; w++) counts[i] += __builtin_popcountll(words[i * WIDTH + w]);
    }
    double *restrict values = malloc(sizeof(double) * ITEMS * ITEMS);
    for (int step = 0; step < steps; step++)
        for (int i = 0; i < ITEMS; i++)
            for (int j = 0; j < ITEMS; j++) {
                int common = 0;
                for (int w = 0; w < WIDTH; w++) common += __builtin_popcountll(words[i * WIDTH + w] & words[j * WIDTH + w]);
                const int either = counts[i] + counts[j] - common;
                values[i * ITEMS + j] = either ? 1.0 - (double)common / (double)either : 0.0;
            }
    return values[1];
}

static inline int16_t larger(int16_t a, int16_t b) { return a > b ? a : b; }

/* Smith and Waterman's scores with affine gaps: half of the sequences against the other half, 32 side by side. */
static double alignments(int steps) {
    static uint8_t query[SEQUENCES / 2][LETTERS];
    static int16_t profile[LETTERS][4][LANES], h[LETTERS][LANES], e[LETTERS][LANES];
    for (int i = 0; i < SEQUENCES / 2; i++)
        for (int j = 0; j < LETTERS; j++) query[i][j] = (uint8_t)((i * 7919 + j * 104729) % 1009 % 4);
    long sum = 0;
    for (int step = 0; step < steps; step++) {
        for (int place = 0; place < LETTERS; place++)
            for (int symbol = 0; symbol < 4; symbol++)
                for (int lane = 0; lane < LANES; lane++)
                    profile[place][symbol][lane] = (lane * 31 + place * 17) % 4 == symbol ? 5 : -4;
        for (int q = 0; q < SEQUENCES / 2; q++) {
            memset(h, 0, sizeof h);
            memset(e, 0, sizeof e);
            int16_t best[LANES] = {0};
            for (int column = 0; column < LETTERS; column++) {
                int16_t diagonal[LANES] = {0}, f[LANES] = {0};
                for (int row = 0; row < LETTERS; row++) {
                    const int16_t *restrict worth = profile[column][query[q][row]];
                    int16_t *restrict hs = h[row], *restrict es = e[row];
                    for (int lane = 0; lane < LANES; lane++) {
                        int16_t value = (int16_t)(diagonal[lane] + worth[lane]);
                        value = larger(value, es[lane]);
                        value = larger(value, 0);
                        value = larger(value, f[lane]);
                        diagonal[lane] = hs[lane];
                        hs[lane] = value;
                        best[lane] = larger(best[lane], value);
                        const int16_t opened = (int16_t)(value - 10);
                        es[lane] = larger(opened, (int16_t)(es[lane] - 1));
                        f[lane] = larger(opened, (int16_t)(f[lane] - 1));
                    }
                }
            }
            for (int lane = 0; lane < LANES; lane++) sum += best[lane];
        }
    }
    return (double)sum;
}

int main(int count, char **words) {
    const char *kernel = count > 1 ? words[1] : "";
    long n[4] = {0};
    for (int i = 0; i < 4 && i + 2 < count; i++) n[i] = atol(words[i + 2]);
    double answer;
    if (!strcmp(kernel, "nearest") && count == 6) answer = nearest((int)n[0], n[1], (int)n[2], (int)n[3]);
    else if (!strcmp(kernel, "products") && count == 6) answer = products(n[0], n[1], (int)n[2], (int)n[3]);
    else if (!strcmp(kernel, "bits") && count == 3) answer = bits((int)n[0]);
    else if (!strcmp(kernel, "alignments") && count == 3) answer = alignments((int)n[0]);
    else {
        fputs("usage: loops nearest D N K STEPS | products N M K STEPS | bits STEPS | alignments STEPS\n", stderr);
        return 2;
    }
    printf("%.17g\n", answer);
    return 0;
}
