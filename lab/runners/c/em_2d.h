/* One fused E+M step in two dimensions, included once for each element type.
 *
 * Wants REAL, EXP, LOG and NAME(x). The points are stored as two arrays (structure of arrays), as the fastest
 * C form wants them. |x - y|^2 / T expands to a linear form in x plus a part common to all centres, which cancels in the
 * weights; so a logit costs two multiply-adds. A block of points stays in the first-level cache from its logits to its sums.
 *
 * sums: K x 3 doubles (weight, weight x, weight y); returns sum over points of w log Z, with the common part left out. */
#define BLOCK_2D 64

static double NAME(em_2d)(const REAL *restrict x, const REAL *restrict y, const REAL *restrict w, long n, const REAL *restrict constant,
                          const REAL *restrict slope_x, const REAL *restrict slope_y, int k_count, REAL *restrict logits,
                          double *restrict sums) {
    double free_energy = 0.0;
    for (long start = 0; start < n; start += BLOCK_2D) {
        const int rows = (int)(n - start < BLOCK_2D ? n - start : BLOCK_2D);
        REAL bx[BLOCK_2D], by[BLOCK_2D], largest[BLOCK_2D], z[BLOCK_2D], scale[BLOCK_2D];
        for (int i = 0; i < BLOCK_2D; i++) {
            const int inside = i < rows;
            bx[i] = x[start + (inside ? i : 0)];
            by[i] = y[start + (inside ? i : 0)];
            scale[i] = inside ? w[start + i] : (REAL)0;
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
        for (int k = 0; k < k_count; k++) {
            const REAL *restrict row = logits + (long)k * BLOCK_2D;
            REAL s = 0, px = 0, py = 0;
            for (int i = 0; i < BLOCK_2D; i++) {
                const REAL p = row[i] * scale[i];
                s += p;
                px += p * bx[i];
                py += p * by[i];
            }
            sums[3 * k] += (double)s;
            sums[3 * k + 1] += (double)px;
            sums[3 * k + 2] += (double)py;
        }
    }
    return free_energy;
}
