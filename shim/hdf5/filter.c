/* A filter of HDF5, which keeps each chunk of a dataset as a frame. HDF5 loads it from a folder of
 * HDF5_PLUGIN_PATH. It calls no function of HDF5: programs and Python's wheels each have a library
 * of their own, and this one serves all.
 *
 * The client values of a dataset say how to encode, and how large a chunk is:
 *   1, dtype (tw_dtype), rank, its extents (slowest first), bytes of the spec, the spec in words of
 *   4 bytes, the first lowest.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thinwire/thinwire.h"

/* The HDF Group gives no numbers from 32768 on to anybody. */
enum { FILTER = 38007, LAYOUT = 1, MOST_SPEC = 256, MOST_RANK = 4 };

/* Values and types of H5Zpublic.h and H5PLpublic.h, which have not changed since HDF5 1.8.11. */
enum { CLASS_VERSION = 1, REVERSE = 0x0100, PLUGIN_IS_FILTER = 0 };

typedef size_t filter_function(unsigned flags, size_t count, const unsigned values[], size_t nbytes,
                               size_t* room, void** buffer);

typedef struct filter_class {
  int version;
  int id;
  unsigned encodes;
  unsigned decodes;
  const char* name;
  void (*can_apply)(void);
  void (*set_local)(void);
  filter_function* filter;
} filter_class;

typedef struct wish {
  tw_shape shape;
  char spec[MOST_SPEC];
} wish;

/* HDF5 itself says no more than that a filter failed. */
static size_t fail(const char* why) {
  fprintf(stderr, "thinwire: HDF5 filter: %s\n", why);
  return 0;
}

static int read_wish(wish* wish, size_t count, const unsigned values[]) {
  memset(wish, 0, sizeof *wish);
  if (count < 4 || values[0] != LAYOUT || values[2] > MOST_RANK || count < 4 + values[2]) return 0;
  wish->shape.dtype = values[1];
  wish->shape.rank = values[2];
  for (unsigned axis = 0; axis < values[2]; ++axis) wish->shape.extent[axis] = values[3 + axis];
  const unsigned* words = values + 3 + values[2];
  const unsigned length = *words++;
  if (length >= MOST_SPEC || count < 4 + values[2] + (length + 3) / 4) return 0;
  for (unsigned i = 0; i < length; ++i) wish->spec[i] = (char)(words[i / 4] >> (8 * (i % 4)));
  return 1;
}

/* The values of the shape, or more than any chunk has. */
static uint64_t bytes_of(const tw_shape* shape) {
  static const unsigned char element[] = {1, 4, 8, 2, 2, 1, 1}; /* by tw_dtype */
  if (shape->dtype >= sizeof element) return UINT64_MAX;
  uint64_t bytes = element[shape->dtype];
  for (unsigned axis = 0; axis < shape->rank; ++axis) {
    if (__builtin_mul_overflow(bytes, shape->extent[axis], &bytes)) return UINT64_MAX;
  }
  return bytes;
}

/* HDF5 frees what a filter leaves in its buffer by free(). */
static size_t leave(void* made, size_t length, size_t capacity, size_t* room, void** buffer) {
  free(*buffer);
  *buffer = made;
  *room = capacity;
  return length;
}

static size_t encode(const wish* wish, size_t nbytes, size_t* room, void** buffer) {
  if (bytes_of(&wish->shape) != nbytes) return fail("the chunk has another size than was said");
  tw_codec* codec;
  if (tw_codec_create(wish->spec, &codec)) return fail(tw_last_error());
  tw_shape shape = wish->shape;
  uint64_t most = 0, written = 0;
  tw_status status = tw_message_bound(codec, &shape, &most);
  if (status == TW_UNSUPPORTED && shape.rank > 1) { /* a shape that the codec cannot cut */
    for (unsigned axis = 1; axis < shape.rank; ++axis) shape.extent[0] *= shape.extent[axis];
    shape.rank = 1;
    status = tw_message_bound(codec, &shape, &most);
  }
  void* frame = status ? NULL : malloc(most);
  if (frame) status = tw_message_encode(codec, &shape, *buffer, frame, most, NULL, &written);
  tw_codec_destroy(codec);
  if (frame && !status) return leave(frame, written, most, room, buffer);
  free(frame);
  return fail(status ? tw_last_error() : "out of memory");
}

static size_t decode(const wish* wish, size_t nbytes, size_t* room, void** buffer) {
  tw_message_info info = {.size = sizeof info};
  if (tw_message_inspect(*buffer, nbytes, NULL, &info)) return fail(tw_last_error());
  /* HDF5 reads a whole chunk, whatever a filter leaves. */
  if (info.raw_bytes != bytes_of(&wish->shape)) return fail("a frame of another size than a chunk");
  void* array = malloc(info.raw_bytes ? info.raw_bytes : 1);
  if (!array) return fail("out of memory");
  if (!tw_message_decode(*buffer, nbytes, array, info.raw_bytes, NULL, NULL)) {
    return leave(array, info.raw_bytes, info.raw_bytes, room, buffer);
  }
  free(array);
  return fail(tw_last_error());
}

static size_t filter(unsigned flags, size_t count, const unsigned values[], size_t nbytes,
                     size_t* room, void** buffer) {
  wish wish;
  if (!read_wish(&wish, count, values)) {
    return fail("the client values are none (`python -m thinwire.hdf5` makes them)");
  }
  return flags & REVERSE ? decode(&wish, nbytes, room, buffer)
                         : encode(&wish, nbytes, room, buffer);
}

__attribute__((visibility("default"))) int H5PLget_plugin_type(void) { return PLUGIN_IS_FILTER; }

__attribute__((visibility("default"))) const void* H5PLget_plugin_info(void) {
  static const filter_class info = {CLASS_VERSION, FILTER, 1,     1, "thinwire: frames of floats",
                                    NULL,          NULL,   filter};
  return &info;
}
