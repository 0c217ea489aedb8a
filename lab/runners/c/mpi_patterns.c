/* The rendezvous patterns of `lehr lab ports` and the operations of `lehr lab ranks` on MPI: processes as ranks, or, with -DTHREADCOMM (MPICH alone), threads
 * of one process as ranks.
 *
 *   mpiexec -n RANKS mpi_patterns SHARED      mpi_patterns_threadcomm RANKS
 *
 * SHARED is a file of at least sizeof(shared) zero bytes, which all ranks map. Rank 0 answers requests; lab/runners/mpi/runner.py speaks the lab's protocol:
 *
 *   pattern PATTERN UNITS STAGES  -> {"seconds": S}       from the first rank's start to the last one's end
 *   ranks OPERATION DOUBLES UNITS STAGES  -> {"seconds": S}
 *   unit                          -> {"ns": N, "value": V}
 *
 * Between requests all ranks but 0 sleep on a semaphore, and rank 0 on its input: a rank that waited inside MPI would use a core while others are measured.
 * A message of a pattern is eight bytes, the number of its stage. In an operation a line of up to eight doubles carries the stage and wanders through the array,
 * and in the end the whole array is compared. Every rank checks what it gets, and a wrong number ends the program.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
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
#define LOOKS 9

enum { END = -1, NONE, PIPELINE, SHIFT, TWO_SHIFTS, EXCHANGE };
static const char *const patterns[] = {"none", "pipeline", "shift", "two-shifts", "exchange"};

enum { O_NONE = 16, O_SHIFT, O_TWO_SHIFTS, O_EXCHANGE, O_BARRIER, O_BROADCAST, O_REDUCE, O_ALL_REDUCE };
static const char *const operations[] = {"none", "shift", "two-shifts", "exchange", "barrier", "broadcast", "reduce", "all-reduce"};
#define LINE 8
#define PROOFS 3

/* What ranks share outside MPI: the request, and what they saw. The semaphores order all of it. */
typedef struct {
    sem_t wake[RANKS_MAX];
    int pattern, units;
    long stages, doubles;
    double start[RANKS_MAX], end[RANKS_MAX];
    uint64_t wrong[RANKS_MAX];
    _Atomic int came[RANKS_MAX];
} shared;
static shared *all;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fail(const char *what) {
    fprintf(stderr, "mpi_patterns: %s\n", what);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

/* Dependent steps of a generator; the factor is hidden from the compiler, which could otherwise fold several steps into one. */
static uint64_t units(uint64_t x, int count) {
    uint64_t factor = 6364136223846793005ull, increment = 1442695040888963407ull;
    __asm__ volatile("" : "+r"(factor), "+r"(increment));
    for (int i = 0; i < count * UNIT_STEPS; i++) x = x * factor + increment;
    __asm__ volatile("" : "+r"(x));
    return x;
}

/* One stage's message to a rank and from a rank. In MPICH 5.0 MPI_Sendrecv crashes on a communicator of threads, so there it is said in three calls. */
static uint64_t transfer(MPI_Comm comm, uint64_t stage, int to, int from, int tag) {
    uint64_t received = ~stage;
#ifdef THREADCOMM
    MPI_Request requests[2];
    MPI_Irecv(&received, 1, MPI_UINT64_T, from, tag, comm, &requests[0]);
    MPI_Isend(&stage, 1, MPI_UINT64_T, to, tag, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#else
    MPI_Sendrecv(&stage, 1, MPI_UINT64_T, to, tag, &received, 1, MPI_UINT64_T, from, tag, comm, MPI_STATUS_IGNORE);
#endif
    return received ^ stage;
}

static uint64_t exchange(MPI_Comm comm, uint64_t stage, int left, int right) {
    uint64_t received[2] = {~stage, ~stage};
    MPI_Request requests[4];
    MPI_Irecv(&received[0], 1, MPI_UINT64_T, left, 1, comm, &requests[0]);
    MPI_Irecv(&received[1], 1, MPI_UINT64_T, right, 2, comm, &requests[1]);
    MPI_Isend(&stage, 1, MPI_UINT64_T, right, 1, comm, &requests[2]);
    MPI_Isend(&stage, 1, MPI_UINT64_T, left, 2, comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    return (received[0] ^ stage) | (received[1] ^ stage);
}

/* ---- the operations of `lehr lab ranks` ---- */

/* What a rank sends, and what it receives from below and from above; a sum comes into `low`. */
typedef struct { MPI_Comm comm; int rank, ranks, below, above; long doubles, lines; double *own, *low, *high; } work;

static double number(int rank, uint64_t stage, int k) { return (double)(((stage + 1) << 10) + ((uint64_t)rank << 3) + k); }
static double sum(int ranks, uint64_t stage, int k) { return (double)(ranks * (((stage + 1) << 10) + k) + ((uint64_t)ranks * (ranks - 1) / 2 << 3)); }
static double ground(int rank, long i) { return -(double)(rank + 8 * i + 1); }
static long line_of(const work *w, uint64_t stage) { return (long)(stage % w->lines) * LINE; }
static int width(const work *w) { return w->doubles < LINE ? (int)w->doubles : LINE; }

static void mark(const work *w, uint64_t stage) {
    double *line = w->own + line_of(w, stage);
    for (int k = 0; k < width(w); k++) line[k] = number(w->rank, stage, k);
}

static uint64_t differs(const work *w, const double *array, int rank, uint64_t stage) {
    const double *line = array + line_of(w, stage);
    uint64_t wrong = 0;
    for (int k = 0; k < width(w); k++) wrong |= line[k] != number(rank, stage, k);
    return wrong;
}

/* Whether `low` has another sum than that of all; what this rank gave to it is zero again. */
static uint64_t differs_from_sum(const work *w, uint64_t stage, int has_sum) {
    uint64_t wrong = 0;
    long first = line_of(w, stage);
    for (int k = 0; k < width(w); k++) {
        if (has_sum) wrong |= w->low[first + k] != sum(w->ranks, stage, k);
        w->own[first + k] = 0;
    }
    return wrong;
}

/* What a rank's array holds at a place after so many stages: what the line left there when it last came by. */
static double last(const work *w, int rank, long i, uint64_t stages) {
    uint64_t line = i / LINE, lines = w->lines;
    if (line >= lines || line >= stages) return ground(rank, i);
    return number(rank, line + (stages - 1 - line) / lines * lines, i % LINE);
}

static uint64_t array_differs(const work *w, const double *array, int rank, uint64_t stages) {
    uint64_t wrong = 0;
    for (long i = 0; i < w->doubles; i++) wrong |= array[i] != last(w, rank, i, stages);
    return wrong;
}

static uint64_t result_differs(const work *w, int operation, uint64_t stages) {
    uint64_t wrong = 0;
    switch (operation) {
    case O_SHIFT: return array_differs(w, w->low, w->below, stages);
    case O_TWO_SHIFTS:
    case O_EXCHANGE: return array_differs(w, w->low, w->below, stages) | array_differs(w, w->high, w->above, stages);
    case O_BROADCAST: return array_differs(w, w->own, 0, stages);
    case O_REDUCE:
    case O_ALL_REDUCE:
        if (operation == O_REDUCE && w->rank) return 0;
        long first = line_of(w, stages - 1);
        for (long i = 0; i < w->doubles; i++) wrong |= (i < first || i >= first + LINE) && w->low[i] != 0;
    }
    return wrong;
}

static void move(const work *w, int to, int from, double *received, int tag) {
#ifdef THREADCOMM
    MPI_Request requests[2];
    MPI_Irecv(received, w->doubles, MPI_DOUBLE, from, tag, w->comm, &requests[0]);
    MPI_Isend(w->own, w->doubles, MPI_DOUBLE, to, tag, w->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#else
    MPI_Sendrecv(w->own, w->doubles, MPI_DOUBLE, to, tag, received, w->doubles, MPI_DOUBLE, from, tag, w->comm, MPI_STATUS_IGNORE);
#endif
}

static uint64_t operate(const work *w, int operation, uint64_t stage) {
    MPI_Request requests[4];
    switch (operation) {
    case O_SHIFT:
        mark(w, stage);
        move(w, w->above, w->below, w->low, 1);
        return differs(w, w->low, w->below, stage);
    case O_TWO_SHIFTS:
        mark(w, stage);
        move(w, w->above, w->below, w->low, 1);
        move(w, w->below, w->above, w->high, 2);
        return differs(w, w->low, w->below, stage) | differs(w, w->high, w->above, stage);
    case O_EXCHANGE:
        mark(w, stage);
        MPI_Irecv(w->low, w->doubles, MPI_DOUBLE, w->below, 1, w->comm, &requests[0]);
        MPI_Irecv(w->high, w->doubles, MPI_DOUBLE, w->above, 2, w->comm, &requests[1]);
        MPI_Isend(w->own, w->doubles, MPI_DOUBLE, w->above, 1, w->comm, &requests[2]);
        MPI_Isend(w->own, w->doubles, MPI_DOUBLE, w->below, 2, w->comm, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        return differs(w, w->low, w->below, stage) | differs(w, w->high, w->above, stage);
    case O_BARRIER: MPI_Barrier(w->comm); return 0;
    case O_BROADCAST:
        if (!w->rank) mark(w, stage);
        MPI_Bcast(w->own, w->doubles, MPI_DOUBLE, 0, w->comm);
        return differs(w, w->own, 0, stage);
    case O_REDUCE:
        mark(w, stage);
        MPI_Reduce(w->own, w->low, w->doubles, MPI_DOUBLE, MPI_SUM, 0, w->comm);
        return differs_from_sum(w, stage, !w->rank);
    case O_ALL_REDUCE:
        mark(w, stage);
        MPI_Allreduce(w->own, w->low, w->doubles, MPI_DOUBLE, MPI_SUM, w->comm);
        return differs_from_sum(w, stage, 1);
    }
    return 0;
}

/* Whether a barrier ends before all have come, as memory that all share says. */
static uint64_t prove_barrier(const work *w) {
    uint64_t wrong = 0;
    for (int proof = 1; proof <= PROOFS; proof++) {
        atomic_store_explicit(&all->came[w->rank], proof, memory_order_relaxed);
        MPI_Barrier(w->comm);
        for (int rank = 0; rank < w->ranks; rank++) wrong |= atomic_load_explicit(&all->came[rank], memory_order_relaxed) < proof;
        /* Nobody comes to the next before all have looked. */
        MPI_Barrier(w->comm);
    }
    atomic_store_explicit(&all->came[w->rank], 0, memory_order_relaxed);
    MPI_Barrier(w->comm);
    return wrong;
}

static double *array_of(long doubles) {
    double *array = malloc((doubles ? doubles : 1) * sizeof *array);
    if (!array) fail("no memory");
    /* Not zeros, which the system would only promise. */
    memset(array, 0xff, doubles * sizeof *array);
    return array;
}

static void run_operation(MPI_Comm comm, int rank, int ranks) {
    int operation = all->pattern, count = all->units;
    uint64_t stages = all->stages, wrong = 0, x = rank;
    work w = {.comm = comm, .rank = rank, .ranks = ranks, .below = (rank + ranks - 1) % ranks, .above = (rank + 1) % ranks, .doubles = all->doubles};
    w.lines = w.doubles < LINE ? 1 : w.doubles / LINE;
    w.own = array_of(w.doubles);
    w.low = array_of(w.doubles);
    w.high = array_of(w.doubles);
    for (long i = 0; i < w.doubles; i++) w.own[i] = operation == O_REDUCE || operation == O_ALL_REDUCE ? 0 : ground(rank, i);
    if (operation == O_BARRIER) wrong |= prove_barrier(&w);
    MPI_Barrier(comm);
    all->start[rank] = now();
    for (uint64_t stage = 0; stage < stages; stage++) {
        wrong |= operate(&w, operation, stage);
        if (count) x = units(x, count);
    }
    all->end[rank] = now();
    all->wrong[rank] = wrong | result_differs(&w, operation, stages);
    __asm__ volatile("" ::"r"(x));
    free(w.own);
    free(w.low);
    free(w.high);
    MPI_Barrier(comm);
}

/* This rank's part of the request; all ranks call it. */
static void run(MPI_Comm comm, int rank, int ranks) {
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, pattern = all->pattern, count = all->units;
    if (pattern >= O_NONE) return run_operation(comm, rank, ranks);
    uint64_t stages = all->stages, wrong = 0, x = rank;
    MPI_Barrier(comm);
    all->start[rank] = now();
    for (uint64_t stage = 0; stage < stages; stage++) {
        switch (pattern) {
        case PIPELINE: wrong |= transfer(comm, stage, rank, rank, 1); break;
        case SHIFT: wrong |= transfer(comm, stage, right, left, 1); break;
        case TWO_SHIFTS:
            wrong |= transfer(comm, stage, right, left, 1);
            wrong |= transfer(comm, stage, left, right, 2);
            break;
        case EXCHANGE: wrong |= exchange(comm, stage, left, right); break;
        }
        if (count) x = units(x, count);
    }
    all->end[rank] = now();
    all->wrong[rank] = wrong;
    __asm__ volatile("" ::"r"(x));
    MPI_Barrier(comm);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void answer_unit(void) {
    double looks[LOOKS];
    for (int i = 0; i < LOOKS; i++) {
        double start = now();
        units(1, 100);
        looks[i] = (now() - start) * 1e7;
    }
    qsort(looks, LOOKS, sizeof *looks, ascending);
    printf("{\"ns\": %.1f, \"value\": %llu}\n", looks[LOOKS / 2], (unsigned long long)units(7, 1));
}

static void answer_run(MPI_Comm comm, int ranks) {
    for (int rank = 1; rank < ranks; rank++) sem_post(&all->wake[rank]);
    run(comm, 0, ranks);
    double start = all->start[0], end = all->end[0];
    for (int rank = 0; rank < ranks; rank++) {
        if (all->start[rank] < start) start = all->start[rank];
        if (all->end[rank] > end) end = all->end[rank];
        if (all->wrong[rank]) fail(all->pattern >= O_NONE ? "a number of another stage, an array that differs, or a barrier that held nobody" : "a message of another stage");
    }
    printf("{\"seconds\": %.9g}\n", end - start);
}

/* Rank 0: answers requests until the input ends. */
static void serve(MPI_Comm comm, int ranks) {
    static char line[256];
    while (fgets(line, sizeof line, stdin)) {
        char word[32];
        if (!strncmp(line, "unit", 4)) {
            answer_unit();
        } else if (sscanf(line, "pattern %31s %d %ld", word, &all->units, &all->stages) == 3) {
            all->pattern = END;
            for (int i = 0; i < 5; i++) if (!strcmp(word, patterns[i])) all->pattern = i;
            if (all->pattern == END) fail("no request");
            answer_run(comm, ranks);
        } else if (sscanf(line, "ranks %31s %ld %d %ld", word, &all->doubles, &all->units, &all->stages) == 4) {
            all->pattern = END;
            for (int i = 0; i < 8; i++) if (!strcmp(word, operations[i])) all->pattern = O_NONE + i;
            if (all->pattern == END || all->doubles < 0 || all->stages < 1) fail("no request");
            answer_run(comm, ranks);
        } else {
            fail("no request");
        }
        fflush(stdout);
    }
    all->pattern = END;
    for (int rank = 1; rank < ranks; rank++) sem_post(&all->wake[rank]);
}

static void rank_main(MPI_Comm comm) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks > RANKS_MAX) fail("too many ranks");
    if (rank == 0) for (int i = 0; i < ranks; i++) sem_init(&all->wake[i], 1, 0);
    MPI_Barrier(comm);
    if (rank == 0) return serve(comm, ranks);
    for (;;) {
        while (sem_wait(&all->wake[rank])) ;
        if (all->pattern == END) return;
        run(comm, rank, ranks);
    }
}

#ifdef THREADCOMM
static MPI_Comm threads;

static void *thread_main(void *argument) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((intptr_t)argument % (cores > 0 ? cores : 1), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    MPIX_Threadcomm_start(threads);
    rank_main(threads);
    MPIX_Threadcomm_finish(threads);
    return 0;
}

int main(int argc, char **argv) {
    int provided, ranks = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t handles[RANKS_MAX];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE || ranks < 1 || ranks > RANKS_MAX) fail("usage: mpi_patterns_threadcomm RANKS");
    all = calloc(1, sizeof *all);
    if (!all) fail("no memory");
    MPIX_Threadcomm_init(MPI_COMM_WORLD, ranks, &threads);
    for (intptr_t i = 0; i < ranks; i++) pthread_create(&handles[i], 0, thread_main, (void *)i);
    for (int i = 0; i < ranks; i++) pthread_join(handles[i], 0);
    MPIX_Threadcomm_free(&threads);
    MPI_Finalize();
    return 0;
}
#else
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int file = argc > 1 ? open(argv[1], O_RDWR) : -1;
    if (file < 0) fail("usage: mpiexec -n RANKS mpi_patterns SHARED");
    all = mmap(0, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (all == MAP_FAILED) fail("the shared file cannot be mapped");
    rank_main(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
#endif
