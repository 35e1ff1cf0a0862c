// Passes doubles around a ring of ranks and hands out an array by Intel MPI's mpi.jar; each rank
// writes all that it got.
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import mpi.Collective;
import mpi.Comm;
import mpi.Datatype;
import mpi.MPI;
import mpi.PTP;

public class Floats {
  public static void main(String[] words) throws Exception {
    MPI.Init(words);
    int rank = Comm.WORLD.getRank(), ranks = Comm.WORLD.getSize(), count = 40000;
    double[] mine = new double[count], passed = new double[count], shared = new double[count];
    for (int i = 0; i < count; i++) {
      mine[i] = rank + 1 + i / 1024.0;
      shared[i] = rank == 0 ? Math.sqrt(mine[i]) : 0;
    }
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    // An even rank sends first: a message of this length waits for its receive.
    if (rank % 2 == 0) PTP.send(mine, count, Datatype.DOUBLE, to, 1, Comm.WORLD);
    PTP.recv(passed, count, Datatype.DOUBLE, from, 1, Comm.WORLD);
    if (rank % 2 == 1) PTP.send(mine, count, Datatype.DOUBLE, to, 1, Comm.WORLD);
    Collective.bcast(shared, count, Datatype.DOUBLE, 0, Comm.WORLD);
    ByteBuffer all = ByteBuffer.allocate(16 * count).order(ByteOrder.nativeOrder());
    all.asDoubleBuffer().put(passed).put(shared);
    Files.write(Path.of("rank-" + rank), all.array());
    MPI.Finalize();
  }
}
