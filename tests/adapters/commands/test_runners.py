"""What real test runners report of a small repository. A runner that is not on this machine is skipped, and named."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.commands.shell import ShellCommands
from bot.core.checks import compare
from bot.core.runs import Executed

pytestmark = pytest.mark.slow
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin></plugins></build></project>
"""
GRADLE = """apply plugin: 'java'
dependencies {
    def jars = files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest.jar')
    if (gradle.gradleVersion.startsWith('4.')) { testCompile jars } else { testImplementation jars }
}
test { reports.junitXml.enabled = false; ignoreFailures = true }
"""
JUNIT4 = """package shop;
import org.junit.*;
public class PriceTest {
    @Test public void adds() { Assert.assertEquals(3, 1 + 2); }
    @Test public void rounds() { Assert.assertEquals(4, 1 + 2); }
    @Test @Ignore public void later() {}
}
"""
JUNIT5 = """package shop;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
class PriceTest {
    @Test void adds() { Assertions.assertEquals(3, 1 + 2); }
    @Test void rounds() { Assertions.assertEquals(4, 1 + 2); }
    @Test @Disabled void later() {}
    @ParameterizedTest @ValueSource(ints = {1, 2}) void each(int n) { Assertions.assertTrue(n > 0); }
}
"""
GO = """package price

import "testing"

func TestAdds(t *testing.T) {
	t.Run("up to", func(t *testing.T) {})
}
func TestRounds(t *testing.T) { t.Fatal("no") }
func TestLater(t *testing.T) { t.Skip("later") }
"""
RUST = """/// ```
/// assert_eq!(shop::two(), 2);
/// ```
pub fn two() -> u32 { 2 }
#[cfg(test)]
mod tests {
    #[test]
    fn adds() {}
    #[test]
    fn rounds() { panic!("no") }
    #[test]
    #[ignore = "later"]
    fn later() {}
}
"""
RSPEC = """RSpec.describe 'Price' do
  it('adds') { expect(1 + 2).to eq 3 }
  it('rounds') { expect(1 + 2).to eq 4 }
  it 'later'
end
"""
MINITEST = """require 'minitest/autorun'
class PriceTest < Minitest::Test
  def test_adds; assert_equal 3, 1 + 2; end
  def test_rounds; assert_equal 4, 1 + 2; end
  def test_later; skip; end
end
"""
PHP = """<?php
final class PriceTest extends PHPUnit\\Framework\\TestCase {
  public function testAdds(): void { $this->assertSame(3, 1 + 2); }
  public function testRounds(): void { $this->assertSame(4, 1 + 2); }
  public function testLater(): void { $this->markTestSkipped(); }
}
"""
BATS = '@test "adds" { true; }\n@test "rounds" { false; }\n@test "later" { skip; }\n'
CTEST = "enable_testing()\nadd_test(NAME adds COMMAND true)\nadd_test(NAME rounds COMMAND false)\n"


@dataclass(frozen=True)
class Runner:
    program: str
    command: str
    files: Mapping[str, str]
    """Two projects where it can be: the first one fails, and the second one must have been run all the same."""
    passed: str
    failed: str
    skipped: str = ""

    def __str__(self) -> str:
        return self.program


RUNNERS = [
    Runner(
        "go",
        "go test ./...",
        {"go.mod": "module shop\n\ngo 1.18\n", "price/price.go": "package price\n", "price/price_test.go": GO},
        "shop/price.TestAdds shop/price.TestAdds/up_to",
        "shop/price.TestRounds",
        "shop/price.TestLater",
    ),
    Runner(
        "cargo",
        "cargo test --offline",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": RUST,
            "tests/whole.rs": "#[test]\nfn adds() {}\n",
        },
        "src/lib.rs (shop) > tests::adds,tests/whole.rs (whole) > adds,doc (shop) > src/lib.rs - two",
        "src/lib.rs (shop) > tests::rounds",
        "src/lib.rs (shop) > tests::later",
    ),
    Runner(
        "gradle",
        "gradle --offline test",
        {
            "settings.gradle": "rootProject.name = 'shop'\ninclude 'a', 'b'\n",
            **{f"{one}/build.gradle": GRADLE for one in "ab"},
            "a/src/test/java/shop/PriceTest.java": JUNIT4,
            "b/src/test/java/shop/OtherTest.java": JUNIT4.replace("PriceTest", "OtherTest"),
        },
        "shop.PriceTest.adds shop.OtherTest.adds",
        "shop.PriceTest.rounds shop.OtherTest.rounds",
        "shop.PriceTest.later shop.OtherTest.later",
    ),
    Runner(
        "mvn",
        "mvn -o -q -B test",
        {"pom.xml": POM, "src/test/java/shop/PriceTest.java": JUNIT5},
        "shop.PriceTest.adds shop.PriceTest.each(int)[1] shop.PriceTest.each(int)[2]",
        "shop.PriceTest.rounds",
        "shop.PriceTest.later",
    ),
    Runner(
        "rspec",
        "(cd a && rspec); (cd b && rspec)",
        {"a/spec/price_spec.rb": RSPEC, "b/spec/price_spec.rb": RSPEC, "a/.rspec": "--format documentation\n"},
        "a/spec/price_spec.rb > Price adds,b/spec/price_spec.rb > Price adds",
        "a/spec/price_spec.rb > Price rounds,b/spec/price_spec.rb > Price rounds",
        "a/spec/price_spec.rb > Price later,b/spec/price_spec.rb > Price later",
    ),
    Runner(
        "rake",
        "rake test",
        {
            "Rakefile": "require 'rake/testtask'\nRake::TestTask.new { |t| t.pattern = 'test/*_test.rb' }\n",
            "test/price_test.rb": MINITEST,
        },
        "PriceTest#test_adds",
        "PriceTest#test_rounds",
        "PriceTest#test_later",
    ),
    Runner(
        "phpunit",
        "phpunit a; phpunit b",
        {"a/PriceTest.php": PHP, "b/OtherTest.php": PHP.replace("PriceTest", "OtherTest")},
        "PriceTest.testAdds OtherTest.testAdds",
        "PriceTest.testRounds OtherTest.testRounds",
        "PriceTest.testLater OtherTest.testLater",
    ),
    Runner("bats", "bats test", {"test/price.bats": BATS}, "price.bats.adds", "price.bats.rounds", "price.bats.later"),
    Runner(
        "ctest",
        "cmake -B build . && ctest --test-dir build",
        {"CMakeLists.txt": f"cmake_minimum_required(VERSION 3.10)\nproject(shop NONE)\n{CTEST}"},
        "adds.adds",
        "rounds.rounds",
    ),
]  # fmt: skip


def runs(folder: Path, command: str, files: Mapping[str, str]) -> Executed:
    """In a tree of these files, with a blank in the path of what is reported."""
    for name, text in files.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_text(text, encoding="utf-8")
    commands, log = ShellCommands(os.environ, str), str(folder / "the log" / "check.log")
    return asyncio.run(commands.test(str(folder / "tree"), command, seconds=120, log=log))


def names(text: str) -> set[str]:
    return set(text.split("," if " > " in text else None))


@pytest.mark.parametrize("runner", RUNNERS, ids=str)
def test_each_runner_tells_which_tests_ran_and_goes_on_after_a_failure(
    tmp_path: Path, runner: Runner
) -> None:
    if not shutil.which(runner.program):
        pytest.skip(f"{runner.program} is not installed")
    done = runs(tmp_path, runner.command, runner.files)
    if "in offline mode" in done.output:
        pytest.skip(f"{runner.program} lacks a plugin here, and there is no network")
    assert done.report, done.output
    assert set(done.report.named("passed")) == names(runner.passed)
    assert set(done.report.named("failed")) == names(runner.failed)
    assert set(done.report.named("skipped")) == names(runner.skipped)
    assert done.report.complete
    assert compare(done.report, None).new_failures == len(names(runner.failed))


ENDED = [
    (
        "cargo",
        "cargo test --offline",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "#[test]\nfn ends() { std::process::exit(0) }\n",
        },
    ),
    ("rspec", "rspec", {"spec/price_spec.rb": RSPEC.replace("it 'later'", "it('ends') { exit! 0 }")}),
    (
        "go",
        "go test ./...",
        {
            "go.mod": "module shop\n\ngo 1.18\n",
            "a_test.go": 'package shop\nimport ("os"; "testing")\nfunc TestMain(*testing.M) { os.Exit(0) }\n',
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("program", "command", "files"), ENDED, ids=[one[0] for one in ENDED])
def test_a_run_that_its_tests_have_ended_with_success_is_a_sign(
    tmp_path: Path, program: str, command: str, files: Mapping[str, str]
) -> None:
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    done = runs(tmp_path, command, files)
    assert done.exit_code == 0, done.output
    assert compare(done.report, None).signs
