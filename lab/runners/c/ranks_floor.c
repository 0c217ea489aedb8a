/* What a hand-written program reaches on this machine for the operations of `lehr lab ranks`, without any library of messages: ranks as coroutines on threads
 * that are pinned one a core, and cache lines that carry a flag and, if it is short, the message. Answers a line of JSON to each line:
 *
 *   about                                           -> {"libraries": {"cc": "12.2.0"}, "engines": [...]}
 *   0 ranks OPERATION RANKS WORKERS DOUBLES UNITS STAGES -> {"seconds": S} or {"absent": true}
 *   0 probe                                         -> {"round_trip_ns": N}   cache line round trip between cores 0 and 1
 *   0 unit                                          -> {"ns": N, "value": V}  one unit of computation (the median of nine looks), and the generator's value
 *
 * A message of one double lies in the line with its flag. A longer one stays where it was written; who wants it copies it from there and says so. Ranks of a
 * thread meet by counting, and one line a thread crosses to the others. Sums of arrays are divided among all ranks; with a rank a core each sums for itself.
 * In each stage a line of up to eight doubles carries the number of the stage and wanders through the array; in the end whole arrays are compared.
 */
#define FLOOR "ranks_floor"
#include "floor.h"

enum { NONE, SHIFT, TWO_SHIFTS, EXCHANGE, BARRIER, BROADCAST, REDUCE, ALL_REDUCE };

#if HAS_RANKS
#define RANKS 16
#define LINE 8
/* Stages that a rank may be ahead of who listens to it; on a ring it is less than the number of ranks. */
#define SLOTS 16
/* Who does not answer in each stage says this often how far it is. */
#define OFTEN 8
#define BLOCK 512
#define PROOFS 3

typedef struct { _Alignas(64) _Atomic uint64_t stage; double value; } slot;
typedef struct { _Alignas(128) _Atomic uint64_t stage; } flag;

static slot below[RANKS][SLOTS], above[RANKS][SLOTS]; /* messages to a rank from below and from above */
static slot shout[SLOTS], told[RANKS][SLOTS];         /* from rank 0 to all; from each rank to rank 0 */
static slot gate[THREADS_MAX][4];                     /* a thread's ranks have all come, with their sum; nobody is more than one meeting ahead */
static flag ready[RANKS][2], taken[RANKS][2];         /* an array may be copied; it has been, by the rank above and by the one below */
static flag heard[RANKS];                             /* how far a rank has listened to rank 0; of rank 0, how far it has summed */
static _Atomic uint64_t came[RANKS];                  /* to the barrier that is proved */

/* Touched by one thread alone. */
static struct { _Alignas(128) uint64_t come; double sum; } thread[THREADS_MAX];

static long doubles, lines;
static double *own_of[RANKS], *low_of[RANKS], *high_of[RANKS];
static _Atomic int is_wrong;

static double number(int rank, uint64_t stage, int k) { return (double)(((stage + 1) << 10) + ((uint64_t)rank << 3) + k); }
static double total(uint64_t stage, int k) { return (double)(run.ranks * (((stage + 1) << 10) + k) + ((uint64_t)run.ranks * (run.ranks - 1) / 2 << 3)); }
static double ground(int rank, long i) { return -(double)(rank + 8 * i + 1); }
static int width(void) { return doubles < LINE ? (int)doubles : LINE; }

static void mark(int rank, uint64_t stage) {
    double *line = own_of[rank] + (long)(stage % lines) * LINE;
    for (int k = 0; k < width(); k++) line[k] = number(rank, stage, k);
}

static int differs(const double *array, int rank, uint64_t stage) {
    const double *line = array + (long)(stage % lines) * LINE;
    int wrong = 0;
    for (int k = 0; k < width(); k++) wrong |= line[k] != number(rank, stage, k);
    return wrong;
}

/* Whether a sum differs; what this rank gave to it is zero again. */
static int differs_from_total(int rank, uint64_t stage, int has_sum) {
    long first = (long)(stage % lines) * LINE;
    int wrong = 0;
    for (int k = 0; k < width(); k++) {
        if (has_sum) wrong |= low_of[rank][first + k] != total(stage, k);
        own_of[rank][first + k] = 0;
    }
    return wrong;
}

static inline void tell(slot *to, uint64_t stage, double value) {
    slot *s = &to[stage % SLOTS];
    s->value = value;
    post(&s->stage, stage + 1);
}

static inline double hear(slot *at, uint64_t stage) {
    slot *s = &at[stage % SLOTS];
    await(&s->stage, stage + 1);
    return s->value;
}

/* The meeting of that number, from 1: ends when all ranks have come, with the sum of what they bring. */
static inline double meet(int rank, uint64_t meeting, double value) {
    int here = rank * run.threads / run.ranks;
    thread[here].sum += value;
    if (++thread[here].come == meeting * own->count) {
        slot *s = &gate[here][meeting % 4];
        s->value = thread[here].sum;
        thread[here].sum = 0;
        post(&s->stage, meeting);
    }
    double sum = 0;
    for (int t = 0; t < run.threads; t++) {
        slot *s = &gate[t][meeting % 4];
        await(&s->stage, meeting);
        sum += s->value;
    }
    return sum;
}

/* Takes the array of a neighbour: `side` 0 if this rank is above it, 1 if below. `crossing` counts from 1. */
static void take(double *to, int from, int side, int line, uint64_t crossing) {
    await(&ready[from][line].stage, crossing);
    memcpy(to, own_of[from], doubles * sizeof *to);
    post(&taken[from][side].stage, crossing);
}

/* The sum of all ranks' arrays over this rank's part, into those who want it. */
static void sum_part(int rank, int wanting) {
    long first = doubles * rank / run.ranks, end = doubles * (rank + 1) / run.ranks;
    double block[BLOCK];
    for (long at = first; at < end; at += BLOCK) {
        long count = end - at < BLOCK ? end - at : BLOCK;
        for (long i = 0; i < count; i++) block[i] = own_of[0][at + i] + own_of[run.ranks - 1][at + i];
        for (int other = 1; other < run.ranks - 1; other++)
            for (long i = 0; i < count; i++) block[i] += own_of[other][at + i];
        for (int to = 0; to < wanting; to++) memcpy(low_of[to] + at, block, count * sizeof *block);
    }
}

static void sum_two(double *restrict to, const double *restrict a, const double *restrict b) {
    for (long i = 0; i < doubles; i++) to[i] = a[i] + b[i];
}

static int short_stage(int rank, uint64_t stage) {
    int up = (rank + 1) % run.ranks, down = (rank + run.ranks - 1) % run.ranks, wrong = 0;
    double mine = number(rank, stage, 0);
    switch (run.pattern) {
    case SHIFT:
        tell(below[up], stage, mine);
        return hear(below[rank], stage) != number(down, stage, 0);
    case TWO_SHIFTS:
        tell(below[up], stage, mine);
        wrong = hear(below[rank], stage) != number(down, stage, 0);
        tell(above[down], stage, mine);
        return wrong | (hear(above[rank], stage) != number(up, stage, 0));
    case EXCHANGE:
        tell(below[up], stage, mine);
        tell(above[down], stage, mine);
        wrong = hear(below[rank], stage) != number(down, stage, 0);
        return wrong | (hear(above[rank], stage) != number(up, stage, 0));
    case BROADCAST:
        if (rank == 0) {
            if (stage >= SLOTS)
                for (int other = 1; other < run.ranks; other++) await(&heard[other].stage, stage + 1 - SLOTS);
            tell(shout, stage, mine);
            return 0;
        }
        wrong = hear(shout, stage) != number(0, stage, 0);
        if ((stage + 1) % OFTEN == 0) post(&heard[rank].stage, stage + 1);
        return wrong;
    case REDUCE:
        if (rank) {
            if (stage >= SLOTS) await(&heard[0].stage, stage + 1 - SLOTS);
            tell(told[rank], stage, mine);
            return 0;
        }
        for (int other = 1; other < run.ranks; other++) mine += hear(told[other], stage);
        if ((stage + 1) % OFTEN == 0) post(&heard[0].stage, stage + 1);
        return mine != total(stage, 0);
    case ALL_REDUCE: return meet(rank, stage + 1, mine) != total(stage, 0);
    }
    return 0;
}

static int long_stage(int rank, uint64_t stage) {
    int up = (rank + 1) % run.ranks, down = (rank + run.ranks - 1) % run.ranks, wrong;
    double *own_array = own_of[rank], *low = low_of[rank], *high = high_of[rank];
    switch (run.pattern) {
    case SHIFT:
        await(&taken[rank][0].stage, stage);
        mark(rank, stage);
        post(&ready[rank][0].stage, stage + 1);
        take(low, down, 0, 0, stage + 1);
        return differs(low, down, stage);
    case TWO_SHIFTS:
    case EXCHANGE:
        await(&taken[rank][0].stage, stage);
        await(&taken[rank][1].stage, stage);
        mark(rank, stage);
        post(&ready[rank][0].stage, stage + 1);
        take(low, down, 0, 0, stage + 1);
        if (run.pattern == TWO_SHIFTS) post(&ready[rank][1].stage, stage + 1);
        take(high, up, 1, run.pattern == TWO_SHIFTS, stage + 1);
        return differs(low, down, stage) | differs(high, up, stage);
    case BROADCAST:
        if (rank == 0) {
            for (int other = 1; other < run.ranks; other++) await(&heard[other].stage, stage);
            mark(0, stage);
            post(&ready[0][0].stage, stage + 1);
            return 0;
        }
        await(&ready[0][0].stage, stage + 1);
        memcpy(own_array, own_of[0], doubles * sizeof *own_array);
        post(&heard[rank].stage, stage + 1);
        return differs(own_array, 0, stage);
    case REDUCE:
    case ALL_REDUCE:
        mark(rank, stage);
        meet(rank, 2 * stage + 1, 0);
        if (run.pattern == ALL_REDUCE && run.ranks == 2 && run.threads == 2) sum_two(low, own_of[0], own_of[1]);
        else sum_part(rank, run.pattern == REDUCE ? 1 : run.ranks);
        meet(rank, 2 * stage + 2, 0);
        wrong = differs_from_total(rank, stage, rank == 0 || run.pattern == ALL_REDUCE);
        return wrong;
    }
    return 0;
}

static void rank_stages(int rank) {
    uint64_t x = rank;
    int wrong = 0;
    for (uint64_t stage = 0; stage < run.stages; stage++) {
        if (run.pattern == BARRIER) meet(rank, stage + 1, 0);
        else wrong |= doubles == 1 ? short_stage(rank, stage) : long_stage(rank, stage);
        if (run.units) x = units(x, run.units);
    }
    __asm__ volatile("" ::"r"(x));
    if (run.pattern == BARRIER) {
        /* After what is measured, a barrier is proved: a few more, which nobody leaves before all have come. */
        for (uint64_t proof = 1, meeting = run.stages + 1; proof <= PROOFS; proof++) {
            atomic_store_explicit(&came[rank], proof, memory_order_relaxed);
            meet(rank, meeting++, 0);
            for (int other = 0; other < run.ranks; other++) wrong |= atomic_load_explicit(&came[other], memory_order_relaxed) < proof;
            meet(rank, meeting++, 0);
        }
    }
    if (wrong) is_wrong = 1;
}

/* What a rank's array holds at a place after all stages: what the line left there when it last came by. */
static double last(int rank, long i) {
    uint64_t line = i / LINE;
    if (line >= (uint64_t)lines || line >= run.stages) return ground(rank, i);
    return number(rank, line + (run.stages - 1 - line) / lines * lines, i % LINE);
}

static int array_differs(const double *array, int rank) {
    int wrong = 0;
    for (long i = 0; i < doubles; i++) wrong |= array[i] != last(rank, i);
    return wrong;
}

static int results_differ(void) {
    int wrong = 0;
    for (int rank = 0; rank < run.ranks; rank++) {
        int up = (rank + 1) % run.ranks, down = (rank + run.ranks - 1) % run.ranks;
        long first = (long)((run.stages - 1) % lines) * LINE;
        switch (run.pattern) {
        case SHIFT: wrong |= array_differs(low_of[rank], down); break;
        case TWO_SHIFTS:
        case EXCHANGE: wrong |= array_differs(low_of[rank], down) | array_differs(high_of[rank], up); break;
        case BROADCAST: wrong |= array_differs(own_of[rank], 0); break;
        case REDUCE:
        case ALL_REDUCE:
            if (run.pattern == REDUCE && rank) break;
            for (long i = 0; i < doubles; i++) wrong |= (i < first || i >= first + LINE) && low_of[rank][i] != 0;
        }
    }
    return wrong;
}

static double *array_of(long count) {
    double *array = aligned_alloc(4096, (count * sizeof *array + 4095) / 4096 * 4096);
    if (!array) wrong("no memory");
    /* Not zeros, which the system would only promise. */
    memset(array, 0xff, count * sizeof *array);
    return array;
}

static double measured(void) {
    int is_sum = run.pattern == REDUCE || run.pattern == ALL_REDUCE;
    lines = doubles < LINE ? 1 : doubles / LINE;
    memset(below, 0, sizeof below);
    memset(above, 0, sizeof above);
    memset(shout, 0, sizeof shout);
    memset(told, 0, sizeof told);
    memset(gate, 0, sizeof gate);
    memset(ready, 0, sizeof ready);
    memset(taken, 0, sizeof taken);
    memset(heard, 0, sizeof heard);
    memset(thread, 0, sizeof thread);
    memset(came, 0, sizeof came);
    is_wrong = 0;
    for (int rank = 0; rank < run.ranks; rank++) {
        own_of[rank] = array_of(doubles + 1);
        low_of[rank] = array_of(doubles + 1);
        high_of[rank] = array_of(doubles + 1);
        for (long i = 0; i < doubles; i++) own_of[rank][i] = is_sum ? 0 : ground(rank, i);
    }
    double seconds = on_threads(rank_thread);
    if (is_wrong) wrong("a number of another stage, or a barrier that held nobody");
    if (doubles > 1 && results_differ()) wrong("an array differs from what was sent");
    for (int rank = 0; rank < run.ranks; rank++) {
        free(own_of[rank]);
        free(low_of[rank]);
        free(high_of[rank]);
    }
    return seconds;
}
#else
#define RANKS 0
static long doubles;
static double measured(void) { return -1; }
#endif

int main(void) {
    static const char *const operations[] = {"none", "shift", "two-shifts", "exchange", "barrier", "broadcast", "reduce", "all-reduce"};
    static char line[512];
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    while (fgets(line, sizeof line, stdin)) {
        char word[32] = "";
        long ranks = 0, workers = 0, count = 0, stages = 0, length = 0;
        if (!strncmp(line, "about", 5)) {
            printf("{\"libraries\": {\"cc\": \"" __VERSION__ "\"}, \"engines\": [\"floor: C, cache lines\"]}\n");
        } else if (sscanf(line, "0 ranks %31s %ld %ld %ld %ld %ld", word, &ranks, &workers, &length, &count, &stages) == 6) {
            int most = cores();
            run.pattern = index_of(word, operations, 8);
            run.ranks = ranks;
            run.threads = workers < ranks ? workers : ranks;
            run.units = count;
            run.stages = stages;
            doubles = length;
            if (run.pattern < 0 || ranks < 1 || workers < 1 || length < 0 || stages < 1) wrong("no request");
            seconds_or_absent(workers > most ? -1 : run.pattern == NONE ? on_threads(compute_thread) : ranks < 2 || ranks > RANKS ? -1 : measured());
        } else if (!strncmp(line, "0 probe", 7)) {
            answer_probe();
        } else if (!strncmp(line, "0 unit", 6)) {
            answer_unit();
        } else {
            printf("{\"absent\": true}\n");
        }
        fflush(stdout);
        sched_setaffinity(0, sizeof all, &all); /* this thread was pinned for the run */
    }
    return 0;
}
