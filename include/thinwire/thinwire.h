/* Thinwire's C ABI: encode arrays into frames and back, codecs, the choice whether to compress, and
 * compressed collectives. docs/concepts/glossary.md explains the words (frame, spec, piece, ...).
 *
 * Conventions
 *   - Every function that can fail returns tw_status. After a failure tw_last_error() has a
 *     sentence for the user, kept per thread until that thread's next failing call.
 *   - Outputs come last: numbers, structs and handles, which are written on success only (but for
 *     `needed_bytes` of tw_pieces). What the buffers `destination` and `receive` hold after a
 *     failure is undefined.
 *   - Structs that may grow begin with `size`: set it to sizeof the struct, and zero the rest.
 *   - A function that destroys, releases or finishes a handle takes NULL, and then does nothing.
 *     No function crashes for a NULL, or for a struct's size that is none: those that return no
 *     status return 0, NULL, or what their comments say.
 *   - A handle after the function that destroys it counts as NULL: TW_INVALID_ARGUMENT, or what the
 *     function's comment says of NULL; to destroy it again does nothing, and tw_last_error() says
 *     so. That holds until 256 more handles of its type have been destroyed: then it may be another
 *     one's. So does a handle in a struct, and a tw_stream_plan after its communicator.
 *   - Undefined: a handle that another thread destroys during the call; a pointer that is no
 *     handle; memory of the library's that a handle owned; a length or count that is more than the
 *     memory at its pointer has.
 *   - Sizes are 64-bit and in bytes unless a name says otherwise. Memory may have any alignment.
 *     It is host memory, pageable or pinned, or GPU memory of this process where a function says
 *     so. The caller owns all memory that it passes. No function keeps a pointer to it after it
 *     returns; functions that only enqueue GPU work say what must stay valid until that has run.
 *   - All functions may be called from any thread. None waits for another process, but for the
 *     collective ones of a communicator.
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
  TW_DECLINED = 7,         /* the codec cannot encode this data, or it would not get smaller */
  TW_INTERNAL = 8,
  TW_DEVICE = 9,         /* the CUDA driver or a GPU failed, or there is none */
  TW_HOLDS_INTEGERS = 10 /* declined by a lossy codec: some fp64 values look like integers */
} tw_status;

/* Element types. The values are part of the frame format. */
typedef enum tw_dtype {
  TW_BYTES = 0,
  TW_F32 = 1,
  TW_F64 = 2,
  TW_F16 = 3,
  TW_BF16 = 4,
  TW_F8_E4M3 = 5, /* without infinities (OCP's E4M3); Thinwire adds no 8-bit floats */
  TW_F8_E5M2 = 6
} tw_dtype;

/* A short phrase for a status, as in "damaged frame". Static storage. */
const char* tw_status_text(tw_status status);

/* Why this thread's last failing call failed; "" if none has. The library owns the text, which is
 * valid until the thread's next failing call. */
const char* tw_last_error(void);

/* The library's version, as in "0.1.0". Static storage. */
const char* tw_version(void);

/* The version of the frame format that this build writes and reads. */
uint32_t tw_format_version(void);

/* Reads a size such as "64KiB" as bytes, and a rate such as "1gbit" as bytes per second. */
tw_status tw_size_parse(const char* text, uint64_t* bytes);
tw_status tw_link_rate_parse(const char* text, double* bytes_per_second);

/* ---- Codecs ---- */

/* An array's element type and shape: `rank` extents in elements, slowest-varying first,
 * 1 <= rank <= 4. */
typedef struct tw_shape {
  uint32_t dtype; /* tw_dtype */
  uint32_t rank;
  uint64_t extent[4];
} tw_shape;

typedef struct tw_codec_info {
  uint32_t size;
  uint32_t id;         /* as frames have it */
  uint32_t version;    /* of the codec's own format */
  uint32_t lossless;   /* 0 or 1 */
  uint32_t fixed_size; /* 0 or 1: the encoded size depends on shape and spec only */
  uint32_t dtypes;     /* bit (1 << tw_dtype) is set for each element type that it takes */
  uint32_t max_rank;   /* of shapes of more axes it sees the slowest ones as one */
  uint32_t flat;       /* 0 or 1: it encodes an array of any shape as if it had one dimension */
  uint32_t gpu_only;   /* 0 or 1: it encodes and decodes arrays in GPU memory only */
  const char* name;    /* all texts here are in static storage */
  const char* summary;
  const char* options;
  const char* example;
} tw_codec_info;

/* The number of codecs in this build; and codec `index`, counted from 0. */
uint32_t tw_codec_count(void);
tw_status tw_codec_describe(uint32_t index, tw_codec_info* info);

/* Names what this machine lacks to run codec `index`, and how to get it; "" if nothing is
 * missing, NULL if there is no such codec. Static storage. Loads the libraries that the codec
 * needs, once. */
const char* tw_codec_missing(uint32_t index);

/* A parsed codec spec, name[:key=value[,key=value]]. Three names stand for no codec of their own:
 * "off" compresses nothing; "auto" tries the lossless codecs on a sample of each array and uses the
 * one that compresses the sample best; "lossless" does the same, but is asked for by name, so that
 * it compresses where no link is stated, as a codec does. Its option "reductions=coded" or
 * "reductions=native" says whether reductions are compressed, in which case another order of
 * additions may change their last bits; under "reductions=ordered" that order is always the one of
 * the ranks, and under "reductions=exact" a sum is the exact total, rounded once, in any order
 * (tw_codec_reductions()). tw_message_encode() knows no link:
 * its "auto" asks for a ratio alone (`least_ratio`), not for speed. tw_plan_message() and
 * collectives go by the stated link: raw if none is stated, else by the ratio from which on
 * compression is faster. Immutable; the caller destroys it.
 *
 * "allreduce-abs=E" and "allreduce-rel=e" bound how far the result of a reduction may be from the
 * exact result; codecs with an absolute error bound take them. A spec with no other bound
 * compresses reductions only.
 *
 * "fill=V", a number, "fill=nan" and "fill=auto" say which values of an array are missing; lossy
 * codecs but NVIDIA's take them. A frame keeps those to the bit and bounds the others:
 * those whose bits are V's in the array's type, or those of its first NaN, or of what the array
 * tells: NaN, or the most frequent of at most four values that stand far above the others.
 * Reductions are native then, and slots take no such codec (tw_stream_*).
 *
 * TW_INVALID_ARGUMENT for a lossy codec while a setting is wrong, see tw_settings_judge(). From
 * then on this process also decodes that codec's frames, see tw_decode_allow(). */
typedef struct tw_codec tw_codec;
tw_status tw_codec_create(const char* spec, tw_codec** codec);
void tw_codec_destroy(tw_codec* codec);

/* The spec in its normal form. `codec` owns the text. */
const char* tw_codec_spec(const tw_codec* codec);

/* The id of the spec's codec; -1 for "off", "auto" and "lossless". */
int32_t tw_codec_id(const tw_codec* codec);

/* 1 if the spec compresses nothing unless a link's rate is stated ("auto"), else 0. */
uint32_t tw_codec_needs_link(const tw_codec* codec);

/* 1 if the spec says which values of an array are missing ("fill="), else 0. */
uint32_t tw_codec_has_fill(const tw_codec* codec);

/* Whether reductions are compressed under this spec. UNSAID is "lossless" without "reductions=": a
 * tw_comm and the preload library for MPI then leave them native, the one for NCCL, where nobody
 * promises an order of additions, compresses them. */
typedef enum tw_reductions {
  TW_REDUCTIONS_UNSAID = 0,
  TW_REDUCTIONS_NATIVE = 1, /* "off", "auto" */
  TW_REDUCTIONS_CODED = 2,  /* codecs that are named */
  TW_REDUCTIONS_ALONE = 3,  /* only a bound of results is given: nothing else is compressed */
  TW_REDUCTIONS_ORDERED =
      4,                  /* in the order of the ranks, compressed or raw, from the first call on */
  TW_REDUCTIONS_EXACT = 5 /* as ORDERED, but sums are exact and rounded once */
} tw_reductions;
tw_reductions tw_codec_reductions(const tw_codec* codec);

/* The ids of the codecs that frames under this spec may have, except raw. Returns their number, 0
 * for "off", and writes the first `capacity` of them to `ids`. */
uint32_t tw_codec_ids(const tw_codec* codec, uint32_t* ids, uint32_t capacity);

/* The same for arrays of one tw_dtype: of "auto" and "lossless" the codecs that they try on a
 * sample of such data, the preferred one first; none where the type is not taken. */
uint32_t tw_codec_ids_for(const tw_codec* codec, uint32_t dtype, uint32_t* ids, uint32_t capacity);

/* The shape in which this spec encodes `count` elements of a tw_dtype: its "shape=" (one extent may
 * be "?") if that fits the count, one dimension if it names no shape. If its shape does not fit:
 * one dimension for a lossless codec, TW_UNSUPPORTED for a lossy one. */
tw_status tw_codec_shape(const tw_codec* codec, uint32_t dtype, uint64_t count, tw_shape* shape);

/* Allows this process to decode frames of these codecs too: names separated by commas, as in
 * "nvcomp-lz4,nvcomp-ans". Without this a process decodes frames of Thinwire's own codecs, and of
 * those that it named in THINWIRE_DECODE or THINWIRE_CODEC or gave to tw_codec_create(); other
 * frames are TW_UNSUPPORTED, and nothing is loaded for them. TW_INVALID_ARGUMENT, and nothing is
 * allowed, if one of the names is unknown. */
tw_status tw_decode_allow(const char* codecs);

/* 1 if this process decodes frames of the codec with that id, else 0. */
uint32_t tw_decode_allows(uint32_t id);

/* Speed and ratio of a codec on this machine, one thread. */
typedef struct tw_codec_cost {
  uint32_t size;
  uint32_t reserved;
  double encode_bytes_per_second; /* of uncompressed bytes */
  double decode_bytes_per_second;
  double ratio; /* uncompressed / encoded, on the sample */
} tw_codec_cost;

/* Encodes and decodes `bytes` bytes of a smooth generated array several times and keeps the fastest
 * time. Allocates; takes a few milliseconds at 256 KiB. TW_UNSUPPORTED if the codec does not take
 * the dtype. */
tw_status tw_codec_measure(const tw_codec* codec, uint32_t dtype, uint64_t bytes,
                           tw_codec_cost* cost);

/* The same for an array in GPU memory whose frame is in pinned host memory: the cost of a message
 * that is copied through the host, copies included. `device` is the GPU's ordinal. */
tw_status tw_codec_measure_device(const tw_codec* codec, int32_t device, uint32_t dtype,
                                  uint64_t bytes, tw_codec_cost* cost);

/* ---- Memory: where it lies, copies, scratch ---- */

typedef enum tw_memory {
  TW_MEMORY_HOST = 0,   /* pageable */
  TW_MEMORY_PINNED = 1, /* page-locked host memory that GPUs reach under the same address */
  TW_MEMORY_DEVICE = 2,
  TW_MEMORY_MANAGED = 3 /* CUDA managed memory; treated as GPU memory */
} tw_memory;

typedef struct tw_place {
  uint32_t size;
  uint32_t memory; /* tw_memory */
  int32_t device;  /* the GPU's ordinal; -1 for host memory */
  uint32_t reserved;
} tw_place;

/* In which memory `pointer` lies. Never initialises CUDA: in a process that has not done so all
 * memory is host memory, and the call takes nanoseconds. TW_UNSUPPORTED for GPU memory of a context
 * other than the device's primary one, which this library cannot access; TW_DEVICE if the driver
 * fails. */
tw_status tw_place_of(const void* pointer, tw_place* place);

/* 1 if `pointer` lies in device or managed memory, or if tw_place_of() would fail for it; else 0.
 * Does not set tw_last_error(). */
uint32_t tw_on_device(const void* pointer);

/* The number of GPUs that this process can use. TW_DEVICE, with the cause in tw_last_error(), if
 * there is no driver or no GPU; TW_UNSUPPORTED in a build without CUDA. Initialises CUDA. */
tw_status tw_device_count(uint32_t* count);

/* Copies `bytes` bytes between any two kinds of memory; complete on return. Does not wait for GPU
 * work that the caller has enqueued. */
tw_status tw_memory_copy(void* destination, const void* source, uint64_t bytes);

/* The same without waiting: source and destination must stay valid until tw_copy_finish(), which
 * waits for the copy and frees the handle. A copy to or from pageable host memory may be complete
 * on return. Copies of one GPU run in the order in which they were started. */
typedef struct tw_copy tw_copy;
tw_status tw_memory_copy_start(void* destination, const void* source, uint64_t bytes,
                               tw_copy** copy);
tw_status tw_copy_finish(tw_copy* copy);

/* Lends scratch memory from the library's pools: `memory` is HOST, PINNED or DEVICE, `device` the
 * GPU's ordinal (for DEVICE only). It is aligned to 256 bytes, its contents are undefined, and the
 * caller gives it back with tw_scratch_release(). The pool's bound limits idle memory, not memory
 * on loan. TW_DEVICE if the GPU has no memory left, TW_INTERNAL if the system has none. Releasing
 * memory that is not on loan does nothing, and is logged once. */
tw_status tw_scratch_acquire(tw_memory memory, int32_t device, uint64_t bytes, void** scratch);
void tw_scratch_release(void* scratch);

typedef struct tw_pool_counters {
  uint32_t size;
  uint32_t reserved;
  uint64_t idle_bytes;   /* kept for reuse */
  uint64_t loaned_bytes; /* on loan now */
  uint64_t allocations;  /* calls to the system or the driver for memory, since the start */
  uint64_t loans;        /* since the start */
  uint64_t peak_bytes;   /* the most that were idle and on loan together, since the start */
} tw_pool_counters;

/* Counters of the pool of HOST memory, of PINNED memory, or of one GPU's DEVICE memory. They
 * include the library's own use, as by communicators. */
tw_status tw_pool_describe(tw_memory memory, int32_t device, tw_pool_counters* counters);

/* Sets the most bytes that each pool keeps idle. Without it: 2 GiB of host memory, 2 GiB of pinned
 * memory, 512 MiB of each GPU's. */
void tw_pool_set_idle_bound(uint64_t bytes);

/* Functions of the program's that give GPU memory to the library's pools in place of cudaMalloc(),
 * for programs in which one allocator holds all of a GPU's memory, as RMM's pool does. They are
 * called with that GPU current, from any thread and from several at once. They must not call this
 * library or throw. */
typedef struct tw_device_allocator {
  uint32_t size;
  uint32_t reserved;
  void* context; /* the first argument of each function; the caller owns it */
  /* Sets `memory` to `bytes` bytes on GPU `device`, aligned to 256 bytes, that any stream may use
   * at once: a stream-ordered allocator must have waited for its stream. Returns 0; any other value
   * means that there is no memory, and what needed it goes raw or fails with TW_DEVICE. */
  int32_t (*allocate)(void* context, int32_t device, uint64_t bytes, void** memory);
  /* Takes back what `allocate` gave, with the same `bytes`. No work uses it any more. */
  void (*release)(void* context, int32_t device, void* memory, uint64_t bytes);
} tw_device_allocator;

/* From now on the pools take GPU memory from `allocator`, of which they copy the struct; NULL: from
 * cudaMalloc() again. Memory that they have already stays, and goes back to where it came from, so
 * `context` and the functions must stay valid until the process ends. Idle memory is kept as
 * tw_pool_set_idle_bound() says: 0 gives everything back at once. */
tw_status tw_pool_set_device_allocator(const tw_device_allocator* allocator);

/* ---- Layouts: arrays with gaps, packed and unpacked on the GPU ---- */

/* `bytes` bytes that begin `offset` bytes from the start of an element. */
typedef struct tw_segment {
  int64_t offset;
  uint64_t bytes;
} tw_segment;

/* The bytes of an element, as segments in the order in which they are packed, and `extent`, the
 * bytes from the start of one element to the start of the next. Immutable; the caller destroys it.
 */
typedef struct tw_layout tw_layout;
tw_status tw_layout_create(const tw_segment* segments, uint64_t count, int64_t extent,
                           tw_layout** layout);
void tw_layout_destroy(tw_layout* layout);

/* Packs elements at `source` (GPU memory) into `destination` (memory of the same GPU, or pinned
 * memory) until `bytes` packed bytes are written; complete on return. Unpack is the reverse, and
 * writes only bytes that are part of the layout. */
tw_status tw_layout_pack(const tw_layout* layout, const void* source, void* destination,
                         uint64_t bytes);
tw_status tw_layout_unpack(const tw_layout* layout, const void* source, void* destination,
                           uint64_t bytes);

/* ---- Messages: one array in one frame, memory to memory (spec/frame.md) ---- */

typedef struct tw_message_info {
  uint32_t size;
  uint32_t codec_id;
  tw_shape shape;
  uint64_t raw_bytes;   /* size of the decoded array */
  uint64_t frame_bytes; /* size of header, chunk table and payload, without padding after them */
  char spec[64];        /* the codec and its options, as in "zfp:rate=16"; cut if it is longer */
  char whole_spec[128]; /* the same, of any length: tw_codec_create() takes it */
} tw_message_info;

typedef enum tw_message_flag {
  TW_MESSAGE_DECLINE = 1,     /* encode: fail with TW_DECLINED instead of making a raw frame */
  TW_MESSAGE_NO_CHECKSUM = 2, /* encode: no checksums of chunks; the header still has one. Damage
                                 of a chunk may then decode to wrong values */
  TW_MESSAGE_ADD = 4,     /* decode: add to the destination's values, then multiply by `scale` */
  TW_MESSAGE_INTEGERS = 8 /* encode: lossy codecs also take fp64 values that look like integers, and
                             those without a bound arrays with fill values */
} tw_message_flag;

/* Every frame begins with a mark: one for files and memory (`job` is NULL), another for each job,
 * made from the `job_bytes` bytes at `job`. A decoder refuses frames of another mark, so both sides
 * must pass the same `job`. */
typedef struct tw_message_options {
  uint32_t size;
  uint32_t flags; /* of tw_message_flag */
  const char* job;
  uint64_t job_bytes;
  void* stream; /* the cudaStream_t, of any device, in whose order GPU work runs. NULL: calls that
                   wait use a stream of the library's own, which does not wait for the caller's
                   earlier work; calls that only enqueue are refused. For CUDA's legacy default
                   stream pass cudaStreamLegacy */
  double scale; /* with TW_MESSAGE_ADD: 0 means 1, a sum; 1 / ranks in an average's last step. fp32
                   and fp64 are rounded after the sum and after the product; 16-bit types compute
                   both in fp32 and are rounded once. NaN results are one quiet NaN everywhere */
  double least_ratio; /* with "auto" only: the array goes raw if its sample is compressed by less
                         than this ratio; 0 means 1.02. That of a plan also says how little a
                         codec's time matters: near 1, as on slow links, "auto" may choose "ans",
                         which takes longer and leaves less */
} tw_message_options;

/* The largest size in bytes of a frame of such an array, for any data. */
tw_status tw_message_bound(const tw_codec* codec, const tw_shape* shape, uint64_t* bytes);

/* Encodes the array at `source` into one frame at `destination` and sets `written` to its size in
 * bytes; complete on return. Either may be GPU memory. The codec runs where the array is; CPU and
 * GPU write the same bytes. `capacity` is the destination's size; TW_TOO_SMALL if it is below
 * tw_message_bound(). Source and destination must not overlap. `options` may be NULL.
 *
 * The frame is raw if the codec declines the data (NaN or infinity under a fixed rate), if it would
 * not get smaller, or if a lossy codec meets fp64 values that look like integers: not 0, and below
 * 2^40 in magnitude when their bits are read as a signed integer (unless TW_MESSAGE_INTEGERS or
 * THINWIRE_INTEGERS=code is set). So it is if a codec without an absolute bound would destroy most
 * of a sample of the array (fp32, fp64, bf16): at most four different values lie within a factor of
 * 2^20 of the largest and others below, as with fill values of 1e36; or the values are of the other
 * byte order; or a coded value may become infinite (unless TW_MESSAGE_INTEGERS or
 * THINWIRE_FILL_VALUES=code is set). The first time a process says so. With TW_MESSAGE_DECLINE all
 * these fail instead, with TW_DECLINED, and with TW_HOLDS_INTEGERS for integers.
 *
 * With "fill=" in the spec of a lossy codec the values that it names come back to the bit, and the
 * codec's bound is that of the others.
 *
 * With "fill=" a chunk's bytes of host memory are borrowed, or twice the array's of GPU memory;
 * nothing is allocated unless the pools have none to lend. TW_UNSUPPORTED while the stream is being
 * captured into a graph. */
tw_status tw_message_encode(const tw_codec* codec, const tw_shape* shape, const void* source,
                            void* destination, uint64_t capacity, const tw_message_options* options,
                            uint64_t* written);

/* How many arrays with values that look like integers this process has met since it started. */
typedef struct tw_integer_counters {
  uint32_t size;
  uint32_t reserved;
  uint64_t declined; /* fp64 arrays, or pieces of them, that a lossy codec therefore declined */
  uint64_t coded;    /* fp32 arrays in host memory that a lossy codec encoded although some values'
                        bits are below 2^23; fields that fade to 0 have such values too */
} tw_integer_counters;
tw_status tw_integers_describe(tw_integer_counters* counters);

/* Reads the header of the frame at `source`, in host or GPU memory, and decodes nothing. `length`
 * is in bytes and may be larger than the frame (padding). Fails with TW_NOT_A_FRAME, TW_VERSION,
 * TW_DAMAGED, or TW_UNSUPPORTED for a codec that this build lacks. */
tw_status tw_message_inspect(const void* source, uint64_t length, const tw_message_options* options,
                             tw_message_info* info);

/* Decodes the frame at `source` (`length` bytes) into `destination` (`capacity` bytes); complete on
 * return. Either may be GPU memory; the codec runs where the destination is. TW_TOO_SMALL if the
 * array has more than `capacity` bytes. Input may be any bytes: damage gives an error, after which
 * the destination's contents are undefined. TW_UNSUPPORTED for a codec that this process does not
 * decode, see tw_decode_allow(), and for TW_MESSAGE_ADD to an array of bytes. `info` may be NULL.
 * Allocates host memory only to add chunks of an array of two or more dimensions. */
tw_status tw_message_decode(const void* source, uint64_t length, void* destination,
                            uint64_t capacity, const tw_message_options* options,
                            tw_message_info* info);

/* For decoding a frame that is not in memory as a whole into an array that need not be either:
 * functions of the caller that read parts of the one and write parts of the other. They return 0;
 * any other value ends the decode with TW_INTERNAL. */
typedef struct tw_pieces {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* Copies `bytes` bytes of the frame, from `offset` on, to `to`. No byte is read twice, except the
   * header's. */
  int32_t (*read)(void* context, uint64_t offset, uint64_t bytes, void* to);
  /* Takes the `bytes` bytes of the array that begin `offset` bytes from its start. */
  int32_t (*write)(void* context, uint64_t offset, uint64_t bytes, const void* from);
  void* workspace; /* host memory, aligned to 64 bytes */
  uint64_t workspace_bytes;
  uint64_t needed_bytes; /* output: what the workspace must have. Two chunks and 4 KiB: at most 260
                            KiB, except for "zfp" of two or three dimensions, whose chunks are four
                            planes or more, and for raw frames */
} tw_pieces;

/* As tw_message_decode() of a frame of `length` bytes, on the host, one chunk after another.
 * TW_TOO_SMALL if the workspace is smaller than `needed_bytes`, which is then set; nothing has been
 * written. Raw frames are read in parts of 1 MiB, or of a plane. */
tw_status tw_message_decode_in_pieces(tw_pieces* pieces, uint64_t length,
                                      const tw_message_options* options, tw_message_info* info);

/* ---- Messages in stream order: the calls enqueue GPU work and do not wait for it; a CUDA graph
 * can capture them ---- */

/* An enqueued encode or decode writes its outcome into 8 bytes of the caller's, in pinned or device
 * memory, which the caller sets to 0 beforehand. tw_outcome_read() returns the status in such a
 * value that is no longer 0, and sets `bytes` to the frame's size after an encode. */
tw_status tw_outcome_read(uint64_t outcome, uint64_t* bytes);

/* The bytes of device memory that an enqueued encode or decode of this shape needs as its
 * workspace. The workspace must be aligned to 16 bytes and filled with zeros before its first use;
 * each use leaves it ready for the same codec's next. One stream may use it at a time. After a use
 * by an nvcomp codec, or under "fill=", it must be filled with zeros before another codec uses it.
 *
 * "auto" chooses an enqueued codec by dtype and shape only, because it cannot wait for a sample.
 * Under "fill=" the workspace has more than twice the bytes of the array. */
tw_status tw_message_workspace(const tw_codec* codec, const tw_shape* shape, uint64_t* bytes);

/* Enqueues an encode on options->stream, which must not be NULL. Source, destination, workspace and
 * outcome must be in memory that the GPU can access, and stay valid until the work has run. The
 * frame is complete in stream order; the outcome may be written earlier. It is TW_DECLINED, and
 * there is no frame, if the codec declines the data or it would not get smaller. Unlike
 * tw_message_encode() this does not look for integers in fp64 arrays, nor for fill values: a lossy
 * codec destroys them, or what lies beside them.
 */
tw_status tw_message_encode_enqueue(const tw_codec* codec, const tw_shape* shape,
                                    const void* source, void* destination, uint64_t capacity,
                                    const tw_message_options* options, void* workspace,
                                    uint64_t workspace_bytes, uint64_t* outcome);

/* Enqueues the decode of a frame of this `codec` and `shape` at `source` (`length` bytes, with
 * padding). The outcome is an error if the frame has another codec or shape or is damaged; the
 * destination's contents are then undefined. Memory as for tw_message_encode_enqueue(). */
tw_status tw_message_decode_enqueue(const tw_codec* codec, const tw_shape* shape,
                                    const void* source, uint64_t length, void* destination,
                                    uint64_t capacity, const tw_message_options* options,
                                    void* workspace, uint64_t workspace_bytes, uint64_t* outcome);

/* ---- The plan: whether one point-to-point message is compressed ---- */

typedef enum tw_peer {
  TW_PEER_SELF = 0,
  TW_PEER_SAME_NODE = 1,
  TW_PEER_OTHER_NODE = 2,
  TW_PEER_UNKNOWN = 3 /* of another job: spawned or connected */
} tw_peer;

/* Why a message, a packet of a collective or a whole collective goes raw. */
typedef enum tw_reason {
  TW_COMPRESS = 0,
  TW_RAW_OFF = 1,     /* the spec is "off" */
  TW_RAW_NO_LINK = 2, /* no link rate is stated or known yet to tell whether compression pays */
  TW_RAW_BELOW_THRESHOLD = 3,
  TW_RAW_DTYPE = 4, /* the codec does not take this datatype */
  TW_RAW_SAME_NODE = 5,
  TW_RAW_PEER_NOT_READY = 6, /* the peer is not known to run this version of Thinwire */
  TW_RAW_LINK_FASTER = 7,    /* it would not gain: raw is faster on the link */
  TW_RAW_MODE = 8,           /* a synchronous or buffered send */
  TW_RAW_DECLINED = 9,       /* NaN or infinity, or the data would not get smaller */
  TW_RAW_NO_MEMORY = 10,
  TW_RAW_SHAPE = 11, /* the spec's shape does not fit the count, and the codec is lossy */
  TW_RAW_REDUCTIONS_ALONE = 12,  /* the spec has a bound for reductions only, and this is none */
  TW_RAW_REDUCTION_OF_AUTO = 13, /* "auto" does not compress reductions: their bits would change */
  TW_RAW_BOUND_TOO_SMALL = 14,   /* the result's bound is too small for these values and ranks */
  TW_RAW_OPERATION = 15, /* no schedule compresses it, or none keeps the bound of its result; so are
                            reductions under "fill=": a sum of fill values is none */
  TW_RAW_DECLINED_LATELY = 16, /* not tried: the last messages to this peer were declined */
  TW_RAW_INTEGERS = 17,        /* the codec is lossy and some fp64 values look like integers */
  TW_RAW_COST_UNKNOWN = 18,    /* the ranks have not agreed yet on the codec's cost */
  TW_RAW_SCHEDULE = 19,        /* a packet that the schedule sends raw, as inside a node */
  TW_RAW_PASSED_ON = 20,       /* a packet that came raw from another rank and is sent on */
  TW_REASON_COUNT = 21
} tw_reason;

/* A short phrase for a reason, as in "below the threshold". Static storage. */
const char* tw_reason_text(tw_reason reason);

typedef struct tw_plan_settings {
  uint32_t size;
  uint32_t same_node;           /* 1: also compress messages to ranks on the same node */
  uint64_t threshold;           /* messages of fewer bytes go raw */
  double link_bytes_per_second; /* 0: not stated. A named codec is then assumed to win, and "auto"
                                   compresses nothing (TW_RAW_NO_LINK) */
  tw_codec_cost cost;           /* used if a link rate is stated; all 0: not measured, no win */
  uint32_t force;               /* 1: compress whatever it costs; `least_ratio` is 0 then */
  uint32_t reserved;
} tw_plan_settings;

typedef struct tw_plan_facts {
  uint32_t size;
  uint32_t dtype; /* tw_dtype */
  uint64_t bytes;
  uint32_t peer;       /* tw_peer */
  uint32_t peer_ready; /* 1: the peer is known to decode what this build encodes */
} tw_plan_facts;

typedef struct tw_plan_choice {
  uint32_t size;
  uint32_t reason;                     /* tw_reason */
  double predicted_raw_seconds;        /* 0 if no link rate is stated */
  double predicted_compressed_seconds; /* "auto": at the best ratio that can be expected */
  double least_ratio; /* "auto": below this ratio raw is faster; pass it in tw_message_options */
} tw_plan_choice;

/* Decides whether a message is compressed, from these arguments only: reads no clock and no
 * environment, so that equal arguments give equal choices. */
tw_status tw_plan_message(const tw_codec* codec, const tw_plan_settings* settings,
                          const tw_plan_facts* facts, tw_plan_choice* choice);

/* A collective, as all its ranks know it. */
typedef struct tw_collective_facts {
  uint32_t size;
  uint32_t operation; /* tw_operation */
  uint32_t reduction; /* tw_reduction; used if the operation reduces */
  uint32_t dtype;     /* tw_dtype */
  uint64_t bytes;     /* of the whole operation, as tw_comm_options counts the threshold */
  uint32_t ranks;
  uint32_t nodes;     /* that the ranks lie on, as many on each; at most `ranks` */
  uint32_t algorithm; /* tw_algorithm; TW_ALGORITHM_PLANNED: the plan chooses */
  uint32_t coding;    /* tw_coding; TW_CODING_PLANNED: the plan chooses */
} tw_collective_facts;

typedef struct tw_collective_choice {
  uint32_t size;
  uint32_t reason;    /* tw_reason */
  uint32_t algorithm; /* to be used, also for raw values */
  uint32_t coding;
  uint64_t piece_bytes;                /* to encode and send at a time */
  double predicted_raw_seconds;        /* by the fastest algorithm; 0 if no link rate is stated */
  double predicted_compressed_seconds; /* "auto": at the best ratio that can be expected */
  double least_ratio;                  /* below this ratio raw is faster */
} tw_collective_choice;

/* Chooses as tw_comm_plan() would for such a collective if the ranks had agreed on this cost,
 * from these arguments only: no communicator, no measuring, no clock. */
tw_status tw_plan_collective(const tw_codec* codec, const tw_plan_settings* settings,
                             const tw_collective_facts* facts, tw_collective_choice* choice);

/* ---- Choosing by time: whether compressing calls of one kind pays, as they took both ways ---- */

/* Findings about the calls of one kind. Each call asks for its turn, which says whether it goes
 * compressed, and tells afterwards what it took if the turn is timed. Reads no clock: equal calls
 * in equal order give equal turns, so that ranks decide alike if they agree on what they measured.
 * For one thread at a time. */
typedef struct tw_chooser tw_chooser;

typedef struct tw_chooser_options {
  uint32_t size;
  uint32_t once;              /* 1: what is decided first holds, as results depend on it */
  uint32_t begins_compressed; /* 1: calls are compressed before the first timing round, too */
  uint32_t free_timing;       /* 1: timing costs nothing: compressed calls may all be timed */
  uint32_t calls;             /* of each way in a timing round: 2, 4 or 8; 0: 8 */
  uint32_t reserved;
} tw_chooser_options;

/* A prediction for the next call. Seconds are at least 0; infinite: a cost was never measured. */
typedef struct tw_chooser_facts {
  uint32_t size;
  uint32_t pays; /* 1: compressing is predicted to gain */
  double raw_seconds;
  double compressed_seconds;
} tw_chooser_facts;

typedef struct tw_chooser_turn {
  uint32_t size;
  uint32_t compressed; /* 1: the call goes compressed */
  uint32_t timed;      /* 1: tw_chooser_took() waits for what it takes */
  uint32_t in_round;   /* 1: of a timing round, some of whose calls go each way */
} tw_chooser_turn;

/* Nanoseconds that calls took each way; 0: none was measured. */
typedef struct tw_chooser_times {
  uint32_t size;
  uint32_t reserved;
  uint64_t raw; /* a typical one: the second least of four or more, else the least */
  uint64_t compressed;
  uint64_t raw_mean; /* the mean, of four or more without the longest */
  uint64_t compressed_mean;
} tw_chooser_times;

typedef struct tw_chooser_state {
  uint32_t size;
  uint32_t due;        /* 1: tw_chooser_adopt() comes before the next turn */
  uint32_t rounds;     /* timing rounds that were decided */
  uint32_t compressed; /* 1: calls go compressed, by the last of these */
} tw_chooser_state;

/* `options` may be NULL: all 0. */
tw_status tw_chooser_create(const tw_chooser_options* options, tw_chooser** chooser);
void tw_chooser_destroy(tw_chooser* chooser);

/* Gives the next call its turn. */
tw_status tw_chooser_next(tw_chooser* chooser, const tw_chooser_facts* facts,
                          tw_chooser_turn* turn);

/* Tells what a timed call took; 0: nobody knows. */
tw_status tw_chooser_took(tw_chooser* chooser, int compressed, uint64_t nanoseconds);

/* Fills in what this rank measured since the ranks last agreed. */
tw_status tw_chooser_own(const tw_chooser* chooser, tw_chooser_times* times);

/* Adopts what the ranks have agreed on, as they all do before the same call: of each number the
 * largest of what they have as tw_chooser_own(). TW_INVALID_ARGUMENT if it is not due. */
tw_status tw_chooser_adopt(tw_chooser* chooser, const tw_chooser_times* largest);

tw_status tw_chooser_describe(const tw_chooser* chooser, tw_chooser_state* state);

/* Attempts after some were in vain, as to compress data that did not shrink lately: none is skipped
 * after the first of these in a row, then ever more, below 64. All 0 to begin with. */
typedef struct tw_retry {
  uint64_t state;
} tw_retry;

/* Whether the next attempt is worth it, which is taken note of. 1 for NULL. */
int tw_retry_next(tw_retry* retry);

/* Takes note of an attempt that was made. */
void tw_retry_tell(tw_retry* retry, int succeeded);

/* ---- Tables of costs: what codecs cost on a machine, measured once by `thinwire tune` ---- */

/* This machine in one line: processor, GPUs, driver. Costs are of one machine. Static storage. */
const char* tw_machine(void);

/* The path of this machine's table in the user's cache folder ($XDG_CACHE_HOME/thinwire, else
 * ~/.cache/thinwire), whether there is one or not; "" if the environment names no folder. Static
 * storage: what holds at the first call. */
const char* tw_costs_path(void);

/* The rate, in bytes per second, of the fastest network interface of this machine that is no
 * virtual one and up, as the system tells (/sys/class/net, /sys/class/infiniband); 0 if it tells
 * none. Read at the first call. All ranks of a node share it. */
double tw_link_of_machine(void);

/* The name of the interface that tw_link_of_machine() tells of, as in "eth0"; "" if there is
 * none. Static storage. */
const char* tw_link_of_machine_name(void);

/* The rate, in bytes per second, that a host has at most for a communicator of NCCL's which has so
 * many ranks on it: for each one interface, or its GPU's part of all if that is more, of the active
 * ports and network interfaces that NCCL's settings in the environment admit (NCCL_NET,
 * NCCL_IB_DISABLE, NCCL_IB_HCA, NCCL_SOCKET_IFNAME), as the system tells; 0 if it does not tell the
 * rate of all of these, or NCCL_NET names a plugin. Read at the first call. */
double tw_link_of_nccl(uint32_t ranks);

typedef struct tw_costs tw_costs;

/* Reads a table from `text`; `name` is how errors call it. TW_INVALID_ARGUMENT for a text that is
 * no table, is cut short, or was measured on another machine or by another version of the library:
 * tw_last_error() has file and line. */
tw_status tw_costs_create(const char* text, const char* name, tw_costs** costs);

/* The same for a file. */
tw_status tw_costs_open(const char* path, tw_costs** costs);

void tw_costs_destroy(tw_costs* costs);

/* The table at tw_costs_path(), read once, for the process's life; NULL if there is none. One that
 * cannot be used counts as none, which is logged once a job. */
const tw_costs* tw_costs_of_machine(void);

typedef struct tw_costs_row {
  uint32_t size;
  uint32_t dtype;  /* tw_dtype */
  uint64_t bytes;  /* of the array that was measured */
  uint32_t on_gpu; /* 1: in GPU memory; 0: in host memory, by one thread */
  uint32_t reserved;
  const char* codec; /* its spec; lives as long as the table */
  tw_codec_cost cost;
} tw_costs_row;

/* Number of rows; 0 for NULL. */
uint32_t tw_costs_count(const tw_costs* costs);
tw_status tw_costs_describe(const tw_costs* costs, uint32_t index, tw_costs_row* row);

/* Looks up what a codec costs for arrays of about `bytes` bytes: the row of the nearest size.
 * Returns 1 if the table has it; 0 if not, and for NULL. */
int32_t tw_costs_find(const tw_costs* costs, const tw_codec* codec, uint32_t dtype, uint64_t bytes,
                      uint32_t on_gpu, tw_codec_cost* cost);

/* ---- Communicators: collectives compressed as a whole ---- */

/* How bytes travel between the ranks of a communicator: over an MPI, between threads, or by
 * functions of the caller's. The library calls these functions only inside a call on the
 * communicator, from one thread at a time. They must not block or throw. The memory that they
 * get is host memory, pinned for the packets of arrays in GPU memory.
 *
 * If one fails, the collective ends on this rank with the status that it returned. The others learn
 * of it only from their own transports, so a transport must notice a peer that has gone and let
 * `test` fail: as long as it returns TW_OK with nothing complete, the rank waits. */
typedef struct tw_transport {
  uint32_t size;
  int32_t rank;  /* of the caller, from 0 */
  int32_t ranks; /* number of ranks */
  uint32_t reserved;
  void* context; /* the first argument of each function; the caller owns it */

  /* Start a message to, or from, rank `peer`, never the caller itself, and set `request` to a
   * number for it. The library owns the memory and leaves it alone until `test` reports the request
   * complete. Messages between two ranks must be matched in the order in which they were started.
   * `bytes` may be 0: that message must arrive too. `capacity` is the most that may come, and often
   * more than comes; if a longer message comes, `test` must fail. */
  tw_status (*send)(void* context, int32_t peer, const void* data, uint64_t bytes,
                    uint64_t* request);
  tw_status (*receive)(void* context, int32_t peer, void* data, uint64_t capacity,
                       uint64_t* request);

  /* Finds which of these `count` requests are complete: sets `done` to their number, which may be
   * 0, and for each an entry of `places` to its index in `requests` and of `bytes` to the bytes
   * received (both arrays have room for `count`; the bytes of a send are not read). A request that
   * was reported is not passed again. */
  tw_status (*test)(void* context, uint32_t count, const uint64_t* requests, uint32_t* places,
                    uint64_t* bytes, uint32_t* done);

  /* Called while nothing is complete; may yield the processor. NULL: the library yields after a
   * while. */
  void (*idle)(void* context);

  /* The last call, made once: when the communicator is destroyed, or after `send`, `receive` or
   * `test` has failed. Close what connects to other ranks here: they learn of a failure by it. The
   * memory of messages that are not complete may be gone as soon as the failing function has
   * returned. After a failure tw_comm_run() returns TW_INTERNAL; tw_comm_destroy() is still due,
   * and does not call `release` again. May be NULL. */
  void (*release)(void* context);
} tw_transport;

/* Ranks that are threads of this process: fills an array of `ranks` transports. Set `size` of the
 * first one; it is the size of each element. Each rank needs a thread of its own, as collective
 * calls wait for the other ranks, tw_comm_create() included. A transport that no communicator
 * owns is freed by its `release`. */
tw_status tw_transport_local(uint32_t ranks, tw_transport* transports);

/* A group of ranks that run collectives with equal formats, codecs and settings. On each rank one
 * thread at a time may make calls on it, and all ranks must make them in the same order.
 * (Exception: tw_comm_plan() with TW_AS_AGREED, while another thread is in tw_comm_run() with that
 * flag.) */
typedef struct tw_comm tw_comm;

typedef struct tw_comm_options {
  uint32_t size;
  uint32_t same_node;           /* 1: also compress if all ranks are on one node */
  const tw_codec* codec;        /* for calls that name none; NULL: "auto" */
  uint64_t threshold;           /* operations on fewer bytes go raw. It counts the whole operation:
                                   the array of Bcast, Reduce and Allreduce; the blocks of all ranks
                                   in the others. Gather and Scatter with TW_VARIED and Alltoall
                                   with lists are never below it */
  double link_bytes_per_second; /* between nodes; 0: not stated. A named codec is then assumed to
                                   win, and "auto" compresses nothing (TW_RAW_NO_LINK) */
  /* One number per rank, equal for ranks of one node; NULL: each rank has a node of its own. */
  const int32_t* nodes;
  uint64_t piece_bytes; /* bytes to encode and send at a time; 0: the plan chooses */
  const char* job;      /* for the frames' mark, see tw_message_options; NULL: the mark of files */
  uint64_t job_bytes;
  /* Costs of codecs in host memory. With NULL, and for codecs that it lacks, costs are measured
   * at a codec's first call where a link is stated. The ranks agree on the slowest either way. */
  const tw_costs* costs;
  /* Most bytes of host memory, on each rank, for results of earlier Bcasts and Allgathers (with
   * lists too), against which lossless codecs code the next ones; 0: none are kept. For values of
   * which few change from call to call, as the weights of a model that is trained. Only results in
   * host memory of 256 KiB or more, which are compressed. The memory is allocated as results come
   * and freed with the communicator. Each such call begins with one small exchange between the
   * ranks. docs/guide/collectives.md. */
  uint64_t reference_bytes;
  /* Asked about 20 times a second while a call on the communicator (tw_comm_create() is one) waits
   * for other ranks: a program can look there for signals. The thread of the call asks, and only if
   * it is the process's first one: others may wait while an interpreter ends. Anything but TW_OK
   * ends the wait: the call returns that status, the transport's `release` is called, as if the
   * transport had failed, and later calls fail with TW_INTERNAL. It may not make calls on the
   * communicator. NULL: the call waits as long as the transport does. */
  tw_status (*interrupted)(void* context);
  void* interrupted_context; /* its argument */
} tw_comm_options;

/* Collective: all ranks must call it. TW_VERSION on every rank if the ranks differ in format,
 * codecs or options; tw_last_error() then names the difference. `options` must not be NULL. It
 * keeps what it needs of `options`, the codec and the costs.
 *
 * The library owns the transport from here on, also if this fails, and will call its `release`. The
 * exception is a table that is refused itself (TW_INVALID_ARGUMENT for a NULL table, a size that is
 * not set, a rank outside `ranks`, a function that is missing): `release` is not called then. */
tw_status tw_comm_create(const tw_transport* transport, const tw_comm_options* options,
                         tw_comm** comm);

/* Not collective. No call on it may be running. */
void tw_comm_destroy(tw_comm* comm);

/* This rank's number, and the number of ranks; -1 and 0 for NULL. */
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

/* into[i] = into[i] (+) from[i] for `count` elements, with the bits that a tw_comm makes of the
 * same two values: the step of which sums in the order of the ranks are made. Both arrays lie in
 * host memory or on a GPU, in either at any alignment, and are the caller's; they may be one and
 * the same, else they must not overlap. Blocks; on host memory it takes none. TW_UNSUPPORTED for
 * bytes and 8-bit floats, TW_INVALID_ARGUMENT for what is no reduction or dtype, TW_DEVICE if the
 * GPU fails. */
tw_status tw_values_reduce(tw_reduction reduction, tw_dtype dtype, uint64_t count, void* into,
                           const void* from);

/* into[i] = the exact sum of element i of `arrays` arrays of `count` elements, rounded to nearest,
 * ties to even, once: the bits that a tw_comm makes under "reductions=exact". They depend neither
 * on the order of the arrays nor on their number, only on the exact total: beyond the largest value
 * it is infinite, and of nothing but -0 it is -0. Infinities of both signs and NaN give the
 * canonical NaN. The arrays lie after `first`, each `stride` bytes after the one before, at least
 * one and fewer than 2^31 of them; `into` is one of them or overlaps none. All are in host memory
 * or all on one GPU, at any alignment. Blocks; on host memory it takes none. Statuses are
 * tw_values_reduce()'s. */
tw_status tw_values_add_exactly(tw_dtype dtype, uint64_t count, uint32_t arrays, const void* first,
                                uint64_t stride, void* into);

typedef enum tw_algorithm {
  TW_ALGORITHM_PLANNED = 0,
  TW_ALGORITHM_RING = 1,
  TW_ALGORITHM_RECURSIVE_DOUBLING = 2,
  TW_ALGORITHM_DIRECT = 3,
  TW_ALGORITHM_CHAIN = 4,
  TW_ALGORITHM_BINOMIAL = 5,
  TW_ALGORITHM_PAIRWISE = 6,
  TW_ALGORITHM_BRUCK = 7,
  TW_ALGORITHM_RANK_ORDER = 8, /* of reductions, which are added in the order of the ranks; planned
                                  only under a spec with reductions=ordered or =exact */
  TW_ALGORITHM_EXACT = 9       /* of sums: as RANK_ORDER, but the exact total is rounded once;
                                  planned only under a spec with reductions=exact */
} tw_algorithm;

typedef enum tw_coding {
  TW_CODING_PLANNED = 0,
  TW_CODING_ONCE = 1,    /* encoded at its source, forwarded unchanged */
  TW_CODING_PER_HOP = 2, /* decoded and encoded again by every rank on the way, for comparison; with
                            a lossy codec the ranks' results may differ */
  TW_CODING_TWO_LEVEL = 3 /* raw inside a node, compressed between nodes */
} tw_coding;

typedef enum tw_collective_flag {
  TW_IN_PLACE = 1, /* as MPI_IN_PLACE: `send` is not read, this rank's contribution is in `receive`.
                      For Scatter and Gather at the root only */
  TW_VERIFY = 2,   /* run it again without compression and report the largest difference */
  TW_VARIED = 4,   /* Gather and Scatter: blocks differ in size, and only the root has the lists */
  TW_UNABLE = 8,   /* this rank cannot take part, for example for lack of memory. Its call fails
                        with TW_INTERNAL; calls of ranks that need its data fail too, and none hangs.
                        Its `send` and `receive` are not accessed */
  TW_HINDERED = 8, /* the earlier name of TW_UNABLE */
  TW_PLANNED = 16, /* tw_comm_run() only: do not plan again. The last tw_comm_plan() on this
                      communicator was for this same call; only buffers may differ */
  TW_ROOT_DECODES = 32, /* Bcast, at the root: if a lossy codec changes values, write to `receive`
                           what the other ranks get. Without it the root's buffer is only read */
  TW_AS_AGREED = 64, /* do not measure the codec for this call. If the ranks have not agreed on its
                       cost yet, the call goes raw with TW_RAW_COST_UNKNOWN; if tw_comm_plan() gave
                       that reason, the next tw_comm_settle() agrees on the cost */
  TW_FORCED = 128    /* compress whatever it costs, also without a stated link under "auto" */
} tw_collective_flag;

/* One collective operation, with MPI's semantics. Counts and displacements are in elements. All
 * ranks must pass equal values, except for pointers and for lists that MPI requires of one rank or
 * of pairs of ranks only. */
typedef struct tw_collective {
  uint32_t size;
  uint32_t operation; /* tw_operation */
  uint32_t dtype;     /* tw_dtype */
  uint32_t reduction; /* tw_reduction, where the operation reduces */
  int32_t root;
  uint32_t algorithm; /* tw_algorithm */
  uint32_t coding;    /* tw_coding */
  uint32_t flags;     /* tw_collective_flag */
  const void* send;   /* host or GPU memory */
  void* receive;      /* host or GPU memory. The only buffer of Bcast, whose root only reads it */

  /* In elements: the whole array of Bcast, Reduce and Allreduce, one rank's block in the others.
   * Ignored if lists are given. */
  uint64_t count;

  /* For the v forms, one entry per rank; else NULL. Send lists: Scatter (at the root), Alltoall.
   * Receive lists: Gather (at the root), Allgather, Alltoall; Reduce-scatter has counts only. Other
   * ranks of a varied Gather or Scatter pass their own block's size as `count`. */
  const uint64_t* send_counts;
  const uint64_t* send_displacements;
  const uint64_t* receive_counts;
  const uint64_t* receive_displacements;

  const tw_codec* codec; /* NULL: the communicator's */
} tw_collective;

/* Figures of one collective. Bytes and seconds are this rank's. */
typedef struct tw_collective_report {
  uint32_t size;
  uint32_t reason;          /* tw_reason: TW_COMPRESS, or why everything went raw */
  uint32_t algorithm;       /* tw_algorithm, as used */
  uint32_t coding;          /* tw_coding, as used */
  uint64_t raw_bytes;       /* of the packets sent, before encoding */
  uint64_t wire_bytes;      /* of the packets sent, as they were sent */
  uint64_t packets;         /* sent */
  uint64_t raw_packets;     /* sent without compression, a part of `packets` */
  uint64_t workspace_bytes; /* scratch memory in use while it ran, host and GPU together */
  double seconds;
  double encode_seconds;
  double decode_seconds;    /* with the time of reductions */
  double predicted_seconds; /* 0 if no link rate is stated */
  double predicted_raw_seconds;
  double bound; /* the largest difference from the exact result that compression can cause, by the
                   plan; 0 if the call went raw, the codec is lossless or states no absolute bound
                   (a fixed rate, "rel=" alone), or the operation is a product. Under a spec with
                   "allreduce-abs=" or "allreduce-rel=" it includes what additions round, else it
                   does not. It holds for finite values; nobody checks whether all are */
  double max_error; /* with TW_VERIFY: the largest difference found on this rank */
  uint64_t raw_packets_by_reason[32]; /* raw_packets, indexed by tw_reason */
  uint64_t delta_packets;    /* that this rank coded against an earlier result, each counted once */
  uint64_t delta_bytes;      /* of them, before encoding */
  uint64_t delta_wire_bytes; /* and as they were sent */
  uint64_t reference_bytes;  /* that earlier results take now (tw_comm_options.reference_bytes) */
  uint64_t reference_results; /* how many results those are */
} tw_collective_report;

/* Runs a collective; returns when this rank's part is complete. TW_UNSUPPORTED if no schedule does
 * it. If it fails on one rank (damage, a GPU's failure), it fails on all ranks that need that
 * rank's data, and none hangs. After success all ranks that should receive the same data hold the
 * same bits (the root of a Bcast does not receive). `report` may be NULL. */
tw_status tw_comm_run(tw_comm* comm, const tw_collective* collective, tw_collective_report* report);

/* Fills in `report` what tw_comm_run() would choose: reason, algorithm, coding and the predictions.
 * The buffers are not accessed.
 *
 * If a link rate is stated, the first call of this or of tw_comm_run() with a codec and dtype is
 * collective: each rank measures the codec, and all ranks take the slowest result. Later calls send
 * nothing. Calls with TW_AS_AGREED never send anything; tw_comm_run() with TW_PLANNED cannot follow
 * them. */
tw_status tw_comm_plan(tw_comm* comm, const tw_collective* collective,
                       tw_collective_report* report);

/* Collective: the ranks agree on the codec costs that were missing in calls of tw_comm_plan() with
 * TW_AS_AGREED since the last tw_comm_settle(). Sends nothing if none were. */
tw_status tw_comm_settle(tw_comm* comm);

/* Copies the agreed codec costs of `from` to `comm`, a communicator of the same ranks in the same
 * order. Sends nothing. Every rank must call it after the same calls on `from`. */
tw_status tw_comm_take_costs(tw_comm* comm, const tw_comm* from);

/* Sets the link's rate by which calls from here on are planned, in bytes per second; 0: not stated.
 * Sends nothing. Every rank must give the same rate, after the same calls on `comm`, none of which
 * may be running. */
tw_status tw_comm_set_link(tw_comm* comm, double bytes_per_second);

/* The rate by which calls are planned now; 0: not stated. */
double tw_comm_link(const tw_comm* comm);

/* Names, as in "allreduce", "recursive-doubling", "per-hop". Static storage; NULL for other
 * numbers. */
const char* tw_operation_text(uint32_t operation);
const char* tw_algorithm_text(uint32_t algorithm);
const char* tw_coding_text(uint32_t coding);

/* Describes schedule `index`, counted from 0. Returns 0 if there is none or for a NULL, else 1. */
uint32_t tw_schedule_describe(uint32_t index, uint32_t* operation, uint32_t* algorithm,
                              uint32_t* coding);

/* ---- Simulation: what a collective would take on a machine that is described ---- */

/* Links, memory and processors. Rates are in bytes per second, where 0 says that a thing costs no
 * time; seconds are besides those of the bytes. */
typedef struct tw_simulation_machine {
  uint32_t size;
  uint32_t cores;                 /* of a node; 0: as many as there is work for */
  double link_bytes_per_second;   /* of a node, each way at once; above 0 */
  double latency_seconds;         /* of a message between nodes */
  double message_seconds;         /* of the processor, for a message, at each of its ends */
  double stack_bytes_per_second;  /* that one processor brings through the network's software */
  double inside_bytes_per_second; /* of a node's memory, which its ranks share; in streams of a
                                     GPU's links inside its node */
  double inside_latency_seconds;  /* of a message inside a node */
  double copy_bytes_per_second;   /* of copies, and of sums of raw values, by one thread or GPU */
  double call_seconds;            /* of a call, whatever it does */
  double coding_seconds;          /* of an encode, a decode or, in streams, a sum */
  double incast;    /* 0, or the share of a receiver's rate that each doubling of the messages that
                       wait for it costs */
  double overlap;   /* 0 to 1: the share of its messages' time in which a rank can code */
  uint32_t threads; /* of a rank, that code, 1 to 64; 0: 1 */
  uint32_t one_machine; /* 1: `cores` are those of all nodes together */
  tw_codec_cost cost;   /* of one thread, or of a GPU */
  uint64_t reserved;
  double burst_bytes;   /* that each end of a link lets through at once after a pause */
  double pause_seconds; /* for which the links have lain idle when the call begins */
  double eager_bytes;   /* 0, or bytes of a message beyond which its receiver is asked first, as
                           MPIs do between nodes */
  double buffer_bytes;  /* of a connection, that lie ready for the link */
} tw_simulation_machine;

typedef struct tw_simulation_call {
  uint32_t size;
  uint32_t in_streams; /* 0: as tw_comm_run(); 1: in slots, as tw_stream_enqueue() over NCCL */
  uint32_t operation;  /* tw_operation; in streams tw_stream_operation, but no message */
  uint32_t algorithm;  /* tw_algorithm, not TW_ALGORITHM_PLANNED; not looked at in streams */
  uint32_t coding;     /* tw_coding, likewise */
  uint32_t dtype;      /* tw_dtype */
  uint64_t count;      /* as in tw_collective, or tw_stream_plan_options */
  uint32_t nodes;
  uint32_t per_node;    /* ranks of each; 65536 in all at most. Rank 0 is the root */
  uint64_t piece_bytes; /* as tw_plan_collective() says; 0: 1 MiB */
  uint32_t capacity[2]; /* as in tw_stream_plan_options; 0: 512 */
  uint32_t folds_not;   /* 1: every rank is simulated, however many there are */
  uint32_t reserved;
  uint64_t most_tasks; /* from which on one node's ranks stand for those of all, if all do the same;
                          0: 1.5 million; at most 30 million */
} tw_simulation_call;

typedef struct tw_simulation {
  uint32_t size;
  uint32_t simulated_ranks; /* fewer than there are if some stood for others */
  double seconds;
  uint64_t link_bytes;      /* between nodes, of all ranks together */
  uint64_t inside_bytes;    /* inside nodes */
  uint64_t messages;        /* of all ranks */
  uint64_t most_messages;   /* that one rank sends */
  uint64_t workspace_bytes; /* of the rank that needs most */
  uint64_t tasks;           /* steps of pieces that were simulated; 0 in streams */
  uint64_t piece_bytes;     /* longer than asked for if there were too many pieces */
} tw_simulation;

/* Runs the steps that all ranks would take against such a machine, moves nothing and measures
 * nothing: equal arguments give equal figures. `codec` NULL or "off": raw values, in streams by
 * NCCL's own function. Whatever is coded has the ratio of `cost`. Some seconds, and 300 MB, at
 * most; but if ranks are so many that no pieces are long enough for that, up to half a minute and
 * 3 GB, and minutes if tens of thousands send to each other directly. TW_UNSUPPORTED if there is no
 * such schedule, if the codec does not take such values, or if more bytes would travel than 63 bits
 * count; TW_TOO_SMALL if there are too many steps. */
tw_status tw_simulate(const tw_codec* codec, const tw_simulation_machine* machine,
                      const tw_simulation_call* call, tw_simulation* simulation);

/* ---- Collectives in stream order: calls that only enqueue, over a transport such as NCCL ----
 *
 * Every block of values is encoded into a slot (spec/slot.md), which has the same size on all
 * ranks, so that a transport that must know every length carries data whose encoded size nobody
 * knows beforehand. A block whose frame does not fit its slot, or that the codec declines, is
 * spilled: it travels as raw values, as many as there is room for in its slot, the others by way of
 * mailboxes in host memory, which threads of the caller empty and fill while the stream waits for
 * them.
 *
 * Streams are of one of two kinds. If the transport has a function `call`, a stream is a queue of
 * host functions of the caller's, all memory named here is host memory, and the CPU codecs run on
 * the stream's thread. Else a stream is a cudaStream_t, values and `device` are memory of its GPU,
 * and mailboxes and records are pinned memory. */

/* How bytes travel in stream order between the ranks of a stream communicator: functions of the
 * caller's. The library calls them only inside tw_stream_enqueue() and tw_stream_check(), on the
 * thread that called these. They only enqueue: they must not wait for the stream or for other
 * ranks, and must not throw. All sizes are above 0, and known alike to both sides. The memory stays
 * as it is until the stream has come past the message.
 *
 * If one fails, tw_stream_enqueue() fails with the status that it returned; messages may then be
 * missing, and the communicator cannot be used for more calls. */
typedef struct tw_stream_transport {
  uint32_t size;
  int32_t rank;  /* of the caller, from 0 */
  int32_t ranks; /* number of ranks */
  uint32_t reserved;
  void* context; /* the first argument of each function; the caller owns it */

  /* Messages that are posted in between are under way at once, and work that comes after them on
   * a stream waits for them. Groups of several communicators may lie inside one another: they
   * are one group, which goes when the outermost ends. `end_group` is called also if a function
   * in between failed. */
  tw_status (*begin_group)(void* context);
  tw_status (*end_group)(void* context);

  /* Post a message to, or from, rank `peer`, never the caller itself; always inside a group.
   * Messages between two ranks meet in the order in which they are posted. */
  tw_status (*send)(void* context, int32_t peer, const void* data, uint64_t bytes, void* stream);
  tw_status (*receive)(void* context, int32_t peer, void* data, uint64_t bytes, void* stream);

  /* Gathers a block of `bytes` bytes from each rank at `blocks`, in the order of ranks. This rank's
   * own lies in its place already. Always inside a group. NULL: `send` and `receive` are used. */
  tw_status (*all_gather)(void* context, void* blocks, uint64_t bytes, void* stream);

  /* Brings the `bytes` bytes at `data` on rank `root` to `data` on the others. Always inside a
   * group. NULL: `send` and `receive` are used. */
  tw_status (*broadcast)(void* context, int32_t root, void* data, uint64_t bytes, void* stream);

  /* Reports what has failed since, without waiting. May be NULL. */
  tw_status (*check)(void* context);

  /* Puts function(argument) on the stream: it runs once, on a thread of the stream's, after what
   * lies before it on the stream; it may wait for a mailbox. Functions of different streams may run
   * at the same time. It must run also after a failure or an abort, as it marks the call complete.
   * NULL: streams are cudaStream_t. */
  tw_status (*call)(void* context, void (*function)(void* argument), void* argument, void* stream);

  /* The last call, made once, by tw_stream_comm_destroy(). May be NULL. */
  void (*release)(void* context);

  /* Inside a group: what is posted from now on is of call `call`, from 0, of those that
   * tw_stream_enqueue() was given. May be NULL. */
  tw_status (*begin_call)(void* context, uint32_t call);
} tw_stream_transport;

/* A group of ranks that enqueue collectives with equal codecs. One thread at a time may enqueue on
 * it (a second one gets TW_INVALID_ARGUMENT) or check its calls; the ranks must enqueue in the
 * order that the transport demands. Any number of streams may be used, and any number of calls may
 * be under way. */
typedef struct tw_stream_comm tw_stream_comm;

typedef struct tw_stream_comm_options {
  uint32_t size;
  uint32_t reserved;
  const tw_codec* codec; /* for plans that name none; NULL: "auto", by dtype and shape only */
  const char* job;       /* for the frames' mark, see tw_message_options; NULL: the mark of files */
  uint64_t job_bytes;

  /* The node of each rank, equal on all ranks; which numbers they are is of no meaning. Between
   * ranks of one node blocks then go as they are, where blocks go from rank to rank. Where there
   * are several nodes, of which the smallest has at least half as many ranks as the largest and
   * that more than one, Allgather and sums of large arrays go in two levels: in slots only from
   * one rank of a node to one of each other, so that each value comes to a node once; sums are
   * added node by node, and those of 16-bit types rounded once a node more, but for means on
   * nodes of unequal numbers, in one level. What goes as it is has no check: where a rank
   * could not have its values, ranks of its node may have NaN, and no error. Sums with bounds
   * have no levels, and those with factors no nodes but in levels. NULL: each rank has a node of
   * its own. */
  const uint32_t* nodes;
} tw_stream_comm_options;

/* Not collective, and sends nothing: the caller sees to it that all ranks pass equal options and
 * have the same version. Copies what it needs of `options` and the codec; `options` may be NULL.
 *
 * The library owns the transport from here on, also if this fails, and will call its `release`. The
 * exception is a table that is refused itself (TW_INVALID_ARGUMENT for a NULL table, a size that is
 * not set, a rank outside `ranks`, a function that is missing): `release` is not called then.
 * If the table has no `call`: TW_DEVICE where there is no GPU, TW_UNSUPPORTED in a build without
 * CUDA. */
tw_status tw_stream_comm_create(const tw_stream_transport* transport,
                                const tw_stream_comm_options* options, tw_stream_comm** comm);

/* Loads the kernels that calls with the communicator's codec launch on GPU `device`, and waits for
 * them on a stream of the library's own. CUDA loads a kernel at its first launch, and may wait for
 * the whole GPU as it does; where one of its streams waits for another rank, both would wait for
 * ever. So: once a GPU, before the first call. Where streams are queues of host functions there is
 * nothing to do. TW_DEVICE if the GPU has no memory left for it, or there is no such GPU. */
tw_status tw_stream_comm_prepare(tw_stream_comm* comm, int32_t device);

/* No call may be under way on it, and its plans must have been destroyed. */
void tw_stream_comm_destroy(tw_stream_comm* comm);

typedef enum tw_stream_operation {
  TW_STREAM_ALLGATHER = 0,
  TW_STREAM_BCAST = 1,
  TW_STREAM_SEND = 2,
  TW_STREAM_RECEIVE = 3,
  TW_STREAM_REDUCE_SCATTER = 4,
  TW_STREAM_ALLREDUCE = 5,
  TW_STREAM_ALLTOALL = 6, /* a block from each rank to each, all of one size */
  TW_STREAM_GATHER_AT_ROOT = 7,
  TW_STREAM_SCATTER = 8,
  TW_STREAM_REDUCE = 9 /* the result at the root alone */
} tw_stream_operation;

/* How an Allreduce or a Reduce exchanges. The others have one way each. */
typedef enum tw_stream_way {
  TW_STREAM_PLANNED = 0, /* GATHER for two ranks and for small arrays, else DIRECT */
  TW_STREAM_GATHER = 1,  /* every rank, or the root, gets every rank's whole array, and adds all */
  TW_STREAM_DIRECT = 2   /* two exchanges: each rank gets its block of all arrays and adds those,
                            then all ranks, or the root, get all sums */
} tw_stream_way;

typedef enum tw_stream_flag {
  TW_STREAM_TRIAL = 1,         /* encode what this rank would send in the first exchange, for
                                  tw_stream_check() to say how large it is. Sends and writes nothing:
                                  for use beside the same call done raw, which goes after it */
  TW_STREAM_TRIAL_RESULT = 2,  /* the same of the second exchange of an Allreduce, or at the root of
                                 a Reduce, after the raw call: encodes this rank's block of the
                                 result in `receive`, at the root those of the others */
  TW_STREAM_PREMULTIPLIED = 4, /* of a sum: each rank's values are multiplied by that rank's own
                                 factor before they are added, see tw_stream_call */
  TW_STREAM_ROUNDS = 8,        /* of Alltoall and of reductions, enqueued alone: what goes
                                  in messages goes in rounds, a group each, in which a rank sends one
                                  block and receives one, and not as one group. Ranks need not agree
                                  on it; in other calls it changes nothing */
  TW_STREAM_AS_IS = 16         /* of Send: the values are spilled, whatever they would take, so that
                                  none is changed by a lossy codec: for bytes that are no values of
                                  `dtype`. The receiver's plan is the same as ever */
} tw_stream_flag;

/* The calls that a plan is for. All ranks must pass equal values, except that Send and Receive
 * need agree only with each other. */
typedef struct tw_stream_plan_options {
  uint32_t size;
  uint32_t operation; /* tw_stream_operation */
  uint32_t dtype;     /* tw_dtype, but not TW_BYTES */
  int32_t peer;       /* the root of Bcast, Gather, Scatter and Reduce, the other rank of Send and
                         Receive; else 0 */

  /* In elements: what each rank contributes to Allgather and Gather, the block that each rank gets
   * of Reduce-scatter and Scatter, one block of Alltoall, the whole array in the others. May be 0.
   */
  uint64_t count;

  /* The slots of the first and of the second exchange, in 512ths of a block's raw bytes, 1 to 512.
   * Only TW_STREAM_DIRECT has a second one; 0 there: as the first. */
  uint32_t capacity[2];

  uint32_t way;       /* tw_stream_way */
  uint32_t flags;     /* tw_stream_flag */
  uint32_t reduction; /* TW_SUM */
  uint32_t reserved;
  double scale;          /* of each value, before it is added; 0 means 1; 1 / ranks: an average */
  const tw_codec* codec; /* NULL: the communicator's */

  /* Bytes of memory for results of Allgather and Bcast under a lossless codec, that calls are
   * coded against, as differences; see `references` in tw_stream_call. In other calls, in
   * trials, and below 8192 bytes and one result with 8 bytes a block (each up to a multiple of
   * 256) it changes nothing. 0: none. */
  uint64_t reference_bytes;
} tw_stream_plan_options;

/* A call, planned once and enqueued as often as wished. Immutable: any thread may use it. The
 * caller keeps plans for calls that come again. Making one sends nothing, takes some microseconds
 * and allocates.
 *
 * TW_UNSUPPORTED if the codec does not take such arrays or is "off". A codec that bounds results
 * ("allreduce-abs=", "allreduce-rel=") is for reductions alone: the call has one exchange more, in
 * which the ranks tell the ranges of their values; where the bound cannot be kept so, all blocks
 * are spilled. TW_UNSUPPORTED for other operations, with TW_STREAM_PREMULTIPLIED, and for a `scale`
 * of 1e-6 or less. With one rank nothing is encoded. */
typedef struct tw_stream_plan tw_stream_plan;
tw_status tw_stream_plan_create(tw_stream_comm* comm, const tw_stream_plan_options* options,
                                tw_stream_plan** plan);
void tw_stream_plan_destroy(tw_stream_plan* plan);

typedef struct tw_stream_plan_info {
  uint32_t size;
  uint32_t way;           /* tw_stream_way, as chosen; 0 but for Allreduce and Reduce */
  uint64_t device_bytes;  /* of `device` in tw_stream_call; 0: may be NULL */
  uint64_t record_bytes;  /* of `record` in tw_stream_call */
  uint64_t needs_mailbox; /* 1, or 0: `mailbox` in tw_stream_call may be NULL */
  uint64_t slot_bytes[2]; /* in the first and second exchange; 0 if there is none */
  uint64_t raw_bytes;     /* of the blocks that this rank passes to the transport in slots, one for
                             each receiver (for each other rank of Allgather, each peer in levels;
                             one at the root of Bcast) */
  uint64_t wire_bytes;    /* the same as slots */
  uint64_t workspace_bytes; /* of `workspace` in tw_stream_call; 0: it is not looked at */
  uint64_t plain_bytes;     /* what it passes as it is, to ranks of its node */
  uint64_t in_levels;       /* 1: the call goes in two levels */
  uint64_t has_references;  /* 1: calls take `references` in tw_stream_call */
  uint64_t peers;           /* ranks that it sends messages to, or gets them from */
  uint64_t launches;        /* steps on the stream, exchanges among them: of a call that is lent
                               `workspace`, and not in place */
  uint64_t messages;        /* sent and received, in all exchanges */
} tw_stream_plan_info;

tw_status tw_stream_plan_describe(const tw_stream_plan* plan, tw_stream_plan_info* info);

/* One call of a plan, with the memory that it is lent. */
typedef struct tw_stream_call {
  uint32_t size;
  uint32_t reserved;
  const tw_stream_plan* plan; /* must exist until the call is complete */

  /* Equal on all ranks that take part, and not that of another call between them that may still be
   * under way: slots and spilled blocks of another number are not this call's. */
  uint64_t number;

  /* In place: send == receive for Allreduce, Bcast, Alltoall and Reduce; send == receive + rank *
   * count elements for Allgather, and for Gather at the root; receive == send + rank * count
   * elements for Reduce-scatter, and for Scatter at the root; else they must not overlap. What is
   * not in place gets this rank's own block too, as the other ranks do; in place this rank's block
   * of Allgather and the root's array are only read. Both may have any alignment, and are not read
   * where the operation has no use for them, as `receive` of Send. */
  const void* send;
  void* receive;

  /* Lent memory: `device_bytes`, aligned to 256 bytes, its contents may be any (calls that follow
   * each other on one stream may share it, but not calls of one group), of the stream's GPU, or of
   * the host where the transport takes it: pinned on a stream of CUDA's, and slow; a mailbox, see
   * tw_mailbox_open() (all calls on one stream may share it); `record_bytes` of pinned host memory,
   * aligned to 64 bytes, of this call alone until it is complete: for tw_stream_check(), and on
   * streams of host functions for their arguments. */
  void* device;
  void* mailbox;
  void* record;
  void* stream;

  /* With TW_STREAM_PREMULTIPLIED, else not looked at: this rank's factor, which may differ from the
   * others'. `factor_at` points to a value of the plan's dtype, aligned to its size, in memory that
   * the stream reaches; the stream reads it, so it must stay as it is until the call is complete.
   * NULL: `factor` itself, rounded to the type that values are added in. */
  double factor;
  const void* factor_at;

  /* Optional, and saves the call an operation on the stream: `workspace_bytes` of the same kind of
   * memory as `device`, aligned to 256 bytes, apart from all other memory. It must be zeros, or as
   * calls have left it: those that follow each other on one stream may share it, whatever their
   * plans, but not calls of one group. After an enqueue that failed it may hold anything.
   * `clears_workspace` of 1: it may now, and the call begins by making zeros of it. */
  void* workspace;
  uint64_t clears_workspace;

  /* Memory for plans that have references: `reference_bytes` of the same kind as `device`,
   * aligned to 256 bytes, which only calls write. With `clears_references` of 1 it may hold
   * anything, as before the first call, and nothing is found in it; all ranks say so at the same
   * calls. Each rank looks in it for the result that its block is nearest to, codes the block as
   * the difference where that is worth it, and says so; then all ranks keep the new result, in
   * the place of what the first block with a reference was coded against, else in free memory,
   * else in that of a result of its kind that was long of no use. All calls that share it must
   * be of one communicator, have plans of the same `reference_bytes`, and be made by all ranks
   * in the same order; two in one group are refused. They follow each other, on whichever
   * streams. Where a rank has other results than the one that coded against them, the call ends
   * with TW_DAMAGED, and NaN in that block; ranks of its node may get that NaN from it, and no
   * error. */
  void* references;
  uint64_t clears_references;
} tw_stream_call;

/* Enqueues `count` calls as one group: what any of them sends is under way at once, so that a Send
 * and a Receive may wait for each other. They may be of several communicators and on several
 * streams, each of which has memory of its own. The calls of an array have the size that the first
 * one states.
 *
 * Allocates nothing and waits for nothing: thousands of calls may be enqueued before the first has
 * run. Buffers and lent memory must stay valid until the stream has come past. If a call is refused
 * (TW_INVALID_ARGUMENT) nothing has been enqueued. The stream itself waits, inside the call, for
 * the other ranks and, where a block was spilled, for the threads that serve the mailboxes.
 *
 * After success all ranks that get the same data hold the same bits, in reductions always; equal
 * calls give equal bits. Sums add the ranks' values, each multiplied by `scale` and its rank's
 * factor, if there are factors, in the order of ranks, 16-bit types in fp32, and round once, in two
 * levels once a node more. Under "reductions=exact" totals of products are exact and rounded once;
 * a scale of 1 / ranks divides the total. Means of finite values are finite, NaN one quiet NaN. */
tw_status tw_stream_enqueue(const tw_stream_call* calls, uint32_t count);

/* The same in steps, for transports whose end_group() returns before all that was posted is on its
 * stream (NCCL's communicators that do not block): the calls' own work of stage `stage`, and then
 * the group of what they send after it. `stages` gets how many there are, the same in each step.
 * Stage 0 comes first, and each of the others once, in order, with the same array, when the
 * transport has put all of the stage before on the streams; whoever calls keeps count. From stage 0
 * on to the last stage nothing else may be enqueued by the program on these streams, nor on the
 * communicators. Any thread may make each step, one at a time. TW_STREAM_ROUNDS has no effect.
 * TW_INVALID_ARGUMENT, and nothing enqueued: a call is refused, or there is no such stage. */
tw_status tw_stream_enqueue_stage(const tw_stream_call* calls, uint32_t count, uint32_t stage,
                                  uint32_t* stages);

typedef struct tw_stream_report {
  uint32_t size;
  uint32_t complete;    /* 1: the stream has come past the call. 0: not yet; the rest is 0 then */
  uint32_t encoded;     /* blocks that this rank encoded */
  uint32_t declined;    /* of these: declined, or not smaller than their values */
  uint32_t spilled_out; /* of these: spilled, because they did not fit or were declined */
  uint32_t spilled_in;  /* blocks of other ranks that came spilled */
  uint32_t needed[2];   /* the capacity that all blocks of the exchange would have fitted, in 512ths
                           of their raw bytes; 513 if no capacity would do; 0 if there were none */
  uint64_t raw_bytes;   /* of the blocks that were encoded */
  uint64_t frame_bytes; /* of their frames, also of those that did not fit; a block that was
                           declined counts its raw bytes */
  uint64_t difference_bytes; /* of the result, that came or went as differences from another one */
} tw_stream_report;

/* Tells from its `record` what came of a call; waits for nothing. Returns the call's status, and
 * fills in the report in any case but TW_INVALID_ARGUMENT; TW_OK while it is not complete, or
 * what the transport's `check` reports. Once the call is complete: TW_DAMAGED if a slot or frame
 * that came was not one of this call; TW_INTERNAL if a mailbox was aborted while a block was
 * needed from it, or if another rank could not have its data. The values concerned are NaN then. */
tw_status tw_stream_check(const tw_stream_plan* plan, const void* record, tw_stream_report* report);

/* Puts a step on the stream that writes the time when it runs to `at`: nanoseconds of a clock of
 * the GPU's, which goes on evenly and is never 0; in steps of a microsecond at the most. So the
 * host learns without waiting what lay between two such steps of a GPU. `device` is the stream's,
 * and not looked at where streams are queues of host functions, whose clock is the host's. `at` is
 * aligned to 8 bytes, in pinned host memory, and must stay until the stream has come past. A
 * launch; what a kernel needs is loaded by tw_stream_comm_prepare(). */
tw_status tw_stream_time(tw_stream_comm* comm, int32_t device, uint64_t* at, void* stream);

/* ---- Mailboxes: how spilled blocks leave a stream, and come to one ---- */

/* Formats a mailbox in `bytes` bytes of pinned host memory at `memory`, aligned to 64 bytes, which
 * the caller owns. 1 KiB is for control, the rest is for one chunk each way; TW_TOO_SMALL below
 * 2 KiB. 513 KiB are enough to go at the speed of memory. No call that uses it may be under way.
 *
 * The functions below never block. One thread at a time may serve a mailbox; tw_mailbox_abort() may
 * come from any. A thread must serve all mailboxes of calls that are under way, until these are
 * complete, else their streams wait for ever. */
tw_status tw_mailbox_open(void* memory, uint64_t bytes);

/* A part of a spilled block. (call, block, receiver) tells it from all others of a communicator. */
typedef struct tw_mailbox_chunk {
  uint32_t size;
  int32_t rank;   /* offered: the rank that needs the block, -1 for all others of the
                     communicator; wanted: the rank that it comes from */
  uint64_t call;  /* `number` in tw_stream_call */
  uint64_t block; /* the number of the rank that it comes from; plus the number of ranks in the
                     second exchange of an Allreduce */
  uint64_t block_bytes; /* of the block's values, as they are, what its slot has no room for */
  uint64_t offset;      /* of the chunk in that: chunks of a block come in order */
  uint64_t bytes;       /* of the chunk; 0: there is none now */
  void* data;           /* in the mailbox */
} tw_mailbox_chunk;

/* The chunk that the stream offers now, if any: read it at `data`, then call tw_mailbox_taken(),
 * after which the stream may overwrite it. */
tw_status tw_mailbox_offered(const void* mailbox, tw_mailbox_chunk* chunk);
tw_status tw_mailbox_taken(void* mailbox);

/* The chunk that the stream waits for now, if any: write all of its bytes to `data`, then call
 * tw_mailbox_given(). What was said stays true until then. */
tw_status tw_mailbox_wanted(const void* mailbox, tw_mailbox_chunk* chunk);
tw_status tw_mailbox_given(void* mailbox);

/* Ends all waiting on this mailbox, now and until it is opened again: calls that need it complete
 * with TW_INTERNAL. NULL is taken. */
void tw_mailbox_abort(void* mailbox);

/* ---- Statistics: what this process has sent and received so far ---- */

typedef enum tw_stats_of {
  TW_STATS_LIBRARY = 0, /* calls of this library that complete: tw_message_encode() and _decode(),
                           tw_comm_run() */
  TW_STATS_PRELOAD = 1, /* the program's MPI calls, under a preload library for MPI */
  TW_STATS_NCCL = 2     /* the program's NCCL calls, under the preload library for NCCL, which
                           counts where calls could be compressed, or a report or a trace is asked
                           for. Messages are ncclSend's; what NCCL's streams take is not timed */
} tw_stats_of;

/* Since the process started, of all threads. Sizes are in bytes, times in nanoseconds. */
typedef struct tw_stats {
  uint32_t size;
  uint32_t reserved;
  uint64_t messages;            /* arrays encoded; under a preload library messages sent */
  uint64_t compressed_messages; /* those that became smaller */
  uint64_t bytes;               /* of the messages; under a preload library of those of the
                                   threshold or more */
  uint64_t wire_bytes;          /* what these became */
  uint64_t compressed_bytes;    /* of the compressed ones among them */
  uint64_t compressed_wire_bytes;
  uint64_t decoded_messages;
  uint64_t damaged_messages;   /* those that could not be decoded */
  uint64_t encode_nanoseconds; /* of messages; 0 for this library's calls, which the caller times */
  uint64_t decode_nanoseconds;
  uint64_t collectives;      /* calls that were compressed */
  uint64_t collective_bytes; /* of their packets */
  uint64_t collective_wire_bytes;
  uint64_t collective_nanoseconds;
  uint64_t native_collectives; /* calls that were left to the MPI */
  /* Under a preload library, of the messages whose time was predicted: the time of each, as it was
   * sent, and had it gone raw. Their difference is what compression is predicted to have saved. */
  uint64_t predicted_nanoseconds;
  uint64_t predicted_raw_nanoseconds;
  /* The time that compression saved; less than 0 if it cost more. For a message: the predicted
   * time of a raw one, less the encoding as measured, also if the codec declined it, and
   * transfer and decoding as predicted; only if a rate is known. For a collective: the raw time
   * less the compressed one, as the ranks have timed calls of its kind both ways; only if they
   * have. */
  int64_t saved_nanoseconds;
  int64_t collective_saved_nanoseconds;
  uint64_t messages_without_memory; /* compressed ones that a receiver had no memory to decode */
  uint64_t device_failures;         /* calls that a GPU or its driver refused */
  uint64_t pool_peak_bytes; /* the most host memory that the pool held, and the most pinned memory,
                               together */
  /* Packets of collectives that were coded against an earlier result, each counted once where it
   * was encoded, their bytes, and what these became. */
  uint64_t delta_packets;
  uint64_t delta_bytes;
  uint64_t delta_wire_bytes;
} tw_stats;

/* Reads them; other threads may be counting meanwhile. TW_UNSUPPORTED for TW_STATS_PRELOAD and
 * TW_STATS_NCCL in a process that has no such library. Never waits. */
tw_status tw_stats_read(tw_stats_of whose, tw_stats* stats);

/* Histograms: entry b counts what is from 2^b to below 2^(b+1); the last one has all above. */
typedef enum tw_histogram { TW_HISTOGRAM_BUCKETS = 48 } tw_histogram;

/* The messages, or collective calls, of one kind. Texts end with a zero byte, and are cut where
 * they are longer. */
typedef struct tw_stats_kind {
  uint32_t size;
  uint32_t reserved;
  char operation[32]; /* "send" for messages of the threshold or more, else the collective's name,
                         as "MPI_Bcast" */
  char communicator[64]; /* as MPI_Comm_set_name() named it */
  char place[16]; /* of the peer: "self", "same node", "other node" or "unknown"; of collectives
                     "" */
  char codec[96]; /* the spec that applies */
  char raw[64];   /* why they went raw; "" if they were compressed */
  int64_t peer;   /* its rank in MPI_COMM_WORLD; -1: none, or one of many */
  uint64_t calls;
  uint64_t bytes;
  uint64_t wire_bytes;
  /* Encoding of messages, compressed collectives as a whole; 0 for what was not timed or foreseen.
   */
  uint64_t nanoseconds;
  uint64_t predicted_nanoseconds;
  /* Predicted times of the messages that have one: had they gone raw, and as they went. Their
   * difference is what compression saved (tw_stats.saved_nanoseconds). */
  uint64_t raw_nanoseconds;
  uint64_t whole_nanoseconds;
  uint64_t sizes[TW_HISTOGRAM_BUCKETS];       /* of `bytes`, in bytes */
  uint64_t times[TW_HISTOGRAM_BUCKETS];       /* of `nanoseconds`, in nanoseconds */
  uint64_t predictions[TW_HISTOGRAM_BUCKETS]; /* of `predicted_nanoseconds` */
} tw_stats_kind;

/* How many kinds there are by now; only TW_STATS_PRELOAD has any. They are kept from MPI_Init on
 * where THINWIRE_TRACE or THINWIRE_METRICS is set, else from the first call of this function
 * between MPI_Init and MPI_Finalize. Their number grows alone, up to 2048. TW_UNSUPPORTED as above,
 * and where `whose` keeps none. */
tw_status tw_stats_kinds(tw_stats_of whose, uint32_t* kinds);

/* Reads the kind of that number, from 0; others may be counting meanwhile. TW_INVALID_ARGUMENT
 * where there are not so many. */
tw_status tw_stats_read_kind(tw_stats_of whose, uint32_t number, tw_stats_kind* kind);

/* Sets `messages`, an array of `reasons` entries, to how many messages went raw for each tw_reason;
 * entries beyond TW_REASON_COUNT become 0. Reasons of NCCL calls alone are left out, as they are in
 * the report. Errors as above. */
tw_status tw_stats_raw(tw_stats_of whose, uint64_t* messages, uint32_t reasons);

/* ---- Settings: the variables THINWIRE_* of the environment, and of the file that THINWIRE_CONFIG
 *      names for those that the environment leaves out ---- */

typedef struct tw_setting_info {
  uint32_t size;
  uint32_t of_tools;    /* 1: only this project's tools and tests read it, and it may be any text */
  const char* name;     /* all texts here are in static storage */
  const char* kind;     /* codec, size, rate, switch, level, words, report, path or policy */
  const char* fallback; /* the value that is used if it is not set */
  const char* words;    /* of the kind "words": the values that it takes, separated by spaces */
  const char* meaning;
} tw_setting_info;

/* The number of settings; and setting `index`, counted from 0. */
uint32_t tw_setting_count(void);
tw_status tw_setting_describe(uint32_t index, tw_setting_info* info);

/* Checks a setting. TW_INVALID_ARGUMENT if there is none of that name (tw_last_error() names the
 * nearest) or if it does not take that value. */
tw_status tw_setting_check(const char* name, const char* value);

/* The setting's value in the environment, else in the file. NULL if it is not set, empty or wrong;
 * a wrong THINWIRE_DISABLE counts as "1". Codec specs are not checked here. The text is valid until
 * the environment changes. */
const char* tw_setting_value(const char* name);

/* Checks all THINWIRE_ variables of this process and the file's lines, as they are at the first
 * call. The job's first rank logs each wrong or unknown one, and the value that is used instead.
 * TW_INVALID_ARGUMENT if there is one; then tw_codec_create() refuses lossy codecs.
 * tw_codec_create() calls this itself: call it earlier only to have the log lines earlier. */
tw_status tw_settings_judge(void);

/* Which rank of its job this process is, by the variables that launchers set: RANK where WORLD_SIZE
 * stands beside it (torchrun), else OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID, RANK;
 * -1 if none says it. Reads the environment, as getenv() does. */
int64_t tw_job_rank(void);

/* ---- Policies: which codec takes which messages and calls ---- */

/* The ordered rules of a policy file, each with what it takes and a codec. The first rule that
 * matches takes a message or a collective call. docs/guide/policy.md has the format. Immutable, so
 * that any threads may use one at once; the caller destroys it. */
typedef struct tw_policy tw_policy;

/* Reads a policy of `text`, or of the file at `path`. TW_INVALID_ARGUMENT for a wrong one, and
 * for a file that cannot be read; tw_last_error() then begins with "NAME:LINE: ", or "PATH:LINE: ".
 * Blocks on the file alone. */
tw_status tw_policy_create(const char* text, const char* name, tw_policy** policy);
tw_status tw_policy_open(const char* path, tw_policy** policy);
void tw_policy_destroy(tw_policy* policy);

/* The policy of the file that THINWIRE_POLICY names, read at the first call and kept: the library
 * owns it. NULL if none is named or it is wrong, which tw_settings_judge() says; then no lossy
 * codec can be created. */
const tw_policy* tw_policy_of_environment(void);

/* Equal for policies whose rules do the same in the same order, whatever their files are called,
 * say in comments or call their rules. 0 for NULL. */
uint64_t tw_policy_hash(const tw_policy* policy);

typedef struct tw_policy_rule {
  uint32_t size;
  uint32_t line;     /* of the file, from 1 */
  const char* name;  /* "" if it has none; the policy owns the texts */
  const char* codec; /* "off", "default" (what holds without a policy), or a spec in normal form */
  const char* text;  /* the whole rule in words */
  uint32_t holds;    /* the tw_dtype that the bytes and 16-bit integers which it takes are, or
                        TW_BYTES: it takes floats */
  uint32_t siblings; /* under NCCL so many communicators of one name decide together; 1: each alone;
                        0: the rule says nothing of it */
} tw_policy_rule;

/* The number of rules, 63 at most; and rule `index`, counted from 0. */
uint32_t tw_policy_rule_count(const tw_policy* policy);
tw_status tw_policy_describe(const tw_policy* policy, uint32_t index, tw_policy_rule* rule);

/* The rules that may take calls on a communicator of that name with `ranks` ranks, a bit
 * (1 << index) for each. Without a name (NULL) none that has a pattern for it, without a number (0)
 * none that bounds it. */
uint64_t tw_policy_rules(const tw_policy* policy, const char* communicator, uint32_t ranks);

/* The ranks that something is sent to: of one node alone, or also of others. */
typedef enum tw_span {
  TW_SPAN_NOT_KNOWN = 0,
  TW_SPAN_WITHIN_NODE = 1,
  TW_SPAN_BETWEEN_NODES = 2
} tw_span;

/* Beside tw_operation: a message from one rank to another. */
typedef enum tw_policy_operation { TW_POLICY_SEND = 8 } tw_policy_operation;

typedef struct tw_policy_call {
  uint32_t size;
  uint32_t operation; /* tw_operation, or TW_POLICY_SEND */
  uint32_t dtype;     /* tw_dtype; TW_BYTES: bytes and 16-bit integers, which a rule that says what
                         they hold takes, and no other */
  uint32_t span;      /* tw_span */
  uint64_t bytes;     /* uncompressed, as the threshold counts them; UINT64_MAX: not known */
  uint64_t rules;     /* those to look at, of tw_policy_rules() */
} tw_policy_call;

/* The index of the rule that takes the call; -1 if none does, or an argument is wrong; -2 if it
 * depends on a size that is not known. Allocates nothing. */
int32_t tw_policy_match(const tw_policy* policy, const tw_policy_call* call);

/* ---- Log: tw_log() writes one line to standard error, if THINWIRE_LOG includes the level ---- */

typedef enum tw_log_level {
  TW_LOG_ERROR = 1,
  TW_LOG_WARNING = 2,
  TW_LOG_INFO = 3,
  TW_LOG_DEBUG = 4,
  TW_LOG_PLAN = 5 /* what is planned and why: between info and debug */
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
