"""In which language people are answered: that of their request, as far as it can be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.languages import is_in_language, language_of

SPEC = """# Feature Specification: 割引コード

**Feature Branch**: `agent/spec-1a2b3c4d`

## User Scenarios & Testing

### User Story 1 - コードを入力する (Priority: P1)

買い物客が割引コードを入力すると合計が下がります。

1. **Given** かごに商品がある, **When** コードを入力する, **Then** 合計が下がる

## Requirements

- **FR-001**: `POST /basket/codes` は割引コードを受け取り MUST 合計を計算し直す。
"""


@pytest.mark.parametrize(
    "text",
    [
        "ログインを直して",
        "OAuth2 を使って GitHub Login を実装してください",
        "src/auth/login.py の LoginForm を修正して",
        "ボタンのラベルを `Submit order` に変更する",
        SPEC,
    ],
)
def test_japanese_is_known_by_its_kana_also_among_foreign_names(text: str) -> None:
    assert language_of(text) == "Japanese"
    assert is_in_language(text, "Japanese")


@pytest.mark.parametrize(
    "text",
    [
        "Add discounts",
        "Fix the login, please",
        "Rename the button 送信 to Send in every form of the shop",
        "Use `utf8mb4` in src/db.py",
    ],
)
def test_english_is_known_by_its_letters_also_where_a_word_is_quoted(text: str) -> None:
    assert language_of(text) == "English"
    assert is_in_language(text, "English")


SENTENCES = {
    "German": "Bitte füge das Suchfeld für die Kunden hinzu, und zeige eine Meldung, wenn nichts gefunden wird.",
    "French": "Ajoute un champ de recherche pour les clients, et affiche un message quand il ne trouve pas.",
    "Spanish": "Añade un buscador para los clientes y muestra un mensaje cuando no se encuentra nada.",
    "Italian": "Aggiungi un campo di ricerca per i clienti e mostra un messaggio quando non trova nulla della lista.",
    "Portuguese": "Adicione uma busca para os clientes e mostre uma mensagem quando não há resultados.",
    "Dutch": "Voeg een zoekveld toe voor de klanten en toon een bericht wanneer er niet iets wordt gevonden.",
    "Swedish": "Lägg till ett sökfält för kunder och visa ett meddelande när det inte finns något att visa.",
    "Finnish": "Lisää hakukenttä asiakkaille ja näytä viesti, kun mitään ei löydy tai se on tyhjä.",
    "Polish": "Dodaj pole wyszukiwania dla klientów i pokaż komunikat, gdy nic się nie znajdzie.",
    "Czech": "Přidej vyhledávací pole pro zákazníky a zobraz zprávu, když se nic nenajde nebo je prázdné.",
    "Hungarian": "Kell egy keresőmező az ügyfeleknek, és egy üzenet is, ha nem található semmi.",
    "Romanian": "Adaugă un câmp de căutare pentru clienți și afișează un mesaj când nu este găsit nimic.",
    "Turkish": "Müşteriler için bir arama alanı ekle ve sonuç olmadığında bir mesaj göster, lütfen.",
    "Vietnamese": "Thêm ô tìm kiếm cho khách hàng và hiển thị thông báo khi không có kết quả.",
    "Indonesian": "Tambahkan kolom pencarian untuk pelanggan dan tampilkan pesan jika tidak ada hasil.",
    "Russian": "Исправь вход в систему и добавь сообщение, если пароль не подходит.",
    "Ukrainian": "Виправ вхід до системи та додай повідомлення, якщо пароль не підходить.",
    "Arabic": "أضف حقل بحث للعملاء مع رسالة إذا لم توجد أي نتيجة في القائمة عن هذا",
    "Persian": "یک فیلد جستجو برای مشتریان اضافه کن و اگر نتیجه ای نبود پیام را نشان بده",
    "Hindi": "ग्राहकों के लिए खोज जोड़ें और जब कुछ नहीं मिले तो संदेश दिखाएँ",
    "Chinese": "请修复登录页面的错误，并为它添加测试，说明原因。",
    "Korean": "로그인 오류를 수정하고 실패하면 메시지를 보여 주세요",
    "Greek": "Διόρθωσε τη σύνδεση και εμφάνισε ένα μήνυμα",
    "Hebrew": "תקן את הכניסה למערכת והצג הודעה",
    "Thai": "แก้ไขการเข้าสู่ระบบและแสดงข้อความ",
    "Japanese": "ログインを直して、失敗したらメッセージを表示してください",
    "English": "Add a search field for the customers, and show a message when nothing is found.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_request_is_answered_in_its_own_language(language: str) -> None:
    text = SENTENCES[language]
    assert language_of(text) == language
    assert is_in_language(text, language)
    assert is_in_language(
        f"# Feature Specification\n\n**FR-001**: {text}\n\n`npm run build`", language
    )


@pytest.mark.parametrize("language", SENTENCES)
def test_an_answer_in_any_other_language_is_noticed(language: str) -> None:
    fits = {wanted for wanted in SENTENCES if is_in_language(SENTENCES[language] * 3, wanted)}
    assert fits == {language}


@pytest.mark.parametrize("text", [
    "", "12345 !!", "割引機能追加", "Ngeza inkundla yokusesha kubathengi", "Update die rolls",
    "Søg", "हटाएँ", "Ааа Ббб",
])  # fmt: skip
def test_what_cannot_be_told_is_left_open(text: str) -> None:
    assert language_of(text) in {"", "English"}
    if not text.isascii():
        assert language_of(text) == ""
    for sentence in SENTENCES.values():
        assert is_in_language(sentence, "")
        assert is_in_language(sentence, "Klingon")


def test_an_answer_in_the_other_language_does_not_fit() -> None:
    assert not is_in_language("Shall discount codes be combined with each other?", "Japanese")
    assert not is_in_language("割引コードは同時に使えるようにしますか？", "English")
    assert not is_in_language("是否允许同时使用多个优惠码？请说明原因。", "Japanese")


def test_a_document_of_headings_and_labels_in_english_may_be_japanese_all_the_same() -> None:
    assert is_in_language(SPEC, "Japanese")
    assert not is_in_language(SPEC, "English")


@pytest.mark.parametrize(
    "text", ["OK", "JWT", "OAuth2", "T001", "`npm run build --workspaces`", ""]
)
def test_a_few_letters_and_code_fit_everywhere(text: str) -> None:
    assert is_in_language(text, "Japanese")
    assert is_in_language(text, "English")


def test_code_is_not_read() -> None:
    code = "```python\ndef combined_codes_are_refused(basket): raise ValueError\n```\n"
    assert language_of(f"{code}このコードを直して") == "Japanese"
    assert is_in_language(code, "Japanese")
    assert is_in_language("```\n" + "never closed " * 50, "Japanese")


@given(st.text())
def test_any_text_can_be_told_or_not(text: str) -> None:
    assert is_in_language(text, language_of(text)) or len(text) < 200
    assert is_in_language(text, "")


def test_a_long_line_of_one_sign_is_read_in_one_go() -> None:
    for sign in "`*./_#aA1-あ":
        assert language_of(sign * 200_000) in {"Japanese", "English", ""}
