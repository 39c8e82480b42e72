"""What every git of the bot's is started with. Its rule: whatever could start a program or ask a question is switched off."""

from __future__ import annotations

SWITCHED_OFF: tuple[str, ...] = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=true",
    "core.askPass=true",
    "core.sshCommand=false",
    "core.alternateRefsCommand=true",
    "core.quotePath=false",
    "sequence.editor=true",
    "credential.helper=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "merge.verifySignatures=false",
    "log.showSignature=false",
    "rerere.enabled=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    # caches beside the objects: an agent can write one in which commits have other parents, and so what is merged
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "pack.useBitmaps=false",
    "worktree.useRelativePaths=false",
    "diff.ignoreSubmodules=dirty",
    "i18n.logOutputEncoding=UTF-8",
    # the other way round: switched on, whatever the repository says
    "protocol.version=2",
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
)
NAME, MAIL = "gwt-bot", "gwt-bot@localhost"
FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    # an agent of the same user can write ~/.gitconfig, too
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "false",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_ALLOW_PROTOCOL": "none",
    # both could tell of other parents than a commit has, and what is merged would be believed; a missing file is no graft
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null/none",
    "GIT_AUTHOR_NAME": NAME,
    "GIT_AUTHOR_EMAIL": MAIL,
    "GIT_COMMITTER_NAME": NAME,
    "GIT_COMMITTER_EMAIL": MAIL,
}
