"""How far are the estimates of tokens from the tokenizers that count them?

    npm install --prefix .bench-tokens gpt-tokenizer      (once; node counts, without any network)
    python -m benchmarks.tokens

Shown for texts of three kinds: what o200k and cl100k count, and for each of them the ratio estimate / count of
four characters a token, of three bytes a token, and of the latter after one and after five answers whose usage was reported.
Only below 1 is bad: then more is sent than was planned. Reports are about the first half of a text, estimates about the second.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.ground import ROOT
from benchmarks.table import Unit, beside, hand_in, lacking
from bot.core.llm import Usage, corrected_scale, estimate_tokens

PACKAGE = ROOT / ".bench-tokens" / "node_modules" / "gpt-tokenizer"
ENCODINGS = ("o200k_base", "cl100k_base")
LONGEST = 200_000
WHAT = "tokens estimated"
MOST = 1.5
"""Times what is sent may be overrated: the window of a model is filled no further than this allows."""
COUNT = """
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const counts = {};
for (const name of process.argv.slice(2)) {
  const { encode } = require(`${process.argv[1]}/cjs/encoding/${name}.js`);
  counts[name] = texts.map((text) => encode(text, { disallowedSpecial: new Set() }).length);
}
console.log(JSON.stringify(counts));
"""
JAPANESE = """\
# 注文の下書きを保存する

お店の注文画面では、途中で画面を閉じると、入力した内容がすべて消えてしまいます。お客様からは「電話がかかってきたので閉じたら、
最初から入力し直しになった」という声を何度もいただいています。そこで、入力の途中でも自動的に下書きとして保存し、次に開いたときに
続きから始められるようにしてください。

## 期待する動き

- 入力が止まってから三秒たったら、自動的に保存する。保存中であることは小さな印で知らせ、入力の邪魔はしない。
- 下書きは一人につき最大十件まで。十一件目を保存するときは、いちばん古いものを消す前に必ず確認する。
- 注文が確定したら、その下書きはすぐに削除する。確定に失敗した場合は残しておき、もう一度やり直せるようにする。
- 通信が切れているあいだは端末の中に保存し、つながったら送る。同じ下書きが二つの端末で変更されていた場合は、
  どちらを残すかを利用者に選んでもらう。黙って上書きしてはいけない。

## 気をつけてほしいこと

クレジットカードの番号や暗証番号は、下書きに絶対に含めないでください。住所と電話番号は暗号化して保存します。保存の期限は三十日で、
期限を過ぎたものは夜間の処理で削除します。また、既存の注文処理の速さが目に見えて落ちないことを、変更の前後で測って示してください。

テストは、保存、読み込み、競合、期限切れ、通信の切断のそれぞれについて書いてください。設計で迷うところがあれば、作業を始める前に
まとめて質問してください。推奨する案とその理由を添えていただけると、すぐに返事ができます。
"""


def texts() -> dict[str, str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return {
        "Japanese": JAPANESE,
        "English": joined(pages),
        "Python": joined(sorted((ROOT / "bot").rglob("*.py"))),
    }


def joined(files: Iterable[Path]) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in files)[:LONGEST]


def counted(pieces: list[str]) -> Mapping[str, list[int]]:
    """By encoding, the tokens of each piece; nothing where nobody can count."""
    node = shutil.which("node")
    if node is None or not PACKAGE.is_dir():
        missing = "node" if node is None else f"{PACKAGE.relative_to(ROOT)}"
        hand_in(lacking("", WHAT, f"there is no {missing}; how to get it stands in tokens.py."))
        return {}
    done = subprocess.run(
        [node, "-e", COUNT, str(PACKAGE), *ENCODINGS],
        input=json.dumps(pieces).encode(),
        check=True,
        capture_output=True,
    )
    counts: dict[str, list[int]] = json.loads(done.stdout)
    return counts


def learnt(sent: str, tokens: int, reports: int) -> float:
    scale = 1.0
    for _ in range(reports):
        scale = corrected_scale(Usage(prompt_tokens=tokens, estimated=estimate_tokens(sent)), scale)
    return scale


def main() -> None:
    halves = {
        name: (text[: len(text) // 2], text[len(text) // 2 :]) for name, text in texts().items()
    }
    counts = counted([half for pair in halves.values() for half in pair])
    columns = ("characters", "bytes", "chars / 4", "bytes / 3")
    print(f"{'text':<10}" + "".join(f" {column:>11}" for column in columns))
    for name, (_, text) in halves.items():
        figures = (len(text), len(text.encode()), -(-len(text) // 4), estimate_tokens(text))
        print(f"{name:<10}" + "".join(f" {figure:>11}" for figure in figures))
    for encoding, tokens in counts.items():
        columns = ("tokens", "chars / 4", "bytes / 3", "1 report", "5 reports")
        print(f"{encoding:<14}" + "".join(f" {column:>11}" for column in columns))
        for number, (name, (sent, text)) in enumerate(halves.items()):
            seen, true = tokens[2 * number : 2 * number + 2]
            scales = (1.0, learnt(sent, seen, 1), learnt(sent, seen, 5))
            ratios = [
                len(text) / 4 / true,
                *(estimate_tokens(text, scale) / true for scale in scales),
            ]
            print(f"  {name:<12} {true:>11}" + "".join(f" {ratio:>11.2f}" for ratio in ratios))
            what = f"{WHAT}, {name}, after five answers"
            counted_by = f"by {encoding}"
            guess = estimate_tokens(text, scales[-1])
            hand_in(
                beside("", what, guess, true, of=counted_by, most=MOST, unit=Unit.COUNT),
            )


if __name__ == "__main__":
    main()
