"""Screens on which something is asked, as agents and plain programs draw them."""

from __future__ import annotations

RULE = "─" * 120
SOFT = "╌" * 120

TRUST = f"""\
{RULE}
 Accessing workspace:

 /home/ada/shop

 Quick safety check: Is this a project you created or one you trust? (Like your own code, or work from your
 team). If not, take a moment to review what's in this folder first.

 Security guide

 ❯ No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel


"""
BYPASS = f"""\
{RULE}
  WARNING: Claude Code running in Bypass Permissions mode

  By proceeding, you accept all responsibility for actions taken while running in Bypass Permissions mode.

  https://code.claude.com/docs/en/security

  ❯ No, exit
    Yes, I accept

  Enter to confirm · Esc to cancel
"""
API_KEY = f"""\
{RULE}
  Detected a custom API key in your environment

  ANTHROPIC_API_KEY: sk-ant-...

  Do you want to use this API key?

    Yes
  ❯ No (recommended)

  Enter to confirm · Esc to cancel
"""
BASH = f"""\
❯ do the thing

● Work
  ⎿  $ touch x1.txt && curl -s http://shop.test/a | head -5

{RULE}
 Bash command

 Work
{SOFT}
 touch x1.txt && curl -s http://shop.test/a | head -5
{SOFT}

 This command requires approval

 Do you want to proceed?
 ❯ 1. Yes
   2. Yes, and don't ask again for touch x1.txt and curl -s http://shop.test/a commands in
      /home/ada/shop
   3. Yes, and switch to auto mode · auto mode handles these prompts for you
   4. No

 Esc to cancel · Tab to amend
"""
EDIT = """\
╭──────────────────────────────────────────────────────────────────────────╮
│ Edit file                                                                │
│ ╭──────────────────────────────────────────────────────────────────────╮ │
│ │ src/cart.py                                                          │ │
│ │ 1 - old                                                              │ │
│ │ 1 + new  # 1. first                                                  │ │
│ ╰──────────────────────────────────────────────────────────────────────╯ │
│ Do you want to make this edit to cart.py?                                │
│   1. Yes                                                                 │
│ ❯ 2. Yes, allow all edits during this session (shift+tab)                │
│   3. No, and tell Claude what to do differently (esc)                    │
│                                                                          │
╰──────────────────────────────────────────────────────────────────────────╯
"""
QUESTION = f"""\
{RULE}
 ☐ Colour

Which colour should the button have?

❯ 1. Red
     It warns.
  2. Blue
     It calms.
  3. Type something.
{RULE}
  4. Chat about this

Enter to select · ↑/↓ to navigate · Esc to cancel
"""
LIMIT = f"""\
{RULE}
 You've hit your limit · resets 3pm

 What do you want to do?

 ❯ 1. Stop and wait for limit to reset
   2. Upgrade your plan

 Enter to confirm · Esc to cancel
"""
CODEX_TRUST = """\

  Folder access
  /home/ada/shop

  Trust this folder? Codex can read, edit, and run files here, subject to your permission settings. Continue only if you
  trust these files.

› 1. Trust and continue
  2. Back to Agent Command Center

  enter continue · esc back



"""
CODEX = """\
• I will look at the weather.

  Would you like to run the following command?

  Reason: it needs the network

  $ curl -s http://shop.test/weather

› 1. Yes, proceed (y)
  2. Yes, and don't ask again for commands that start with `curl` (p)
  3. No, and tell Codex what to do differently (esc)

  Press enter to confirm or esc to cancel
"""
GEMINI = """\
 > do it
╭──────────────────────────────────────────────────────────────────────────╮
│ ? Shell  touch x2.txt && curl -s http://shop.test/a                      │
│ ╭──────────────────────────────────────────────────────────────────────╮ │
│ │ touch x2.txt && curl -s http://shop.test/a                           │ │
│ ╰──────────────────────────────────────────────────────────────────────╯ │
│ Allow execution of [Shell]?                                              │
│                                                                          │
│ ● 1. Allow once                                                          │
│   2. Allow for this session                                              │
│   3. No, suggest changes (esc)                                           │
╰──────────────────────────────────────────────────────────────────────────╯
 ~/shop (main*)            no sandbox            gemini-2.5-pro (99% context left)
"""
GEMINI_TRUST = """\
 ╭─────────────────────────────────────────────────────────────────────────╮
 │                                                                         │
 │ Do you trust the files in this folder?                                  │
 │                                                                         │
 │ Trusting a folder allows Gemini CLI to load its local configurations.   │
 │                                                                         │
 │                                                                         │
 │ ● 1. Trust folder (shop)                                                │
 │   2. Trust parent folder (ada)                                          │
 │   3. Don't trust                                                        │
 │                                                                         │
 ╰─────────────────────────────────────────────────────────────────────────╯
"""
FAR = " " * 120
OPENCODE = f"""\
  ┃{FAR}A task
  ┃  do it
  ┃{FAR}Context
     ▣  Build · gpt-x
{FAR}    LSPs are disabled
  ┃
  ┃  △ Permission required
  ┃    # Shell command
  ┃
  ┃  $ touch x3.txt && curl -s http://shop.test/a
  ┃
  ┃{FAR}/home/ada/shop:main
  ┃   Allow once   Allow always   Reject                      ctrl+f fullscreen  ⇆ select  enter confirm
  ┃{FAR}• OpenCode 1.18.33
"""
INQUIRER = """\
$ npx create-thing
? Which flavour do you want?
  Vanilla
❯ Chocolate
  Strawberry
"""
NUMBERED_LINES = """\
Where should it go?
  1) Europe
  2) Asia
  3) Nowhere
Enter your choice [1-3]: """
SELECT = """\
Pick a fruit
1) apple
2) pear
#? """
TEN = """\
What shall it be?
❯ 1. one
  2. two
  3. three
  4. four
  5. five
  6. six
  7. seven
  8. eight
  9. nine
 10. ten

 ↑/↓ to navigate
"""
