/* Sums of threads beside each other in memory, in C: the peer of lab/harness/src/overhead/padding.rs, after 000 table II.
 *
 *     padding THREADS SUMS SEPARATION ADDITIONS
 *
 * Each thread adds ones to SUMS numbers of its own, ADDITIONS times in all; its first number is SEPARATION numbers after that of the thread before. The threads meet
 * at a lock, and then spin until all have begun. The program writes the seconds of the slowest thread, and the share of the time in which all threads added.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LINES 128

static int threads;
static long sums, separation, additions;
static double *cells;
static pthread_barrier_t start;
static atomic_int begun;
static struct span { double from, to; } *spans;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *add(void *number) {
    long thread = (long)number, place = 0;
    /* Volatile, so that each addition goes to memory. */
    volatile double *own = cells + thread * separation;
    pthread_barrier_wait(&start);
    atomic_fetch_add(&begun, 1);
    while (atomic_load(&begun) < threads) {}
    double from = now();
    for (long done = 0; done < additions; done++) {
        own[place] += 1.0;
        if (++place == sums) place = 0;
    }
    spans[thread] = (struct span){from, now()};
    return NULL;
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "usage: padding THREADS SUMS SEPARATION ADDITIONS\n");
        return 2;
    }
    threads = atoi(words[1]), sums = atol(words[2]), separation = atol(words[3]), additions = atol(words[4]);
    if (threads < 1 || sums < 1 || separation < sums || additions < 0) {
        fprintf(stderr, "padding: threads and sums from 1, separation from the number of sums\n");
        return 2;
    }
    size_t bytes = (threads * separation * sizeof(double) + LINES - 1) / LINES * LINES;
    cells = aligned_alloc(LINES, bytes), spans = calloc(threads, sizeof *spans);
    pthread_t *all = calloc(threads, sizeof *all);
    if (!cells || !spans || !all) return 1;
    for (size_t place = 0; place < bytes / sizeof(double); place++) cells[place] = 0.0;
    pthread_barrier_init(&start, NULL, threads);
    for (long thread = 0; thread < threads; thread++) {
        if (pthread_create(&all[thread], NULL, add, (void *)thread)) return 1;
    }
    for (int thread = 0; thread < threads; thread++) pthread_join(all[thread], NULL);
    double added = 0.0;
    for (size_t place = 0; place < bytes / sizeof(double); place++) added += cells[place];
    if (added != (double)additions * threads) {
        fprintf(stderr, "padding: additions were lost\n");
        return 1;
    }
    struct span first = spans[0], last = spans[0];
    double seconds = 0.0;
    for (int thread = 0; thread < threads; thread++) {
        struct span span = spans[thread];
        if (span.to - span.from > seconds) seconds = span.to - span.from;
        if (span.from < first.from) first.from = span.from;
        if (span.from > last.from) last.from = span.from;
        if (span.to < first.to) first.to = span.to;
        if (span.to > last.to) last.to = span.to;
    }
    double together = first.to - last.from;
    printf("%.9f %.6f\n", seconds, together > 0.0 ? together / (last.to - first.from) : 0.0);
    return 0;
}
