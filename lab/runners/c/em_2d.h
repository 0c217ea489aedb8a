/* One fused E+M step in two dimensions, included once for each element type.
 *
 * Wants REAL, VECTOR (a GCC/Clang vector of REAL), LANES, EXP, LOG and NAME(x). The points are stored as two arrays (structure of
 * arrays). |x - y|^2 / T expands to a linear form in x plus a part common to all centres, which cancels in the weights; so a logit
 * costs two multiply-adds. A block of points stays in the first-level cache from its logits to its sums; a centre's sums stay
 * in vectors over FLUSH_2D blocks, so that adding the lanes up costs nothing, and in doubles beyond.
 *
 * sums: K x 3 doubles (weight, weight x, weight y); returns sum over points of w log Z, with the common part left out. */
#define BLOCK_2D 64
#define FLUSH_2D 32

static void NAME(flush_2d)(VECTOR *restrict lanes, int k_count, double *restrict sums) {
    for (int s = 0; s < 3 * k_count; s++) {
        double total = 0.0;
        for (int l = 0; l < LANES; l++) total += (double)lanes[s][l];
        sums[s] += total;
        lanes[s] = (VECTOR){0};
    }
}

/* `lanes` is room for K x 3 vectors, zeroed by the caller. */
static double NAME(em_2d)(const REAL *restrict x, const REAL *restrict y, const REAL *restrict w, long n, const REAL *restrict constant,
                          const REAL *restrict slope_x, const REAL *restrict slope_y, int k_count, REAL *restrict logits,
                          VECTOR *restrict lanes, double *restrict sums) {
    enum { WIDE = BLOCK_2D / LANES };
    double free_energy = 0.0;
    int unflushed = 0;
    for (long start = 0; start < n; start += BLOCK_2D) {
        const int rows = (int)(n - start < BLOCK_2D ? n - start : BLOCK_2D);
        REAL bx[BLOCK_2D] __attribute__((aligned(64))), by[BLOCK_2D] __attribute__((aligned(64)));
        REAL largest[BLOCK_2D] __attribute__((aligned(64))), z[BLOCK_2D] __attribute__((aligned(64)));
        REAL scale[BLOCK_2D] __attribute__((aligned(64)));
        if (rows == BLOCK_2D) {
            memcpy(bx, x + start, sizeof bx);
            memcpy(by, y + start, sizeof by);
            memcpy(scale, w + start, sizeof scale);
        } else
            for (int i = 0; i < BLOCK_2D; i++) {
                const int inside = i < rows;
                bx[i] = x[start + (inside ? i : 0)];
                by[i] = y[start + (inside ? i : 0)];
                scale[i] = inside ? w[start + i] : (REAL)0;
            }
        for (int i = 0; i < BLOCK_2D; i++) {
            largest[i] = (REAL)-1e30;
            z[i] = 0;
        }
        for (int k = 0; k < k_count; k++) {
            const REAL c = constant[k], sx = slope_x[k], sy = slope_y[k];
            REAL *restrict row = logits + (long)k * BLOCK_2D;
            for (int i = 0; i < BLOCK_2D; i++) {
                const REAL l = c + sx * bx[i] + sy * by[i];
                row[i] = l;
                largest[i] = l > largest[i] ? l : largest[i];
            }
        }
        for (int k = 0; k < k_count; k++) {
            REAL *restrict row = logits + (long)k * BLOCK_2D;
            for (int i = 0; i < BLOCK_2D; i++) {
                const REAL e = EXP(row[i] - largest[i]);
                row[i] = e;
                z[i] += e;
            }
        }
        REAL energy = 0;
        for (int i = 0; i < BLOCK_2D; i++) {
            energy += scale[i] * (largest[i] + LOG(z[i]));
            scale[i] /= z[i];
        }
        free_energy += (double)energy;
        const VECTOR *restrict vx = (const VECTOR *)bx, *restrict vy = (const VECTOR *)by, *restrict share = (const VECTOR *)scale;
        for (int k = 0; k < k_count; k++) {
            const VECTOR *restrict row = (const VECTOR *)(logits + (long)k * BLOCK_2D);
            VECTOR s = lanes[3 * k], px = lanes[3 * k + 1], py = lanes[3 * k + 2];
            for (int v = 0; v < WIDE; v++) {
                const VECTOR p = row[v] * share[v];
                s += p;
                px += p * vx[v];
                py += p * vy[v];
            }
            lanes[3 * k] = s;
            lanes[3 * k + 1] = px;
            lanes[3 * k + 2] = py;
        }
        if (++unflushed == FLUSH_2D || start + BLOCK_2D >= n) {
            NAME(flush_2d)(lanes, k_count, sums);
            unflushed = 0;
        }
    }
    return free_energy;
}
