"""The files that the corpus changes: small tests as people write them in each language."""

from __future__ import annotations

PYTHON = '''"""Tests of the basket."""

import pytest

from shop.basket import Basket, add, total


@pytest.fixture
def basket():
    return Basket()


def test_an_empty_basket_costs_nothing(basket):
    assert total(basket) == 0


def test_two_items_are_added(basket):
    basket.put("tea", 205)
    basket.put("cup", 1000)
    assert total(basket) == 1205
    assert len(basket) == 2


def test_a_discount_lowers_the_price(basket):
    basket.put("tea", 1000)
    basket.use("WELCOME10")
    assert total(basket) == 900
    assert basket.codes == ["WELCOME10"]


def test_an_unknown_code_is_refused(basket):
    with pytest.raises(ValueError, match="NOPE"):
        basket.use("NOPE")


def test_the_rate_is_exact():
    assert add(0.1, 0.2) == pytest.approx(0.3, abs=1e-9)


def test_add_one():
    assert add(1, 1) == 2


def test_add_two():
    assert add(2, 3) == 5


def test_add_negative():
    assert add(-1, -4) == -5
'''
UNITTEST = """import unittest

from shop import receipt


class ReceiptTest(unittest.TestCase):
    def setUp(self):
        self.lines = receipt.lines([("tea", 205)])

    def test_every_line_is_32_wide(self):
        for line in self.lines:
            self.assertEqual(len(line), 32)

    def test_cents_have_two_digits(self):
        self.assertIn("2.05", self.lines[0])
        self.assertEqual(self.lines[-1].strip(), "total 2.05")

    def test_rounding(self):
        self.assertAlmostEqual(receipt.rate(1, 3), 0.3333333, places=7)


class PaperTest(unittest.TestCase):
    @unittest.skip("no printer here")
    def test_paper_is_cut(self):
        self.assertEqual(receipt.cut(), 1)

    def test_paper_is_fed(self):
        self.assertEqual(receipt.feed(3), 3)


class TestTill:
    def test_it_opens(self):
        assert receipt.till() == "open"
"""
JAVASCRIPT = """import { describe, expect, it } from 'vitest'
import { format, parse, price } from '../src/price'

describe('price', () => {
  it('adds the tax', () => {
    expect(price(100, 0.1)).toBe(110)
  })

  it('rounds half up', () => {
    const result = price(105, 0.1)
    expect(result).toBe(116)
    expect(format(result)).toEqual('1.16')
  })

  it('refuses what is no number', () => {
    expect(() => parse('abc')).toThrow('not a number')
  })

  it('is precise', () => {
    expect(price(1, 0.333)).toBeCloseTo(1.333, 5)
  })

  it('shows the whole list', () => {
    const list = [1, 2, 3].map((one) => format(one))
    expect(list).toEqual(['0.01', '0.02', '0.03'])
    expect(list).toHaveLength(3)
  })
})
"""
GO = """package shop

import (
\t"errors"
\t"testing"
)

func TestTotalOfNothing(t *testing.T) {
\tif got := Total(nil); got != 0 {
\t\tt.Errorf("Total(nil) = %d, want 0", got)
\t}
}

func TestTotal(t *testing.T) {
\tgot := Total([]int{205, 1000})
\tif got != 1205 {
\t\tt.Fatalf("got %d, want 1205", got)
\t}
}

func TestParse(t *testing.T) {
\t_, err := Parse("abc")
\tif !errors.Is(err, ErrNumber) {
\t\tt.Fatalf("got %v, want ErrNumber", err)
\t}
}

func TestAdd(t *testing.T) {
\tif Add(1, 2) != 3 {
\t\tt.Error("1 + 2 is not 3")
\t}
}
"""
RUST = """pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

pub fn parse(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("no number: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_two_numbers() {
        assert_eq!(add(2, 3), 5);
        assert_eq!(add(-2, 3), 1);
    }

    #[test]
    fn parses_a_number() {
        assert_eq!(parse("42"), Ok(42));
    }

    #[test]
    fn refuses_a_word() {
        let error = parse("abc").unwrap_err();
        assert!(error.contains("no number: abc"));
    }
}
"""
JAVA = """package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class PriceTest {

    @Test
    void addsTheTax() {
        assertEquals(110, Price.of(100).withTax(10));
    }

    @Test
    void roundsHalfUp() {
        Price price = Price.of(105);
        assertEquals(116, price.withTax(10));
        assertEquals("1.16", price.format());
    }

    @Test
    void refusesWords() {
        assertThrows(NumberFormatException.class, () -> Price.parse("abc"));
    }
}
"""
RUBY = """require 'spec_helper'

RSpec.describe Basket do
  subject(:basket) { described_class.new }

  it 'costs nothing when it is empty' do
    expect(basket.total).to eq(0)
  end

  it 'adds what is put into it' do
    basket.put('tea', 205)
    basket.put('cup', 1000)
    expect(basket.total).to eq(1205)
    expect(basket.names).to eq(%w[tea cup])
  end

  it 'refuses unknown codes' do
    expect { basket.use('NOPE') }.to raise_error(ArgumentError, /NOPE/)
  end
end
"""
CSHARP = """using Xunit;

namespace Shop.Tests;

public class PriceTests
{
    [Fact]
    public void AddsTheTax()
    {
        Assert.Equal(110, Price.Of(100).WithTax(10));
    }

    [Fact]
    public void RoundsHalfUp()
    {
        var price = Price.Of(105);
        Assert.Equal(116, price.WithTax(10));
        Assert.Equal("1.16", price.Format());
    }

    [Fact]
    public void RefusesWords()
    {
        Assert.Throws<FormatException>(() => Price.Parse("abc"));
    }
}
"""
PHP = """<?php

use PHPUnit\\Framework\\TestCase;

final class PriceTest extends TestCase
{
    public function testAddsTheTax(): void
    {
        $this->assertSame(110, price(100, 10));
    }

    public function testRoundsHalfUp(): void
    {
        $result = price(105, 10);
        $this->assertSame(116, $result);
        $this->assertSame('1.16', format($result));
    }
}
"""
KOTLIN = """package shop

import kotlin.test.Test
import kotlin.test.assertEquals

class BasketTest {
    @Test
    fun `an empty basket costs nothing`() {
        assertEquals(0, Basket().total())
    }

    @Test
    fun `two items are added`() {
        val basket = Basket()
        basket.put("tea", 205)
        assertEquals(205, basket.total())
        assertEquals(listOf("tea"), basket.names())
    }
}
"""
CPP = """#include <gtest/gtest.h>
#include "price.h"

TEST(Price, AddsTheTax) {
  EXPECT_EQ(price(100, 10), 110);
}

TEST(Price, RoundsHalfUp) {
  const auto result = price(105, 10);
  EXPECT_EQ(result, 116);
  EXPECT_EQ(format(result), "1.16");
}
"""
PYPROJECT = """[project]
name = "shop"
version = "1.0"
dependencies = [
  "pydantic>=2",
]

[tool.pytest.ini_options]
addopts = ["-ra", "--strict-markers"]
testpaths = ["tests"]
filterwarnings = ["error"]

[tool.ruff]
line-length = 100

[tool.coverage.report]
fail_under = 90
"""
PACKAGE = """{
  "name": "shop",
  "version": "1.0.0",
  "scripts": {
    "build": "vite build",
    "lint": "eslint .",
    "test": "vitest run --coverage"
  },
  "dependencies": {
    "preact": "^10.0.0"
  }
}
"""
MAKEFILE = """PYTHON := python3

.PHONY: build test clean

build:
\t$(PYTHON) -m build

test:
\t$(PYTHON) -m pytest -q tests
\t$(PYTHON) -m mypy shop

clean:
\trm -rf build dist
"""
WORKFLOW = """name: ci
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: make test
"""
CONFTEST = '''"""Fixtures for all tests."""

import pytest

from shop.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "shop.db")
'''
SOURCE = '''"""The basket."""


def total(basket):
    return sum(item.price for item in basket)


def add(one, other):
    return one + other
'''
SNAPSHOTS = {
    f"web/__snapshots__/page{n}.test.js.snap": "".join(f"line {n} {at}\n" for at in range(9))
    for n in range(6)
}
FILES = {
    "tests/test_basket.py": PYTHON,
    "tests/test_receipt.py": UNITTEST,
    "tests/conftest.py": CONFTEST,
    "shop/basket.py": SOURCE,
    "web/price.test.ts": JAVASCRIPT,
    "shop_test.go": GO,
    "core/src/lib.rs": RUST,
    "src/test/java/shop/PriceTest.java": JAVA,
    "spec/basket_spec.rb": RUBY,
    "dotnet/PriceTests.cs": CSHARP,
    "php/tests/PriceTest.php": PHP,
    "src/test/kotlin/BasketTest.kt": KOTLIN,
    "native/price_test.cc": CPP,
    "pyproject.toml": PYPROJECT,
    "package.json": PACKAGE,
    "Makefile": MAKEFILE,
    ".github/workflows/ci.yml": WORKFLOW,
    **SNAPSHOTS,
}
