/* Solves A X = B by ScaLAPACK's pdgesv, A of one block after the other over a grid of processes;
   each rank writes its part of the factors and of X to a file of its own. The order of A, the
   columns of B and the side of a block may be named. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern void Cblacs_get(int context, int what, int* value);
extern void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
extern void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
extern void Cblacs_gridexit(int context);
extern int numroc_(const int* n, const int* block, const int* own, const int* first, const int* of);
extern void descinit_(int* description, const int* m, const int* n, const int* mb, const int* nb,
                      const int* first_row, const int* first_column, const int* context,
                      const int* leading, int* info);
extern void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja,
                    const int* desca, int* pivots, double* b, const int* ib, const int* jb,
                    const int* descb, int* info);

static int n = 192, right = 24, block = 16;
static const int zero = 0, one = 1;

/* The place of a local index in the whole. */
static int global(int local, int own, int of) {
  return (local / block * of + own) * block + local % block;
}

static double* matrix(int rows, int columns, int row, int column, int of_rows, int of_columns) {
  double* made = malloc(sizeof(double) * ((size_t)rows * columns + 1));
  if (made == NULL) abort();
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const int x = global(i, row, of_rows), y = global(j, column, of_columns);
      made[j * rows + i] = 1.0 / (1 + (x * 7 + y * 3) % 101) + (x == y ? 4 : 0);
    }
  return made;
}

static void keep(FILE* file, const double* values, int count) {
  if (fwrite(values, sizeof *values, count, file) != (size_t)count) abort();
}

static int solve(FILE* file, int of_rows, int of_columns) {
  int context, row, column, info, a_is[9], b_is[9];
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", of_rows, of_columns);
  Cblacs_gridinfo(context, &of_rows, &of_columns, &row, &column);
  const int rows = numroc_(&n, &block, &row, &zero, &of_rows);
  const int columns = numroc_(&n, &block, &column, &zero, &of_columns);
  const int right_columns = numroc_(&right, &block, &column, &zero, &of_columns);
  const int leading = rows > 0 ? rows : 1;
  descinit_(a_is, &n, &n, &block, &block, &zero, &zero, &context, &leading, &info);
  descinit_(b_is, &n, &right, &block, &block, &zero, &zero, &context, &leading, &info);
  double* a = matrix(rows, columns, row, column, of_rows, of_columns);
  double* b = matrix(rows, right_columns, row, column, of_rows, of_columns);
  int* pivots = malloc(sizeof(int) * (rows + block));
  pdgesv_(&n, &right, a, &one, &one, a_is, pivots, b, &one, &one, b_is, &info);
  keep(file, a, rows * columns);
  keep(file, b, rows * right_columns);
  free(a);
  free(b);
  free(pivots);
  Cblacs_gridexit(context);
  return info;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) n = atoi(argv[1]);
  if (argc > 2) right = atoi(argv[2]);
  if (argc > 3) block = atoi(argv[3]);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char name[32];
  snprintf(name, sizeof name, "rank-%d", rank);
  FILE* file = fopen(name, "wb");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  int failed = solve(file, 1, size) + solve(file, size, 1);
  if (size % 2 == 0) failed += solve(file, 2, size / 2);
  if (fclose(file) != 0 || failed) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
