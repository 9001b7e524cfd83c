"""`forecast audit` prints the verdict and its reasons; the table of all numbers only with --numbers."""


def test_the_long_table_is_printed_on_wish_only(forecast, run_copy, finished_run):
    words = ("audit", run_copy, "--data", finished_run.parent / "data.csv", "--windows", "8", "--draws", "20")
    short, long = forecast(*words).out, forecast(*words, "--numbers").out
    assert "random explanations" not in short
    assert "random explanations" in long
    assert "Deleting" in short
    assert len(long.splitlines()) > len(short.splitlines()) + 20
