"""What `make test` leaves to `make test-all`: cases of tests that run for every MPI, codec or way.

Of a table of cases that are alike `make test` runs a part in which each value of each column is
met, and where two columns have as many values as cases are left out at a time, each pair. The whole
table is run by `make test-all`, and by pytest where nothing is deselected.
"""

import pytest

# A file, a test of it, and of how many cases one is kept.
ONE_OF = {
    "shim/test_shim_collectives.py": {
        "test_ranks_that_are_not_in_step_decide_alike": 5,
        "test_ranks_that_get_the_same_have_the_same_bits": 5,
        "test_lossy_results_are_near_and_the_same_on_all_ranks": 2,
        "test_the_error_handler_of_the_program_stays": 3,
        "test_nonblocking_ones_enter_after_a_blocking_one": 3,
        "test_nonblocking_ones_enter_after_any_blocking_one": 3,
        "test_nonblocking_ones_that_do_not_pay_stay_native": 3,
        "test_nonblocking_ones_that_pay_enter": 3,
        "test_persistent_ones_enter": 2,
        "test_persistent_ones_that_pay_enter": 2,
        "test_persistent_ones_that_do_not_pay_stay_native": 2,
        "test_persistent_ones_stay_native_without_threads": 2,
        "test_one_signature_by_types_that_differ_between_ranks": 2,
    },
    "shim/test_shim_communicators.py": {
        "test_communicators_that_come_and_go": 3,
        "test_all_ranks_get_on": 2,
    },
    "shim/test_shim_device.py": {
        "test_ranks_that_get_the_same_have_the_same_bits": 2,
        "test_nonblocking_collectives": 2,
        "test_persistent_collectives": 2,
        "test_collectives": 2,
    },
    "shim/test_shim_coll_timed.py": {"test_what_does_not_pay_is_soon_the_mpis_own": 5},
    "shim/test_shim_dying.py": {
        "test_a_death_ends_the_job_as_without_the_library": 2,
        "test_calls_on_a_revoked_communicator": 2,
    },
    "shim/test_shim_launchers.py": {
        "test_every_card_is_read": 3,
        "test_ranks_without_the_library_are_known_to_have_no_capabilities": 3,
        "test_no_rank_asks_before_the_last_has_published": 2,
        "test_nodes_have_a_proxy_each": 3,
    },
    "shim/test_shim_memory.py": {
        "test_a_receive_needs_no_memory_of_the_process": 3,
        "test_every_codec_decodes_without_addresses": 3,
        "test_communicators_share_the_memory_of_collectives": 2,
    },
    "shim/test_shim_fortran.py": {"test_it_finds_the_calls_of_its_mpi": 3},
    "shim/test_shim_capture.py": {"test_a_sample_of_everything_within_its_bound": 2},
    "shim/test_shim_conformance.py": {
        "test_nothing_is_compressed_below_the_threshold": 3,
        "test_a_disabled_library_reports_nothing": 3,
    },
    "nccl/test_nccl_coded.py": {
        "test_every_operation_in_every_type": 2,
        "test_random_programs_come_to_the_same_bits": 2,
        "test_communicators_live_and_end_in_every_way": 2,
    },
    "nccl/test_nccl_nodes.py": {"test_random_programs_come_to_the_same_bits": 2},
    "nccl/test_nccl_ordered.py": {"test_large_sums_are_added_in_parts": 2},
    "nccl/test_nccl_mixed.py": {"test_a_rank_lacks_it": 3, "test_a_rank_differs": 2},
    "nccl/test_nccl_types.py": {
        "test_moves_are_compressed_and_sums_are_not": 2,
        "test_a_lossy_codec_changes_what_is_sent_as_its_floats_alone": 2,
    },
    "nccl/test_nccl_guard.py": {"test_a_codec_that_loses_is_timed_and_goes_raw": 2},
    "nccl/test_nccl_lookup.py": {"test_calls_that_are_looked_up_are_compressed": 3},
    "nccl/test_nccl_groups.py": {
        "test_codecs_of_a_fixed_size_are_captured": 2,
        "test_a_group_on_several_streams": 2,
    },
    "nccl/test_nccl_refused.py": {"test_calls_succeed_when_memory_runs_out_on_a_rank": 2},
    "bench/test_bench_collective.py": {
        "test_every_operation_is_verified": 2,
        "test_sums_of_sixteen_bit_values": 2,
    },
    "examples/test_seismic.py": {"test_what_cannot_be_done_is_said": 3},
    "examples/test_cannon.py": {"test_what_cannot_be_done_is_said": 3},
    "examples/test_stacking.py": {"test_what_cannot_be_done_is_said": 3},
    "examples/test_fft.py": {"test_what_cannot_be_done_is_said": 2},
    "legality/test_legality.py": {
        "test_some_seeds_of_every_codec": 2,
        "test_a_seed_is_one_program": 2,
    },
    "lab/test_mpi.py": {
        "test_ranks_spread_over_the_hosts": 2,
        "test_two_labs_run_mpi_at_once": 2,
    },
    "python/test_cli.py": {"test_mistakes_end_in_one_line": 3, "test_the_shell_completes": 2},
    "python/test_settings.py": {"test_options_before_the_command": 2},
    "python/test_cli_mpi.py": {"test_the_library_has_the_names_of_the_programs_mpi": 2},
    "python/test_cli_mpi_runs.py": {
        "test_every_rank_has_the_library_of_its_mpi": 2,
        "test_every_program_of_several_has_it": 2,
        "test_ranks_on_other_nodes_have_it": 2,
        "test_exec_knows_the_mpi_that_started_it": 2,
    },
    "python/test_communicator_ranks.py": {"test_the_same_words_give_the_same_as_mpi4py": 2},
}

# Whole tests, or cases by the name in their brackets, each of which another does in less.
LEFT = {
    # Three ranks are met under every MPI; seven stay.
    "shim/test_shim_collectives.py": ["test_results_are_exact[3]", "test_results_are_exact[4]"],
    # Under Debian's MPICH, whose ranks wait without rest, sums in order stay; exact ones and those
    # of a rule stay under the others.
    "shim/test_shim_ordered.py": [
        "test_exact_sums_under_every_mpi[mpich]",
        "test_a_rule_orders_raw_sums_under_every_mpi[mpich]",
    ],
    # Two nodes of two in turn and uneven ones stay.
    "nccl/test_nccl_nodes.py": [
        "test_every_operation_in_every_type[3x2]",
        "test_every_operation_in_every_type[2x2]",
        "test_every_operation_in_every_type[2x4]",
        "test_lossy_codecs_keep_their_bound_and_ranks_their_bits[3x2]",
        "test_lossy_codecs_keep_their_bound_and_ranks_their_bits[uneven]",
    ],
    # One of four ranks that lacks it stays.
    "nccl/test_nccl_mixed.py": ["test_all_but_one_lack_it"],
    "nccl/test_nccl_coded.py": [
        "test_every_operation_in_every_type[zfp:rate=16-2-4-error4]",
        "test_sums_of_the_programs_own_are_compressed[host]",
        "test_sums_of_the_programs_own_are_compressed[memory]",
    ],
    # Gradients, sharded parameters, policies and faults stay; trainers and programs are left.
    "torch/test_torch.py": [
        "test_checks_of[checks_mesh-4]",
        "test_ranks_of_one_node_stay_raw",
    ],
    "torch/test_torch_examples.py": [
        "test_the_examples_train",
        "test_a_study_goes_on_behind_a_run_that_fails",
        "test_the_guides_script_prints_what_it_says",
    ],
    "torch/test_torch_preload.py": [
        "test_a_policy_beside_the_preload_library",
        "test_names_and_policy_reach_the_preload_library",
    ],
    "examples/test_examples_mpi4py.py": ["test_exchange[torch]"],
    # The README's commands stay.
    "install/test_c_library.py": ["test_pkg_config", "test_find_package"],
    "bench/test_bench_ratio.py": ["test_ratios_of_generated_data_are_those_committed"],
    "python/test_docs_examples.py": [
        "test_the_examples_of_a_page_run[docs/tutorial/when-it-does-not-gain.md-False]",
        "test_the_examples_of_a_page_run[docs/tutorial/gpu-buffers.md-False]",
        "test_the_examples_of_a_page_run[docs/tutorial/codec-for-my-data.md-False]",
        # The lab's own tests run its commands.
        "test_the_examples_of_a_page_run[docs/guide/lab.md-False]",
    ],
}

# Settings under which a family of the conformance program runs, by turns. The system's MPI under
# the codec that takes every message has them all.
ALWAYS = ("shrink", "compressed")
TURNS = 6


Order = dict[tuple[str, ...], dict[str, int]]  # of what is met where: the place of each


def place(order: Order, where: tuple[str, ...], value: object) -> int:
    met = order.setdefault(where, {})
    return met.setdefault(repr(value), len(met))


def sum_of_places(item: pytest.Item, order: Order) -> int:
    """Of a case's values in the columns of its test's table."""
    total = 0
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        row = [item.callspec.params[name.strip()] for name in names]
        total += place(order, (item.nodeid.split("[")[0], *names), row)
    return total


def is_of_a_turn(item: pytest.Item, file: str, order: Order) -> bool:
    params = item.callspec.params
    family, way = params.get("family"), params.get("configuration")
    if family is None or way is None or way in ALWAYS:
        return True
    return (place(order, (file, "family"), family) + place(order, (file, "way"), way)) % TURNS == 0


def is_kept(item: pytest.Item, order: Order) -> bool:
    file = "/".join(item.path.parts[-2:])
    name = item.name.split("[")[0]
    if item.name in LEFT.get(file, ()):
        return False
    if not hasattr(item, "callspec"):
        return True
    has_turns = file in ("shim/test_shim_conformance.py", "shim/test_shim_device.py")
    if has_turns and not is_of_a_turn(item, file, order):
        return False
    step = ONE_OF.get(file, {}).get(name, 1)
    return step == 1 or sum_of_places(item, order) % step == 0


def mark_exhaustive(items: list[pytest.Item]) -> None:
    order: Order = {}
    for item in items:
        if not is_kept(item, order):
            item.add_marker(pytest.mark.exhaustive)
