"""The texts of the played model, in English and in Japanese."""

from __future__ import annotations

from adapters.demo.texts import (
    FRACTION,
    NOTICE,
    QUESTIONS,
    SEVERAL,
    TITLE,
    UNKNOWN,
    DocumentPhrases,
    PartText,
    PieceText,
    PlayedQuestion,
    ReplyPhrases,
    Texts,
)

# English.

_ENGLISH_PIECES = {
    "discount": PieceText(
        title="Discount codes",
        description="Write a module that knows the issued codes and what each takes off a total. "
        "Money stays whole cents. Tests first.",
        module="knows the codes",
        acceptance=(
            "WELCOME10 takes 200 off a total of 2000",
            "A fraction of a cent is dropped",
            "An unknown code is refused, and the refusal names it",
        ),
        story="A customer has a code from a newsletter and wants to pay less with it.",
        why="Codes are already printed; every day without them disappoints customers.",
        trial="Ask what a code takes off a total, and compare with the percentage.",
        scenarios=(
            "**Given** a total of 20.00, **When** the code WELCOME10 is used, **Then** 2.00 are taken off.",
            "**Given** a total of 9.99, **When** ten per cent are taken off, **Then** the fraction of a cent is treated as decided.",
            "**Given** a code nobody has issued, **When** it is used, **Then** it is refused by name.",
        ),
        requirements=(
            "The shop MUST take the percentage of an issued code off a total.",
            "A fraction of a cent MUST be treated as decided: {fraction}.",
            "The shop MUST refuse a code nobody has issued, and name it.",
        ),
        edges=("A code in small letters or with spaces around it: it counts.",),
        entities=("**Discount code**: a word and the percentage it takes off.",),
        criteria=(
            "Every issued code takes exactly its percentage off, on every total from 0.00 to 100.00.",
        ),
    ),
    "receipt": PieceText(
        title="Printable receipt",
        description="Write a module that prints a basket as a receipt of {width} columns: an item a "
        "line, the total below. Tests first.",
        module="prints a basket",
        acceptance=(
            "Every line is exactly {width} columns wide",
            "An amount of 205 cents is printed as 2.05",
            "The total stands on the last line",
        ),
        story="The till prints what was bought, on paper of {width} columns.",
        why="It is useful with or without codes, but nobody waits for it.",
        trial="Print a basket and hold it against the paper's width.",
        scenarios=(
            "**Given** a basket, **When** its receipt is printed, **Then** every line is exactly {width} columns wide.",
            "**Given** an item for 2.05, **When** its receipt is printed, **Then** it says 2.05.",
        ),
        requirements=(
            "A receipt MUST show name, quantity, price and amount of every item, and the total.",
            "Every line of a receipt MUST be exactly {width} columns wide, with two digits for cents.",
        ),
        edges=(
            "A name too long for the receipt: it is cut.",
            "An empty basket: it costs nothing and prints only its total.",
        ),
        criteria=("No line of a receipt is wider than the paper.",),
    ),
    "checkout": PieceText(
        title="Checkout with discounts",
        description="Write the checkout: the bill of a basket, with at most one discount code taken "
        "off by the module of {discount}. Tests first.",
        module="makes the bill and asks for the reduction",
        acceptance=(
            "Without a code the whole total is due",
            "With a code the bill shows total, reduction and what is due",
            "An unknown code stops the checkout",
        ),
        story="A customer sees the total, what the code took off, and what is left to pay.",
        why="It brings codes to the till, and needs them first.",
        trial="Check a basket out with a code and without.",
        scenarios=(
            "**Given** a basket without a code, **When** it is checked out, **Then** the whole total is due.",
            "**Given** a basket with a code, **When** it is checked out, **Then** the bill shows total, reduction and what is due.",
        ),
        requirements=(
            "The checkout MUST show total, reduction and what is due. Several codes in one basket: {several}. An unknown code: {unknown}.",
        ),
        entities=("**Bill**: what a basket costs, what a code takes off, what is due.",),
        criteria=("What is due plus what was taken off is always the total.",),
    ),
    "export": PieceText(
        title="CSV export of the basket",
        description="Write a module that gives a basket as CSV: a row for every item, the reduction "
        "of a code by the module of {discount}, then the total. Money stays whole cents. Tests first.",
        module="writes a basket as CSV",
        acceptance=(
            "Every item is a row of name, quantity, price and amount, in whole cents",
            "With a code the reduction is a row of its own",
            "A name with a comma in it is quoted",
        ),
        story="The shop's owner opens a basket in a spreadsheet.",
        why="It was asked for after the rest was planned.",
        trial="Read an export with any CSV reader and add the amounts up.",
        scenarios=(
            "**Given** a basket, **When** it is exported, **Then** every item is a row and the last row is the total.",
        ),
        requirements=(
            "An export MUST hold a row for every item, with its amount in whole cents.",
            "An export MUST end with what is due, after the reduction of a code.",
        ),
        edges=("A name with a comma or a quotation mark: it is quoted.",),
        criteria=("The amounts of an export add up to its last row.",),
    ),
    "history": PieceText(
        title="Order history",
        description="Write a module that remembers what was ordered and what was due each time. "
        "Tests first.",
        module="remembers orders",
        acceptance=(
            "Orders are numbered from 1 in the order in which they came",
            "What all orders came to is a sum in whole cents",
        ),
        story="A customer looks up what was ordered before.",
        why="Nothing else waits for it.",
        trial="Place two orders and look at the history.",
        scenarios=(
            "**Given** two orders, **When** the history is shown, **Then** both stand there with their numbers.",
        ),
        requirements=("The shop MUST remember every order with its number and what was due.",),
        entities=("**Order**: a number and what was due.",),
        criteria=("No order is missing from the history.",),
    ),
}
_ENGLISH_PARTS = (
    PartText(
        "Discount codes at the checkout",
        "Only the discount codes, and the checkout that takes them.",
        ("discount", "checkout"),
    ),
    PartText(
        "Printable receipt", "Only the printable receipt, whatever else is planned.", ("receipt",)
    ),
    PartText("Order history", "Only the history of a customer's orders.", ("history",)),
)
_ENGLISH_DOCUMENTS = DocumentPhrases(
    wish="A change was asked for:",
    held="The work is held against the wish “{wish}”",
    scenario="**Given** the wish “{wish}”, **When** the work is shown, **Then** it is held against it.",
    revised="Revised for this wish: “{wish}”",
    follow_up="Revision: {title}",
    defaults_built="The played agent builds the default answers, whatever was decided above.",
    conventions="The conventions of CLAUDE.md hold: money is whole cents, and tests come first.",
    settled="What contradicted itself was settled: what the request says last counts.",
)
_ENGLISH_REPLIES = ReplyPhrases(
    risk="It only adds modules; nothing that is there changes.",
    continues="The request names “{title}”.",
    finding="The codes stand in the module, so a new code needs a new release.",
    advice="Say in the documents that this is accepted for now.",
    contradiction="The specification holds a contradiction.",
    contradiction_advice="Say which of the two counts.",
    no_acceptance="{key} does not say when it is done",
    played="(Played: no model has thought about this.)",
    nobody_at_work="There are no tasks yet.",
    states="{key} {name}: {state}.",
    welcome="You are welcome.",
    change="Something else is wanted than before.",
    question="Something is asked, nothing is wanted changed.",
    talk="Nothing is asked of the bot.",
    touched="“{name}” is about what the change names: {cues}.",
    named="{key} is named in the change.",
    untouched="No task is about it.",
    next_step="It is the usual next step.",
    goes_on="It asks for more of what was built here.",
    starts_new="It has nothing to do with what was built here.",
    judged="The work is there and the checks say what they say; the diff was not read.",
    failed="The tests fail.",
    unmet="Something of the task is left out, as the request wants it played.",
    doubtful="Only a person can say whether this is what was meant.",
    oversized="The task is too large for one agent, as the request wants it played.",
    suspicious="Tests were changed in a way nobody asked for.",
    take_back="Take this back: {says}",
    reportless="There is no report.",
    report_wanted="Write down what was found, and where.",
    part="Part {number} of: {name}",
    whole="Every requirement is served by a completed task.",
    unserved="{id} is served by no completed task.",
    unplanned="More is wanted than was planned: {title}.",
    told="What was said before, in short:",
    finished="Finished by then: {tasks}.",
    pull="## What\n\n{what}\n\n## Impact\n\nIt touches {files} and nothing else.\n\n## Tests\n\n{tests}\n\n{played}\n",
    sums="{done} of {all} tasks are completed. {decisions} decisions were taken, and {checks} checks were run. {played}",
    branch="{commits} commits change {files} files, the newest: {subject}. Look at the diff before it is merged. {played}",
)
ENGLISH = Texts(
    "English",
    TITLE,
    NOTICE,
    QUESTIONS,
    _ENGLISH_PIECES,
    _ENGLISH_PARTS,
    _ENGLISH_DOCUMENTS,
    _ENGLISH_REPLIES,
)


_JAPANESE_QUESTIONS = (
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
_JAPANESE_PIECES = {
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
_JAPANESE_PARTS = (
    PartText("会計での割引コード", "割引コードと、それを使う会計だけ。", ("discount", "checkout")),
    PartText("印刷用レシート", "ほかの計画にかかわらず、印刷用レシートだけ。", ("receipt",)),
    PartText("注文履歴", "お客様の注文の履歴だけ。", ("history",)),
)
_JAPANESE_DOCUMENTS = DocumentPhrases(
    wish="変更の要望:",
    held="要望“{wish}”に照らして確かめる",
    scenario="**Given** 要望“{wish}”、**When** 成果を示す、**Then** それに照らして確かめる。",
    revised="次の要望により改訂: “{wish}”",
    follow_up="改訂 (Revision): {title}",
    defaults_built="演じられたエージェントは、上の決定にかかわらず既定の答えのとおりに作ります。",
    conventions="CLAUDE.md の規約に従います。金額は整数のセントで、テストを先に書きます。",
    settled="食い違いは解消しました。依頼のうち後に書かれたほうを採ります。",
)
_JAPANESE_REPLIES = ReplyPhrases(
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
    _JAPANESE_QUESTIONS,
    _JAPANESE_PIECES,
    _JAPANESE_PARTS,
    _JAPANESE_DOCUMENTS,
    _JAPANESE_REPLIES,
)
