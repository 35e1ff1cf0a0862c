#include "drivers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>

#include "codec/spec.h"
#include "collective/enqueued/enqueue.h"
#include "host_stream.h"
#include "transport/local/local.h"

namespace thinwire::collective::testing {

namespace {

// Of different sizes, some of a single value and some of none.
std::uint64_t values_of(std::uint32_t meaning) {
  return meaning % 5 == 3 ? meaning % 2 : 1200 + 100 * (meaning % 7);
}

std::vector<float> data_of(const Call& call, int rank, std::uint32_t meaning) {
  std::vector<float> values(values_of(meaning));
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = std::sin(static_cast<float>(at) * 0.01F + static_cast<float>(rank)) +
                 static_cast<float>(meaning);
  }
  if (call.change) call.change(rank, meaning, values);
  return values;
}

// The memory of one rank, as the schedule numbers it.
void fill(const Call& call, const Collective& collective, int rank, Held& held) {
  const auto blocks = collective.ranks[0].blocks;
  held.input.resize(blocks);
  held.output.resize(blocks);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const auto number = meaning(collective, rank, block);
    const bool bcast = call.row.operation == Operation::kBcast;
    if (has_output(collective, rank, block)) {
      held.output[block].assign(values_of(number), std::numeric_limits<float>::quiet_NaN());
    }
    if (bcast && rank == call.topology.root) held.output[block] = data_of(call, rank, number);
    if (bcast || !has_input(collective, rank, block)) continue;
    const bool shared = call.in_place && has_output(collective, rank, block);
    (shared ? held.output : held.input)[block] = data_of(call, rank, number);
  }
}

std::byte* begin_of(std::vector<float>& values) {
  return values.empty() ? nullptr : reinterpret_cast<std::byte*>(values.data());
}

void run_rank(const Call& call, const Collective& collective, const EngineSettings& settings,
              int rank, const Driver& driver, Held& held) {
  const Schedule& schedule = collective.ranks[static_cast<std::size_t>(rank)];
  const Cutter cutter(settings.spec, settings.dtype, call.piece_bytes);
  fill(call, collective, rank, held);
  std::vector<Block> blocks;
  std::vector<std::byte*> input, output;
  for (std::uint32_t block = 0; block < schedule.blocks; ++block) {
    blocks.push_back(cutter.whole(values_of(meaning(collective, rank, block))));
    output.push_back(begin_of(held.output[block]));
    // Of Alltoall the own block has two names.
    auto& own = held.input[input_of(collective, block)];
    input.push_back(own.empty() && call.in_place ? output.back() : begin_of(own));
  }
  Program program;
  program.build(schedule, blocks, call.in_place, call.window);
  driver({call, rank, settings, schedule, blocks, program, {input, output}}, held);
}

}  // namespace

std::vector<Held> run_ranks(const Call& call, const Driver& driver) {
  const auto collective = collective_of(call.row, call.topology);
  EngineSettings settings;
  settings.spec = *codec::parse_spec(call.spec);
  settings.dtype = Dtype::kF32;
  settings.reduction = call.reduction;
  std::vector<Held> held(static_cast<std::size_t>(call.topology.size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < call.topology.size; ++rank) {
    threads.emplace_back([&, rank] {
      run_rank(call, collective, settings, rank, driver, held[static_cast<std::size_t>(rank)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return held;
}

std::vector<Held> run_polled(const Call& call) {
  auto ends = transport::make_local(call.topology.size);
  return run_ranks(call, [&](const Part& part, Held& held) {
    const Engine sizes(part.settings, nullptr);
    std::uint64_t packet = 256, piece = 256;
    for (const Block& block : part.blocks) {
      if (block.pieces == 0) continue;
      packet = std::max(packet, *sizes.most_bytes(block.piece_shape(0)));
      piece = std::max(piece, sizes.bytes(block.piece_shape(0)));
    }
    std::vector<std::byte> packets(packet * part.program.packets());
    std::vector<std::byte> scratch(piece * part.program.scratch_pieces()), spare(piece);
    Engine engine(part.settings, spare.data());
    const Means means{{packets.data(), packet, packet, scratch.data(), piece},
                      engine,
                      *ends[static_cast<std::size_t>(part.rank)]};
    Executor executor;
    Tally tally;
    held.status =
        executor.run(part.schedule, part.blocks, part.program, part.arrays, means, Status(), tally);
    held.wire_bytes = tally.wire_bytes;
  });
}

std::vector<Held> run_enqueued(const Call& call) {
  auto ends = make_grouped(call.topology.size);
  return run_ranks(call, [&](const Part& part, Held& held) {
    HostWork work(part.settings);
    Enqueuer plan;
    held.status =
        plan.prepare(part.call.row, part.schedule, part.blocks, part.program, part.settings, work);
    if (!held.status.ok()) return;
    std::vector<std::byte> memory(plan.device_bytes() + 256, std::byte{0xA5});
    std::vector<device::Outcome> outcomes(plan.outcomes());
    auto* const begin = reinterpret_cast<std::byte*>(
        (reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256);
    held.wire_bytes = plan.wire_bytes();
    held.status = plan.enqueue(part.arrays, {begin, outcomes.data()}, work,
                               *ends[static_cast<std::size_t>(part.rank)], nullptr);
    if (held.status.ok()) held.status = plan.check(outcomes.data());
  });
}

}  // namespace thinwire::collective::testing
