#include "draw.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "marks.h"

namespace legality {
namespace {

// One that takes the dtype, more often than not.
Spec draw_spec(Random& random, std::uint32_t dtype) {
  const std::vector<Spec>& specs = all_specs();
  for (int tries = random.below(4); tries > 0; --tries) {
    const Spec& spec = random.pick(specs);
    if (spec.dtypes >> dtype & 1) return spec;
  }
  return random.pick(specs);
}

std::uint64_t draw_count(Random& random) {
  const int drawn = random.below(100);
  if (drawn < 5) return 0;
  if (drawn < 20) return static_cast<std::uint64_t>(random.between(1, 40));
  if (drawn < 80) return static_cast<std::uint64_t>(random.between(40, 3000));
  return static_cast<std::uint64_t>(random.between(3000, 20'000));
}

// Rarely what no schedule does.
void draw_schedule(Random& random, Drawn& drawn) {
  if (random.chance(40)) return;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
  std::uint32_t operation = 0, algorithm = 0, coding = 0;
  for (std::uint32_t at = 0; tw_schedule_describe(at, &operation, &algorithm, &coding) != 0; ++at)
    if (operation == drawn.operation) rows.emplace_back(algorithm, coding);
  const auto& row = random.pick(rows);
  drawn.algorithm = row.first, drawn.coding = row.second;
  if (random.chance(10)) drawn.algorithm = static_cast<std::uint32_t>(random.between(1, 7));
}

// Blocks of many lengths, some of them none. Alltoall in place wants the same both ways.
void draw_steps(Random& random, Drawn& drawn, int size) {
  const bool pairs = drawn.operation == TW_ALLTOALL;
  const std::uint64_t most = std::min<std::uint64_t>(drawn.count, 4000);
  drawn.steps.resize(static_cast<std::size_t>(pairs ? size * size : size));
  for (std::uint64_t& step : drawn.steps) {
    step = random.chance(20) ? 0 : random.next() % (most + 1);
    if (step == 0) mark(Feature::empty_blocks_);
  }
  for (int row = 0; pairs && drawn.in_place && row < size; ++row)
    for (int column = 0; column < row; ++column)
      drawn.steps[static_cast<std::size_t>(row * size + column)] =
          drawn.steps[static_cast<std::size_t>(column * size + row)];
}

Content draw_content(Random& random, const Drawn& drawn) {
  Content content;
  content.key = random.next();
  const int kind = random.below(100);
  const bool wide = drawn.dtype == TW_F32 || drawn.dtype == TW_F64;
  if (drawn.reduces()) {
    const bool waves = wide && drawn.reduction == TW_SUM && kind < 50;
    content.kind = waves ? Kind::kSmooth : Kind::kSmall;
  } else {
    content.kind = kind < 50   ? Kind::kSmooth
                   : kind < 65 ? Kind::kRandom
                   : kind < 80 ? Kind::kSpecial
                   : kind < 90 ? Kind::kConstant
                               : Kind::kSmall;
  }
  return content;
}

void draw_odds(Random& random, Drawn& drawn, int size) {
  drawn.verify = random.chance(10), drawn.planned = random.chance(15);
  drawn.root_decodes = drawn.operation == TW_BCAST && random.chance(40);
  if (random.chance(5) && size > 1) drawn.unable = random.below(size);
  if (random.chance(6)) drawn.mistake = static_cast<Mistake>(random.between(1, 6));
}

}  // namespace

bool Drawn::is_rooted() const {
  return operation == TW_BCAST || operation == TW_GATHER || operation == TW_SCATTER ||
         operation == TW_REDUCE;
}

std::uint64_t Drawn::block(int size, int sender, int receiver) const {
  if (!lists) return count;
  const int at = operation == TW_ALLTOALL ? sender * size + receiver
                 : operation == TW_SCATTER || operation == TW_REDUCE_SCATTER ? receiver
                                                                             : sender;
  return steps[static_cast<std::size_t>(at)];
}

Content Drawn::content_of(int rank, int block) const {
  return {content.kind, join(content.key, static_cast<std::uint64_t>(rank * 1000 + block))};
}

std::vector<std::int32_t> Make::nodes(int size) const {
  std::vector<std::int32_t> found;
  Random random(key);
  for (int rank = 0; rank < size; ++rank) found.push_back(random.between(-1, 2));
  return found;
}

Make draw_make(Random random, int ranks, bool whole) {
  Make make;
  const int parts = whole ? 1 : random.between(1, std::min(3, ranks));
  make.groups.resize(static_cast<std::size_t>(parts));
  const std::vector<int> order = random.permutation(ranks);
  for (int at = 0; at < ranks; ++at)  // nobody's is empty
    make.groups[static_cast<std::size_t>(at < parts ? at : random.below(parts))].push_back(
        order[static_cast<std::size_t>(at)]);
  make.spec = draw_spec(random, TW_F32);
  make.threshold = random.chance(30) ? static_cast<std::uint64_t>(random.below(20'000)) : 0;
  make.piece_bytes =
      random.chance(40) ? static_cast<std::uint64_t>(random.between(1, 32)) << 10 : 0;
  make.link = random.chance(8) ? 1e6 : 0;
  make.same_node = random.chance(50), make.has_nodes = random.chance(35);
  make.has_job = random.chance(30), make.key = random.next();
  return make;
}

Drawn draw_operation(Random random, const Make& make, int size) {
  Drawn drawn;
  drawn.operation = static_cast<tw_operation>(random.below(8));
  const int least = drawn.reduces() ? 1 : 0;  // bytes are not reduced
  const int type = random.chance(50) ? TW_F32 : random.between(least, 4);
  drawn.dtype = static_cast<std::uint32_t>(type);
  drawn.reduction = static_cast<std::uint32_t>(random.chance(50) ? 0 : random.below(4));
  drawn.root = random.below(size);
  drawn.count = draw_count(random);
  drawn.in_place = drawn.operation != TW_BCAST && random.chance(30);
  const bool whole = drawn.operation == TW_BCAST || drawn.operation == TW_REDUCE ||
                     drawn.operation == TW_ALLREDUCE;
  drawn.lists = !whole && random.chance(45);
  if (drawn.lists) draw_steps(random, drawn, size);
  draw_schedule(random, drawn);
  drawn.names_codec = random.chance(60);
  drawn.spec = drawn.names_codec ? draw_spec(random, drawn.dtype) : make.spec;
  if (drawn.spec.codec == nullptr) drawn.spec = make.spec, drawn.names_codec = false;
  drawn.content = draw_content(random, drawn);
  drawn.key = random.next();
  draw_odds(random, drawn, size);
  return drawn;
}

void mark_operation(const Drawn& drawn) {
  const auto nth = [](Feature first, std::uint32_t at) {
    mark(static_cast<Feature>(static_cast<std::uint32_t>(first) + at));
  };
  nth(Feature::bcast_, drawn.operation);
  nth(Feature::bytes_, drawn.dtype);
  if (drawn.reduces()) nth(Feature::sum_, drawn.reduction);
  const Feature kinds[] = {Feature::smooth_, Feature::random_bits_, Feature::special_values_,
                           Feature::constant_};
  if (drawn.content.kind != Kind::kSmall) mark(kinds[static_cast<int>(drawn.content.kind)]);
  const std::pair<bool, Feature> odds[] = {{drawn.lists, Feature::lists_},
                                           {drawn.in_place, Feature::in_place_},
                                           {drawn.verify, Feature::verify_},
                                           {drawn.planned, Feature::planned_},
                                           {drawn.root_decodes, Feature::root_decodes_},
                                           {drawn.names_codec, Feature::codec_of_call_}};
  for (const auto& [had, feature] : odds)
    if (had) mark(feature);
}

// The specs that programs name: by the registry, and some more of each kind.
namespace {

double quantity(const std::string& text, const char* key) {
  const std::size_t at = text.find(key);
  const bool whole = at != std::string::npos && (text[at - 1] == ':' || text[at - 1] == ',');
  return whole ? std::atof(text.c_str() + at + std::strlen(key)) : 0;
}

void add(std::vector<Spec>& specs, const std::string& text, const tw_codec_info* info) {
  Spec spec;
  tw_codec* codec = nullptr;
  if (tw_codec_create(text.c_str(), &codec) != TW_OK) return;
  spec.text = text;
  spec.codec = {codec, [](const tw_codec* one) { tw_codec_destroy(const_cast<tw_codec*>(one)); }};
  spec.lossless = info == nullptr || info->lossless != 0;
  spec.absolute = quantity(text, "abs="), spec.result = quantity(text, "allreduce-abs=");
  if (info != nullptr) spec.dtypes = info->dtypes;
  specs.push_back(spec);
}

std::vector<Spec> make_specs() {
  static const char* const kMore[] = {"mpc:stride=2",
                                      "zfp:rate=16",
                                      "szp:abs=1e-3",
                                      "szp:rel=1e-4",
                                      "szp:allreduce-abs=1e-3",
                                      "szp:allreduce-rel=1e-4",
                                      "szp:abs=1e-3,allreduce-abs=1e-2"};
  std::vector<Spec> specs(1);  // none
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    if (tw_codec_describe(index, &info) != TW_OK) continue;
    const bool runs = info.gpu_only == 0 && std::strlen(tw_codec_missing(index)) == 0;
    // The test codec's frames are decoded once.
    if (!runs || std::strcmp(info.name, "shrink") == 0 || std::strcmp(info.name, "raw") == 0)
      continue;
    add(specs, info.name, &info);
    if (std::strcmp(info.name, info.example) != 0) add(specs, info.example, &info);
    for (const char* more : kMore)
      if (std::string(more).rfind(std::string(info.name) + ":", 0) == 0) add(specs, more, &info);
  }
  add(specs, "off", nullptr);
  add(specs, "auto", nullptr);
  return specs;
}

}  // namespace

const std::vector<Spec>& all_specs() {
  static const std::vector<Spec> specs = make_specs();
  return specs;
}

}  // namespace legality
