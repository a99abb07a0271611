"""``mp try``: real models trained on the installed Megatron-Core, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

MP = (sys.executable, "-m", "mp_core", "try")


def trained(*arguments: str) -> dict[str, Any]:
    command = [*MP, *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def effective(result: dict[str, Any]) -> dict[str, str]:
    return {row["what"]: row["effective"] for row in result["effective"]}


def test_bf16_on_two_ranks_lowers_the_loss_and_the_ranks_agree() -> None:
    result = trained("bf16_mixed", "--ranks", "2", "--steps", "30")
    assert result["losses"][-1] < result["losses"][0] - 1
    assert result["ranks_agree"]
    assert result["skipped"] == []
    table = effective(result)
    assert table["parameters"] == "bfloat16"
    assert table["gradient buffer"] == table["main parameters"] == "float32"
    assert {row["verdict"] for row in result["effective"]} == {"agrees"}


def test_fp16_on_two_ranks_skips_steps_and_lowers_the_loss_scale() -> None:
    result = trained("fp16_mixed", "--ranks", "2")
    assert result["skipped"]
    assert result["loss_scales"][0] == 2**32
    assert result["final_loss_scale"] < 2**32
    assert result["losses"][-1] < result["losses"][0] - 1
    assert result["ranks_agree"]
    table = effective(result)
    assert (table["gradient buffer"], table["loss scaler"]) == ("float16", "dynamic")


def test_an_override_is_in_effect_in_the_live_gradient_buffer() -> None:
    result = trained("bf16_mixed:grad_reduce_in_fp32=false", "--steps", "2")
    assert effective(result)["gradient buffer"] == "bfloat16"


def test_what_needs_a_gpu_is_said_not_to_run_and_the_rest_is_trained() -> None:
    name = "bf16_with_fp8_current_scaling_mixed"
    result = trained(name, "--steps", "4", "--layers", "3")
    verdicts = {row["what"]: row["verdict"] for row in result["effective"]}
    assert verdicts["layer 2 arithmetic"] == verdicts["GEMM weights"] == "not run"
    assert verdicts["layer 1 arithmetic"] == verdicts["layer 3 arithmetic"] == "agrees"
    assert "needs Transformer Engine" in effective(result)["layer 2 arithmetic"]
    assert effective(result)["parameters"] == "bfloat16"
    assert len(result["losses"]) == 4


def test_the_same_seed_gives_the_same_losses_and_another_seed_others() -> None:
    first, again, other = (
        trained("bf16_mixed", "--steps", "3", "--seed", seed)["losses"] for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_a_pipe_gets_plain_progress_and_one_closing_line() -> None:
    command = [*MP, "bf16_mixed", "--steps", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout + done.stderr
    assert "step 3/3  loss" in done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("bf16_mixed: 1 rank, 3 steps, loss ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bf16_mixd",), "did you mean 'bf16_mixed'"),
        (("bf16_mixed", "--ranks", "0"), "--ranks"),
        (("bf16_mixed", "--hidden", "6"), "must be a multiple of 4"),
    ],
)
def test_bad_input_is_one_message_and_usage(arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run([*MP, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def _hears_ctrl_c() -> Iterator[None]:
    """Children hear Ctrl-C even where these tests run in the background, which does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_hears_ctrl_c")
def test_ctrl_c_leaves_no_process_behind() -> None:
    command = [*MP, "bf16_mixed", "--ranks", "2", "--steps", "100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if line.startswith("step "))
        family = _descendants(process.pid)
        assert len(family) >= 3
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(60) == 130
    assert "interrupted; every rank has ended" in said
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(_alive(pid) for pid in family):
        time.sleep(0.1)
    assert [pid for pid in family if _alive(pid)] == []


def _descendants(pid: int) -> list[int]:
    listing = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    parents = {int(child): int(parent) for child, parent in map(str.split, listing.splitlines())}
    found = [pid]
    for ancestor in found:
        found += [child for child, parent in parents.items() if parent == ancestor]
    return found[1:]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
