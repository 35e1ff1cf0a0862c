"""The manifest of examples/kubernetes: what Kubernetes would refuse, what fits together, and that
the container's command turns Thinwire on."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = ROOT / "examples" / "kubernetes" / "train.yaml"

# Fields of the API (v1, batch/v1) that the manifest may use, "!" after those that must be there.
NAMED = {"name!": str}
CONTAINER = {
    "name!": str,
    "image": str,
    "command": [str],
    "args": [str],
    "env": [{"name!": str, "value": str}],
    "resources": {"limits": dict},
    "volumeMounts": [{"name!": str, "mountPath!": str, "readOnly": bool}],
}
VOLUME = {
    "name!": str,
    "emptyDir": {"medium": str},
    "persistentVolumeClaim": {"claimName!": str, "readOnly": bool},
}
POD = {
    "containers!": [CONTAINER],
    "initContainers": [CONTAINER],
    "restartPolicy!": str,  # a Job's has no default that it may have
    "subdomain": str,
    "volumes": [VOLUME],
}
JOB = {
    "completionMode": str,
    "completions": int,
    "parallelism": int,
    "backoffLimit": int,
    "template!": {"spec!": POD},
}
SERVICE = {"clusterIP": str, "publishNotReadyAddresses": bool, "selector": dict}
TOP = {"apiVersion!": str, "kind!": str, "metadata!": NAMED}
KINDS = {
    ("v1", "Service"): {**TOP, "spec": SERVICE},
    ("batch/v1", "Job"): {**TOP, "spec!": JOB},
}


def faults(value: Any, kind: Any, path: str) -> Iterator[str]:
    """What of a value its kind does not have, in words."""
    if isinstance(kind, type):
        if type(value) is not kind:  # a truth is no integer here
            yield f"{path} is {value!r}, no {kind.__name__}"
    elif isinstance(kind, list):
        if not isinstance(value, list):
            yield f"{path} is no list"
            return
        for number, each in enumerate(value):
            yield from faults(each, kind[0], f"{path}[{number}]")
    elif not isinstance(value, dict):
        yield f"{path} has no fields"
    else:
        known = {name.removesuffix("!"): of for name, of in kind.items()}
        missing = (name[:-1] for name in kind if name.endswith("!") and name[:-1] not in value)
        yield from (f"{path}.{name} is missing" for name in missing)
        for name, each in value.items():
            if name not in known:
                yield f"{path}.{name} is no field"
            else:
                yield from faults(each, known[name], f"{path}.{name}")


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(MANIFEST.read_text()))


@pytest.fixture(scope="module")
def service(documents) -> dict[str, Any]:
    return documents[0]


@pytest.fixture(scope="module")
def job(documents) -> dict[str, Any]:
    return documents[1]


@pytest.fixture(scope="module")
def pod(job) -> dict[str, Any]:
    return job["spec"]["template"]["spec"]


def test_kubernetes_takes_it(documents) -> None:
    for each in documents:
        kind = KINDS[each["apiVersion"], each["kind"]]
        assert list(faults(each, kind, each["kind"])) == []


def test_its_own_schemas_take_it(documents) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    for each in documents:
        validate.validate(each, "1.31", strict=True)


def test_pods_find_each_other(service, job, pod) -> None:
    name = service["metadata"]["name"]
    assert service["spec"]["clusterIP"] == "None"  # else the name would be one address for all
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    assert pod["subdomain"] == name
    assert job["spec"]["completionMode"] == "Indexed"
    (container,) = pod["containers"]
    assert f"--master-addr={job['metadata']['name']}-0.{name}" in container["args"]


def test_all_nodes_start_at_once(job, pod) -> None:
    spec = job["spec"]
    assert spec["completions"] == spec["parallelism"]
    (container,) = pod["containers"]
    assert f"--nnodes={spec['completions']}" in container["args"]
    gpus = container["resources"]["limits"]["nvidia.com/gpu"]
    assert f"--nproc-per-node={gpus}" in container["args"]
    assert pod["restartPolicy"] == "Never"


def test_every_mount_has_its_volume(pod) -> None:
    volumes = {volume["name"] for volume in pod["volumes"]}
    both = [*pod["initContainers"], *pod["containers"]]
    mounts = [mount for container in both for mount in container["volumeMounts"]]
    assert {mount["name"] for mount in mounts} == volumes


def test_the_command_turns_it_on(pod, tmp_path: Path) -> None:
    """As a pod would run it, but for the folder of Thinwire and what torchrun is."""
    (container,), (init,) = pod["containers"], pod["initContainers"]
    (folder,) = (each["value"] for each in container["env"] if each["name"] == "PYTHONPATH")
    assert f"--target={folder} " in init["command"][-1]
    assert folder in {mount["mountPath"] for mount in container["volumeMounts"]}
    torchrun = tmp_path / "torchrun"
    torchrun.write_text('#!/bin/sh\necho "$LD_PRELOAD $THINWIRE_CODEC $*"\n')
    torchrun.chmod(0o755)
    words = [*container["command"], *container["args"]]
    words = [word.replace("$(JOB_COMPLETION_INDEX)", "1") for word in words]
    assert words[0] == "python"
    variables = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, *words[1:]], env=variables, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    library, codec, *rest = done.stdout.split()
    assert library.endswith("libthinwire_nccl.so") and codec == "lossless"
    assert "--node-rank=1" in rest and rest[-1] == "train.py"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda job: job["spec"].pop("template"), "Job.spec.template is missing"),
        (lambda job: job["spec"].update(completion=2), "Job.spec.completion is no field"),
        (lambda job: job["spec"].update(completions="2"), "Job.spec.completions is '2', no int"),
    ],
)
def test_a_fault_is_found(change, said) -> None:
    job = list(yaml.safe_load_all(MANIFEST.read_text()))[1]
    change(job)
    assert list(faults(job, KINDS["batch/v1", "Job"], "Job")) == [said]
