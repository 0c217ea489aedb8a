/* The kernel in stages that all ranks begin together, in C with locks: the peer of lab/harness/src/overhead/stages.rs, after 000 figures 4 to 8.
 *
 *     kernel_stages threads|processes RANKS ROWS CLUSTERS STAGES SECONDS
 *
 * Each rank makes passes over ROWS points of its own, in two dimensions, with CLUSTERS centres. Before each stage the ranks meet at a lock with a condition. Each rank
 * times only its pass. There are STAGES stages, or as many as the slowest rank makes in SECONDS. The program writes a line for each rank: the seconds of its stages.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exponential.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

#define REAL double
#define VECTOR vector_f64
#define LANES (VECTOR_BYTES / 8)
#define EXP exp_f64
#define LOG log
#define NAME(x) x##_f64
#include "em_2d.h"

/* As in the harness, for points in the unit square: soft for neighbouring centres, hard for distant ones. */
#define TEMPERATURE 0.01
#define RANKS_MAX 64

/* What the ranks share, be they threads or processes. */
struct shared {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    long here, meetings, stages;
    double slowest;
};

static struct shared *shared;
static double *seconds;
static long ranks, rows, clusters, stages_max;
static double seconds_max;

static void *memory(size_t bytes) {
    void *found = NULL;
    if (posix_memalign(&found, 128, bytes + 128)) {
        fputs("kernel_stages: out of memory\n", stderr);
        exit(4);
    }
    return found;
}

static void *shared_memory(size_t bytes) {
    void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) {
        fputs("kernel_stages: out of memory\n", stderr);
        exit(4);
    }
    return found;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void meet(void) {
    pthread_mutex_lock(&shared->lock);
    const long meeting = shared->meetings;
    if (++shared->here == ranks) {
        shared->here = 0;
        shared->meetings++;
        pthread_cond_broadcast(&shared->all_here);
    } else
        while (shared->meetings == meeting) pthread_cond_wait(&shared->all_here, &shared->lock);
    pthread_mutex_unlock(&shared->lock);
}

/* A number from 0 to 1, from a generator of the rank's own. */
static double uniform(unsigned long long *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) * 0x1p-53;
}

static void *rank(void *number) {
    const long own = (long)number;
    unsigned long long state = 1 + (unsigned long long)own;
    double *x = memory(sizeof(double) * (size_t)rows), *y = memory(sizeof(double) * (size_t)rows), *w = memory(sizeof(double) * (size_t)rows);
    double *constant = memory(sizeof(double) * (size_t)clusters), *slope_x = memory(sizeof(double) * (size_t)clusters);
    double *slope_y = memory(sizeof(double) * (size_t)clusters), *sums = memory(sizeof(double) * 3 * (size_t)clusters);
    double *logits = memory(sizeof(double) * (size_t)clusters * BLOCK_2D);
    vector_f64 *lanes = memory((size_t)VECTOR_BYTES * 3 * (size_t)clusters);
    memset(lanes, 0, (size_t)VECTOR_BYTES * 3 * (size_t)clusters);
    for (long k = 0; k < clusters; k++) {
        const double cx = uniform(&state), cy = uniform(&state);
        constant[k] = -(cx * cx + cy * cy) / TEMPERATURE;
        slope_x[k] = 2.0 * cx / TEMPERATURE;
        slope_y[k] = 2.0 * cy / TEMPERATURE;
    }
    for (long i = 0; i < rows; i++) {
        x[i] = uniform(&state);
        y[i] = uniform(&state);
        w[i] = 1.0;
    }
    double energy = 0.0, first = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        const double from = now();
        energy += em_2d_f64(x, y, w, rows, constant, slope_x, slope_y, (int)clusters, logits, lanes, sums);
        first = now() - from;
    }
    pthread_mutex_lock(&shared->lock);
    if (first > shared->slowest) shared->slowest = first;
    pthread_mutex_unlock(&shared->lock);
    meet();
    const double fitting = seconds_max / shared->slowest;
    const long stages = fitting < 2.0 ? 2 : fitting < (double)stages_max ? (long)fitting : stages_max;
    for (long stage = 0; stage < stages; stage++) {
        meet();
        const double from = now();
        memset(sums, 0, sizeof(double) * 3 * (size_t)clusters);
        energy += em_2d_f64(x, y, w, rows, constant, slope_x, slope_y, (int)clusters, logits, lanes, sums);
        seconds[own * stages_max + stage] = now() - from;
    }
    double weight = 0.0;
    for (long k = 0; k < clusters; k++) weight += sums[3 * k];
    if (!(fabs(weight - (double)rows) < 1e-6 * (double)rows) || energy != energy) {
        fprintf(stderr, "kernel_stages: the shares of %ld points add up to %g\n", rows, weight);
        exit(1);
    }
    shared->stages = stages;
    return NULL;
}

int main(int count, char **words) {
    const int are_processes = count == 7 && !strcmp(words[1], "processes");
    if (count != 7 || (!are_processes && strcmp(words[1], "threads"))) {
        fputs("usage: kernel_stages threads|processes RANKS ROWS CLUSTERS STAGES SECONDS\n", stderr);
        return 2;
    }
    ranks = atol(words[2]), rows = atol(words[3]), clusters = atol(words[4]), stages_max = atol(words[5]), seconds_max = atof(words[6]);
    if (ranks < 1 || ranks > RANKS_MAX || rows < 1 || clusters < 1 || stages_max < 2) {
        fprintf(stderr, "kernel_stages: 1 to %d ranks, rows and clusters from 1, stages from 2\n", RANKS_MAX);
        return 2;
    }
    shared = shared_memory(sizeof *shared);
    seconds = shared_memory(sizeof(double) * (size_t)(ranks * stages_max));
    pthread_mutexattr_t lock;
    pthread_condattr_t condition;
    pthread_mutexattr_init(&lock);
    pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &lock);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->all_here, &condition);
    pthread_t threads[RANKS_MAX];
    pid_t processes[RANKS_MAX];
    for (long r = 0; r < ranks; r++) {
        if (!are_processes) {
            if (pthread_create(&threads[r], NULL, rank, (void *)r)) return 1;
        } else if ((processes[r] = fork()) == 0) {
            rank((void *)r);
            _exit(0);
        } else if (processes[r] < 0)
            return 1;
    }
    for (long r = 0; r < ranks; r++) {
        int status = 0;
        if (!are_processes)
            pthread_join(threads[r], NULL);
        else if (waitpid(processes[r], &status, 0) < 0 || status)
            return 1;
    }
    for (long r = 0; r < ranks; r++) {
        for (long stage = 0; stage < shared->stages; stage++) printf("%s%.9f", stage ? " " : "", seconds[r * stages_max + stage]);
        putchar('\n');
    }
    return 0;
}
