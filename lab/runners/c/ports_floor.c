/* What a hand-written program reaches on this machine for the patterns of `lehr lab ports`: ranks as coroutines with a counter per neighbour as the mailbox,
 * handlers in rings that never allocate, the copy itself, and the probe of where the cores are. Answers a line of JSON to each line:
 *
 *   about                                        -> {"libraries": {"gcc": "12.2.0"}, "engines": [...]}
 *   0 pattern FORM PATTERN RANKS WORKERS UNITS STAGES  -> {"seconds": S} or {"absent": true}
 *   0 copy MODE DOUBLES THREADS TIMES UNITS       -> {"seconds": S}         mode inside, outside, stepped (2,000,000), stepped20 (20,000,000), handle (no copy)
 *   0 hand-over MODE DOUBLES THREADS TIMES UNITS  -> {"seconds": S}         the same, and the message goes through a ring under a lock
 *   0 probe                                       -> {"round_trip_ns": N}   cache line round trip between cores 0 and 1
 *   0 unit                                        -> {"ns": N, "value": V}  one unit of computation (the median of nine looks), and the generator's value
 *   1 regions THREADS COUNT SERIAL INSIDE         -> {"seconds": S}         OpenMP, if compiled with it
 */
#define FLOOR "ports_floor"
#include "floor.h"

enum { NONE, PIPELINE, SHIFT, TWO_SHIFTS, EXCHANGE };

/* ---- rendezvous: a counter a neighbour is the mailbox ------------------------------------------------------------------------------------------------------- */
#if HAS_RANKS
typedef struct { _Alignas(128) _Atomic uint64_t left; _Alignas(128) _Atomic uint64_t right; } mailbox;
static mailbox mail[RANKS_MAX];

static void rank_stages(int rank) {
    int right = (rank + 1) % run.ranks, left = (rank + run.ranks - 1) % run.ranks;
    uint64_t x = rank;
    for (uint64_t stage = 1; stage <= run.stages; stage++) {
        switch (run.pattern) {
        case PIPELINE: post(&mail[rank].left, stage); await(&mail[rank].left, stage); break;
        case SHIFT: post(&mail[right].left, stage); await(&mail[rank].left, stage); break;
        case TWO_SHIFTS:
            post(&mail[right].left, stage); await(&mail[rank].left, stage);
            post(&mail[left].right, stage); await(&mail[rank].right, stage);
            break;
        case EXCHANGE:
            post(&mail[right].left, stage); post(&mail[left].right, stage);
            await(&mail[rank].left, stage); await(&mail[rank].right, stage);
            break;
        }
        if (run.units) x = units(x, run.units);
    }
    __asm__ volatile("" ::"r"(x));
}

static double rendezvous(void) {
    memset(mail, 0, sizeof mail);
    double seconds = on_threads(rank_thread);
    for (int rank = 0; rank < run.ranks && run.pattern != NONE; rank++)
        if (mail[rank].left != run.stages) wrong("a message was lost");
    return seconds;
}
#else
static double rendezvous(void) { return -1; }
#endif

/* ---- spawned: a handler is a rank and a stage in a ring; every rank's handlers run on its own thread, which polls one ring per other thread ---------------- */
#define RING 1024
typedef struct { uint32_t rank; uint64_t stage; } handler;
typedef struct { _Alignas(128) _Atomic uint64_t head; _Alignas(128) _Atomic uint64_t tail; handler slot[RING]; } ring;
static ring rings[THREADS_MAX][THREADS_MAX]; /* [to][from] */
#define COUNTED_STAGES 168 /* a multiple of every number of ranks; see pattern.rs */
static _Alignas(64) uint8_t counts[RANKS_MAX][192]; /* [rank][stage mod COUNTED_STAGES]; touched by the rank's thread alone */
static uint64_t handled[RANKS_MAX][16];
static _Atomic int ranks_left;

static inline void push(int from, int rank, uint64_t stage) {
    ring *r = &rings[rank * run.threads / run.ranks][from];
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    while (tail - atomic_load_explicit(&r->head, memory_order_acquire) == RING) ;
    r->slot[tail % RING] = (handler){rank, stage};
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
}

__attribute__((noinline)) static void handle(int here, int rank, uint64_t stage) {
    int two = run.pattern == TWO_SHIFTS || run.pattern == EXCHANGE;
    if (two && stage && ++counts[rank][stage % COUNTED_STAGES] < 2) return;
    counts[rank][stage % COUNTED_STAGES] = 0;
    if (run.units) units(stage, run.units);
    handled[rank][0]++;
    if (++stage >= run.stages) {
        atomic_fetch_sub(&ranks_left, 1);
        return;
    }
    int right = (rank + 1) % run.ranks, left = (rank + run.ranks - 1) % run.ranks;
    switch (run.pattern) {
    case PIPELINE: push(here, rank, stage); break;
    case SHIFT: push(here, right, stage); break;
    case TWO_SHIFTS: push(here, right, stage); push(here, right, stage); break;
    case EXCHANGE: push(here, right, stage); push(here, left, stage); break;
    }
}

static void *handler_thread(void *argument) {
    int id = (int)(intptr_t)argument;
    void (*volatile call)(int, int, uint64_t) = handle; /* a handler is an indirect call */
    pin(id);
    for (int rank = 0; rank < run.ranks; rank++)
        if (rank * run.threads / run.ranks == id) push(id, rank, 0);
    pthread_barrier_wait(&barrier);
    double start = now();
    while (atomic_load_explicit(&ranks_left, memory_order_relaxed) > 0)
        for (int from = 0; from < run.threads; from++) {
            ring *r = &rings[id][from];
            uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
            if (head == atomic_load_explicit(&r->tail, memory_order_acquire)) continue;
            handler h = r->slot[head % RING];
            atomic_store_explicit(&r->head, head + 1, memory_order_release);
            call(id, h.rank, h.stage);
        }
    pthread_barrier_wait(&barrier);
    if (id == 0) run.seconds = now() - start;
    return 0;
}

static double spawned(void) {
    memset(rings, 0, sizeof rings);
    memset(counts, 0, sizeof counts);
    memset(handled, 0, sizeof handled);
    atomic_store(&ranks_left, run.ranks);
    double seconds = on_threads(handler_thread);
    for (int rank = 0; rank < run.ranks; rank++)
        if (handled[rank][0] != run.stages) wrong("a handler was lost");
    return seconds;
}

/* ---- copies of posted arrays ------------------------------------------------------------------------------------------------------------------------------- */
/* A copy alone, or a copy and a hand-over: the message (an array and six integers, 72 bytes) goes into a ring under a lock and out of it, which is the least
 * that a port with several senders and receivers does. Every copy is made on a thread that was started for it, as a worker's would be: the C library serves the
 * first thread of a program from another arena than all others, and 8,000 bytes come from there in a third of the time. */
static struct { int mode, hand_over; size_t doubles, wrap, times; int units; double *from[THREADS_MAX], *to[THREADS_MAX], seconds[THREADS_MAX]; } copy;

#define POSTS 64
typedef struct { double *array; size_t doubles, room; uint64_t integers[6]; } message;
typedef struct { _Alignas(128) _Atomic int is_locked; uint64_t head, tail; message slot[POSTS]; } locked_ring;
static locked_ring posts[THREADS_MAX];

static inline void lock(locked_ring *r) {
    while (atomic_exchange_explicit(&r->is_locked, 1, memory_order_acquire)) ;
}
static inline void unlock(locked_ring *r) { atomic_store_explicit(&r->is_locked, 0, memory_order_release); }

static inline message handed_over(locked_ring *r, message m) {
    lock(r);
    r->slot[r->tail++ % POSTS] = m;
    unlock(r);
    lock(r);
    m = r->slot[r->head++ % POSTS];
    unlock(r);
    return m;
}

static void *copy_thread(void *argument) {
    int id = (int)(intptr_t)argument;
    size_t n = copy.doubles, at = 0;
    uint64_t x = 1;
    pin(id);
    for (int warm = 1; warm >= 0; warm--) {
        size_t times = warm ? 1 + copy.times / 4 : copy.times;
        if (!warm) pthread_barrier_wait(&barrier);
        double start = now(), messages = 0;
        for (size_t i = 0; i < times; i++) {
            double stage = copy.units ? now() : 0;
            double *d = copy.to[id];
            if (copy.mode == 0) {
                d = malloc(n * 8);
                if (!d) wrong("no memory");
                memcpy(d, copy.from[id], n * 8);
            } else if (copy.mode == 1) {
                memcpy(d, copy.from[id], n * 8);
            } else if (copy.mode == 2) {
                if (at + n > copy.wrap) at = 0;
                d += at;
                for (size_t k = 0; k < n; k++) d[k] = copy.from[id][k];
                at += n;
            }
            __asm__ volatile("" : "+r"(d)::"memory");
            if (copy.hand_over) {
                message m = handed_over(&posts[id], (message){d, n, n, {i, at, n, 0, 0, 0}});
                if (m.integers[0] != i || m.array[n - 1] != (double)(n - 1)) wrong("a message of another stage");
                d = m.array;
            }
            if (copy.mode == 0) free(d);
            if (copy.units) {
                messages += now() - stage;
                x = units(x, copy.units);
            }
        }
        if (!warm) {
            pthread_barrier_wait(&barrier);
            copy.seconds[id] = copy.units ? messages : now() - start;
        }
    }
    __asm__ volatile("" ::"r"(x));
    return 0;
}

static double copies(void) {
    size_t to = copy.wrap ? copy.wrap : copy.doubles;
    if (copy.doubles > to) return -1;
    for (int i = 0; i < run.threads; i++) {
        copy.from[i] = malloc(copy.doubles * 8);
        copy.to[i] = malloc(to * 8);
        if (!copy.from[i] || !copy.to[i]) wrong("no memory");
        for (size_t k = 0; k < copy.doubles; k++) copy.from[i][k] = (double)k;
        /* Not zeros: the compiler would ask for zeroed memory instead, whose pages the system hands out at the first copy into them. */
        memset(copy.to[i], 0xff, to * 8);
        if (copy.mode == 3) memcpy(copy.to[i], copy.from[i], copy.doubles * 8);
        memset(&posts[i], 0, sizeof posts[i]);
    }
    pthread_t threads[THREADS_MAX];
    pthread_barrier_init(&barrier, 0, run.threads);
    for (intptr_t i = 0; i < run.threads; i++) pthread_create(&threads[i], 0, copy_thread, (void *)i);
    double seconds = 0;
    for (int i = 0; i < run.threads; i++) {
        pthread_join(threads[i], 0);
        if (copy.seconds[i] > seconds) seconds = copy.seconds[i];
    }
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < run.threads; i++) {
        if (copy.mode && copy.to[i][copy.doubles - 1] != (double)(copy.doubles - 1)) wrong("a copy differs");
        free(copy.from[i]);
        free(copy.to[i]);
    }
    return seconds;
}

#ifdef _OPENMP
static volatile uint64_t sink;
static double regions(int threads, long count, int serial, int inside) {
    uint64_t x = 1;
    double start = 0;
    for (long i = -count / 10; i < count; i++) {
        if (i == 0) start = now();
#pragma omp parallel num_threads(threads)
        { if (inside) sink = units(i, inside); else __asm__ volatile(""); }
        if (serial) x = units(x, serial);
    }
    sink = x;
    return now() - start;
}
#endif

/* ---- the line protocol --------------------------------------------------------------------------------------------------------------------------------------- */
int main(void) {
    static const char *const patterns[] = {"none", "pipeline", "shift", "two-shifts", "exchange"};
    static const char *const modes[] = {"inside", "outside", "stepped", "stepped20", "handle"};
    static char line[512];
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    while (fgets(line, sizeof line, stdin)) {
        char form[32] = "", word[32] = "";
        long a = 0, b = 0, c = 0, d = 0;
        if (!strncmp(line, "about", 5)) {
            printf("{\"libraries\": {\"cc\": \"" __VERSION__ "\"}, \"engines\": [\"floor: C\", \"gcc OpenMP\"]}\n");
        } else if (sscanf(line, "0 pattern %31s %31s %ld %ld %ld %ld", form, word, &a, &b, &c, &d) == 6) {
            int most = cores();
            run.pattern = index_of(word, patterns, 5);
            run.ranks = a;
            run.threads = b < a ? b : a;
            if (run.threads > most) run.threads = most;
            run.units = c;
            run.stages = d;
            if (run.pattern < 0 || a < 1 || b < 1) wrong("no request");
            seconds_or_absent(a > RANKS_MAX || b > most ? -1 : run.pattern == NONE ? on_threads(compute_thread) : !strcmp(form, "spawned") ? spawned() : rendezvous());
        } else if (sscanf(line, "0 %31s %31s %ld %ld %ld %ld", form, word, &a, &b, &c, &d) == 6 && (!strcmp(form, "copy") || !strcmp(form, "hand-over"))) {
            int mode = index_of(word, modes, 5);
            if (mode < 0 || a < 1 || b < 1 || b > cores()) wrong("no request");
            copy.mode = mode == 4 ? 3 : mode == 3 ? 2 : mode;
            copy.wrap = mode == 2 ? 2000000 : mode == 3 ? 20000000 : 0;
            copy.hand_over = !strcmp(form, "hand-over");
            copy.doubles = a;
            run.threads = b;
            copy.times = c;
            copy.units = d;
            seconds_or_absent(copies());
        } else if (!strncmp(line, "0 probe", 7)) {
            answer_probe();
        } else if (sscanf(line, "%ld %31s", &a, word) == 2 && !strcmp(word, "unit")) {
            answer_unit();
        } else if (sscanf(line, "1 regions %ld %ld %ld %ld", &a, &b, &c, &d) == 4) {
#ifdef _OPENMP
            seconds_or_absent(regions(a, b, c, d));
#else
            printf("{\"absent\": true}\n");
#endif
        } else {
            printf("{\"absent\": true}\n");
        }
        fflush(stdout);
        sched_setaffinity(0, sizeof all, &all); /* this thread was pinned for the run */
    }
    return 0;
}
