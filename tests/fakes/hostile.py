"""Ten thousand texts as somebody would write them who wants to mention, link, forge or type something. Always the same."""

from __future__ import annotations

import random

COUNT = 10_000
PARTS = (
    *(
        "<!channel>",
        "<!here>",
        "<!everyone>",
        "<@U0001>",
        "<@W1|you>",
        "<!subteam^S1|all>",
        "<#C1|x>",
    ),
    *(
        "<!date^1392734382^{date}|x>",
        "<http://e.example|x>",
        "<mailto:a@b.c|x>",
        "&lt;!channel&gt;",
    ),
    *("&amp;lt;!here&amp;gt;", "&", "<", ">", "|", "@room", "@everyone", "@here", ":smile:"),
    *(
        "```",
        "``",
        "`",
        "*",
        "_",
        "~",
        "> ",
        "# ",
        "- ",
        "1. ",
        "[x](http://e.example)",
        "](",
        "![",
    ),
    *(
        "<mx-reply>",
        "</blockquote>",
        "<script>",
        "<a href='javascript:x()'>",
        "<b>",
        "data-mx-pill",
    ),
    *(
        "https://matrix.to/#/@a:hs",
        "@a:hs",
        "<img src=x onerror=y>",
        "'",
        '"',
        "\\",
        "/",
        "\n",
        "\t",
    ),
    *(
        ";",
        "-l",
        "--help",
        "$(id)",
        "${x}",
        "#{pane_pid}",
        "%0",
        "C-c",
        "Enter",
        "日本語",
        "🙂",
        "é",
    ),
    *("word", "another", " ", "  ", "0", "approve", "run it", "{}", '{"v":"approve"}', "||", "&&"),
)


def texts(count: int = COUNT, seed: int = 7) -> list[str]:
    chance = random.Random(seed)  # noqa: S311 - a seed, so that they are the same each time
    return ["".join(chance.choices(PARTS, k=chance.randint(3, 9))) for _ in range(count)]
