"""The workflow that makes a release: whole, and careful with keys and with what it runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import dev
import package
import pytest
import yaml
from pip._internal.models import index as pip_index

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".github" / "workflows" / "release.yml"


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    found = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def steps(workflow: dict[Any, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(name, step) for name, job in workflow["jobs"].items() for step in job["steps"]]


def scripts(workflow: dict[Any, Any], job: str) -> str:
    return "\n".join(step.get("run", "") for step in workflow["jobs"][job]["steps"])


def test_it_has_a_job_for_each_system_and_releases_only_what_all_have_passed(workflow: dict[Any, Any]) -> None:
    jobs = workflow["jobs"]
    assert set(jobs) == {"check", *package.SYSTEMS, "release"}
    assert all(jobs[system]["needs"] == "check" for system in package.SYSTEMS)
    assert sorted(jobs["release"]["needs"]) == sorted(package.SYSTEMS)
    assert jobs["release"]["if"] == "github.ref_type == 'tag'"
    assert "--draft" in scripts(workflow, "release")
    assert all(job["runs-on"] and job["timeout-minutes"] for job in jobs.values())
    assert workflow[True] == {"push": {"tags": ["v*"]}, "workflow_dispatch": None}  # YAML 1.1 reads "on" so


@pytest.mark.parametrize("system", package.SYSTEMS)
def test_each_system_makes_both_forms_tests_them_and_hands_them_on(workflow: dict[Any, Any], system: str) -> None:
    text = scripts(workflow, system)
    forms = re.findall(rf"packaging/dev\.py package {system}(.*)", text)
    assert forms == ["", " --bundle default.amlbundle"]
    assert text.index("bundle create") < text.index(f"package {system}")
    after = text[text.rindex(f"package {system}") :]
    for proof in ("SHA256SUMS", "--version", "--offline", "verify", "uninstall"):
        assert proof in after, proof
    assert workflow["jobs"][system]["steps"][-1]["with"]["path"] == "dist/"


def test_all_packages_of_linux_are_tried_in_minimal_systems(workflow: dict[Any, Any]) -> None:
    text = scripts(workflow, "linux")
    assert text.index("debootstrap") < text.rindex("package linux") < text.index("package-check linux")


def test_every_command_of_the_project_that_it_runs_exists(workflow: dict[Any, Any]) -> None:
    found = [re.findall(r"packaging/(\w+)\.py (\S+)", step.get("run", "")) for _, step in steps(workflow)]
    called = [call for calls in found for call in calls]
    assert {command for script, command in called if script == "dev"} <= set(dev.COMMANDS)
    assert all((ROOT / "packaging" / f"{script}.py").is_file() for script, _ in called)
    assert len(called) > 10


def test_actions_and_images_are_pinned_by_their_whole_version(workflow: dict[Any, Any]) -> None:
    used = [step["uses"] for _, step in steps(workflow) if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"actions/[\w-]+@v\d+\.\d+\.\d+", name)] == []
    assert all(
        re.fullmatch(r"\w+-[\d.]+(-intel)?|\$\{\{ matrix\.runner \}\}", job["runs-on"]) for job in workflow["jobs"].values()
    )
    images = [job["container"]["image"] for job in workflow["jobs"].values() if "container" in job]
    assert all(re.fullmatch(r"\w+:\d+\.\d+", image) for image in images)


def test_keys_reach_only_the_steps_that_need_them(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert "env" not in workflow
    for name, job in workflow["jobs"].items():
        assert "env" not in job
        assert ("permissions" in job) == (name == "release")
    for _, step in steps(workflow):
        assert "secrets." not in step.get("run", "")
        if "secrets." in str(step.get("env", {})):
            assert "uses" not in step
            assert re.search(r"[Ss]ign|Keys|\.dmg", step["name"])


def test_it_names_no_registry() -> None:
    text = FILE.read_text(encoding="utf-8")
    hosts = {pip_index.PyPI.netloc, pip_index.PyPI.file_storage_domain, pip_index.TestPyPI.netloc}
    assert not [host for host in hosts if host in text]
    assert "://" not in text.replace("http://timestamp.digicert.com", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh to ask")
def test_its_shell_scripts_are_well_formed(workflow: dict[Any, Any]) -> None:
    import subprocess

    for name, step in steps(workflow):
        if "run" in step and name != "windows":
            subprocess.run(["sh", "-n"], input=step["run"], text=True, check=True)
