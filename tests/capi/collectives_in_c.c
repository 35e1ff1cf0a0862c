/* Collectives between threads as a C program has them: every operation, lossless, in whole numbers,
 * whose sums are exact. */
#include "collectives_in_c.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "thinwire/thinwire.h"

#define MOST_RANKS 8
#define COUNT 20000

/* One rank: a thread of its own. */
typedef struct rank_state {
  pthread_t thread;
  tw_transport transport;
  const tw_codec* codec;
  tw_comm* comm;
  int rank;
  int ranks;
  char problem[256];
} rank_state;

static float send_buffer[MOST_RANKS][MOST_RANKS * COUNT];
static float receive_buffer[MOST_RANKS][MOST_RANKS * COUNT];

/* The value that rank `rank` contributes at place `at`. */
static float value_of(int rank, uint64_t at) { return (float)((at / 7 + 3 * (uint64_t)rank) % 23); }

static float sum_of(int ranks, uint64_t at) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value_of(rank, at);
  return sum;
}

/* The value that the operation leaves at place `at` of this rank's result; the root is rank 0. */
static float expected(const rank_state* state, uint32_t operation, uint64_t at) {
  const uint64_t block = at / COUNT, place = at % COUNT, own = (uint64_t)state->rank;
  switch (operation) {
    case TW_BCAST:
      return value_of(0, at);
    case TW_ALLGATHER:
    case TW_GATHER:
      return value_of((int)block, place);
    case TW_SCATTER:
      return value_of(0, own * COUNT + place);
    case TW_ALLTOALL:
      return value_of((int)block, own * COUNT + place);
    case TW_REDUCE_SCATTER:
      return sum_of(state->ranks, own * COUNT + place);
    default:
      return sum_of(state->ranks, at);
  }
}

/* Values of this rank's result; 0 where it gets none. */
static uint64_t result_count(const rank_state* state, uint32_t operation) {
  const int is_rooted = operation == TW_GATHER || operation == TW_REDUCE;
  const int is_wide =
      operation == TW_ALLGATHER || operation == TW_GATHER || operation == TW_ALLTOALL;
  if (is_rooted && state->rank != 0) return 0;
  return is_wide ? (uint64_t)state->ranks * COUNT : COUNT;
}

static int run_one(rank_state* state, uint32_t operation) {
  float* send = send_buffer[state->rank];
  float* receive = receive_buffer[state->rank];
  tw_collective call;
  tw_collective_report report;
  const uint64_t count = result_count(state, operation);

  memset(receive, 0xff, sizeof receive_buffer[0]);
  for (uint64_t i = 0; i < (uint64_t)state->ranks * COUNT; ++i) send[i] = value_of(state->rank, i);
  if (operation == TW_BCAST && state->rank == 0) memcpy(receive, send, COUNT * sizeof *send);
  memset(&call, 0, sizeof call);
  call.size = sizeof call;
  call.operation = operation;
  call.dtype = TW_F32;
  call.reduction = TW_SUM;
  call.send = send;
  call.receive = receive;
  call.count = COUNT;
  memset(&report, 0, sizeof report);
  report.size = sizeof report;
  if (tw_comm_run(state->comm, &call, &report) != TW_OK) {
    snprintf(state->problem, sizeof state->problem, "%s on rank %d: %s",
             tw_operation_text(operation), state->rank, tw_last_error());
    return 0;
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (receive[i] == expected(state, operation, i)) continue;
    snprintf(state->problem, sizeof state->problem, "%s on rank %d: %g at %llu",
             tw_operation_text(operation), state->rank, (double)receive[i], (unsigned long long)i);
    return 0;
  }
  if (state->ranks > 1 && (report.reason != TW_COMPRESS || report.wire_bytes > report.raw_bytes)) {
    snprintf(state->problem, sizeof state->problem, "%s on rank %d was not compressed",
             tw_operation_text(operation), state->rank);
    return 0;
  }
  return 1;
}

static void* run_rank(void* argument) {
  rank_state* state = argument;
  tw_comm_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.codec = state->codec;
  if (tw_comm_create(&state->transport, &options, &state->comm) != TW_OK) {
    snprintf(state->problem, sizeof state->problem, "no communicator: %s", tw_last_error());
    return NULL;
  }
  if (tw_comm_rank(state->comm) != state->rank || tw_comm_size(state->comm) != state->ranks) {
    snprintf(state->problem, sizeof state->problem, "rank %d does not know itself", state->rank);
    return NULL;
  }
  for (uint32_t operation = 0; tw_operation_text(operation) != NULL; ++operation) {
    if (!run_one(state, operation)) break;
  }
  tw_comm_destroy(state->comm);
  return NULL;
}

const char* collectives_in_c(int ranks) {
  static rank_state states[MOST_RANKS];
  tw_transport transports[MOST_RANKS];
  tw_codec* codec = NULL;

  memset(states, 0, sizeof states);
  for (int i = 0; i < ranks; ++i) transports[i].size = sizeof transports[i];
  if (tw_codec_create("mpc", &codec) != TW_OK) return tw_last_error();
  if (tw_transport_local((uint32_t)ranks, transports) != TW_OK) return tw_last_error();
  for (int i = 0; i < ranks; ++i) {
    states[i].transport = transports[i];
    states[i].codec = codec;
    states[i].rank = i;
    states[i].ranks = ranks;
    if (pthread_create(&states[i].thread, NULL, run_rank, &states[i]) != 0) return "no thread";
  }
  for (int i = 0; i < ranks; ++i) pthread_join(states[i].thread, NULL);
  tw_codec_destroy(codec);
  for (int i = 0; i < ranks; ++i) {
    if (states[i].problem[0] != 0) return states[i].problem;
  }
  return "";
}

/* The public header compiles as C. */
int header_is_plain_c(void) {
  tw_codec* codec = 0;
  if (tw_codec_create("raw", &codec) != TW_OK) return 1;
  tw_codec_destroy(codec);
  return tw_format_version() == 2 ? 0 : 2;
}
