/* The C floors of `bench kernels`: loops that do the arithmetic of one E+M step as fast as plain C does here.
 *
 * floor PROBLEM      PROBLEM is a file of little-endian doubles written by the harness:
 *                    n, d, K, temperature, then n x d points, n weights, K x d centres, K logarithms of shares.
 * Then, for each line `f32|f64 THREADS STEPS` on stdin, one JSON line on stdout:
 *                    {"seconds": of STEPS steps, "free_energy": sum w log Z without the common part, "sums": [K x (1 + d)]}
 * floor check        prints the largest relative errors of the two exponentials.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "exponential.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

#define REAL float
#define VECTOR vector_f32
#define LANES (VECTOR_BYTES / 4)
#define EXP exp_f32
#define LOG logf
#define NAME(x) x##_f32
#include "em_2d.h"
#undef NAME
#define NAME(x) x##_16d_f32
#define DIMENSION 16
#define SUMS_TILE 10
#include "em_wide.h"
#undef NAME
#undef DIMENSION
#undef SUMS_TILE
#define NAME(x) x##_64d_f32
#define DIMENSION 64
#define SUMS_TILE 5
#include "em_wide.h"
#undef REAL
#undef VECTOR
#undef LANES
#undef EXP
#undef LOG
#undef NAME
#undef DIMENSION
#undef SUMS_TILE

#define REAL double
#define VECTOR vector_f64
#define LANES (VECTOR_BYTES / 8)
#define EXP exp_f64
#define LOG log
#define NAME(x) x##_f64
#include "em_2d.h"
#undef NAME
#define NAME(x) x##_16d_f64
#define DIMENSION 16
#define SUMS_TILE 10
#include "em_wide.h"
#undef NAME
#undef DIMENSION
#undef SUMS_TILE
#define NAME(x) x##_64d_f64
#define DIMENSION 64
#define SUMS_TILE 5
#include "em_wide.h"

struct problem {
    long n;
    int d, k;
    double temperature;
    const double *points, *weights, *centres, *log_shares;
};

/* What one thread does: STEPS steps over its rows. */
struct part {
    const struct problem *problem;
    long first, last;
    int steps, is_f32;
    const void *points[2], *weights, *constant, *slopes[2]; /* 2-D: an array a coordinate; otherwise row-major, and transposed by blocks */
    double *sums;
    double free_energy;
};

static void *aligned(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 128, bytes + 128)) {
        fputs("floor: out of memory\n", stderr);
        exit(4);
    }
    return memory;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run_part(void *argument) {
    struct part *part = argument;
    const struct problem *p = part->problem;
    const long rows = part->last - part->first;
    const size_t width = (size_t)p->k * (size_t)(p->d + 1);
    void *logits = aligned(sizeof(double) * (size_t)p->k * (BLOCK_2D > BLOCK_WIDE ? BLOCK_2D : BLOCK_WIDE));
    void *lanes = aligned((size_t)VECTOR_BYTES * 3 * (size_t)p->k);
    memset(lanes, 0, (size_t)VECTOR_BYTES * 3 * (size_t)p->k);
    for (int step = 0; step < part->steps; step++) {
        memset(part->sums, 0, sizeof(double) * width);
        if (p->d == 2 && part->is_f32)
            part->free_energy = em_2d_f32((const float *)part->points[0] + part->first, (const float *)part->points[1] + part->first,
                                          (const float *)part->weights + part->first, rows, part->constant, part->slopes[0],
                                          part->slopes[1], p->k, logits, lanes, part->sums);
        else if (p->d == 2)
            part->free_energy = em_2d_f64((const double *)part->points[0] + part->first, (const double *)part->points[1] + part->first,
                                          (const double *)part->weights + part->first, rows, part->constant, part->slopes[0],
                                          part->slopes[1], p->k, logits, lanes, part->sums);
        else if (part->is_f32)
            part->free_energy =
                (p->d == 16 ? em_wide_16d_f32 : em_wide_64d_f32)((const float *)part->points[0] + part->first * p->d,
                                                                 (const float *)part->points[1] + part->first * p->d,
                                                                 (const float *)part->weights + part->first, rows, part->constant,
                                                                 part->slopes[0], p->k, logits, part->sums);
        else
            part->free_energy =
                (p->d == 16 ? em_wide_16d_f64 : em_wide_64d_f64)((const double *)part->points[0] + part->first * p->d,
                                                                 (const double *)part->points[1] + part->first * p->d,
                                                                 (const double *)part->weights + part->first, rows, part->constant,
                                                                 part->slopes[0], p->k, logits, part->sums);
    }
    free(logits);
    free(lanes);
    return NULL;
}

/* Copies `count` doubles, `stride` apart, as the element type asked for. */
static void *converted(const double *from, long count, long stride, int is_f32) {
    void *to = aligned((size_t)count * sizeof(double));
    for (long i = 0; i < count; i++) {
        if (is_f32)
            ((float *)to)[i] = (float)from[i * stride];
        else
            ((double *)to)[i] = from[i * stride];
    }
    return to;
}

static void answer(const struct problem *p, int is_f32, int threads, int steps) {
    const int d = p->d;
    double *constant = aligned(sizeof(double) * (size_t)p->k), *slopes = aligned(sizeof(double) * (size_t)p->k * (size_t)d);
    for (int k = 0; k < p->k; k++) {
        double norm = 0.0;
        for (int j = 0; j < d; j++) {
            const double y = p->centres[(long)k * d + j];
            norm += y * y;
            slopes[(long)k * d + j] = 2.0 * y / p->temperature;
        }
        constant[k] = p->log_shares[k] - norm / p->temperature;
    }
    struct part shared = {.problem = p, .steps = steps, .is_f32 = is_f32};
    shared.weights = converted(p->weights, p->n, 1, is_f32);
    shared.constant = converted(constant, p->k, 1, is_f32);
    if (d == 2) {
        for (int a = 0; a < 2; a++) {
            shared.points[a] = converted(p->points + a, p->n, 2, is_f32);
            shared.slopes[a] = converted(slopes + a, p->k, 2, is_f32);
        }
    } else {
        const long padded = (p->n + BLOCK_WIDE - 1) / BLOCK_WIDE * BLOCK_WIDE;
        double *rows = aligned(sizeof(double) * (size_t)(padded * d)), *turned = aligned(sizeof(double) * (size_t)(padded * d));
        memset(rows, 0, sizeof(double) * (size_t)(padded * d));
        memcpy(rows, p->points, sizeof(double) * (size_t)(p->n * d));
        for (long i = 0; i < padded; i++)
            for (int j = 0; j < d; j++) turned[i / BLOCK_WIDE * BLOCK_WIDE * d + (long)j * BLOCK_WIDE + i % BLOCK_WIDE] = rows[i * d + j];
        shared.points[0] = converted(rows, padded * d, 1, is_f32);
        shared.points[1] = converted(turned, padded * d, 1, is_f32);
        shared.slopes[0] = converted(slopes, (long)p->k * d, 1, is_f32);
        free(rows);
        free(turned);
    }
    const size_t width = (size_t)p->k * (size_t)(d + 1);
    struct part *parts = calloc((size_t)threads, sizeof *parts);
    pthread_t *handles = calloc((size_t)threads, sizeof *handles);
    for (int t = 0; t < threads; t++) {
        parts[t] = shared;
        const long blocks = (p->n + BLOCK_WIDE - 1) / BLOCK_WIDE; /* whole blocks a thread, for the transposed form */
        parts[t].first = blocks * t / threads * BLOCK_WIDE;
        parts[t].last = t + 1 == threads ? p->n : blocks * (t + 1) / threads * BLOCK_WIDE;
        parts[t].sums = aligned(sizeof(double) * width);
    }
    const double start = now();
    for (int t = 1; t < threads; t++) pthread_create(&handles[t], NULL, run_part, &parts[t]);
    run_part(&parts[0]);
    for (int t = 1; t < threads; t++) pthread_join(handles[t], NULL);
    const double seconds = now() - start;
    double free_energy = 0.0;
    for (int t = 0; t < threads; t++) free_energy += parts[t].free_energy;
    printf("{\"seconds\": %.9f, \"free_energy\": %.17g, \"sums\": [", seconds, free_energy);
    for (size_t i = 0; i < width; i++) {
        double sum = 0.0;
        for (int t = 0; t < threads; t++) sum += parts[t].sums[i];
        printf("%s%.17g", i ? ", " : "", sum);
    }
    puts("]}");
    fflush(stdout);
    for (int t = 0; t < threads; t++) free(parts[t].sums);
    for (int a = 0; a < 2; a++) {
        free((void *)shared.points[a]);
        free((void *)shared.slopes[a]);
    }
    free((void *)shared.weights);
    free((void *)shared.constant);
    free(constant);
    free(slopes);
    free(parts);
    free(handles);
}

static int check(void) {
    double worst_f32 = 0.0, worst_f64 = 0.0;
    for (double x = -80.0; x <= 0.0; x += 1.0 / 4096.0 + 1e-7) {
        const float narrow = (float)x;
        const double e32 = fabs((double)exp_f32(narrow) / exp((double)narrow) - 1.0);
        const double e64 = fabs((double)((long double)exp_f64(x) / expl((long double)x) - 1.0L));
        worst_f32 = e32 > worst_f32 ? e32 : worst_f32;
        worst_f64 = e64 > worst_f64 ? e64 : worst_f64;
    }
    printf("{\"exp_f32\": %.3e, \"exp_f64\": %.3e}\n", worst_f32, worst_f64);
    return worst_f32 < 3e-7 && worst_f64 < 2e-15 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: floor PROBLEM | floor check\n", stderr);
        return 2;
    }
    if (!strcmp(argv[1], "check")) return check();
    FILE *file = fopen(argv[1], "rb");
    double head[4];
    if (!file || fread(head, sizeof(double), 4, file) != 4) {
        fprintf(stderr, "floor: cannot read %s\n", argv[1]);
        return 4;
    }
    struct problem p = {.n = (long)head[0], .d = (int)head[1], .k = (int)head[2], .temperature = head[3]};
    if (p.d != 2 && p.d != 16 && p.d != 64) {
        fprintf(stderr, "floor: 2, 16 or 64 dimensions, not %d\n", p.d);
        return 3;
    }
    const size_t count = (size_t)p.n * (size_t)(p.d + 1) + (size_t)p.k * (size_t)(p.d + 1);
    double *values = aligned(sizeof(double) * count);
    if (fread(values, sizeof(double), count, file) != count) {
        fprintf(stderr, "floor: %s is cut short\n", argv[1]);
        return 3;
    }
    fclose(file);
    p.points = values;
    p.weights = values + p.n * p.d;
    p.centres = p.weights + p.n;
    p.log_shares = p.centres + (long)p.k * p.d;
    char type[8];
    int threads, steps;
    while (scanf("%7s %d %d", type, &threads, &steps) == 3) answer(&p, !strcmp(type, "f32"), threads, steps);
    return 0;
}
