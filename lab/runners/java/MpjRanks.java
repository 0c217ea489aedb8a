// The operations of `lehr lab ranks` on MPJ Express, ranks as threads of one virtual machine (its multicore device). lab/runners/mpi/runner.py starts it:
//
//   ranks OPERATION DOUBLES UNITS STAGES  -> {"seconds": S}       from the first rank's start to the last one's end
//   unit                                  -> {"ns": N, "value": V}
//
// Between requests all ranks sleep on queues. Each rank has classes of its own, so what ranks share outside MPI lies among the system's properties. In each
// stage a line of up to eight doubles carries the number of the stage and wanders through the array; every rank checks it, and in the end the whole array.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import mpi.*;

public class MpjRanks {
    static final int UNIT_STEPS = 960;
    static final int LINE = 8;
    static final int LOOKS = 9;
    static final int PROOFS = 3;
    static volatile long sink;

    final Intracomm comm = MPI.COMM_WORLD;
    final int rank, ranks, below, above;
    int doubles, lines;
    double[] own, low, high;

    MpjRanks() throws MPIException {
        rank = comm.Rank();
        ranks = comm.Size();
        below = (rank + ranks - 1) % ranks;
        above = (rank + 1) % ranks;
    }

    static long units(long x, int count) {
        for (int i = 0; i < count * UNIT_STEPS; i++) x = x * 6364136223846793005L + 1442695040888963407L;
        return x;
    }

    static double number(int rank, long stage, int k) {
        return ((stage + 1) << 10) + ((long) rank << 3) + k;
    }

    double sum(long stage, int k) {
        return ranks * (((stage + 1) << 10) + k) + ((long) ranks * (ranks - 1) / 2 << 3);
    }

    static double ground(int rank, int i) {
        return -(rank + 8.0 * i + 1);
    }

    int line(long stage) {
        return (int) (stage % lines) * LINE;
    }

    void mark(long stage) {
        int first = line(stage);
        for (int k = 0; k < Math.min(LINE, doubles); k++) own[first + k] = number(rank, stage, k);
    }

    boolean isMarked(double[] array, int by, long stage) {
        int first = line(stage);
        boolean right = true;
        for (int k = 0; k < Math.min(LINE, doubles); k++) right &= array[first + k] == number(by, stage, k);
        return right;
    }

    /** Whether `low` has everybody's sum; what this rank gave to it is zero again. */
    boolean isSummed(long stage, boolean hasSum) {
        int first = line(stage);
        boolean right = true;
        for (int k = 0; k < Math.min(LINE, doubles); k++) {
            if (hasSum) right &= low[first + k] == sum(stage, k);
            own[first + k] = 0;
        }
        return right;
    }

    /** Whether an array is what a rank's must be after so many stages: each line as it was left when it last came by. */
    boolean isWhole(double[] array, int by, long stages) {
        boolean right = true;
        for (int i = 0; i < doubles; i++) {
            long line = i / LINE;
            boolean isGround = line >= lines || line >= stages;
            right &= array[i] == (isGround ? ground(by, i) : number(by, line + (stages - 1 - line) / lines * lines, i % LINE));
        }
        return right;
    }

    boolean isResult(String operation, long stages) {
        switch (operation) {
            case "shift": return isWhole(low, below, stages);
            case "two-shifts":
            case "exchange": return isWhole(low, below, stages) && isWhole(high, above, stages);
            case "broadcast": return isWhole(own, 0, stages);
            case "reduce":
            case "all-reduce":
                if (operation.equals("reduce") && rank != 0) return true;
                int first = line(stages - 1);
                boolean right = true;
                for (int i = 0; i < doubles; i++) right &= i >= first && i < first + LINE || low[i] == 0;
                return right;
            default: return true;
        }
    }

    boolean stage(String operation, long stage) throws MPIException {
        switch (operation) {
            case "shift":
                mark(stage);
                comm.Sendrecv(own, 0, doubles, MPI.DOUBLE, above, 1, low, 0, doubles, MPI.DOUBLE, below, 1);
                return isMarked(low, below, stage);
            case "two-shifts":
                mark(stage);
                comm.Sendrecv(own, 0, doubles, MPI.DOUBLE, above, 1, low, 0, doubles, MPI.DOUBLE, below, 1);
                comm.Sendrecv(own, 0, doubles, MPI.DOUBLE, below, 2, high, 0, doubles, MPI.DOUBLE, above, 2);
                return isMarked(low, below, stage) & isMarked(high, above, stage);
            case "exchange":
                mark(stage);
                Request fromBelow = comm.Irecv(low, 0, doubles, MPI.DOUBLE, below, 1), fromAbove = comm.Irecv(high, 0, doubles, MPI.DOUBLE, above, 2);
                Request toAbove = comm.Isend(own, 0, doubles, MPI.DOUBLE, above, 1), toBelow = comm.Isend(own, 0, doubles, MPI.DOUBLE, below, 2);
                fromBelow.Wait();
                fromAbove.Wait();
                toAbove.Wait();
                toBelow.Wait();
                return isMarked(low, below, stage) & isMarked(high, above, stage);
            case "barrier": comm.Barrier(); return true;
            case "broadcast":
                if (rank == 0) mark(stage);
                comm.Bcast(own, 0, doubles, MPI.DOUBLE, 0);
                return isMarked(own, 0, stage);
            case "reduce":
                mark(stage);
                comm.Reduce(own, 0, low, 0, doubles, MPI.DOUBLE, MPI.SUM, 0);
                return isSummed(stage, rank == 0);
            case "all-reduce":
                mark(stage);
                comm.Allreduce(own, 0, low, 0, doubles, MPI.DOUBLE, MPI.SUM);
                return isSummed(stage, true);
            case "none": return true;
            default: throw new IllegalArgumentException("no operation " + operation);
        }
    }

    /** What all ranks share outside MPI. */
    static class Shared {
        final LinkedBlockingQueue<String>[] requests;
        final AtomicIntegerArray came, right;
        final long[] start, end;

        @SuppressWarnings("unchecked")
        Shared(int ranks) {
            // Only classes of the platform are the same for all ranks.
            Object[] all = (Object[]) System.getProperties().computeIfAbsent("lehr.lab.ranks", key -> {
                LinkedBlockingQueue<String>[] queues = new LinkedBlockingQueue[ranks];
                Arrays.setAll(queues, rank -> new LinkedBlockingQueue<String>());
                return new Object[] {queues, new AtomicIntegerArray(ranks), new AtomicIntegerArray(ranks), new long[ranks], new long[ranks]};
            });
            requests = (LinkedBlockingQueue<String>[]) all[0];
            came = (AtomicIntegerArray) all[1];
            right = (AtomicIntegerArray) all[2];
            start = (long[]) all[3];
            end = (long[]) all[4];
        }
    }

    boolean barrierHolds(Shared shared) throws MPIException {
        boolean right = true;
        for (int proof = 1; proof <= PROOFS; proof++) {
            shared.came.set(rank, proof);
            comm.Barrier();
            for (int other = 0; other < ranks; other++) right &= shared.came.get(other) >= proof;
            // Nobody comes to the next before all have looked.
            comm.Barrier();
        }
        shared.came.set(rank, 0);
        comm.Barrier();
        return right;
    }

    void run(String request, Shared shared) throws MPIException {
        String[] words = request.trim().split(" ");
        String operation = words[1];
        int count = Integer.parseInt(words[3]);
        long stages = Long.parseLong(words[4]), x = rank;
        doubles = Integer.parseInt(words[2]);
        lines = Math.max(1, doubles / LINE);
        own = new double[Math.max(1, doubles)];
        low = new double[Math.max(1, doubles)];
        high = new double[Math.max(1, doubles)];
        boolean isSum = operation.equals("reduce") || operation.equals("all-reduce");
        for (int i = 0; i < doubles; i++) own[i] = isSum ? 0 : ground(rank, i);
        Arrays.fill(low, Double.NaN);
        Arrays.fill(high, Double.NaN);
        boolean right = !operation.equals("barrier") || barrierHolds(shared);
        comm.Barrier();
        shared.start[rank] = System.nanoTime();
        for (long stage = 0; stage < stages; stage++) {
            right &= stage(operation, stage);
            if (count > 0) x = units(x, count);
        }
        shared.end[rank] = System.nanoTime();
        sink = x;
        shared.right.set(rank, right && isResult(operation, stages) ? 1 : 0);
        comm.Barrier();
    }

    static String unit() {
        // Compiled by then.
        sink = units(1, 20000);
        double[] looks = new double[LOOKS];
        for (int look = 0; look < LOOKS; look++) {
            long start = System.nanoTime();
            sink = units(1 + look, 100);
            looks[look] = (System.nanoTime() - start) / 100.0;
        }
        Arrays.sort(looks);
        return "{\"ns\": " + looks[LOOKS / 2] + ", \"value\": " + Long.toUnsignedString(units(7, 1)) + "}";
    }

    void serve(Shared shared) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.startsWith("unit")) {
                System.out.println(unit());
            } else {
                for (int other = 1; other < ranks; other++) shared.requests[other].add(line);
                run(line, shared);
                long start = Arrays.stream(shared.start).min().getAsLong(), end = Arrays.stream(shared.end).max().getAsLong();
                boolean right = true;
                for (int other = 0; other < ranks; other++) right &= shared.right.get(other) == 1;
                System.out.println(right ? "{\"seconds\": " + (end - start) * 1e-9 + "}" : "{\"wrong\": \"a number of another stage, an array that differs, or a barrier that held nobody\"}");
            }
            System.out.flush();
        }
        for (int other = 1; other < ranks; other++) shared.requests[other].add("end");
    }

    public static void main(String[] arguments) throws Exception {
        MPI.Init(arguments);
        MpjRanks one = new MpjRanks();
        Shared shared = new Shared(one.ranks);
        if (one.rank == 0) {
            one.serve(shared);
        } else {
            for (String request = shared.requests[one.rank].take(); !request.equals("end"); request = shared.requests[one.rank].take()) one.run(request, shared);
        }
        MPI.Finalize();
    }
}
