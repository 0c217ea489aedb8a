/* One fused E+M step in many dimensions, included once for each element type and number of dimensions.
 *
 * Two products with a softmax between them: logits (centres by points) and sums (centres by dimensions), each DIMENSION multiply-adds
 * a point and centre, in register tiles of LOGITS_TILE and SUMS_TILE centres (of few dimensions more centres fill the registers), so
 * that it runs near the machine's multiply-add rate. Wants REAL, VECTOR (a GCC/Clang vector of REAL), LANES, EXP, LOG, DIMENSION (a
 * multiple of LANES), SUMS_TILE and NAME(x). The points are held twice, row-major for the sums and with each block transposed for the
 * logits: the fastest form, at the price of memory. The last block is filled up with rows of weight 0.
 *
 * sums: K x (1 + DIMENSION) doubles (weight, then weight x); returns sum over points of w log Z, with the part common to all centres
 * left out. */
#ifndef BLOCK_WIDE
#define BLOCK_WIDE 64
#define LOGITS_TILE 5
#endif

/* logits[c][i] for so many centres and the whole block; `centres` is a compile-time constant after inlining. */
static inline __attribute__((always_inline)) void NAME(logit_tile)(const REAL *restrict transposed, const REAL *restrict slopes,
                                                                   const REAL *restrict constant, REAL *restrict logits, const int centres) {
    enum { WIDE = 4 * LANES < BLOCK_WIDE ? 4 : BLOCK_WIDE / LANES };
    for (int first = 0; first < BLOCK_WIDE; first += WIDE * LANES) {
        VECTOR acc[LOGITS_TILE][WIDE];
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) acc[c][v] = constant[c] - (VECTOR){0};
        for (int j = 0; j < DIMENSION; j++) {
            const VECTOR *restrict column = (const VECTOR *)(transposed + j * BLOCK_WIDE + first);
            for (int c = 0; c < centres; c++) {
                const REAL slope = slopes[c * DIMENSION + j];
                for (int v = 0; v < WIDE; v++) acc[c][v] += slope * column[v];
            }
        }
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) ((VECTOR *)(logits + c * BLOCK_WIDE + first))[v] = acc[c][v];
    }
}

/* sums[c][j] += p[c][i] x[i][j] over the block, in REAL; the caller adds to doubles. */
static inline __attribute__((always_inline)) void NAME(sum_tile)(const REAL *restrict rows, const REAL *restrict weights, REAL *restrict sums,
                                                                 const int centres) {
    enum { WIDE = 4 * LANES < DIMENSION ? 4 : DIMENSION / LANES };
    for (int first = 0; first < DIMENSION; first += WIDE * LANES) {
        VECTOR acc[SUMS_TILE][WIDE];
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) acc[c][v] = (VECTOR){0};
        for (int i = 0; i < BLOCK_WIDE; i++) {
            const VECTOR *restrict row = (const VECTOR *)(rows + i * DIMENSION + first);
            for (int c = 0; c < centres; c++) {
                const REAL weight = weights[c * BLOCK_WIDE + i];
                for (int v = 0; v < WIDE; v++) acc[c][v] += weight * row[v];
            }
        }
        for (int c = 0; c < centres; c++)
            for (int v = 0; v < WIDE; v++) ((VECTOR *)(sums + c * DIMENSION + first))[v] = acc[c][v];
    }
}

static double NAME(em_wide)(const REAL *restrict points, const REAL *restrict turned, const REAL *restrict w, long n,
                           const REAL *restrict constant, const REAL *restrict slopes, int k_count, REAL *restrict logits,
                           double *restrict sums) {
    double free_energy = 0.0;
    REAL tile_sums[SUMS_TILE * DIMENSION] __attribute__((aligned(64)));
    for (long start = 0; start < n; start += BLOCK_WIDE) {
        const int rows = (int)(n - start < BLOCK_WIDE ? n - start : BLOCK_WIDE);
        const REAL *restrict source = points + start * DIMENSION, *restrict transposed = turned + start * DIMENSION;
        int k = 0;
        for (; k + LOGITS_TILE <= k_count; k += LOGITS_TILE)
            NAME(logit_tile)(transposed, slopes + (long)k * DIMENSION, constant + k, logits + (long)k * BLOCK_WIDE, LOGITS_TILE);
        for (; k < k_count; k++) NAME(logit_tile)(transposed, slopes + (long)k * DIMENSION, constant + k, logits + (long)k * BLOCK_WIDE, 1);

        REAL largest[BLOCK_WIDE], z[BLOCK_WIDE], scale[BLOCK_WIDE];
        for (int i = 0; i < BLOCK_WIDE; i++) {
            largest[i] = (REAL)-1e30;
            z[i] = 0;
            scale[i] = i < rows ? w[start + i] : (REAL)0;
        }
        for (k = 0; k < k_count; k++)
            for (int i = 0; i < BLOCK_WIDE; i++) {
                const REAL l = logits[(long)k * BLOCK_WIDE + i];
                largest[i] = l > largest[i] ? l : largest[i];
            }
        for (k = 0; k < k_count; k++)
            for (int i = 0; i < BLOCK_WIDE; i++) {
                const REAL e = EXP(logits[(long)k * BLOCK_WIDE + i] - largest[i]);
                logits[(long)k * BLOCK_WIDE + i] = e;
                z[i] += e;
            }
        REAL energy = 0;
        for (int i = 0; i < BLOCK_WIDE; i++) {
            energy += scale[i] * (largest[i] + LOG(z[i]));
            scale[i] /= z[i];
        }
        free_energy += (double)energy;
        for (k = 0; k < k_count; k++) {
            REAL s = 0;
            for (int i = 0; i < BLOCK_WIDE; i++) {
                const REAL p = logits[(long)k * BLOCK_WIDE + i] * scale[i];
                logits[(long)k * BLOCK_WIDE + i] = p;
                s += p;
            }
            sums[(long)k * (DIMENSION + 1)] += (double)s;
        }
        for (k = 0; k < k_count;) {
            const int centres = k + SUMS_TILE <= k_count ? SUMS_TILE : 1;
            if (centres == SUMS_TILE)
                NAME(sum_tile)(source, logits + (long)k * BLOCK_WIDE, tile_sums, SUMS_TILE);
            else
                NAME(sum_tile)(source, logits + (long)k * BLOCK_WIDE, tile_sums, 1);
            for (int c = 0; c < centres; c++)
                for (int j = 0; j < DIMENSION; j++)
                    sums[(long)(k + c) * (DIMENSION + 1) + 1 + j] += (double)tile_sums[c * DIMENSION + j];
            k += centres;
        }
    }
    return free_energy;
}
