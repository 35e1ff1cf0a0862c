// Parts that the program's files share: this rank's position, values, and checks of values.
#pragma once

#include "memory.h"

// A float type; its elements are `stride` apart.
typedef struct Kind {
  const char* name;
  MPI_Datatype leaf, type;
  int bytes, stride;
} Kind;

enum { kGap = -77 };  // what lies where nothing was written

extern MPI_Comm comm;
extern int rank, size, mistakes;
extern double tolerance;
extern const char* where;
extern const Kind* kind;

// The value that `from` has for `to`, and the sum over all ranks; both are exact in every float
// type.
double value(int from, int to, long at);
double total(int to, long at);

// An array of `count` elements and one more, which no call may change.
void* fresh(long count);
void write_block(void* data, long first, long count, int from, int to);

void expect(const char* what, const void* data, long at, double wanted);
void expect_block(const char* what, const void* data, long first, long count, int from, int to);
void expect_end(const char* what, const void* data, long count);

// All ranks must hold the same bits, right or not.
void expect_same(const char* what, const void* data, long count);

// Blocks of lengths of their own, the last first and with room between them.
typedef struct Lists {
  int *counts, *places, *bytes;
  MPI_Datatype* types;
  long all;
} Lists;
Lists lists(long count, int by_own);
void end_lists(Lists* made);

// The parts: each runs its calls for blocks of about `count` elements.
void broadcasts(long count);
void gathers(long count);
void scatters(long count);
void exchanges(long count);
void mixed_types(long count);
void gathers_of_lengths(long count);
void exchanges_of_lengths(long count);
void reductions(long count);
void scattered_reductions(long count);
