"""The files for several GPUs say nothing that the installed accelerate does not know."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.commands.launch import _validate_launch_command, launch_command_parser

FOLDER = Path(__file__).parents[2] / "cookbook" / "multi_gpu"
CONFIGURATIONS = ["ddp.yaml", "fsdp.yaml", "zero2.yaml", "zero3.yaml"]

each_configuration = pytest.mark.parametrize("name", CONFIGURATIONS)


def launched(name: str, *more: str) -> Any:
    """What `accelerate launch --config_file` would do."""
    parser = launch_command_parser()
    given = parser.parse_args(["--config_file", str(FOLDER / name), *more, "script.py"])
    return _validate_launch_command(given)[0]


def test_there_are_no_others() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.yaml")) == sorted([*CONFIGURATIONS, "run.yaml"])


@each_configuration
def test_each_key_is_an_option_of_the_launcher(name: str) -> None:
    """The launcher drops in silence what it does not know below fsdp_config and deepspeed_config."""
    known = {action.dest for action in launch_command_parser()._actions}
    config = load_config_from_file(str(FOLDER / name))
    assert not {*config.fsdp_config, *config.deepspeed_config} - known


@each_configuration
def test_the_launcher_takes_it(name: str) -> None:
    chosen = launched(name)
    kind = {"ddp": "multi_gpu", "fsdp": "use_fsdp"}.get(name.removesuffix(".yaml"), "use_deepspeed")
    assert [key for key in ("multi_gpu", "use_fsdp", "use_deepspeed") if getattr(chosen, key)] == [kind]
    assert (chosen.num_processes, chosen.num_machines, chosen.mixed_precision) == (8, 1, "bf16")


@each_configuration
def test_machines_and_processes_are_given_on_the_command_line(name: str) -> None:
    chosen = launched(name, "--num_processes", "16", "--num_machines", "2", "--machine_rank", "1")
    assert (chosen.num_processes, chosen.num_machines, chosen.machine_rank) == (16, 2, 1)


def test_what_each_of_them_shards() -> None:
    assert (launched("zero2.yaml").zero_stage, launched("zero3.yaml").zero_stage) == (2, 3)
    assert launched("fsdp.yaml").fsdp_version == 2
    assert launched("fsdp.yaml").fsdp_reshard_after_forward is True


def test_the_shell_can_read_the_slurm_script() -> None:
    subprocess.run(["bash", "-n", str(FOLDER / "slurm.sh")], check=True)
