"""Earthquake waves: the exact ones, on any number of ranks; what codecs lose is told."""

import numpy as np
import point_source
import pytest

pytestmark = pytest.mark.multiproc

SMALL = ("--grid", "24x32x40", "--steps", 80)
HERTZ = 1.925
MOMENT = 1e16
SECONDS = 1.7  # before anything comes back from the sides
TENSORS = {
    "strike-slip": np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
    "thrust": np.diag([-1, 0, 1]),
}
# From the source, in shares of the grid. None lies where one of the mechanisms sends nothing.
OFFSETS = np.array([(0.1875, 0.0833, 0.0417), (0.0417, 0.1875, -0.0833), (0.1458, -0.1458, 0.0833)])


def exact_seismograms(points, spacing, mechanism, time, dt, elastic):
    """[receiver][component][step]; components lie half a spacing further along their axes."""
    quality = (np.inf, np.inf) if elastic else (100, 50)
    rock = point_source.Rock(2500, 4000, 2310, *quality, HERTZ)
    width = 0.25 / HERTZ
    rate = MOMENT * np.exp(-0.5 * ((time - 6 * width) / width) ** 2) / (width * np.sqrt(2 * np.pi))
    exact = np.empty((len(points), 3, len(time)))
    for receiver, component in np.ndindex(exact.shape[:2]):
        offset = points[receiver] * spacing
        offset[component] += spacing / 2
        waves = point_source.velocity(rock, TENSORS[mechanism], rate, offset, dt)
        exact[receiver, component] = waves[component]
    return exact


def misfit(found, exact):
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def point_source_waves(seismic, tmp_path, points, mechanism, elastic):
    """The program's seismograms in a uniform rock without a surface; the exact ones with and
    without attenuation."""
    spacing = 6400 / points
    offsets = np.round(OFFSETS * points)
    receivers = tmp_path / "receivers.txt"
    np.savetxt(receivers, offsets + points // 2, fmt="%d")
    medium = ("--medium", "uniform", "--top", "absorbing", "--sponge", points // 8)
    options = (*medium, "--grid", f"{points}x{points}x{points}", "--spacing", spacing)
    options += ("--hertz", HERTZ, "--mechanism", mechanism, *(["--elastic"] if elastic else []))
    dt = seismic.figures(1, *options, "--steps", 1)["time_step"]
    steps = round(SECONDS / dt)
    files = ("--receivers", receivers, "--seismograms", tmp_path / "found.f32")
    seismic.figures(2, *options, "--steps", steps, *files)
    found = np.fromfile(tmp_path / "found.f32", np.float32).reshape(len(offsets), 3, steps)
    time = (np.arange(steps) + 0.5) * dt
    exact = [
        exact_seismograms(offsets, spacing, mechanism, time, dt, lossless)
        for lossless in (False, True)
    ]
    return found, *exact


def test_the_misfit_to_the_exact_waves_falls_as_the_scheme_says(seismic, tmp_path):
    misfits = []
    for points in (24, 48):
        found, _, exact = point_source_waves(seismic, tmp_path, points, "strike-slip", True)
        misfits.append(misfit(found, exact))
    # 2nd order in time, 4th in space.
    assert misfits[1] < 0.015 and np.log2(misfits[0] / misfits[1]) > 1.8, misfits


def test_attenuation_is_that_of_constant_quality(seismic, tmp_path):
    found, exact, elastic = point_source_waves(seismic, tmp_path, 48, "thrust", False)
    assert misfit(found, exact) < 0.03 < 0.05 < misfit(found, elastic)


def test_no_bit_depends_on_how_the_grid_is_divided(seismic, tmp_path):
    whole = seismic.figures(1, *SMALL, "--seismograms", tmp_path / "whole.f32")
    assert whole["peak"] > 0
    for split in ("2x1x1", "1x2x1 --overlap", "1x2x2", "1x2x2 --overlap", "3x1x1 --overlap", ""):
        options = ["--split", *split.split()] if split else []
        ranks = np.prod([int(one) for one in (split.split() or ["4"])[0].split("x")])
        line = seismic.figures(ranks, *SMALL, *options, "--reference", tmp_path / "whole.f32")
        assert line["checksum"] == whole["checksum"] and line["misfit"] == 0, split
        assert line["peak"] == whole["peak"]


def test_messages_are_those_of_the_scheme(seismic, tmp_path):
    times = tmp_path / "times.txt"
    line = seismic.figures(2, *SMALL, "--split", "1x2x1", "--step-times", times)
    # Both ranks, two groups a step and the stresses of the start: three fields, two planes each.
    assert line["messages_sent"] == 2 * (2 * 80 + 1)
    assert line["bytes_sent"] == line["messages_sent"] * 3 * 2 * 24 * 40 * 4
    steps = np.loadtxt(times)
    assert steps.shape == (80, 2) and (steps[:, 0] >= steps[:, 1]).all()
    assert 0 < line["comm_share"] < 1


@pytest.mark.parametrize("options", [[], ["--overlap"]])
def test_without_loss_the_waves_stay(seismic, options):
    plain = seismic.figures(2, *SMALL)
    ended = seismic.run(2, *SMALL, *options, codec="mpc")
    assert ended.code == 0, ended.errors
    assert ended.line["checksum"] == plain["checksum"]
    assert ended.shim["compressed_messages"] > 0
    assert ended.shim["bytes"] > 1.1 * ended.shim["wire_bytes"]


@pytest.mark.parametrize(
    ("codec", "least", "most"),
    [("zfp:rate=16", 1e-8, 1e-3), ("szp:rel=1e-6", 1e-8, 1e-2), ("zfp:rate=2", 0.05, np.inf)],
)
def test_what_is_lost_shows_in_the_seismograms(seismic, tmp_path, codec, least, most):
    exact = tmp_path / "exact.f32"
    seismic.figures(2, *SMALL, "--seismograms", exact)
    files = ("--reference", exact, "--seismograms", tmp_path / "lossy.f32")
    ended = seismic.run(2, *SMALL, *files, codec=codec)
    assert ended.line is not None, ended.errors
    found = np.fromfile(tmp_path / "lossy.f32", np.float32).astype(float)
    assert ended.line["misfit"] == pytest.approx(misfit(found, np.fromfile(exact, np.float32)))
    assert least < ended.line["misfit"] <= ended.line["worst_misfit"]
    assert ended.line["misfit"] < most


def test_bench_times_the_updates_alone(seismic):
    line = seismic.figures(1, "--grid", "16x16x32", "--steps", 3, "--bench")
    points = 16 * 16 * 32
    assert line["velocity_gbs"] == pytest.approx(points * 52 / line["velocity_ms"] * 1e-6, rel=1e-3)
    assert line["stress_gbs"] == pytest.approx(points * 124 / line["stress_ms"] * 1e-6, rel=1e-3)
    assert line["share"] == pytest.approx(line["gbs"] / line["copy_gbs"], rel=1e-3)


def test_a_run_in_which_no_wave_arrives_has_no_misfit(seismic, tmp_path):
    (tmp_path / "far.txt").write_text("0 0 0\n")
    options = (*SMALL, "--steps", 2, "--receivers", tmp_path / "far.txt")
    seismic.figures(1, *options, "--seismograms", tmp_path / "quiet.f32")
    assert not np.fromfile(tmp_path / "quiet.f32", np.float32).any()
    ended = seismic.run(1, *options, "--reference", tmp_path / "quiet.f32")
    assert ended.code == 0 and ended.line and "misfit" not in ended.line
    assert "no wave had arrived at any receiver" in ended.errors


@pytest.mark.parametrize(
    ("ranks", "options", "words"),
    [
        (1, ["--source", "40x8x8"], "the source at 40x8x8 lies outside of the grid"),
        (1, ["--source", "23x8x8"], "at least 2 points inside of the grid"),
        (1, ["--source", "2x8x8"], "at least 3 points below the free surface"),
        (2, ["--split", "1x3x1"], "--split 1x3x1 makes 3 parts, and there are 2 ranks"),
        (2, ["--grid", "25x32x40", "--split", "2x1x1"], "does not divide a grid of 25x32x40"),
        (2, ["--grid", "25x33x41"], "a grid of 25x33x41 does not divide into equal parts"),
        (1, ["--grid", "4x32x40"], "--grid takes three extents"),
        (1, ["--courant", "1.1"], "--courant above 1 is not stable"),
        (1, ["--staging"], "--staging is for --device gpu or auto"),
        (1, ["--receivers", "/nowhere"], "cannot read /nowhere"),
        (1, ["--reference", "/nowhere.f32"], "cannot read /nowhere.f32"),
    ],
)
def test_what_cannot_be_done_is_said(seismic, ranks, options, words):
    assert words in seismic.refusal(ranks, *SMALL, "--steps", 2, *options)


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "has no receiver"), ("1 2", "three integers"), ("1 2 24", "outside of the grid")],
)
def test_receivers_that_are_none_are_refused(seismic, tmp_path, text, words):
    (tmp_path / "receivers.txt").write_text(text)
    assert words in seismic.refusal(1, *SMALL, "--receivers", tmp_path / "receivers.txt")


def test_a_reference_of_another_run_is_refused(seismic, tmp_path):
    seismic.figures(1, *SMALL, "--seismograms", tmp_path / "short.f32")
    options = (*SMALL, "--steps", 81, "--reference", tmp_path / "short.f32")
    assert "--reference has 1920 values" in seismic.refusal(1, *options)


@pytest.mark.gpu
def test_gpus_make_the_cpus_waves(seismic):
    if seismic.figures(2, *SMALL, "--device", "auto", "--staging")["device"] == "cpu":
        pytest.skip("no GPU on this machine, or none in this build")
    plain = seismic.figures(1, *SMALL)
    staged = seismic.figures(2, *SMALL, "--device", "gpu", "--staging", "--overlap")
    direct = seismic.figures(2, *SMALL, "--device", "gpu", codec="mpc")
    assert plain["checksum"] == staged["checksum"] == direct["checksum"]
