/* A transform by FFTW over MPI, there and back: of three dimensions, and of one whose data is
   distributed. Plans are estimated, so each run takes the same. Each rank writes what it has after
   each to a file of its own. The cube's side, the line's length and how often each is transformed
   may be named. */

#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* file;

/* A wave over a ramp: compresses a little, and is not the same anywhere. */
static void fill(fftw_complex* data, ptrdiff_t count, ptrdiff_t first) {
  for (ptrdiff_t i = 0; i < count; ++i) {
    data[i][0] = floor(sin((first + i) * 0.001) * 4096) / 4096;
    data[i][1] = (first + i) % 97;
  }
}

/* A transform there and back multiplies by the number of values. */
static void scale(fftw_complex* data, ptrdiff_t count, double by) {
  for (ptrdiff_t i = 0; i < count; ++i) {
    data[i][0] *= by;
    data[i][1] *= by;
  }
}

static void keep(const fftw_complex* data, ptrdiff_t count) {
  if (fwrite(data, sizeof *data, count, file) != (size_t)count) abort();
}

static void cube(ptrdiff_t n, int rounds, MPI_Comm comm) {
  ptrdiff_t planes, first, planes_after, first_after;
  ptrdiff_t room = fftw_mpi_local_size_3d_transposed(n, n, n, comm, &planes, &first, &planes_after,
                                                     &first_after);
  fftw_complex* data = fftw_alloc_complex(room);
  fftw_plan there = fftw_mpi_plan_dft_3d(n, n, n, data, data, comm, FFTW_FORWARD,
                                         FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
  fftw_plan back = fftw_mpi_plan_dft_3d(n, n, n, data, data, comm, FFTW_BACKWARD,
                                        FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
  fill(data, planes * n * n, first * n * n);
  for (int round = 0; round < rounds; ++round) {
    fftw_execute(there);
    keep(data, planes_after * n * n);
    fftw_execute(back);
    keep(data, planes * n * n);
    scale(data, planes * n * n, 1.0 / (n * n * n));
  }
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(data);
}

static void line(ptrdiff_t n, int rounds, MPI_Comm comm) {
  ptrdiff_t count, first, count_after, first_after;
  ptrdiff_t room = fftw_mpi_local_size_1d(n, comm, FFTW_FORWARD, FFTW_ESTIMATE, &count, &first,
                                          &count_after, &first_after);
  fftw_complex *data = fftw_alloc_complex(room), *result = fftw_alloc_complex(room);
  fftw_plan plan = fftw_mpi_plan_dft_1d(n, data, result, comm, FFTW_FORWARD, FFTW_ESTIMATE);
  fill(data, count, first);
  for (int round = 0; round < rounds; ++round) fftw_execute(plan);
  keep(result, count_after);
  fftw_destroy_plan(plan);
  fftw_free(data);
  fftw_free(result);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[32];
  snprintf(name, sizeof name, "rank-%d", rank);
  file = fopen(name, "wb");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  const int rounds = argc > 3 ? atoi(argv[3]) : 1;
  cube(argc > 1 ? atol(argv[1]) : 48, rounds, MPI_COMM_WORLD);
  line(argc > 2 ? atol(argv[2]) : 1 << 16, rounds, MPI_COMM_WORLD);
  if (fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return 0;
}
