"""What the played model writes in Japanese."""

from __future__ import annotations

from adapters.played.script.request import FRACTION, SEVERAL, UNKNOWN, PlayedQuestion
from adapters.played.script.texts import (
    DocumentPhrases,
    PartText,
    PieceText,
    ReplyPhrases,
    Texts,
)

_QUESTIONS = (
    PlayedQuestion(
        "1つの買い物かごで複数の割引コードを併用できますか？",
        "1回の注文で店がどこまで値引きするかが決まります。",
        ("いいえ、1つの買い物かごに1つだけ", "はい、順に適用する"),
        SEVERAL,
        "checkout",
    ),
    PlayedQuestion(
        "割引率の計算で残る1セント未満の端数はどうしますか？",
        "価格は整数のセントなので、端数の行き先が必要です。",
        ("店に有利になるよう切り捨てる", "四捨五入する"),
        FRACTION,
        "discount",
    ),
    PlayedQuestion(
        "発行されていないコードが入力されたとき、会計はどうしますか？",
        "入力の間違いはよくあり、黙って続けると価格の誤りに見えます。",
        ("会計を止めてそのコードを示す", "割引なしで続ける"),
        UNKNOWN,
        "checkout",
    ),
)
_PIECES = {
    "discount": PieceText(
        title="割引コード (Discount codes)",
        description="発行済みのコードと、それぞれが合計から引く額を知るモジュールを書く。金額は整数のセントのまま。テストを先に書く。",
        module="がコードを知っている",
        acceptance=(
            "WELCOME10 は合計 2000 から 200 を引く",
            "1セント未満の端数は切り捨てる",
            "未発行のコードは拒否され、そのコードが示される",
        ),
        story="お客様がニュースレターのコードを使って安く買いたい。",
        why="コードはすでに配られており、使えない日が続くとお客様ががっかりします。",
        trial="コードが合計からいくら引くかを尋ね、割引率と比べます。",
        scenarios=(
            "**Given** 合計 20.00、**When** コード WELCOME10 を使う、**Then** 2.00 が引かれる。",
            "**Given** 合計 9.99、**When** 10% を引く、**Then** 端数は決定のとおりに扱われる。",
            "**Given** 未発行のコード、**When** それを使う、**Then** 名前を示して拒否される。",
        ),
        requirements=(
            "店は発行済みのコードの割引率を合計から引かなければならない (MUST)。",
            "1セント未満の端数は決定のとおりに扱わなければならない (MUST): {fraction}。",
            "店は未発行のコードを拒否し、そのコードを示さなければならない (MUST)。",
        ),
        edges=("小文字や前後に空白のあるコード: 有効とする。",),
        entities=("**割引コード**: 単語と、それが引く割引率。",),
        criteria=("合計 0.00 から 100.00 まで、どのコードも割引率どおりに引く。",),
    ),
    "receipt": PieceText(
        title="印刷用レシート (Printable receipt)",
        description="買い物かごを幅 {width} 桁のレシートとして印刷するモジュールを書く。商品は1行ずつ、合計はその下。テストを先に書く。",
        module="が買い物かごを印刷する",
        acceptance=(
            "どの行もちょうど {width} 桁である",
            "205 セントは 2.05 と印刷される",
            "最後の行に合計がある",
        ),
        story="レジが、買ったものを幅 {width} 桁の紙に印刷する。",
        why="コードがなくても役に立ちますが、急ぎではありません。",
        trial="買い物かごを印刷し、紙の幅と比べます。",
        scenarios=(
            "**Given** 買い物かご、**When** レシートを印刷する、**Then** どの行もちょうど {width} 桁である。",
            "**Given** 2.05 の商品、**When** レシートを印刷する、**Then** 2.05 と書かれる。",
        ),
        requirements=(
            "レシートは各商品の名前、数量、価格、金額と、合計を示さなければならない (MUST)。",
            "レシートの各行はちょうど {width} 桁で、セントは2桁でなければならない (MUST)。",
        ),
        edges=(
            "長すぎる名前: 途中で切る。",
            "空の買い物かご: 合計だけを印刷する。",
        ),
        criteria=("レシートのどの行も紙の幅を超えない。",),
    ),
    "checkout": PieceText(
        title="割引つきの会計 (Checkout with discounts)",
        description="会計を書く。買い物かごの請求額を出し、{discount} のモジュールで割引コードを最大1つ適用する。テストを先に書く。",
        module="が請求額を出し、割引額を尋ねる",
        acceptance=(
            "コードなしでは合計の全額が請求される",
            "コードがあれば合計、割引額、請求額を示す",
            "未発行のコードでは会計が止まる",
        ),
        story="お客様が合計と割引額と支払額を確認する。",
        why="コードをレジで使えるようにします。コードが先に必要です。",
        trial="コードあり、なしで会計します。",
        scenarios=(
            "**Given** コードのない買い物かご、**When** 会計する、**Then** 合計の全額が請求される。",
            "**Given** コードのある買い物かご、**When** 会計する、**Then** 合計、割引額、請求額が示される。",
        ),
        requirements=(
            "会計は合計、割引額、請求額を示さなければならない (MUST)。複数のコード: {several}。未発行のコード: {unknown}。",
        ),
        entities=("**請求**: 買い物かごの合計、割引額、請求額。",),
        criteria=("請求額と割引額の和は常に合計に等しい。",),
    ),
    "export": PieceText(
        title="買い物かごのCSV出力 (CSV export)",
        description="買い物かごを CSV として出すモジュールを書く。商品ごとに1行、{discount} のモジュールによる割引額、最後に合計。金額は整数のセントのまま。テストを先に書く。",
        module="が買い物かごを CSV で出す",
        acceptance=(
            "各商品は名前、数量、価格、金額の1行で、金額は整数のセントである",
            "コードがあれば割引額が1行になる",
            "カンマを含む名前は引用符で囲まれる",
        ),
        story="店主が買い物かごを表計算ソフトで開く。",
        why="ほかの計画のあとで求められました。",
        trial="任意の CSV リーダーで読み、金額を足します。",
        scenarios=(
            "**Given** 買い物かご、**When** 出力する、**Then** 商品ごとに1行あり、最後の行が合計である。",
        ),
        requirements=(
            "出力は商品ごとに1行を持ち、金額は整数のセントでなければならない (MUST)。",
            "出力は割引後の請求額で終わらなければならない (MUST)。",
        ),
        edges=("カンマや引用符を含む名前: 引用符で囲む。",),
        criteria=("出力の金額の和は最後の行に等しい。",),
    ),
    "history": PieceText(
        title="注文履歴 (Order history)",
        description="注文とそのときの請求額を覚えておくモジュールを書く。テストを先に書く。",
        module="が注文を覚えている",
        acceptance=(
            "注文は届いた順に 1 から番号が付く",
            "すべての注文の合計は整数のセントである",
        ),
        story="お客様が以前の注文を確認する。",
        why="これを待つものはほかにありません。",
        trial="2回注文し、履歴を見ます。",
        scenarios=(
            "**Given** 2つの注文、**When** 履歴を示す、**Then** 両方が番号とともに示される。",
        ),
        requirements=("店はすべての注文を番号と請求額とともに覚えなければならない (MUST)。",),
        entities=("**注文**: 番号と請求額。",),
        criteria=("履歴に欠けている注文はない。",),
    ),
}
_PARTS = (
    PartText("会計での割引コード", "割引コードと、それを使う会計だけ。", ("discount", "checkout")),
    PartText("印刷用レシート", "ほかの計画にかかわらず、印刷用レシートだけ。", ("receipt",)),
    PartText("注文履歴", "お客様の注文の履歴だけ。", ("history",)),
)
_DOCUMENTS = DocumentPhrases(
    wish="変更の要望:",
    held="要望“{wish}”に照らして確かめる",
    scenario="**Given** 要望“{wish}”、**When** 成果を示す、**Then** それに照らして確かめる。",
    revised="次の要望により改訂: “{wish}”",
    follow_up="改訂 (Revision): {title}",
    defaults_built="演じられたエージェントは、上の決定にかかわらず既定の答えのとおりに作ります。",
    conventions="CLAUDE.md の規約に従います。金額は整数のセントで、テストを先に書きます。",
    settled="食い違いは解消しました。依頼のうち後に書かれたほうを採ります。",
)
_REPLIES = ReplyPhrases(
    risk="モジュールを足すだけで、今あるものは変わりません。",
    continues="依頼が「{title}」を名指ししています。",
    finding="コードの一覧はモジュールの中にあるため、新しいコードには新しいリリースが必要です。",
    advice="当面はこれでよいことを文書に書いてください。",
    contradiction="仕様に矛盾があります。",
    contradiction_advice="どちらを採るかを書いてください。",
    no_acceptance="{key} には完了の条件がありません",
    played="（これは演じられた答えです。モデルは何も考えていません。）",
    nobody_at_work="まだタスクはありません。",
    states="{key} {name}: {state}。",
    welcome="どういたしまして。",
    change="これまでと違うものが求められています。",
    question="質問であり、変更は求められていません。",
    talk="ボットへの依頼はありません。",
    touched="「{name}」は変更が挙げるもの（{cues}）を扱います。",
    named="変更が {key} を名指ししています。",
    untouched="これを扱うタスクはありません。",
    next_step="通常の次の手順です。",
    goes_on="ここで作ったものの続きが求められています。",
    starts_new="ここで作ったものとは関係がありません。",
    judged="成果はあり、結果はチェックのとおりです。差分は読んでいません。",
    failed="テストが失敗しています。",
    unmet="依頼のとおりに演じて、タスクの一部が抜けています。",
    doubtful="これが意図どおりかは人にしか判断できません。",
    oversized="依頼のとおりに演じて、このタスクは一つのエージェントには大きすぎます。",
    suspicious="誰も求めていない形でテストが変更されています。",
    take_back="これを元に戻してください: {says}",
    reportless="報告がありません。",
    report_wanted="何がどこで見つかったかを書いてください。",
    part="分割 {number} (part): {name}",
    whole="どの要件も完了したタスクが満たしています。",
    unserved="{id} を満たす完了したタスクがありません。",
    unplanned="計画より多くのことが求められています: {title}。",
    told="これまでの話の要約:",
    finished="それまでに完了: {tasks}。",
    pull="## 内容 (What)\n\n{what}\n\n## 影響 (Impact)\n\n{files} だけを変更します。\n\n## テスト (Tests)\n\n{tests}\n\n{played}\n",
    sums="{all} 件のうち {done} 件のタスクが完了しました。決定は {decisions} 件、チェックは {checks} 回です。{played}",
    branch="{commits} 件のコミットが {files} 個のファイルを変更しています。最新: {subject}。マージの前に差分を見てください。{played}",
)
JAPANESE = Texts(
    "Japanese",
    "割引コードと印刷用レシート",
    "この計画は演じられたものです。モデルは何も考えていません。デモの演じられたモデルは、どの依頼にも見本のリポジトリ用のタスクで答えます。",
    _QUESTIONS,
    _PIECES,
    _PARTS,
    _DOCUMENTS,
    _REPLIES,
)
