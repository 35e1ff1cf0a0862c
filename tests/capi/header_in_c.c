/* The public header must compile as C. */
#include "thinwire/thinwire.h"

int header_is_plain_c(void) {
  tw_codec* codec = 0;
  if (tw_codec_create("raw", &codec) != TW_OK) return 1;
  tw_codec_destroy(codec);
  return tw_format_version() == 1 ? 0 : 2;
}
