// Values, and what is expected of them.
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "coll.h"

enum { kMostMistakes = 5 };

static void fail(const char* what, long at, double got, double wanted) {
  if (++mistakes > kMostMistakes) return;
  printf("rank %d of %d: %s, %s: %s at %ld: %.9g instead of %.9g\n", rank, size, where, kind->name,
         what, at, got, wanted);
}

static double get(const void* data, long at) {
  return kind->bytes == 4 ? (double)((const float*)data)[at] : ((const double*)data)[at];
}
static void put(void* data, long at, double value) {
  if (kind->bytes == 4) {
    ((float*)data)[at] = (float)value;
  } else {
    ((double*)data)[at] = value;
  }
}

double value(int from, int to, long at) { return from * 4 + to + 0.25 * (double)((at / 3) % 32); }
double total(int to, long at) {
  double sum = 0;
  for (int from = 0; from < size; ++from) sum += value(from, to, at);
  return sum;
}

void* fresh(long count) {
  void* data = allocate((size_t)(count * kind->stride + 1) * (size_t)kind->bytes);
  for (long at = 0; at <= count * kind->stride; ++at) put(data, at, kGap);
  return data;
}
void write_block(void* data, long first, long count, int from, int to) {
  for (long at = 0; at < count; ++at) put(data, (first + at) * kind->stride, value(from, to, at));
}
void expect(const char* what, const void* data, long at, double wanted) {
  const double got = get(data, at * kind->stride);
  if (!(fabs(got - wanted) <= tolerance)) fail(what, at, got, wanted);
  for (int gap = 1; gap < kind->stride; ++gap) {
    const double beside = get(data, at * kind->stride + gap);
    if (beside != kGap) fail("a gap", at, beside, kGap);
  }
}
void expect_block(const char* what, const void* data, long first, long count, int from, int to) {
  for (long at = 0; at < count; ++at) expect(what, data, first + at, value(from, to, at));
}
void expect_end(const char* what, const void* data, long count) {
  const double end = get(data, count * kind->stride);
  if (end != kGap) fail(what, count, end, kGap);
}

void expect_same(const char* what, const void* data, long count) {
  uint64_t hash = 1469598103934665603U, least = 0, most = 0;
  const unsigned char* bytes = data;
  for (long at = 0; at < count * kind->stride * kind->bytes; ++at) {
    hash = (hash ^ bytes[at]) * 1099511628211U;
  }
  MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, comm);
  MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, comm);
  if (least != most) fail(what, -1, 0, 0);
}
