/* Uses every struct that may grow as the header that it is compiled with has it. Each struct ends
 * where readable memory ends. Prints "sound" where all was as expected. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <thinwire/thinwire.h>
#include <unistd.h>

enum { COUNT = 4096, RANKS = 2 };

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, tw_last_error()); \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)

/* Zeroed memory with a page after it that nobody may touch. */
static void* before_the_edge(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const pages =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && bytes <= page);
  CHECK(mprotect(pages + page, page, PROT_NONE) == 0);
  return pages + page - bytes;
}

/* `name` is one struct of that type, with its size set. */
#define NEW(type, name)                             \
  type* const name = before_the_edge(sizeof *name); \
  name->size = sizeof *name

static float values[COUNT], decoded[COUNT];
static unsigned char frame[8 * COUNT];
static const tw_shape shape = {TW_F32, 1, {COUNT}};

static void descriptions(const tw_codec* codec) {
  NEW(tw_setting_info, setting);
  CHECK(tw_setting_describe(0, setting) == TW_OK && setting->meaning != NULL);
  NEW(tw_codec_info, info);
  CHECK(tw_codec_describe(0, info) == TW_OK && info->example != NULL);
  NEW(tw_codec_cost, cost);
  CHECK(tw_codec_measure(codec, TW_F32, 1 << 16, cost) == TW_OK && cost->ratio > 1);
  NEW(tw_place, place);
  CHECK(tw_place_of(values, place) == TW_OK && place->device == -1);
  NEW(tw_pool_counters, pool);
  CHECK(tw_pool_describe(TW_MEMORY_HOST, -1, pool) == TW_OK);
  NEW(tw_integer_counters, integers);
  CHECK(tw_integers_describe(integers) == TW_OK);
}

static int32_t read_frame(void* context, uint64_t offset, uint64_t bytes, void* to) {
  memcpy(to, (const char*)context + offset, bytes);
  return 0;
}

static int32_t write_array(void* context, uint64_t offset, uint64_t bytes, const void* from) {
  (void)context;
  memcpy((char*)decoded + offset, from, bytes);
  return 0;
}

static void messages(const tw_codec* codec) {
  uint64_t written = 0;
  NEW(tw_message_options, options);
  options->job = "yesterday";
  options->job_bytes = 9;
  CHECK(tw_message_encode(codec, &shape, values, frame, sizeof frame, options, &written) == TW_OK);
  NEW(tw_message_info, info);
  CHECK(tw_message_inspect(frame, written, options, info) == TW_OK);
  CHECK(info->raw_bytes == sizeof values && info->frame_bytes == written && info->spec[0] != 0);
  CHECK(tw_message_decode(frame, written, decoded, sizeof decoded, options, info) == TW_OK);
  CHECK(memcmp(decoded, values, sizeof values) == 0);

  options->flags = TW_MESSAGE_ADD;
  options->scale = 0.5;
  CHECK(tw_message_decode(frame, written, decoded, sizeof decoded, options, NULL) == TW_OK);
  CHECK(memcmp(decoded, values, sizeof values) == 0);
  options->flags = 0;

  NEW(tw_pieces, pieces);
  pieces->context = frame;
  pieces->read = read_frame;
  pieces->write = write_array;
  CHECK(tw_message_decode_in_pieces(pieces, written, options, NULL) == TW_TOO_SMALL);
  void* const workspace = aligned_alloc(64, (pieces->needed_bytes + 63) / 64 * 64);
  pieces->workspace = workspace;
  pieces->workspace_bytes = pieces->needed_bytes;
  memset(decoded, 0, sizeof decoded);
  CHECK(tw_message_decode_in_pieces(pieces, written, options, info) == TW_OK);
  CHECK(memcmp(decoded, values, sizeof values) == 0);
  free(workspace);
}

static void plans(const tw_codec* codec) {
  NEW(tw_plan_settings, settings);
  NEW(tw_plan_facts, facts);
  NEW(tw_plan_choice, choice);
  settings->link_bytes_per_second = 1e7;
  settings->cost.size = sizeof settings->cost;
  settings->cost.encode_bytes_per_second = settings->cost.decode_bytes_per_second = 1e9;
  settings->cost.ratio = 2;
  facts->dtype = TW_F32;
  facts->bytes = 1 << 20;
  facts->peer = TW_PEER_OTHER_NODE;
  facts->peer_ready = 1;
  CHECK(tw_plan_message(codec, settings, facts, choice) == TW_OK);
  CHECK(choice->reason == TW_COMPRESS);
  CHECK(choice->predicted_compressed_seconds < choice->predicted_raw_seconds);
}

static const tw_codec* shared_codec;

static void* rank_of_two(void* transport) {
  static const int32_t nodes[RANKS] = {7, 8};
  NEW(tw_comm_options, options);
  options->codec = shared_codec;
  options->nodes = nodes;
  tw_comm* comm = NULL;
  CHECK(tw_comm_create(transport, options, &comm) == TW_OK);

  float* const mine = malloc(sizeof values);
  float* const sum = malloc(sizeof values);
  CHECK(mine != NULL && sum != NULL);
  memcpy(mine, values, sizeof values);
  NEW(tw_collective, call);
  call->operation = TW_ALLREDUCE;
  call->dtype = TW_F32;
  call->reduction = TW_SUM;
  call->send = mine;
  call->receive = sum;
  call->count = COUNT;
  NEW(tw_collective_report, report);
  CHECK(tw_comm_run(comm, call, report) == TW_OK);
  CHECK(report->reason == TW_COMPRESS && report->packets > 0);
  for (int at = 0; at < COUNT; ++at) CHECK(sum[at] == values[at] + values[at]);
  CHECK(tw_comm_plan(comm, call, report) == TW_OK);
  tw_comm_destroy(comm);
  free(mine);
  free(sum);
  return NULL;
}

static void collectives(void) {
  tw_transport* const ends = before_the_edge(RANKS * sizeof *ends);
  for (int rank = 0; rank < RANKS; ++rank) ends[rank].size = sizeof *ends;
  CHECK(tw_transport_local(RANKS, ends) == TW_OK);
  pthread_t threads[RANKS];
  for (int rank = 0; rank < RANKS; ++rank) {
    CHECK(pthread_create(&threads[rank], NULL, rank_of_two, &ends[rank]) == 0);
  }
  for (int rank = 0; rank < RANKS; ++rank) CHECK(pthread_join(threads[rank], NULL) == 0);
}

int main(void) {
  for (int at = 0; at < COUNT; ++at) values[at] = sinf((float)at / 50);
  tw_codec* codec = NULL;
  CHECK(tw_codec_create("lorenzo", &codec) == TW_OK);
  shared_codec = codec;
  descriptions(codec);
  messages(codec);
  plans(codec);
  collectives();
  tw_codec_destroy(codec);
  puts("sound");
  return 0;
}
