"""These tests are run by name only (`make test-oracle`): the client they read with is fetched by `fetch`."""

from __future__ import annotations

import pytest

from tests.adapters.matrix.crypto.conftest import secret

__all__ = ["secret"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "oracle" in str(config.option.markexpr):
        return
    skipped = pytest.mark.skip(reason="reads with another client: make test-oracle")
    for item in items:
        if item.get_closest_marker("oracle"):
            item.add_marker(skipped)
