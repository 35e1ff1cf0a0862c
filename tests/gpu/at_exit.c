/* Encodes and decodes on the GPU in a function that runs at exit and was registered after the
 * driver had started, but before the kernels' library was opened. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thinwire/thinwire.h"

enum { kValues = 100000, kBytes = 4 * kValues, kRoom = 2 * kBytes };

static float values[kValues], back[kValues];

static void round_trip(void) {
  tw_codec* codec = NULL;
  void *source = NULL, *frame = NULL;
  uint64_t written = 0;
  tw_shape shape = {0};
  shape.dtype = TW_F32;
  shape.rank = 1;
  shape.extent[0] = kValues;
  memset(back, 0, sizeof back);
  tw_status status = tw_codec_create("lorenzo", &codec);
  if (status == TW_OK) status = tw_scratch_acquire(TW_MEMORY_DEVICE, 0, kBytes, &source);
  if (status == TW_OK) status = tw_scratch_acquire(TW_MEMORY_DEVICE, 0, kRoom, &frame);
  if (status == TW_OK) status = tw_memory_copy(source, values, kBytes);
  if (status == TW_OK) {
    status = tw_message_encode(codec, &shape, source, frame, kRoom, NULL, &written);
  }
  if (status == TW_OK) status = tw_message_decode(frame, written, source, kBytes, NULL, NULL);
  if (status == TW_OK) status = tw_memory_copy(back, source, kBytes);
  const int same = memcmp(values, back, kBytes) == 0;
  printf("%s%s%s\n", status == TW_OK ? "" : tw_last_error(), same ? "same values" : " no values",
         written < kBytes ? ", smaller" : "");
  fflush(stdout);
}

int main(void) {
  int (*start)(unsigned) = NULL;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver != NULL) *(void**)&start = dlsym(driver, "cuInit");
  if (start == NULL || start(0) != 0) return 1;
  for (int i = 0; i < kValues; ++i) values[i] = (float)i / 1024;
  if (atexit(round_trip) != 0) return 1;
  round_trip();
  return 0;
}
