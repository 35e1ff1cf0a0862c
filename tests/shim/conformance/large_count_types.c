// Datatypes made by the constructors whose counts and displacements are of type MPI_Count.
#include "conformance.h"

#if MPI_VERSION >= 4

enum { kRows = 40, kColumns = 12, kPlaces = kRows * kColumns };

// The positions of a type's values, in the order in which they travel: `count` positions in floats.
typedef struct Layout {
  MPI_Datatype type;
  int count;
  int places[kPlaces];
} Layout;

static void note(Layout* layout, int place) { layout->places[layout->count++] = place; }

static void contiguous(Layout* layout) {
  MPI_Type_contiguous_c(kPlaces, MPI_FLOAT, &layout->type);
  for (int at = 0; at < kPlaces; ++at) note(layout, at);
}

static void column(Layout* layout) {
  MPI_Type_vector_c(kRows, 1, kColumns, MPI_FLOAT, &layout->type);
  for (int at = 0; at < kRows; ++at) note(layout, at * kColumns);
}

// Rows from the last to the first: the order of travel is not that of the addresses.
static void rows_backwards(Layout* layout) {
  MPI_Count lengths[kRows], places[kRows];
  for (int row = 0; row < kRows; ++row) {
    lengths[row] = row % 3;
    places[row] = (kRows - 1 - row) * kColumns;
    for (int at = 0; at < lengths[row]; ++at) note(layout, (int)places[row] + at);
  }
  MPI_Type_indexed_c(kRows, lengths, places, MPI_FLOAT, &layout->type);
}

static void spaced_rows(Layout* layout) {
  const MPI_Count stride = 2 * kColumns * (MPI_Count)sizeof(float);
  MPI_Type_create_hvector_c(kRows / 2, kColumns / 2, stride, MPI_FLOAT, &layout->type);
  for (int row = 0; row < kRows / 2; ++row) {
    for (int at = 0; at < kColumns / 2; ++at) note(layout, 2 * row * kColumns + at);
  }
}

static void blocks(Layout* layout) {
  MPI_Count places[kRows];
  for (int row = 0; row < kRows; ++row) {
    places[row] = row * kColumns + row % 4;
    for (int at = 0; at < 3; ++at) note(layout, (int)places[row] + at);
  }
  MPI_Type_create_indexed_block_c(kRows, 3, places, MPI_FLOAT, &layout->type);
}

static void byte_places(Layout* layout) {
  MPI_Count lengths[kRows], places[kRows];
  for (int row = 0; row < kRows; ++row) {
    lengths[row] = 2;
    places[row] = (row * kColumns + 5) * (MPI_Count)sizeof(float);
    for (int at = 0; at < 2; ++at) note(layout, row * kColumns + 5 + at);
  }
  MPI_Type_create_hindexed_c(kRows, lengths, places, MPI_FLOAT, &layout->type);
}

static void byte_blocks(Layout* layout) {
  MPI_Count places[kRows];
  for (int row = 0; row < kRows; ++row) {
    places[row] = (row * kColumns + 1) * (MPI_Count)sizeof(float);
    for (int at = 0; at < 4; ++at) note(layout, row * kColumns + 1 + at);
  }
  MPI_Type_create_hindexed_block_c(kRows, 4, places, MPI_FLOAT, &layout->type);
}

static void inner_part(Layout* layout) {
  const MPI_Count sizes[] = {kRows, kColumns}, parts[] = {20, 5}, starts[] = {7, 3};
  MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_FLOAT, &layout->type);
  for (int row = 7; row < 27; ++row) {
    for (int at = 3; at < 8; ++at) note(layout, row * kColumns + at);
  }
}

// One constructor on top of another, the upper one with int counts.
static void resized_columns(Layout* layout) {
  MPI_Datatype one, narrow;
  MPI_Type_vector_c(kRows, 1, kColumns, MPI_FLOAT, &one);
  MPI_Type_create_resized_c(one, 0, sizeof(float), &narrow);
  MPI_Type_contiguous(3, narrow, &layout->type);
  for (int at = 0; at < 3; ++at) {
    for (int row = 0; row < kRows; ++row) note(layout, row * kColumns + at);
  }
  MPI_Type_free(&one);
  MPI_Type_free(&narrow);
}

static void structure(Layout* layout) {
  MPI_Datatype types[2];
  const MPI_Count lengths[] = {1, 100}, places[] = {0, 4 * sizeof(float)};
  MPI_Type_vector_c(10, 1, kColumns, MPI_FLOAT, &types[0]);
  types[1] = MPI_FLOAT;
  MPI_Type_create_struct_c(2, lengths, places, types, &layout->type);
  for (int at = 0; at < 10; ++at) note(layout, at * kColumns);
  for (int at = 0; at < 100; ++at) note(layout, 4 + at);
  MPI_Type_free(&types[0]);
}

// From the type to packed floats (to see the order), back from them, and from type to type.
static void travel(const Layout* layout) {
  float *data = floats(kPlaces), *packed = floats(kPlaces), *in = floats(kPlaces);
  const int other = 1 - rank, count = layout->count;
  MPI_Status status;
  MPI_Count elements = 0;
  fill(data, kPlaces, rank + 1);
  MPI_Sendrecv_c(data, 1, layout->type, other, 1, packed, kPlaces, MPI_FLOAT, other, 1, comm,
                 &status);
  CHECK(is_status(&status, other, 1, count));
  for (int at = 0; at < count; ++at) {
    CHECK(packed[at] == (float)((other + 1) * 4096 + layout->places[at]));
  }
  MPI_Sendrecv_c(packed, count, MPI_FLOAT, other, 2, in, 1, layout->type, other, 2, comm, &status);
  MPI_Get_elements_c(&status, layout->type, &elements);
  CHECK(elements == count);
  for (int at = 0; at < count; ++at) CHECK(in[layout->places[at]] == data[layout->places[at]]);
  int touched = 0, places = 0;
  for (int at = 0; at < kPlaces; ++at) touched += in[at] != 0;
  float* expected = floats(kPlaces);
  for (int at = 0; at < count; ++at) expected[layout->places[at]] = 1;
  for (int at = 0; at < kPlaces; ++at) places += expected[at] != 0;
  CHECK(touched == places);
}

static void by(void (*make)(Layout*)) {
  Layout layout = {.count = 0};
  make(&layout);
  MPI_Type_commit(&layout.type);
  travel(&layout);
  MPI_Type_free(&layout.type);
}

static void by_contiguous(void) { by(contiguous); }
static void by_vector(void) { by(column); }
static void by_indexed(void) { by(rows_backwards); }
static void by_hvector(void) { by(spaced_rows); }
static void by_indexed_block(void) { by(blocks); }
static void by_hindexed(void) { by(byte_places); }
static void by_hindexed_block(void) { by(byte_blocks); }
static void by_subarray(void) { by(inner_part); }
static void by_resized(void) { by(resized_columns); }

// Sends a structure whose members overlap: values in both members travel twice, which is legal to
// send, not to receive.
static void by_struct(void) {
  Layout layout = {.count = 0};
  float *data = floats(kPlaces), *packed = floats(kPlaces);
  structure(&layout);
  MPI_Type_commit(&layout.type);
  fill(data, kPlaces, 1);
  MPI_Sendrecv_c(data, 1, layout.type, 1 - rank, 1, packed, kPlaces, MPI_FLOAT, 1 - rank, 1, comm,
                 MPI_STATUS_IGNORE);
  for (int at = 0; at < layout.count; ++at) {
    CHECK(packed[at] == (float)(4096 + layout.places[at]));
  }
  MPI_Type_free(&layout.type);
}

static const Case kCases[] = {
    {"large_contiguous", by_contiguous},
    {"large_vector", by_vector},
    {"large_indexed", by_indexed},
    {"large_hvector", by_hvector},
    {"large_indexed_block", by_indexed_block},
    {"large_hindexed", by_hindexed},
    {"large_hindexed_block", by_hindexed_block},
    {"large_subarray", by_subarray},
    {"large_resized", by_resized},
    {"large_struct", by_struct},
};
FAMILY(large_count_types, 2, 0);
#else
NO_CASES(large_count_types);
#endif
