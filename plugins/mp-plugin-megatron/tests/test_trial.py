"""The parts of ``mp try`` that need no recipe."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
import torch

from mp_plugin_megatron.trial import cpu, launch
from mp_plugin_megatron.trial.options import BATCH, SEQUENCE, VOCABULARY, Options
from mp_plugin_megatron.trial.report import closing_line, curve
from mp_plugin_megatron.trial.text import batches

NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="the stand-in is refused with CUDA")


@NO_CUDA
def test_inside_the_stand_in_cuda_is_the_cpu_and_outside_nothing_is_left() -> None:
    before = {name: getattr(torch.cuda, name) for name in cpu.STAND_INS}
    with cpu.cuda_on_cpu():
        made = torch.ones(2, device="cuda")
        assert made.device.type == made.cuda().device.type == made.to("cuda:0").device.type == "cpu"
        assert made.half().type() == "torch.cuda.HalfTensor"
        assert torch.cuda.current_device() == torch.device("cpu")
    assert made.half().type() == "torch.HalfTensor"
    assert {name: getattr(torch.cuda, name) for name in cpu.STAND_INS} == before


def test_the_stand_in_is_refused_where_cuda_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(RuntimeError, match="refused"), cpu.cuda_on_cpu():
        pass


def test_importing_the_plugin_does_not_enter_the_stand_in() -> None:
    code = "import torch, mp_plugin_megatron.trial.cpu; print(torch.cuda.synchronize.__module__)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "torch.cuda"


def test_labels_are_the_next_bytes_and_each_rank_has_its_own() -> None:
    (inputs, labels), (other, _) = (next(batches(7, rank)) for rank in (0, 1))
    assert inputs.shape == labels.shape == (BATCH, SEQUENCE)
    assert torch.equal(inputs[:, 1:], labels[:, :-1])
    assert int(inputs.max()) < VOCABULARY
    assert not torch.equal(inputs, other)
    assert torch.equal(next(batches(7, 0))[0], inputs)


def test_the_second_batch_is_another_one() -> None:
    first, second = itertools.islice(batches(7, 0), 2)
    assert not torch.equal(first[0], second[0])


def test_options_travel_to_the_ranks_unchanged() -> None:
    options = Options("bf16_mixed:fp8_margin=1", ranks=2, steps=3)
    assert Options.load(options.dump()) == options
    assert options.tokens_per_step == 2 * BATCH * SEQUENCE


def test_a_rank_that_fails_says_why_in_one_line() -> None:
    with pytest.raises(launch.TrialFailed, match="the run failed: UnknownRecipe: no recipe 'nil'"):
        list(launch.events(Options("nil", steps=1)))


def test_a_rank_that_dies_without_a_word_is_reported_with_its_last_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launch, "_command", lambda _: [sys.executable, "-c", "print('gone')"])
    with pytest.raises(launch.TrialFailed, match="gone"):
        list(launch.events(Options("nil")))


def test_the_closing_line_names_recipe_ranks_and_losses() -> None:
    result = {"recipe": "bf16_mixed", "ranks": 2, "losses": [5.0, 4.0, 3.25]}
    assert closing_line(result) == "bf16_mixed: 2 ranks, 3 steps, loss 5.000 -> 3.250"


def test_the_curve_fits_eighty_columns() -> None:
    lines = curve([5.0, 4.0, 3.0, 2.5])
    assert 8 < len(lines) < 20
    assert max(map(len, lines)) <= 80
