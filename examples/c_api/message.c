/* An array to a frame and back, in C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <thinwire/thinwire.h>

enum { COUNT = 1 << 16 };

/* Says what failed and ends the program. */
static void check(tw_status status, const char* call) {
  if (status == TW_OK) return;
  fprintf(stderr, "%s: %s: %s\n", call, tw_status_text(status), tw_last_error());
  exit(1);
}

int main(void) {
  static float values[COUNT], again[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = sinf((float)i / 100);

  tw_codec* codec = NULL;
  check(tw_codec_create("szp:abs=1e-4", &codec), "tw_codec_create");

  /* The frame needs room for the worst case; what it takes is known afterwards. */
  tw_shape shape = {TW_F32, 1, {COUNT}};
  uint64_t bound = 0, written = 0;
  check(tw_message_bound(codec, &shape, &bound), "tw_message_bound");
  unsigned char* frame = malloc(bound);
  if (frame == NULL) return 1;
  check(tw_message_encode(codec, &shape, values, frame, bound, NULL, &written),
        "tw_message_encode");

  /* The receiver knows nothing but the frame. Every struct with a `size` has it set first. */
  tw_message_info info = {.size = sizeof info};
  check(tw_message_inspect(frame, written, NULL, &info), "tw_message_inspect");
  check(tw_message_decode(frame, written, again, sizeof again, NULL, NULL), "tw_message_decode");

  double error = 0;
  for (int i = 0; i < COUNT; ++i) error = fmax(error, fabs((double)values[i] - again[i]));
  printf("%s: %llu bytes to %llu, largest error %.2g\n", info.spec,
         (unsigned long long)info.raw_bytes, (unsigned long long)written, error);

  /* Damage is an error, never a wrong answer. */
  frame[written / 2] ^= 1;
  const tw_status status = tw_message_decode(frame, written, again, sizeof again, NULL, NULL);
  printf("one bit flipped: %s: %s\n", tw_status_text(status), tw_last_error());

  free(frame);
  tw_codec_destroy(codec);
  return error <= 1e-4 && status == TW_DAMAGED ? 0 : 1;
}
