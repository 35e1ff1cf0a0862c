// Programs whose own messages are frames, or pretend to be. Two ranks, under the preload library.
//
// frames own: frames of the file mark, sent as bytes, arrive unchanged.
// frames forged: the job's mark over damage, or over a codec that the library lacks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thinwire/thinwire.h"

// kWire is a length that a compressed message can have, whatever the size it stands for.
enum { kFloats = 1024, kWire = 4097, kCapacity = 2 * kFloats * (int)sizeof(float) };

static int rank, failures;

static void check(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("rank %d: %s\n", rank, what);
}

// A frame of kFloats floats, padded to kWire bytes. `job` names its mark, NULL the file mark.
static uint64_t make_frame(const char* spec, const char* job, unsigned char* frame) {
  float data[kFloats];
  for (int at = 0; at < kFloats; ++at) data[at] = 1 + (float)at / kFloats;
  const tw_shape shape = {TW_F32, 1, {kFloats}};
  tw_message_options options = {sizeof options, 0, job, job ? strlen(job) : 0, NULL, 0, 0};
  tw_codec* codec = NULL;
  uint64_t bound = 0, written = 0;
  memset(frame, 0, kCapacity);
  if (tw_codec_create(spec, &codec) != TW_OK || tw_message_bound(codec, &shape, &bound) != TW_OK ||
      bound > kCapacity ||
      tw_message_encode(codec, &shape, data, frame, bound, &options, &written) != TW_OK) {
    fprintf(stderr, "cannot make the frame: %s\n", tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  tw_codec_destroy(codec);
  return written;
}

// Synchronous sends are never compressed: what is sent is what travels.
static void own_frames(unsigned char* frame, unsigned char* in) {
  make_frame("zfp:rate=16", NULL, frame);
  MPI_Status status;
  int count = 0;
  for (int way = 0; way < 3; ++way) {
    memset(in, 0xEE, kCapacity);
    if (rank == 0 && way == 1) MPI_Send(frame, kWire, MPI_BYTE, 1, way, MPI_COMM_WORLD);
    if (rank == 0 && way != 1) MPI_Ssend(frame, kWire, MPI_BYTE, 1, way, MPI_COMM_WORLD);
    if (rank == 0) continue;
    if (way == 2) {
      MPI_Probe(0, way, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      check(count == kWire, "the probe says another size");
    }
    MPI_Recv(in, kCapacity, MPI_BYTE, 0, way, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == kWire, "another size arrived");
    check(memcmp(in, frame, kWire) == 0, "other bytes arrived");
    check(in[kWire] == 0xEE, "something was written behind the message");
  }
}

static int receive(int way, unsigned char* in, int tag) {
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  switch (way) {
    case 0:
      return MPI_Recv(in, kCapacity, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
    case 1:
      MPI_Irecv(in, kCapacity, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
      return MPI_Wait(&request, &status);
    case 2:
      MPI_Probe(0, tag, MPI_COMM_WORLD, &status);
      return MPI_Recv(in, kCapacity, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
    default:
      MPI_Mprobe(0, tag, MPI_COMM_WORLD, &message, &status);
      return MPI_Mrecv(in, kCapacity, MPI_BYTE, &message, &status);
  }
}

static void forge(int kind, const char* job, unsigned char* frame) {
  const uint64_t length = make_frame(kind == 2 ? "shrink" : "zfp:rate=16", job, frame);
  if (kind == 0) frame[length - 5] ^= 0x10;  // the payload
  if (kind == 1) frame[24] ^= 0x10;          // the header, behind its mark
}

static void forged_frames(unsigned char* frame, unsigned char* in) {
  const char* job = getenv("PMIX_NAMESPACE");
  check(job != NULL, "no job name");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int kind = 0; kind < 3 && job; ++kind) {
    for (int way = 0; way < 4; ++way) {
      const int tag = 10 * kind + way;
      int error_class = 0, number = 0;
      forge(kind, job, frame);
      if (rank == 0) {
        MPI_Ssend(frame, kWire, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        MPI_Ssend(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
        continue;
      }
      memset(in + kCapacity, 0xEE, 64);
      MPI_Error_class(receive(way, in, tag), &error_class);
      check(error_class == MPI_ERR_OTHER, "a forged frame gave no error");
      check(in[kCapacity] == 0xEE, "something was written behind the buffer");
      MPI_Recv(&number, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(number == tag, "the next message is another one");
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char *frame = malloc(kCapacity), *in = malloc(kCapacity + 64);
  if (argc > 1 && strcmp(argv[1], "own") == 0) own_frames(frame, in);
  if (argc > 1 && strcmp(argv[1], "forged") == 0) forged_frames(frame, in);
  free(frame);
  free(in);
  if (failures == 0) printf("rank %d: as it should be\n", rank);
  MPI_Finalize();
  return failures != 0;
}
