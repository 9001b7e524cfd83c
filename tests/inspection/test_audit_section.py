"""The part of a page about the audit, from files of any version."""

from forecast_attn.inspection.audit_section import _group


def test_a_group_need_not_say_whether_it_needs_the_weights() -> None:
    group = {"name": "step 1", "windows": 9, "mae": 1.0, "mae_equal": 2.0, "rise_relative": 1.0}
    assert _group(group)[-1] is None
