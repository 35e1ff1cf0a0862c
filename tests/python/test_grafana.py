"""The dashboard for Grafana: it draws only what there is, in panels that fit."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from thinwire.reports import metrics

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "examples" / "grafana" / "thinwire.json"
# Labels of what THINWIRE_METRICS writes, as docs/reference/trace.md lists them.
OF_KINDS = {"rank", "operation", "communicator", "place", "codec", "raw"}
GRAFANAS = {"__range", "__rate_interval"}
COLUMNS = 24

# Fields that Grafana fills in with its own, or without which it imports nothing.
OF_A_DASHBOARD = {
    *("annotations", "editable", "graphTooltip", "id", "links", "panels", "schemaVersion"),
    *("tags", "templating", "time", "timepicker", "timezone", "title", "uid", "version"),
}
OF_A_PANEL = {"datasource", "fieldConfig", "gridPos", "id", "options", "targets", "title", "type"}
OF_A_TARGET = {"datasource", "expr", "format", "instant", "range", "refId"}
TYPES = {"bargauge", "row", "stat", "table", "timeseries"}


def loaded() -> dict[str, Any]:
    found = json.loads(DASHBOARD.read_text())
    assert isinstance(found, dict)
    return found


def drawn() -> list[dict[str, Any]]:
    return [panel for panel in loaded()["panels"] if panel["type"] != "row"]


def targets() -> list[tuple[str, dict[str, Any]]]:
    return [(panel["title"], each) for panel in drawn() for each in panel["targets"]]


def known() -> dict[str, set[str]]:
    """Labels by metric: of jobs as listed in the code, of ranks as their writer names them."""
    of_ranks = (ROOT / "shim" / "common" / "trace" / "metrics.cpp").read_text()
    names = re.findall(r'"([a-z_]+_(?:total|bytes|seconds))"', of_ranks)
    assert "calls_total" in names
    found = {f"thinwire_{name}": OF_KINDS for name in names}
    for each in metrics.METRICS:
        found[metrics.PREFIX + each.name] = {*metrics.OF_ALL, *each.labels}
    return found


def faults(expr: str, legend: str = "") -> list[str]:
    """Metrics, labels and variables of an expression that there are not."""
    metric_labels = known()
    names = re.findall(r"\bthinwire_\w+", expr)
    found = [name for name in names if name not in metric_labels]
    listed = [each for group in re.findall(r"\bby \(([^)]*)\)", expr) for each in group.split(",")]
    listed += re.findall(r"[{,]\s*(\w+)\s*(?:=~|!~|!=|=)", expr)
    listed += re.findall(r"\{\{(\w+)\}\}", legend)
    for label in {each.strip() for each in listed}:
        found += [label for name in names if label not in metric_labels.get(name, {label})]
    variables = {each["name"] for each in loaded()["templating"]["list"]}
    found += [each for each in re.findall(r"\$(\w+)", expr) if each not in variables | GRAFANAS]
    found += [] if expr.count("(") == expr.count(")") and names else ["parentheses, or no metric"]
    return found


def test_it_has_what_grafana_wants_of_a_dashboard() -> None:
    dashboard = loaded()
    assert dashboard.keys() >= OF_A_DASHBOARD
    # Grafana numbers it, and moves it from this version of its form to its own.
    assert dashboard["id"] is None and 36 <= dashboard["schemaVersion"] <= 42
    assert re.fullmatch(r"[\w-]{8,40}", dashboard["uid"])
    for each in dashboard["templating"]["list"]:
        assert each.keys() >= {"name", "type", "query", "current", "options"}
        assert each["type"] in ("datasource", "query")


def test_panels_are_whole_and_cover_no_other() -> None:
    panels = loaded()["panels"]
    numbers = [panel["id"] for panel in panels]
    assert len(set(numbers)) == len(numbers) > 10
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["type"] in TYPES
        assert panel.keys() >= OF_A_PANEL or panel["type"] == "row"
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= COLUMNS
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert cells and not cells & taken, panel["title"]
        taken |= cells


def test_each_query_is_of_the_chosen_prometheus() -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    for panel in drawn():
        names = [each["refId"] for each in panel["targets"]]
        assert names == sorted(set(names)) and panel["datasource"] == chosen
        for each in panel["targets"]:
            assert each.keys() >= OF_A_TARGET and each["datasource"] == chosen
            assert each["instant"] != each["range"]


@pytest.mark.parametrize("title_and_target", targets(), ids=lambda each: each[0])
def test_expressions_name_what_there_is(title_and_target: tuple[str, dict[str, Any]]) -> None:
    target = title_and_target[1]
    assert faults(target["expr"], target.get("legendFormat", "")) == []


def test_variables_name_what_there_is() -> None:
    for each in loaded()["templating"]["list"][1:]:
        found = re.fullmatch(r"label_values\((\w+), (\w+)\)", each["definition"])
        assert found and found[2] in known()[found[1]] and found[2] == each["name"]
        assert each["query"]["query"] == each["definition"]


@pytest.mark.parametrize(
    ("expr", "legend", "fault"),
    [
        ("sum(thinwire_job_call_total)", "", "thinwire_job_call_total"),
        ("sum by (reason) (thinwire_job_calls_total)", "", "reason"),
        ('sum(thinwire_job_calls_total{job="1"})', "", "job"),
        ("sum by (job_id) (thinwire_job_calls_total)", "{{host}}", "host"),
        ('sum(thinwire_job_calls_total{job_id=~"$jobs"})', "", "jobs"),
        ("sum(thinwire_job_calls_total", "", "parentheses, or no metric"),
    ],
)
def test_what_there_is_not_is_found(expr: str, legend: str, fault: str) -> None:
    assert faults(expr, legend) == [fault]


def test_columns_of_the_table_are_its_queries() -> None:
    (table,) = [panel for panel in drawn() if panel["type"] == "table"]
    names = table["transformations"][1]["options"]["renameByName"]
    values = {f"Value #{each['refId']}" for each in table["targets"]}
    assert names.keys() == values | {"job_id", "codec"}
    units = {each["matcher"]["options"] for each in table["fieldConfig"]["overrides"]}
    assert units == {names[each] for each in values}
