"""Numbers in sentences."""

import pytest

from forecast_attn.audit import wording


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.4123, "0.412"),
        (-12.34, "−12.3"),
        (999.6, "1,000"),
        (1234.5, "1,234"),
        (2e-7, "2.00e-07"),
        (1e-4, "0.0001"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.123, "rises by 12.3 %"), (-0.004, "falls by 0.4 %"), (4.56, "rises to 5.56 times its value")]
)
def test_changes_are_said_in_words(share: float, text: str) -> None:
    assert wording.change_of(share) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (6.12, "6.1 times as much"),
        (0.4, "40 % as much"),
        (0.003, "under 1 % as much"),
        (300, "over 100 times as much"),
        (float("nan"), "just as much"),
    ],
)
def test_ratios_are_said_in_words(ratio: float, text: str) -> None:
    assert wording.as_much(ratio) == text


def test_one_step_is_no_number() -> None:
    assert (wording.the_steps(1), wording.random_steps(1)) == ("the step", "a random one")
    assert (wording.the_steps(8.2), wording.random_steps(8.2)) == ("the 8 steps", "8 random ones")
    assert (wording.signed(0.41), wording.signed(-3)) == ("+0.41", "−3")
    assert wording.per_cent(-0.12) == "−12 %"
