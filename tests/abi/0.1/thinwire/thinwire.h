/* Thinwire's C ABI: compressed messages over memory, codecs, and the plan that chooses.
 *
 * Conventions
 *   - Every function that can fail returns tw_status; tw_last_error() then has a sentence for the
 *     user, kept per thread until that thread's next failing call.
 *   - Outputs come last and are written on success only.
 *   - Structs that may grow begin with `size`: set it to sizeof the struct before the call.
 *   - Sizes are 64-bit and in bytes unless a name says otherwise. Memory may have any alignment.
 *     It is host memory, pageable or pinned, or GPU memory of this process where a function says
 *     so. No function keeps a pointer to the caller's memory after it returns; those that only
 *     enqueue say what must stay until their work has run.
 *   - All functions may be called from any thread; none blocks on another process.
 *
 * Python reads the declarations between the BEGIN and END marks below: plain C, no macros there.
 */
#ifndef THINWIRE_THINWIRE_H
#define THINWIRE_THINWIRE_H

#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* BEGIN declarations */

typedef enum tw_status {
  TW_OK = 0,
  TW_INVALID_ARGUMENT = 1, /* the caller's mistake: a null pointer, a spec that does not parse */
  TW_UNSUPPORTED = 2,      /* well formed, but this build or codec cannot do it */
  TW_NOT_A_FRAME = 3,      /* the bytes do not begin with the expected mark */
  TW_VERSION = 4,          /* a frame or codec format of another version */
  TW_DAMAGED = 5,          /* a checksum or a length contradicts the bytes */
  TW_TOO_SMALL = 6,        /* the destination cannot hold the result */
  TW_DECLINED = 7,         /* the codec does not take this data, or it would not shrink */
  TW_INTERNAL = 8,
  TW_DEVICE = 9,         /* the CUDA driver or a GPU failed, or none is there */
  TW_HOLDS_INTEGERS = 10 /* declined: fp64 values that read as integers, by a lossy codec */
} tw_status;

/* Values are on the wire. */
typedef enum tw_dtype { TW_BYTES = 0, TW_F32 = 1, TW_F64 = 2, TW_F16 = 3, TW_BF16 = 4 } tw_dtype;

/* One short phrase for a status, as in "damaged frame". Static storage. */
const char* tw_status_text(tw_status status);

/* What the last failing call of this thread was about; "" before any. Owned by the library. */
const char* tw_last_error(void);

/* The library's version, as in "0.1.0". Static storage. */
const char* tw_version(void);

/* The version of the frame format that this build writes and reads. */
uint32_t tw_format_version(void);

/* "64KiB" and the like to bytes; "1gbit" and the like to bytes per second. */
tw_status tw_size_parse(const char* text, uint64_t* bytes);
tw_status tw_link_rate_parse(const char* text, double* bytes_per_second);

/* ---- Settings: the variables THINWIRE_* of the environment ---- */

typedef struct tw_setting_info {
  uint32_t size;
  uint32_t of_tools;    /* 0 or 1: read by this project's tools and tests alone, and any text */
  const char* name;     /* static storage, as the others */
  const char* kind;     /* codec, size, rate, switch, level, words, report or path */
  const char* fallback; /* what holds where it is not set */
  const char* words;    /* of the kind "words", with spaces between them */
  const char* meaning;
} tw_setting_info;

/* How many settings there are, and one of them, index from 0. */
uint32_t tw_setting_count(void);
tw_status tw_setting_describe(uint32_t index, tw_setting_info* info);

/* TW_INVALID_ARGUMENT for a name that is none, with the nearest that is one, and for a value that
 * the setting does not take. */
tw_status tw_setting_check(const char* name, const char* value);

/* The environment's value, as getenv() has it; NULL where it is not set, empty or wrong, but for a
 * wrong THINWIRE_DISABLE, which is "1". A codec's spec is not judged here. */
const char* tw_setting_value(const char* name);

/* Judges this process's environment, as it is at the first call: every wrong or unknown setting is
 * logged once a job, by the rank that its launcher calls the first, with what holds instead.
 * TW_INVALID_ARGUMENT where there is one: tw_codec_create() then makes no lossy codec. It judges
 * by itself; calling this beforehand has it said early. */
tw_status tw_settings_judge(void);

/* ---- Codecs ---- */

/* An array's type and shape: `rank` extents, slowest first, 1 <= rank <= 4. */
typedef struct tw_shape {
  uint32_t dtype; /* tw_dtype */
  uint32_t rank;
  uint64_t extent[4];
} tw_shape;

typedef struct tw_codec_info {
  uint32_t size;
  uint32_t id;         /* on the wire */
  uint32_t version;    /* of the codec's own format */
  uint32_t lossless;   /* 0 or 1 */
  uint32_t fixed_size; /* 0 or 1: the encoded size follows from shape and spec alone */
  uint32_t dtypes;     /* bit 1 << tw_dtype for each that it takes */
  uint32_t max_rank;
  uint32_t flat;     /* 0 or 1: arrays of any shape are coded as one line */
  uint32_t gpu_only; /* 0 or 1: it codes arrays in GPU memory alone */
  const char* name;  /* static storage, as the others */
  const char* summary;
  const char* options;
  const char* example;
} tw_codec_info;

/* How many codecs this build has, and one of them, index from 0. */
uint32_t tw_codec_count(void);
tw_status tw_codec_describe(uint32_t index, tw_codec_info* info);

/* What this machine lacks to run that codec, and how to get it: static storage, "" where nothing is
 * missing. Loads what the codec needs, once; null where there is no such index. */
const char* tw_codec_missing(uint32_t index);

/* A parsed codec spec, name[:key=value[,key=value]]; also "off", and "auto": the lossless codec
 * that makes the least of a sample of the message, or raw where none pays. Immutable.
 *
 * "allreduce-abs=E" or "allreduce-rel=e", of codecs that have an absolute bound, bounds how far the
 * result of a reduction may be from the exact one. Given alone, everything else goes raw.
 *
 * TW_INVALID_ARGUMENT for a lossy codec while a setting is wrong, see tw_settings_judge(). Whoever
 * makes a codec has named it: its frames are decoded from then on, see tw_decode_allow(). */
typedef struct tw_codec tw_codec;
tw_status tw_codec_create(const char* spec, tw_codec** codec);
void tw_codec_destroy(tw_codec* codec);

/* The spec in its normal form. Owned by `codec`. */
const char* tw_codec_spec(const tw_codec* codec);

/* The id of the codec that the spec names, or -1 for "off" and "auto". */
int32_t tw_codec_id(const tw_codec* codec);

/* The ids of all codecs, raw aside, that frames under this spec may name: how many there are, and
 * the first `capacity` of them in `ids`. 0 for "off". */
uint32_t tw_codec_ids(const tw_codec* codec, uint32_t* ids, uint32_t capacity);

/* The shape in which `count` elements of a tw_dtype are coded under this spec: its "shape=" (one
 * extent may be ?) where that fits the count, a line where it names none. Where it does not fit, a
 * lossless codec gets a line and a lossy one TW_UNSUPPORTED. */
tw_status tw_codec_shape(const tw_codec* codec, uint32_t dtype, uint64_t count, tw_shape* shape);

/* Allows this process to decode frames of these codecs too, names with commas between them, as in
 * "nvcomp-lz4,nvcomp-ans". What a frame's header names is decoded, and what that needs is loaded,
 * only where it is one of the project's own codecs, or this process has named it: so, in
 * THINWIRE_DECODE or THINWIRE_CODEC, or by tw_codec_create(). TW_INVALID_ARGUMENT, and nothing
 * allowed, where a name is none. */
tw_status tw_decode_allow(const char* codecs);

/* 1 where frames of the codec with that id are decoded, else 0. */
uint32_t tw_decode_allows(uint32_t id);

/* Speed and ratio of a codec on this machine, one thread. */
typedef struct tw_codec_cost {
  uint32_t size;
  uint32_t reserved;
  double encode_bytes_per_second; /* of uncompressed bytes */
  double decode_bytes_per_second;
  double ratio; /* uncompressed / encoded, on the sample */
} tw_codec_cost;

/* Measures by encoding and decoding `bytes` bytes of a smooth generated array several times and
 * keeping the fastest. Allocates; takes a few milliseconds at 256 KiB. TW_UNSUPPORTED where the
 * codec does not take the dtype. */
tw_status tw_codec_measure(const tw_codec* codec, uint32_t dtype, uint64_t bytes,
                           tw_codec_cost* cost);

/* The same for an array in the memory of a GPU, its frame in PINNED memory: what a message that is
 * staged through the host pays, copies included. */
tw_status tw_codec_measure_device(const tw_codec* codec, int32_t device, uint32_t dtype,
                                  uint64_t bytes, tw_codec_cost* cost);

/* ---- Memory: where it lies, copies, scratch ---- */

typedef enum tw_memory {
  TW_MEMORY_HOST = 0,   /* pageable */
  TW_MEMORY_PINNED = 1, /* page-locked host memory that GPUs reach under the same address */
  TW_MEMORY_DEVICE = 2,
  TW_MEMORY_MANAGED = 3 /* migrates; counts as GPU memory wherever the two are told apart */
} tw_memory;

typedef struct tw_place {
  uint32_t size;
  uint32_t memory; /* tw_memory */
  int32_t device;  /* ordinal of the GPU; -1 for host memory */
  uint32_t reserved;
} tw_place;

/* Where `pointer` points. Never initialises CUDA: a process that does not use it has host memory
 * only, and is told so in nanoseconds. TW_UNSUPPORTED for GPU memory that this library cannot
 * reach (of a context other than the device's primary one), TW_DEVICE where the driver fails. */
tw_status tw_place_of(const void* pointer, tw_place* place);

/* 1 where `pointer` points to device or managed memory, else 0. As tw_place_of(), without words; 1
 * too where that fails. */
uint32_t tw_on_device(const void* pointer);

/* How many GPUs this process can use. TW_DEVICE, with the cause in tw_last_error(), where there is
 * no driver or no GPU; TW_UNSUPPORTED for a build without CUDA. Initialises CUDA. */
tw_status tw_device_count(uint32_t* count);

/* Copies between any two places; complete on return. Waits for no earlier work of the caller's. */
tw_status tw_memory_copy(void* destination, const void* source, uint64_t bytes);

/* The same, begun: both sides must stay until tw_copy_finish(), which frees the handle. A copy
 * with pageable host memory may be complete on return. Copies of
 * one GPU run in the order of their starts. */
typedef struct tw_copy tw_copy;
tw_status tw_memory_copy_start(void* destination, const void* source, uint64_t bytes,
                               tw_copy** copy);
tw_status tw_copy_finish(tw_copy* copy);

/* Scratch memory of a kind (HOST, PINNED or DEVICE; `device` is a GPU's ordinal, ignored for the
 * others) from the library's pools, aligned to 256 bytes, contents undefined. The pool's bound
 * limits what lies idle, never what is on loan; what the GPU refuses is TW_DEVICE, what the system
 * refuses TW_INTERNAL. Memory that is not on loan, as when it is released twice, is passed over by
 * a release, and that is logged once. */
tw_status tw_scratch_acquire(tw_memory memory, int32_t device, uint64_t bytes, void** scratch);
void tw_scratch_release(void* scratch);

typedef struct tw_pool_counters {
  uint32_t size;
  uint32_t reserved;
  uint64_t idle_bytes;   /* kept for reuse */
  uint64_t loaned_bytes; /* on loan */
  uint64_t allocations;  /* of memory by the system or the driver since the start */
  uint64_t loans;        /* leases given since the start */
} tw_pool_counters;

/* The pool of HOST memory, of PINNED memory, or of DEVICE memory on one GPU. What communicators and
 * lanes of work on a GPU work in is theirs too. */
tw_status tw_pool_describe(tw_memory memory, int32_t device, tw_pool_counters* counters);

/* Most bytes that each pool keeps idle; unless set, 2 GiB of host and of pinned memory and 512 MiB
 * of each GPU's. */
void tw_pool_set_idle_bound(uint64_t bytes);

/* ---- Layouts: arrays with gaps, packed and unpacked on the GPU ---- */

/* `bytes` bytes at `offset` from the start of an element. */
typedef struct tw_segment {
  int64_t offset;
  uint64_t bytes;
} tw_segment;

/* An element's segments in the order of the packed stream, and the distance from one element to the
 * next. Immutable; what a GPU needs of it is kept with it. */
typedef struct tw_layout tw_layout;
tw_status tw_layout_create(const tw_segment* segments, uint64_t count, int64_t extent,
                           tw_layout** layout);
void tw_layout_destroy(tw_layout* layout);

/* Packs the first `bytes` bytes of the stream of the elements at `source`, GPU memory, into
 * `destination`, GPU memory of the same device or PINNED; complete on return. Unpack is the
 * reverse, and writes the layout's own bytes only. */
tw_status tw_layout_pack(const tw_layout* layout, const void* source, void* destination,
                         uint64_t bytes);
tw_status tw_layout_unpack(const tw_layout* layout, const void* source, void* destination,
                           uint64_t bytes);

/* ---- Messages: one array in one frame, memory to memory (spec/frame.md) ---- */

typedef struct tw_message_info {
  uint32_t size;
  uint32_t codec_id;
  tw_shape shape;
  uint64_t raw_bytes;   /* of the decoded array */
  uint64_t frame_bytes; /* header, chunk table and payload, without padding behind them */
  char spec[64];        /* the codec and its options, as in "zfp:rate=16" */
} tw_message_info;

typedef enum tw_message_flag {
  TW_MESSAGE_DECLINE = 1,     /* fail with TW_DECLINED where the frame would otherwise be raw */
  TW_MESSAGE_NO_CHECKSUM = 2, /* leave the chunk checksums out; the header's stays */
  TW_MESSAGE_ADD = 4,     /* decode: add to what is at the destination, then multiply by `scale` */
  TW_MESSAGE_INTEGERS = 8 /* lossy codecs take fp64 values that read as integers */
} tw_message_flag;

/* Frames in files and in memory carry one mark, the messages of a job another: `job` names the
 * job with `job_bytes` bytes, and NULL stands for the file mark. Both sides must pass the same. */
typedef struct tw_message_options {
  uint32_t size;
  uint32_t flags; /* of tw_message_flag */
  const char* job;
  uint64_t job_bytes;
  void* stream; /* cudaStream_t, of any device, that GPU work comes behind; NULL is never CUDA's
                   legacy default stream, which is cudaStreamLegacy: calls that wait then run on a
                   stream of the library's own, behind no earlier work of the caller's, and calls
                   that only enqueue are refused */
  double scale; /* read under TW_MESSAGE_ADD only: 1 for a sum, 1 / ranks in an average's last step.
                   fp32 and fp64 round after the sum and after the product; 16-bit types do both in
                   fp32 and round once more. NaN comes out as one quiet NaN, the same everywhere. */
  double least_ratio; /* read under "auto" only: below this ratio of the sample the message is raw;
                         0 stands for 1.02 */
} tw_message_options;

/* Most bytes that a frame of such an array can take, whatever the data. */
tw_status tw_message_bound(const tw_codec* codec, const tw_shape* shape, uint64_t* bytes);

/* Encodes the array at `source` into one frame at `destination`; either may be GPU memory. The
 * codec runs where the array lies, and the bytes are the same. Complete on return. Data that the
 * codec declines (NaN or infinity in a fixed-rate codec), or that would not shrink, becomes a raw
 * frame, or fails with TW_DECLINED under that flag. So does, with TW_HOLDS_INTEGERS, an array of
 * fp64 under a lossy codec where a value's bits, read as a signed integer, are not 0 and below 2^40
 * in magnitude, unless TW_MESSAGE_INTEGERS or THINWIRE_INTEGERS=code is set. TW_TOO_SMALL when
 * `capacity` is below tw_message_bound(). `options` may be NULL. Source and destination must not
 * overlap. Allocates nothing on the host, and on the GPU only what the pools have not yet. While
 * the stream is being captured: TW_UNSUPPORTED. */
tw_status tw_message_encode(const tw_codec* codec, const tw_shape* shape, const void* source,
                            void* destination, uint64_t capacity, const tw_message_options* options,
                            uint64_t* written);

/* What this process has met of integers in the bits of floats since it started. */
typedef struct tw_integer_counters {
  uint32_t size;
  uint32_t reserved;
  uint64_t declined; /* fp64 arrays, or pieces of them, that a lossy codec declined for that */
  uint64_t coded;    /* fp32 ones in host memory that it coded: bits below 2^23, as fields that fade
                        out have too */
} tw_integer_counters;
tw_status tw_integers_describe(tw_integer_counters* counters);

/* Reads the header of the frame at `source`, host or GPU memory: TW_NOT_A_FRAME, TW_VERSION,
 * TW_DAMAGED, or TW_UNSUPPORTED for a codec that this build lacks. `length` may exceed the frame
 * (padding). */
tw_status tw_message_inspect(const void* source, uint64_t length, const tw_message_options* options,
                             tw_message_info* info);

/* Decodes the frame at `source` into `destination`, which must hold info.raw_bytes
 * (TW_TOO_SMALL); either may be GPU memory, and the codec runs where the array is to lie. Any bytes
 * are safe: damage gives an error, and then the destination's contents are undefined inside its
 * capacity; a codec that this process has not named is TW_UNSUPPORTED, see tw_decode_allow().
 * `info` may be NULL. Allocates nothing on the host, but for a chunk of an array of two or more
 * axes that is added to another. TW_UNSUPPORTED where bytes would be added. */
tw_status tw_message_decode(const void* source, uint64_t length, void* destination,
                            uint64_t capacity, const tw_message_options* options,
                            tw_message_info* info);

/* Where a frame comes from and its array goes to when neither has to lie in memory as a whole. The
 * functions return 0, or anything else for what failed, which ends the decode with TW_INTERNAL. */
typedef struct tw_pieces {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* Bytes of the frame from `offset` on; none is asked for twice, but for the header's. */
  int32_t (*read)(void* context, uint64_t offset, uint64_t bytes, void* to);
  /* Bytes of the array that begin `offset` bytes from its start. */
  int32_t (*write)(void* context, uint64_t offset, uint64_t bytes, const void* from);
  void* workspace; /* host memory, aligned to 64 bytes */
  uint64_t workspace_bytes;
  uint64_t needed_bytes; /* set: what the workspace must have. Two chunks and 4 KiB: at most 260
                            KiB, but for "zfp" of two or three axes, whose chunks are four planes or
                            more, and for raw frames */
} tw_pieces;

/* As tw_message_decode() of a frame of `length` bytes, on the host, a chunk at a time;
 * TW_TOO_SMALL, and nothing written, where the workspace is. Raw frames are read in pieces of 1
 * MiB, or a plane. */
tw_status tw_message_decode_in_pieces(tw_pieces* pieces, uint64_t length,
                                      const tw_message_options* options, tw_message_info* info);

/* ---- Messages in stream order: enqueued, never waited for, capturable in a CUDA graph ---- */

/* What an enqueued encode or decode came to, in 8 bytes that the GPU writes: PINNED or device
 * memory. 0 until it is known; the caller clears it before each use. tw_outcome_read() takes a
 * value that is not 0 apart: the status, and the frame's bytes after an encode. */
tw_status tw_outcome_read(uint64_t outcome, uint64_t* bytes);

/* Under "auto" what is enqueued is chosen by dtype and shape alone, since nothing can be waited
 * for.
 *
 * Device memory that enqueueing this codec for this shape needs; the same for encode and decode.
 * Aligned to 16 bytes, all zeros before its first use, then left ready for the codec's next; one
 * stream at a time. The nvcomp codecs' must be zeros again before another codec's use. */
tw_status tw_message_workspace(const tw_codec* codec, const tw_shape* shape, uint64_t* bytes);

/* As tw_message_encode() on options->stream, which must be named, with everything in memory that
 * the GPU reaches.
 * Source, destination, workspace and outcome must stay until the work has run; a frame is complete
 * in stream order. The outcome may be written before that; it is TW_DECLINED, and no frame there,
 * where the data is declined or would not shrink. Integers in the bits of doubles are not looked
 * for here: a lossy codec destroys them. */
tw_status tw_message_encode_enqueue(const tw_codec* codec, const tw_shape* shape,
                                    const void* source, void* destination, uint64_t capacity,
                                    const tw_message_options* options, void* workspace,
                                    uint64_t workspace_bytes, uint64_t* outcome);

/* Decodes a frame of `codec` and `shape`, known beforehand, at `source` (`length` bytes, padding
 * included). A frame that says otherwise, or is damaged, makes the outcome an error; the
 * destination's contents are then undefined inside the array. */
tw_status tw_message_decode_enqueue(const tw_codec* codec, const tw_shape* shape,
                                    const void* source, uint64_t length, void* destination,
                                    uint64_t capacity, const tw_message_options* options,
                                    void* workspace, uint64_t workspace_bytes, uint64_t* outcome);

/* ---- The plan: whether one point-to-point message is compressed ---- */

typedef enum tw_peer {
  TW_PEER_SELF = 0,
  TW_PEER_SAME_NODE = 1,
  TW_PEER_OTHER_NODE = 2,
  TW_PEER_UNKNOWN = 3 /* outside the job: spawned or connected */
} tw_peer;

/* Why a message goes raw. */
typedef enum tw_reason {
  TW_COMPRESS = 0,
  TW_RAW_OFF = 1,     /* the spec is "off" */
  TW_RAW_NO_LINK = 2, /* "auto" without a stated link: whether it pays cannot be told */
  TW_RAW_BELOW_THRESHOLD = 3,
  TW_RAW_DTYPE = 4, /* the codec does not take this datatype */
  TW_RAW_SAME_NODE = 5,
  TW_RAW_PEER_NOT_READY = 6, /* the peer is not known to run this version of Thinwire */
  TW_RAW_LINK_FASTER = 7,    /* the codec cannot win on the stated link */
  TW_RAW_MODE = 8,           /* a synchronous or buffered send */
  TW_RAW_DECLINED = 9,       /* NaN, infinity, or data that would not shrink */
  TW_RAW_NO_MEMORY = 10,
  TW_RAW_SHAPE = 11, /* the spec's shape does not fit the count, and the codec is lossy */
  TW_RAW_REDUCTIONS_ALONE = 12,  /* the spec bounds the results of reductions and nothing else */
  TW_RAW_REDUCTION_OF_AUTO = 13, /* "auto" leaves reductions as they are, bit for bit */
  TW_RAW_BOUND_TOO_SMALL = 14,   /* the bound of the result leaves nothing to code with */
  TW_RAW_OPERATION = 15, /* no schedule does it compressed, or none keeps the bound of its result */
  TW_RAW_DECLINED_LATELY = 16, /* the last ones to this peer were declined: not tried */
  TW_RAW_INTEGERS = 17,        /* fp64 values that read as integers, and the codec is lossy */
  TW_RAW_COST_UNKNOWN = 18,    /* the ranks have not agreed yet on what the codec costs */
  TW_RAW_SCHEDULE = 19,        /* of a collective's packets: by its schedule, as inside a node */
  TW_RAW_PASSED_ON = 20,       /* likewise: raw from another rank, which had its reason */
  TW_REASON_COUNT = 21
} tw_reason;

/* One short phrase for a reason, as in "below the threshold". Static storage. */
const char* tw_reason_text(tw_reason reason);

typedef struct tw_plan_settings {
  uint32_t size;
  uint32_t same_node;           /* 1: peers on the same node are compressed to */
  uint64_t threshold;           /* messages below this many bytes go raw */
  double link_bytes_per_second; /* 0: not stated, the codec is trusted to win */
  tw_codec_cost cost;           /* used where a link is stated */
} tw_plan_settings;

typedef struct tw_plan_facts {
  uint32_t size;
  uint32_t dtype; /* tw_dtype */
  uint64_t bytes;
  uint32_t peer;       /* tw_peer */
  uint32_t peer_ready; /* 1: proven to decode what this build encodes */
} tw_plan_facts;

typedef struct tw_plan_choice {
  uint32_t size;
  uint32_t reason;                     /* tw_reason */
  double predicted_raw_seconds;        /* 0 where no link is stated */
  double predicted_compressed_seconds; /* under "auto", at the most that can be hoped for */
  double least_ratio; /* below this one raw is faster: for tw_message_options under "auto" */
} tw_plan_choice;

/* Pure: no clock, no environment. */
tw_status tw_plan_message(const tw_codec* codec, const tw_plan_settings* settings,
                          const tw_plan_facts* facts, tw_plan_choice* choice);

/* ---- Communicators: collectives compressed as a whole ---- */

/* What carries bytes between the ranks of a communicator: an MPI, threads, or whatever its user
 * has. The library calls these functions from one thread at a time, the one that is in a call on
 * the communicator; none may block or throw. What fails ends the collective with that status. */
typedef struct tw_transport {
  uint32_t size;
  int32_t rank;  /* this one */
  int32_t ranks; /* how many there are */
  uint32_t reserved;
  void* context; /* passed back */

  /* Begins a message; memory stays as it is until `test` reports the request. Between two ranks
   * messages arrive in the order in which they were begun. */
  tw_status (*send)(void* context, int32_t peer, const void* data, uint64_t bytes,
                    uint64_t* request);
  tw_status (*receive)(void* context, int32_t peer, void* data, uint64_t capacity,
                       uint64_t* request);

  /* Which of `count` requests are complete: their places among `requests` in `places`, the bytes
   * that receives got in `bytes` (both have room for `count`), how many in `done`. Those requests
   * are gone. */
  tw_status (*test)(void* context, uint32_t count, const uint64_t* requests, uint32_t* places,
                    uint64_t* bytes, uint32_t* done);

  /* There is nothing to do for now: may yield the processor. NULL yields
   * where that lasts. */
  void (*idle)(void* context);

  /* The communicator is gone, or `send`, `receive` or `test` failed, and with that the memory of
   * messages under way. Nothing else is called any more. May be NULL. */
  void (*release)(void* context);
} tw_transport;

/* Ranks that are threads of this process: fills `ranks` transports, one for each. */
tw_status tw_transport_local(uint32_t ranks, tw_transport* transports);

/* A group of ranks that agreed on format, codecs and settings. Calls on one communicator are made
 * by one thread at a time, in the same order on every rank; tw_comm_plan() under TW_AS_AGREED may
 * be called while another thread is in tw_comm_run() under the same flag. */
typedef struct tw_comm tw_comm;

typedef struct tw_comm_options {
  uint32_t size;
  uint32_t same_node;           /* 1: compress where all ranks share a node */
  const tw_codec* codec;        /* of calls that name none; NULL: "auto" */
  uint64_t threshold;           /* operations on fewer bytes in all go raw */
  double link_bytes_per_second; /* between nodes; 0: not stated, the codec is trusted to win */
  const int32_t* nodes; /* the node of each rank, any numbers; NULL: each rank is one of its own */
  uint64_t piece_bytes; /* of what is coded and sent at a time; 0: planned */
  const char* job;      /* names the job whose mark the frames carry; NULL: the file mark */
  uint64_t job_bytes;
} tw_comm_options;

/* Collective: all ranks must call it. TW_VERSION, with the difference in tw_last_error() on every
 * rank, where the ranks differ in format, codecs or options. Takes the transport over, on failure
 * too: its `release` will be called. Neither options nor codec are kept. */
tw_status tw_comm_create(const tw_transport* transport, const tw_comm_options* options,
                         tw_comm** comm);

/* Not collective; nothing may be under way. */
void tw_comm_destroy(tw_comm* comm);

int32_t tw_comm_rank(const tw_comm* comm);
int32_t tw_comm_size(const tw_comm* comm);

typedef enum tw_operation {
  TW_BCAST = 0,
  TW_ALLGATHER = 1,
  TW_GATHER = 2,
  TW_SCATTER = 3,
  TW_ALLTOALL = 4,
  TW_REDUCE = 5,
  TW_ALLREDUCE = 6,
  TW_REDUCE_SCATTER = 7
} tw_operation;

typedef enum tw_reduction {
  TW_SUM = 0,
  TW_PRODUCT = 1,
  TW_MINIMUM = 2,
  TW_MAXIMUM = 3
} tw_reduction;

typedef enum tw_algorithm {
  TW_ALGORITHM_PLANNED = 0,
  TW_ALGORITHM_RING = 1,
  TW_ALGORITHM_RECURSIVE_DOUBLING = 2,
  TW_ALGORITHM_DIRECT = 3,
  TW_ALGORITHM_CHAIN = 4,
  TW_ALGORITHM_BINOMIAL = 5,
  TW_ALGORITHM_PAIRWISE = 6,
  TW_ALGORITHM_BRUCK = 7
} tw_algorithm;

typedef enum tw_coding {
  TW_CODING_PLANNED = 0,
  TW_CODING_ONCE = 1,     /* encoded at the source, forwarded untouched */
  TW_CODING_PER_HOP = 2,  /* decoded and encoded by every rank on the way: the baseline. Under a
                             lossy  codec ranks may then differ */
  TW_CODING_TWO_LEVEL = 3 /* raw inside a node, compressed between nodes */
} tw_coding;

typedef enum tw_collective_flag {
  TW_IN_PLACE = 1, /* `send` is not read: what this rank contributes lies in `receive`, where MPI
                      has it. For Scatter and Gather it counts at the root alone */
  TW_VERIFY = 2,   /* do it again without compression and report the largest difference */
  TW_VARIED = 4,   /* Gather and Scatter: blocks differ, the root alone has the lists */
  TW_HINDERED = 8, /* of one rank alone: it cannot take part, for want of memory, say. It lets the
                      others come to their end, as one that fails on the way does, and fails itself
                      with TW_INTERNAL. Its `send` and `receive` are not looked at */
  TW_PLANNED = 16, /* tw_comm_run() alone: the tw_comm_plan() before it on this communicator was of
                      this call, but for its buffers, and holds: it is not planned again */
  TW_ROOT_DECODES = 32, /* Bcast, at the root: where a lossy codec changes values, `receive` becomes
                           what the others get. Without it the root's values are read alone */
  TW_AS_AGREED = 64 /* what the codec costs is not measured for this call. Where the ranks have not
                       agreed on it yet the call is raw, for TW_RAW_COST_UNKNOWN, and where
                       tw_comm_plan() says so, tw_comm_settle() will agree on it */
} tw_collective_flag;

/* One operation, as MPI has it. Counts and displacements are in elements. All ranks must agree on
 * everything but pointers, and the lists that MPI leaves to one rank or to pairs. */
typedef struct tw_collective {
  uint32_t size;
  uint32_t operation; /* tw_operation */
  uint32_t dtype;     /* tw_dtype */
  uint32_t reduction; /* tw_reduction, where the operation reduces */
  int32_t root;
  uint32_t algorithm; /* tw_algorithm */
  uint32_t coding;    /* tw_coding */
  uint32_t flags;     /* tw_collective_flag */
  const void* send;   /* host or GPU memory, at any alignment */
  void* receive;      /* Bcast has this one alone, and only reads it at the root */

  /* Elements: of the whole array of Bcast, Reduce and Allreduce; of one rank's block elsewhere. Not
   * read where the lists below are given. */
  uint64_t count;

  /* The v forms, one entry a rank; NULL otherwise. Send lists: Scatter (root), Alltoall. Receive
   * lists: Gather (root), Allgather, Alltoall, and the counts alone for Reduce-scatter. Elsewhere
   * `count` is this rank's own. */
  const uint64_t* send_counts;
  const uint64_t* send_displacements;
  const uint64_t* receive_counts;
  const uint64_t* receive_displacements;

  const tw_codec* codec; /* NULL: the communicator's */
} tw_collective;

/* What became of one. Bytes and seconds are this rank's. */
typedef struct tw_collective_report {
  uint32_t size;
  uint32_t reason;     /* tw_reason: TW_COMPRESS, or why everything went raw */
  uint32_t algorithm;  /* tw_algorithm, as used */
  uint32_t coding;     /* tw_coding, as used */
  uint64_t raw_bytes;  /* of what it sent, before coding */
  uint64_t wire_bytes; /* as it travelled */
  uint64_t packets;
  uint64_t raw_packets;     /* of them, those that went as they were */
  uint64_t workspace_bytes; /* on loan while it ran, host memory and GPU memory together */
  double seconds;
  double encode_seconds;
  double decode_seconds;    /* and of reductions */
  double predicted_seconds; /* 0 where no link is stated */
  double predicted_raw_seconds;
  double bound;     /* largest difference from the exact result that can come of coding, where the
                       codec states one and the operation has finite values alone; else 0 */
  double max_error; /* under TW_VERIFY: the largest difference found on this rank */
  uint64_t raw_packets_by_reason[32]; /* raw_packets by why they went so: tw_reason */
} tw_collective_report;

/* Runs it; blocks until this rank's part is complete. TW_UNSUPPORTED for what no schedule does.
 * Where it fails on one rank (damage, a GPU's failure) all ranks whose data would have come from
 * there fail too, and none hangs. After success all ranks that MPI gives the same data have the
 * same bits; of a Bcast those are the ranks that receive. `report` may be NULL. */
tw_status tw_comm_run(tw_comm* comm, const tw_collective* collective, tw_collective_report* report);

/* What tw_comm_run() would choose, from what is equal on all ranks. Collective, as tw_comm_run()
 * is, for the first call of either with a codec and dtype where a link is stated: each rank
 * measures what the codec costs, and they agree on the slowest. Else nothing is sent, and under
 * TW_AS_AGREED nothing ever is: then no later run is TW_PLANNED by this. reason, algorithm, coding
 * and the predictions of `report` are filled in. */
tw_status tw_comm_plan(tw_comm* comm, const tw_collective* collective,
                       tw_collective_report* report);

/* Collective: the ranks agree on the costs that plans under TW_AS_AGREED have found missing since
 * the last time. Nothing is sent where there are none. */
tw_status tw_comm_settle(tw_comm* comm);

/* What the ranks have agreed on over `from` holds on `comm` too, a communicator of the same ranks
 * in the same order. Sends nothing; to be called on every rank behind the same calls on `from`. */
tw_status tw_comm_take_costs(tw_comm* comm, const tw_comm* from);

/* As in "allreduce", "recursive-doubling", "per-hop". Static storage; NULL for what is none. */
const char* tw_operation_text(uint32_t operation);
const char* tw_algorithm_text(uint32_t algorithm);
const char* tw_coding_text(uint32_t coding);

/* The schedules there are, index from 0: false (0) where there are no more. */
uint32_t tw_schedule_describe(uint32_t index, uint32_t* operation, uint32_t* algorithm,
                              uint32_t* coding);

/* ---- Log: one line on standard error, if THINWIRE_LOG admits the level ---- */

typedef enum tw_log_level {
  TW_LOG_ERROR = 1,
  TW_LOG_WARNING = 2,
  TW_LOG_INFO = 3,
  TW_LOG_DEBUG = 4
} tw_log_level;

void tw_log(tw_log_level level, const char* text);

/* END declarations */

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* THINWIRE_THINWIRE_H */
