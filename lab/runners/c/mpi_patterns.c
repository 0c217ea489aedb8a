/* The rendezvous patterns of `lehr lab ports` on MPI: processes as ranks, or, with -DTHREADCOMM (MPICH alone), threads of one process as ranks.
 *
 *   mpiexec -n RANKS mpi_patterns SHARED      mpi_patterns_threadcomm RANKS
 *
 * SHARED is a file of at least sizeof(shared) zero bytes, which all ranks map. Rank 0 answers requests; lab/runners/mpi/runner.py speaks the lab's protocol:
 *
 *   pattern PATTERN UNITS STAGES  -> {"seconds": S}       from the first rank's start to the last one's end
 *   unit                          -> {"ns": N, "value": V}
 *
 * Between requests all ranks but 0 sleep on a semaphore, and rank 0 on its input: a rank that waited inside MPI would use a core while others are measured.
 * A message is eight bytes, the number of its stage; every rank checks each that it gets, and a wrong one ends the program.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
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

/* What ranks share outside MPI: the request, and what they saw. The semaphores order all of it. */
typedef struct {
    sem_t wake[RANKS_MAX];
    int pattern, units;
    long stages;
    double start[RANKS_MAX], end[RANKS_MAX];
    uint64_t wrong[RANKS_MAX];
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

/* This rank's part of the request; all ranks call it. */
static void run(MPI_Comm comm, int rank, int ranks) {
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, pattern = all->pattern, count = all->units;
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
        if (all->wrong[rank]) fail("a message of another stage");
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
