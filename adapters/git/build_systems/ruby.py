"""Projects of Ruby: RSpec, or a Rakefile with tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adapters.git.build_systems.reading import Found
from bot.domain.world import BuildSystem


def ruby(files: Collection[str], manifests: Mapping[str, str]) -> Found | None:
    if "Gemfile" not in manifests and "Rakefile" not in manifests:
        return None
    bundled = "bundle exec " if "Gemfile" in manifests else ""
    set_up = "bundle install" if bundled else ""
    if any(path.startswith("spec/") and path.endswith("_spec.rb") for path in files):
        return Found(BuildSystem.RUBY, f"{bundled}rspec", set_up)
    tests = any(path.startswith("test/") and path.endswith(".rb") for path in files)
    runs = tests and "Rakefile" in manifests
    return Found(BuildSystem.RUBY, f"{bundled}rake test" if runs else "", set_up)
