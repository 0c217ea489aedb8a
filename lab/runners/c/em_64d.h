/* One fused E+M step in 64 dimensions, included once for each element type.
 *
 * Two products with a softmax between them: logits (centres by points) and sums (centres by dimensions), each 64 multiply-adds a
 * point and centre, in register tiles of CENTRES_TILE rows, so that it runs near the machine's multiply-add rate. Wants REAL,
 * VECTOR (a GCC/Clang vector of REAL), LANES, EXP, LOG and NAME(x). The points are held twice, row-major for the sums and with each
 * block transposed for the logits: the fastest form, at the price of memory. The last block is filled up with rows of weight 0.
 *
 * sums: K x 65 doubles (weight, then weight x); returns sum over points of w log Z, with the part common to all centres left out. */
#ifndef DIMENSION
#define DIMENSION 64
#define BLOCK_64D 64
#define CENTRES_TILE 5
#endif

/* logits[c][i] for CENTRES centres and the whole block; `centres` is a compile-time constant after inlining. */
static inline __attribute__((always_inline)) void NAME(logit_tile)(const REAL *restrict transposed, const REAL *restrict slopes,
                                                                   const REAL *restrict constant, REAL *restrict logits, const int centres) {
    enum { WIDE = 4 * LANES < BLOCK_64D ? 4 : BLOCK_64D / LANES };
    for (int first = 0; first < BLOCK_64D; first += WIDE * LANES) {
        VECTOR acc[CENTRES_TILE][WIDE];
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) acc[c][v] = constant[c] - (VECTOR){0};
        for (int j = 0; j < DIMENSION; j++) {
            const VECTOR *restrict column = (const VECTOR *)(transposed + j * BLOCK_64D + first);
            for (int c = 0; c < centres; c++) {
                const REAL slope = slopes[c * DIMENSION + j];
                for (int v = 0; v < WIDE; v++) acc[c][v] += slope * column[v];
            }
        }
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) ((VECTOR *)(logits + c * BLOCK_64D + first))[v] = acc[c][v];
    }
}

/* sums[c][j] += p[c][i] x[i][j] over the block, in REAL; the caller adds to doubles. */
static inline __attribute__((always_inline)) void NAME(sum_tile)(const REAL *restrict rows, const REAL *restrict weights, REAL *restrict sums,
                                                                 const int centres) {
    enum { WIDE = 4 };
    for (int first = 0; first < DIMENSION; first += WIDE * LANES) {
        VECTOR acc[CENTRES_TILE][WIDE];
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) acc[c][v] = (VECTOR){0};
        for (int i = 0; i < BLOCK_64D; i++) {
            const VECTOR *restrict row = (const VECTOR *)(rows + i * DIMENSION + first);
            for (int c = 0; c < centres; c++) {
                const REAL weight = weights[c * BLOCK_64D + i];
                for (int v = 0; v < WIDE; v++) acc[c][v] += weight * row[v];
            }
        }
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) ((VECTOR *)(sums + c * DIMENSION + first))[v] = acc[c][v];
    }
}

static double NAME(em_64d)(const REAL *restrict points, const REAL *restrict turned, const REAL *restrict w, long n,
                           const REAL *restrict constant, const REAL *restrict slopes, int k_count, REAL *restrict logits,
                           double *restrict sums) {
    static const int whole = CENTRES_TILE;
    double free_energy = 0.0;
    REAL tile_sums[CENTRES_TILE * DIMENSION] __attribute__((aligned(64)));
    for (long start = 0; start < n; start += BLOCK_64D) {
        const int rows = (int)(n - start < BLOCK_64D ? n - start : BLOCK_64D);
        const REAL *restrict source = points + start * DIMENSION, *restrict transposed = turned + start * DIMENSION;
        int k = 0;
        for (; k + whole <= k_count; k += whole)
            NAME(logit_tile)(transposed, slopes + (long)k * DIMENSION, constant + k, logits + (long)k * BLOCK_64D, CENTRES_TILE);
        for (; k < k_count; k++) NAME(logit_tile)(transposed, slopes + (long)k * DIMENSION, constant + k, logits + (long)k * BLOCK_64D, 1);

        REAL largest[BLOCK_64D], z[BLOCK_64D], scale[BLOCK_64D];
        for (int i = 0; i < BLOCK_64D; i++) {
            largest[i] = (REAL)-1e30;
            z[i] = 0;
            scale[i] = i < rows ? w[start + i] : (REAL)0;
        }
        for (k = 0; k < k_count; k++)
            for (int i = 0; i < BLOCK_64D; i++) {
                const REAL l = logits[(long)k * BLOCK_64D + i];
                largest[i] = l > largest[i] ? l : largest[i];
            }
        for (k = 0; k < k_count; k++)
            for (int i = 0; i < BLOCK_64D; i++) {
                const REAL e = EXP(logits[(long)k * BLOCK_64D + i] - largest[i]);
                logits[(long)k * BLOCK_64D + i] = e;
                z[i] += e;
            }
        REAL energy = 0;
        for (int i = 0; i < BLOCK_64D; i++) {
            energy += scale[i] * (largest[i] + LOG(z[i]));
            scale[i] /= z[i];
        }
        free_energy += (double)energy;
        for (k = 0; k < k_count; k++) {
            REAL s = 0;
            for (int i = 0; i < BLOCK_64D; i++) {
                const REAL p = logits[(long)k * BLOCK_64D + i] * scale[i];
                logits[(long)k * BLOCK_64D + i] = p;
                s += p;
            }
            sums[(long)k * (DIMENSION + 1)] += (double)s;
        }
        for (k = 0; k < k_count;) {
            const int centres = k + whole <= k_count ? whole : 1;
            if (centres == whole)
                NAME(sum_tile)(source, logits + (long)k * BLOCK_64D, tile_sums, CENTRES_TILE);
            else
                NAME(sum_tile)(source, logits + (long)k * BLOCK_64D, tile_sums, 1);
            for (int c = 0; c < centres; c++)
                for (int j = 0; j < DIMENSION; j++)
                    sums[(long)(k + c) * (DIMENSION + 1) + 1 + j] += (double)tile_sums[c * DIMENSION + j];
            k += centres;
        }
    }
    return free_energy;
}
