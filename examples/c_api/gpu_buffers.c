/* An array in GPU memory. The codec runs where the array lies and the same calls take either kind
 * of pointer. A program's own memory is from cudaMalloc; this one borrows some from the library's
 * pool, so that it needs no CUDA toolkit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thinwire/thinwire.h>

enum { COUNT = 1 << 20 };

static void check(tw_status status, const char* call) {
  if (status == TW_OK) return;
  fprintf(stderr, "%s: %s: %s\n", call, tw_status_text(status), tw_last_error());
  exit(1);
}

int main(void) {
  uint32_t devices = 0;
  if (tw_device_count(&devices) != TW_OK || devices == 0) {
    printf("skipped: gpu_buffers: %s\n", tw_last_error());
    return 0;
  }
  static float values[COUNT], again[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = sinf((float)i / 1000);

  tw_codec* codec = NULL;
  check(tw_codec_create("zfp:rate=8", &codec), "tw_codec_create");
  tw_shape shape = {TW_F32, 1, {COUNT}};
  uint64_t bound = 0, written = 0, on_host = 0;
  check(tw_message_bound(codec, &shape, &bound), "tw_message_bound");

  /* The array on GPU 0, the frame in pinned host memory: what a network card sends. */
  void *array = NULL, *frame = NULL;
  check(tw_scratch_acquire(TW_MEMORY_DEVICE, 0, sizeof values, &array), "tw_scratch_acquire");
  check(tw_scratch_acquire(TW_MEMORY_PINNED, 0, bound, &frame), "tw_scratch_acquire");
  check(tw_memory_copy(array, values, sizeof values), "tw_memory_copy");

  /* The copy above is complete. Without options the encode runs on a stream of the library's own,
   * which waits for no work of yours: if a kernel fills the array, pass its stream in
   * tw_message_options, or synchronise first. */
  check(tw_message_encode(codec, &shape, array, frame, bound, NULL, &written), "tw_message_encode");

  /* The same bytes as the CPU writes. */
  unsigned char* reference = malloc(bound);
  if (reference == NULL) return 1;
  check(tw_message_encode(codec, &shape, values, reference, bound, NULL, &on_host),
        "tw_message_encode");
  const int same = written == on_host && memcmp(frame, reference, written) == 0;

  /* Back into GPU memory. */
  check(tw_message_decode(frame, written, array, sizeof values, NULL, NULL), "tw_message_decode");
  check(tw_memory_copy(again, array, sizeof again), "tw_memory_copy");
  double error = 0;
  for (int i = 0; i < COUNT; ++i) error = fmax(error, fabs((double)values[i] - again[i]));
  printf("GPU 0 of %u: %zu bytes to %llu, %s the CPU's frame, largest error %.2g\n", devices,
         sizeof values, (unsigned long long)written, same ? "equal to" : "NOT", error);

  free(reference);
  tw_scratch_release(frame);
  tw_scratch_release(array);
  tw_codec_destroy(codec);
  return same && error < 0.1 ? 0 : 1;
}
