/* What the hand-written floors share: threads pinned one a core, ranks as stackful coroutines on them, the unit of computation, the probe of where the cores are,
 * and what requests and answers need. Who includes it defines FLOOR, its name, and `rank_stages`, what a rank does.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define UNIT_STEPS 960
#define RANKS_MAX 64
#define THREADS_MAX 16
#define STACK 65536

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Dependent steps of a generator; the factor is hidden from the compiler, which could otherwise fold several steps into one. */
static uint64_t units(uint64_t x, int count) {
    uint64_t factor = 6364136223846793005ull, increment = 1442695040888963407ull;
    __asm__ volatile("" : "+r"(factor), "+r"(increment));
    for (int64_t i = 0; i < (int64_t)count * UNIT_STEPS; i++) x = x * factor + increment;
    __asm__ volatile("" : "+r"(x));
    return x;
}

static int cores(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : count;
}

static void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void wrong(const char *what) {
    fprintf(stderr, FLOOR ": %s\n", what);
    exit(1);
}

/* One run: what to do, and the barrier at which its threads start and end together. */
static struct { int pattern, ranks, threads, units; uint64_t stages; double seconds; } run;
static pthread_barrier_t barrier;

static double on_threads(void *(*body)(void *)) {
    pthread_t threads[THREADS_MAX];
    pthread_barrier_init(&barrier, 0, run.threads);
    for (intptr_t i = 1; i < run.threads; i++) pthread_create(&threads[i], 0, body, (void *)i);
    body((void *)0);
    for (int i = 1; i < run.threads; i++) pthread_join(threads[i], 0);
    pthread_barrier_destroy(&barrier);
    return run.seconds;
}

/* ---- ranks: stackful coroutines on pinned threads; a rank that waits switches to the next rank of its thread ---------------------------------------------- */
#if defined(__x86_64__)
__attribute__((naked, noinline)) static void switch_stack(void **save __attribute__((unused)), void *load __attribute__((unused))) {
    __asm__ volatile(
        "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15;"
        "mov %rsp,(%rdi); mov %rsi,%rsp;"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret");
}

typedef struct { void *stack[RANKS_MAX], *main; int rank[RANKS_MAX], count, current, done; } schedule;
static __thread schedule *own;

static inline void yield_rank(void) {
    schedule *s = own;
    if (s->count == 1) return;
    int from = s->current, to = from + 1 == s->count ? 0 : from + 1;
    s->current = to;
    switch_stack(&s->stack[from], s->stack[to]);
}

static inline void post(_Atomic uint64_t *box, uint64_t stage) { atomic_store_explicit(box, stage, memory_order_release); }
static inline void await(_Atomic uint64_t *box, uint64_t stage) {
    while (atomic_load_explicit(box, memory_order_acquire) < stage) yield_rank();
}

/* All stages of a rank. */
static void rank_stages(int rank);

static void rank_body(void) {
    schedule *s = own;
    rank_stages(s->rank[s->current]);
    s->done++;
    while (s->done < s->count) yield_rank();
    void *dummy;
    switch_stack(&dummy, s->main);
}

static void *rank_thread(void *argument) {
    int id = (int)(intptr_t)argument;
    schedule s = {.count = 0};
    void *stacks[RANKS_MAX];
    pin(id);
    for (int rank = 0; rank < run.ranks; rank++) {
        if (rank * run.threads / run.ranks != id) continue; /* neighbours share a core */
        char *stack = mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED) wrong("no memory for a stack");
        void **top = (void **)(stack + STACK - 64);
        *--top = 0;
        *--top = (void *)rank_body;
        for (int i = 0; i < 6; i++) *--top = 0;
        stacks[s.count] = stack;
        s.rank[s.count] = rank;
        s.stack[s.count++] = top;
    }
    own = &s;
    pthread_barrier_wait(&barrier);
    double start = now();
    if (s.count) switch_stack(&s.main, s.stack[0]);
    pthread_barrier_wait(&barrier);
    if (id == 0) run.seconds = now() - start;
    for (int i = 0; i < s.count; i++) munmap(stacks[i], STACK);
    return 0;
}

#define HAS_RANKS 1
#else
#define HAS_RANKS 0
#endif

/* ---- the computation alone -------------------------------------------------------------------------------------------------------------------------------- */
static void *compute_thread(void *argument) {
    int id = (int)(intptr_t)argument;
    uint64_t x = id;
    pin(id);
    pthread_barrier_wait(&barrier);
    double start = now();
    for (int rank = id; rank < run.ranks; rank += run.threads)
        for (uint64_t stage = 0; stage < run.stages; stage++) x = units(x, run.units);
    pthread_barrier_wait(&barrier);
    __asm__ volatile("" ::"r"(x));
    if (id == 0) run.seconds = now() - start;
    return 0;
}

/* ---- where the two cores are: the median round trip of a cache line over 21 bursts ------------------------------------------------------------------------- */
#define BURST 200
#define BURSTS 21
#define LOOKS 9 /* fewer than BURSTS, whose place they use */
static struct { _Alignas(256) _Atomic uint64_t v; } ping, pong;
static double bursts[BURSTS];

static void *probe_thread(void *argument) {
    int id = (int)(intptr_t)argument;
    pin(id);
    pthread_barrier_wait(&barrier);
    for (uint64_t b = 0, i = 0; b < BURSTS; b++) {
        double start = now();
        for (int k = 0; k < BURST; k++) {
            i++;
            if (id == 0) {
                atomic_store_explicit(&ping.v, i, memory_order_release);
                while (atomic_load_explicit(&pong.v, memory_order_acquire) != i) ;
            } else {
                while (atomic_load_explicit(&ping.v, memory_order_acquire) != i) ;
                atomic_store_explicit(&pong.v, i, memory_order_release);
            }
        }
        if (id == 0) bursts[b] = (now() - start) / BURST * 1e9;
    }
    return 0;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double probe(void) {
    run.threads = 2;
    ping.v = pong.v = 0;
    on_threads(probe_thread);
    qsort(bursts, BURSTS, sizeof *bursts, ascending);
    return bursts[BURSTS / 2];
}

static double unit_ns(void) {
    for (int i = 0; i < LOOKS; i++) {
        double start = now();
        units(1, 100);
        bursts[i] = (now() - start) * 1e7;
    }
    qsort(bursts, LOOKS, sizeof *bursts, ascending);
    return bursts[LOOKS / 2];
}

/* ---- the line protocol --------------------------------------------------------------------------------------------------------------------------------------- */
static int index_of(const char *word, const char *const *words, int count) {
    for (int i = 0; i < count; i++) if (!strcmp(word, words[i])) return i;
    return -1;
}

static void seconds_or_absent(double seconds) {
    if (seconds < 0) printf("{\"absent\": true}\n");
    else printf("{\"seconds\": %.9g}\n", seconds);
}

static void answer_probe(void) {
    if (cores() < 2) printf("{\"absent\": true}\n");
    else printf("{\"round_trip_ns\": %.0f}\n", probe());
}

static void answer_unit(void) {
    double ns = unit_ns();
    printf("{\"ns\": %.1f, \"value\": %llu}\n", ns, (unsigned long long)units(7, 1));
}
