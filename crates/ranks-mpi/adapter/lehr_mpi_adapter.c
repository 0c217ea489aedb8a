/* An adapter for an MPI without the standard ABI, such as Open MPI 5: offers the functions that Lehr uses (src/abi.rs) with the handles and
 * constants of the ABI, and passes each on to the MPI that it was compiled with. A site compiles it once:
 *
 *     mpicc -shared -fPIC -fvisibility=hidden -O2 -o libmpi_abi.so.1 lehr_mpi_adapter.c
 *
 * and names the file in LEHR_MPI_LIBRARY. The symbols have the standard's names, and the MPI's own are reached by its profiling names (PMPI_).
 *
 * Handles: the ABI's predefined values are below 0x1000 and become the MPI's own; all others are the MPI's own, as numbers. A message is at most
 * INT_MAX bytes long: MPI 3 has no longer counts. The program gets an error for a longer one. */

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#define OFFER __attribute__((visibility("default")))

typedef uintptr_t Handle;
typedef int64_t Count;

/* MPI_Status of the ABI. The length of a found message, in bytes, is kept in `internal`. */
typedef struct {
    int source, tag, error, internal[5];
} Status;

enum { COMM_WORLD = 0x101, MESSAGE_NULL = 0x128, ERRORS_RETURN = 0x143, REQUEST_NULL = 0x180 };
enum { ANY_SOURCE = -1, SERIALIZED = 2048, TYPE_SHARED = 221 };

/* The ABI's handles are as wide as pointers; those of this MPI must fit. */
_Static_assert(sizeof(MPI_Comm) <= sizeof(Handle) && sizeof(MPI_Request) <= sizeof(Handle), "handles of this MPI are too wide");
_Static_assert(sizeof(MPI_Message) <= sizeof(Handle) && sizeof(MPI_Win) <= sizeof(Handle), "handles of this MPI are too wide");

static MPI_Comm comm_of(Handle handle) { return handle == COMM_WORLD ? MPI_COMM_WORLD : (MPI_Comm)handle; }
static MPI_Request request_of(Handle handle) { return handle == REQUEST_NULL ? MPI_REQUEST_NULL : (MPI_Request)handle; }
static Handle of_request(MPI_Request request) { return request == MPI_REQUEST_NULL ? REQUEST_NULL : (Handle)request; }
static MPI_Message message_of(Handle handle) { return handle == MESSAGE_NULL ? MPI_MESSAGE_NULL : (MPI_Message)handle; }
static Handle of_message(MPI_Message message) { return message == MPI_MESSAGE_NULL ? MESSAGE_NULL : (Handle)message; }

OFFER int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int given = MPI_THREAD_SINGLE;
    int code = PMPI_Init_thread(argc, argv, required >= SERIALIZED ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &given);
    *provided = given >= MPI_THREAD_SERIALIZED ? SERIALIZED : 0;
    return code;
}
OFFER int MPI_Initialized(int *flag) { return PMPI_Initialized(flag); }
OFFER int MPI_Finalize(void) { return PMPI_Finalize(); }
OFFER int MPI_Abi_get_version(int *major, int *minor) {
    *major = 1;
    *minor = 0;
    return MPI_SUCCESS;
}
OFFER int MPI_Get_library_version(char *text, int *length) { return PMPI_Get_library_version(text, length); }
OFFER int MPI_Get_processor_name(char *text, int *length) { return PMPI_Get_processor_name(text, length); }
OFFER int MPI_Error_string(int code, char *text, int *length) { return PMPI_Error_string(code, text, length); }

/* Functions with handles cannot have the prototypes of mpi.h; they are defined under other names and given theirs by the linker. */
#define AS(name) __asm__(name) OFFER

int abi_abort(Handle comm, int code) AS("MPI_Abort");
int abi_abort(Handle comm, int code) { return PMPI_Abort(comm_of(comm), code); }

int abi_set_errhandler(Handle comm, Handle handler) AS("MPI_Comm_set_errhandler");
int abi_set_errhandler(Handle comm, Handle handler) {
    return handler == ERRORS_RETURN ? PMPI_Comm_set_errhandler(comm_of(comm), MPI_ERRORS_RETURN) : MPI_ERR_ARG;
}

int abi_dup(Handle comm, Handle *copy) AS("MPI_Comm_dup");
int abi_dup(Handle comm, Handle *copy) {
    MPI_Comm made = MPI_COMM_NULL;
    int code = PMPI_Comm_dup(comm_of(comm), &made);
    *copy = (Handle)made;
    return code;
}

int abi_split_type(Handle comm, int kind, int key, Handle info, Handle *part) AS("MPI_Comm_split_type");
int abi_split_type(Handle comm, int kind, int key, Handle info, Handle *part) {
    MPI_Comm made = MPI_COMM_NULL;
    (void)info; /* always none */
    int code = kind == TYPE_SHARED ? PMPI_Comm_split_type(comm_of(comm), MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &made) : MPI_ERR_ARG;
    *part = (Handle)made;
    return code;
}

int abi_free(Handle *comm) AS("MPI_Comm_free");
int abi_free(Handle *comm) {
    MPI_Comm old = comm_of(*comm);
    return PMPI_Comm_free(&old);
}

int abi_rank(Handle comm, int *rank) AS("MPI_Comm_rank");
int abi_rank(Handle comm, int *rank) { return PMPI_Comm_rank(comm_of(comm), rank); }

int abi_size(Handle comm, int *size) AS("MPI_Comm_size");
int abi_size(Handle comm, int *size) { return PMPI_Comm_size(comm_of(comm), size); }

int abi_isend(const void *data, Count count, Handle type, int to, int tag, Handle comm, Handle *request) AS("MPI_Isend_c");
int abi_isend(const void *data, Count count, Handle type, int to, int tag, Handle comm, Handle *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    (void)type; /* always bytes */
    if (count > INT_MAX) return MPI_ERR_COUNT;
    int code = PMPI_Isend(data, (int)count, MPI_BYTE, to, tag, comm_of(comm), &made);
    *request = of_request(made);
    return code;
}

int abi_improbe(int from, int tag, Handle comm, int *flag, Handle *message, Status *status) AS("MPI_Improbe");
int abi_improbe(int from, int tag, Handle comm, int *flag, Handle *message, Status *status) {
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Status about;
    int length = 0;
    int code = PMPI_Improbe(from == ANY_SOURCE ? MPI_ANY_SOURCE : from, tag, comm_of(comm), flag, &found, &about);
    if (code != MPI_SUCCESS || !*flag) return code;
    *message = of_message(found);
    code = PMPI_Get_count(&about, MPI_BYTE, &length);
    memset(status, 0, sizeof *status);
    status->source = about.MPI_SOURCE;
    status->tag = about.MPI_TAG;
    status->internal[0] = length;
    return code;
}

int abi_get_count(const Status *status, Handle type, Count *count) AS("MPI_Get_count_c");
int abi_get_count(const Status *status, Handle type, Count *count) {
    (void)type; /* always bytes */
    *count = status->internal[0];
    return MPI_SUCCESS;
}

int abi_imrecv(void *data, Count count, Handle type, Handle *message, Handle *request) AS("MPI_Imrecv_c");
int abi_imrecv(void *data, Count count, Handle type, Handle *message, Handle *request) {
    MPI_Message found = message_of(*message);
    MPI_Request made = MPI_REQUEST_NULL;
    (void)type; /* always bytes */
    if (count > INT_MAX) return MPI_ERR_COUNT;
    int code = PMPI_Imrecv(data, (int)count, MPI_BYTE, &found, &made);
    *message = of_message(found);
    *request = of_request(made);
    return code;
}

int abi_test(Handle *request, int *flag, Status *status) AS("MPI_Test");
int abi_test(Handle *request, int *flag, Status *status) {
    MPI_Request asked = request_of(*request);
    int code = PMPI_Test(&asked, flag, MPI_STATUS_IGNORE);
    *request = of_request(asked);
    memset(status, 0, sizeof *status);
    return code;
}

int abi_ibarrier(Handle comm, Handle *request) AS("MPI_Ibarrier");
int abi_ibarrier(Handle comm, Handle *request) {
    MPI_Request made = MPI_REQUEST_NULL;
    int code = PMPI_Ibarrier(comm_of(comm), &made);
    *request = of_request(made);
    return code;
}

int abi_win_allocate_shared(MPI_Aint size, int unit, Handle info, Handle comm, void *address, Handle *win) AS("MPI_Win_allocate_shared");
int abi_win_allocate_shared(MPI_Aint size, int unit, Handle info, Handle comm, void *address, Handle *win) {
    MPI_Win made = MPI_WIN_NULL;
    (void)info; /* always none */
    int code = PMPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, comm_of(comm), address, &made);
    *win = (Handle)made;
    return code;
}

int abi_win_shared_query(Handle win, int rank, MPI_Aint *size, int *unit, void *address) AS("MPI_Win_shared_query");
int abi_win_shared_query(Handle win, int rank, MPI_Aint *size, int *unit, void *address) {
    return PMPI_Win_shared_query((MPI_Win)win, rank, size, unit, address);
}

int abi_win_free(Handle *win) AS("MPI_Win_free");
int abi_win_free(Handle *win) {
    MPI_Win old = (MPI_Win)*win;
    return PMPI_Win_free(&old);
}
