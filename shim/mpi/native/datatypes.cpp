#include "shim/mpi/native/datatypes.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "shim/mpi/native/contents.h"
#include "shim/mpi/native/element_bytes.h"
#include "shim/mpi/native/flatten.h"
#include "shim/mpi/native/keyval.h"
#include "shim/mpi/native/loops.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"

namespace thinwire::mpi {
namespace {

Keyval g_keyval;
std::mutex g_attribute_mutex;

extern "C" int thinwire_type_not_copied(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

struct Kept;
void destroy(Kept* kept);

extern "C" int thinwire_type_deleted(MPI_Datatype, int, void* kept, void*) {
  destroy(static_cast<Kept*>(kept));
  return MPI_SUCCESS;
}

// The content of the attribute.
struct Kept {
  TypeFacts facts;
  std::atomic<bool> is_usable{false};  // true after the MPI has said so
  std::mutex mutex;
  LayoutPointer layout;  // these after somebody asked for them
  ByteForm bytes;
  std::uint32_t asked = 0;  // for the bytes, while they are not worth while
};

// The datatypes of bytes that there are: they must be freed before the MPI ends, whoever holds
// them.
std::mutex g_byte_types_mutex;
std::unordered_set<const MPI_Datatype*> g_byte_types;

void free_byte_type(const MPI_Datatype* made) {
  bool is_left = false;
  {
    const std::lock_guard lock(g_byte_types_mutex);
    is_left = g_byte_types.erase(made) > 0;
  }
  MPI_Datatype type = *made;
  if (is_left) real().Type_free(&type);
  delete made;
}

std::shared_ptr<const MPI_Datatype> hold_byte_type(std::optional<MPI_Datatype> made) {
  if (!made) return nullptr;
  std::shared_ptr<const MPI_Datatype> held(new MPI_Datatype(*made), free_byte_type);
  const std::lock_guard lock(g_byte_types_mutex);
  g_byte_types.insert(held.get());
  return held;
}

void destroy(Kept* kept) { delete kept; }

Kept* find_kept(MPI_Datatype type) {
  void* kept = nullptr;
  int found = 0;
  real().Type_get_attr(type, g_keyval.get(), &kept, &found);
  return found ? static_cast<Kept*>(kept) : nullptr;
}

// A type may be freed while another handle of it is in use (MPI_Type_get_contents): who reads what
// is kept holds this. Without concurrent threads there is nothing to hold.
std::shared_mutex g_reading;
std::atomic<bool> g_concurrent{false};
std::shared_lock<std::shared_mutex> reading() {
  return g_concurrent ? std::shared_lock(g_reading) : std::shared_lock<std::shared_mutex>();
}

// nullptr if the type takes no attribute.
Kept* kept_of(MPI_Datatype type) {
  const int keyval = g_keyval.get_or([](int* made) {
    real().Type_create_keyval(thinwire_type_not_copied, thinwire_type_deleted, made, nullptr);
  });
  if (Kept* kept = find_kept(type)) return kept;
  const TypeFacts facts = find_type_facts(type);
  // Replacing an attribute deletes the one that another thread may be reading.
  const std::lock_guard lock(g_attribute_mutex);
  if (Kept* kept = find_kept(type)) return kept;
  auto made = std::make_unique<Kept>();
  made->facts = facts;
  if (real().Type_set_attr(type, keyval, made.get()) != MPI_SUCCESS) return nullptr;
  return made.release();
}

LayoutPointer make_layout(MPI_Datatype type) {
  auto segments = flatten(type);
  if (!segments) {
    tw_log(TW_LOG_ERROR,
           "a datatype on GPU memory is made by a constructor that MPI has withdrawn");
    return nullptr;
  }
  MPI_Count lower = 0, extent = 0;
  real().Type_get_extent_x(type, &lower, &extent);
  MPI_Count first = 0, true_extent = 0;
  real().Type_get_true_extent_x(type, &first, &true_extent);
  for (tw_segment& segment : *segments) segment.offset -= first;
  tw_layout* layout = nullptr;
  if (tw_layout_create(segments->data(), segments->size(), extent, &layout) != TW_OK) {
    tw_log(TW_LOG_ERROR, tw_last_error());
    return nullptr;
  }
  return {layout, [](const tw_layout* made) { tw_layout_destroy(const_cast<tw_layout*>(made)); }};
}

// To list many blocks takes as long as what the MPI's own unpacking of some messages takes more
// than the list's: programs make a type for each message.
constexpr std::uint64_t kMostForOne = 1024, kShortBlock = 16;
constexpr std::uint32_t kUsesBefore = 8;

// True for a type that is made of no loops and may have many blocks.
bool may_have_many_blocks(MPI_Datatype type, std::uint64_t size) {
  switch (combiner_of(type)) {
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
      return arguments_of(type) > 2 * kMostForOne;
    default:
      return size > kMostForOne * kShortBlock;
  }
}

// Under the lock of what is kept.
bool is_too_early_to_list(MPI_Datatype type, const Kept& kept) {
  return kept.asked < kUsesBefore && may_have_many_blocks(type, kept.facts.size);
}

// nullptr if the type is made of none. Under the lock of what is kept.
TypeMapPointer map_of_loops(MPI_Datatype type, const Kept& kept) {
  const std::optional<Loops> loops = loops_of(type);
  if (!loops) return nullptr;
  auto map = std::make_shared<TypeMap>(loops->block, loops->levels, loops->extent);
  return map->bytes() == kept.facts.size ? map : nullptr;
}

// nullptr if it cannot be said, or is not worth while yet. Under the lock of what is kept.
TypeMapPointer map_of(MPI_Datatype type, Kept& kept) {
  if (TypeMapPointer map = map_of_loops(type, kept)) return map;
  if (is_too_early_to_list(type, kept)) {
    ++kept.asked;
    return nullptr;
  }
  auto segments = flatten(type);
  if (!segments) return nullptr;
  return std::make_shared<TypeMap>(std::move(*segments), extent_of(type));
}

// Nothing is kept of a missing map. Under the lock of what is kept.
void keep(Kept& kept, TypeMapPointer map) {
  if (!map) return;
  kept.bytes.type = hold_byte_type(make_byte_type(*map));
  kept.bytes.map = std::move(map);
}

}  // namespace

TypeFacts type_facts(MPI_Datatype type) {
  // The types that carry nearly all traffic need no attribute.
  if (type == MPI_FLOAT) return {4, TW_F32, Values::kReals, true};
  if (type == MPI_DOUBLE) return {8, TW_F64, Values::kReals, true};
  if (type == MPI_BYTE) return {1, TW_BYTES, Values::kWords, true};
  const auto held = reading();
  const Kept* kept = kept_of(type);
  return kept != nullptr ? kept->facts : find_type_facts(type);
}

bool is_usable(MPI_Datatype type) {
  if (type == MPI_FLOAT || type == MPI_DOUBLE || type == MPI_BYTE) return true;
  const auto held = reading();
  Kept* const kept = kept_of(type);
  if (kept == nullptr) return is_committed(type);
  if (!kept->is_usable.load(std::memory_order_relaxed)) kept->is_usable = is_committed(type);
  return kept->is_usable.load(std::memory_order_relaxed);
}

void use_types_in_threads(bool concurrent) { g_concurrent = concurrent; }

void forget_type(MPI_Datatype type) {
  if (!g_concurrent || !g_keyval.is_made() || type == MPI_DATATYPE_NULL) return;
  const std::lock_guard nobody_reads(g_reading);
  if (find_kept(type) != nullptr) real().Type_delete_attr(type, g_keyval.get());
}

LayoutPointer layout_of(MPI_Datatype type) {
  const auto held = reading();
  Kept* kept = kept_of(type);
  if (kept == nullptr) return make_layout(type);
  const std::lock_guard lock(kept->mutex);
  if (!kept->layout) kept->layout = make_layout(type);
  return kept->layout;
}

ByteForm byte_form_of(MPI_Datatype type) {
  const auto held = reading();
  Kept* kept = kept_of(type);
  if (kept == nullptr) return {};
  const std::lock_guard lock(kept->mutex);
  if (kept->bytes.map || !is_committed(type)) return kept->bytes;
  keep(*kept, map_of(type, *kept));
  return kept->bytes;
}

bool puts_off_list(MPI_Datatype type) {
  const auto held = reading();
  Kept* kept = kept_of(type);
  if (kept == nullptr) return false;
  const std::lock_guard lock(kept->mutex);
  if (kept->bytes.map || !is_too_early_to_list(type, *kept)) return false;
  keep(*kept, map_of_loops(type, *kept));
  return !kept->bytes.map;
}

TypeMapPointer known_map_of(MPI_Datatype type) {
  const auto held = reading();
  Kept* kept = kept_of(type);
  if (kept == nullptr) return nullptr;
  const std::lock_guard lock(kept->mutex);
  return kept->bytes.map;
}

bool is_null_buffer(const void* buffer, MPI_Datatype type) {
  return buffer == nullptr && type_facts(type).dense;
}

void release_type_cache() {
  {
    const std::lock_guard lock(g_byte_types_mutex);
    for (const MPI_Datatype* each : g_byte_types) {
      MPI_Datatype type = *each;
      real().Type_free(&type);
    }
    g_byte_types.clear();
  }
  g_keyval.release([](int* made) { real().Type_free_keyval(made); });
}

}  // namespace thinwire::mpi
