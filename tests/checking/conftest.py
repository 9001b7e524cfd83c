"""Failed assertions of `first_commands` are explained, as those of the test files are."""

import pytest

pytest.register_assert_rewrite("tests.checking.first_commands")
