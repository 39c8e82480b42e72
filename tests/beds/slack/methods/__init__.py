"""Every method of the Web API that is played, by its name."""

from __future__ import annotations

from collections.abc import Callable

from tests.beds.slack.methods import chat, conversations, small, views
from tests.beds.slack.methods.arguments import Arguments
from tests.beds.slack.names import Json
from tests.beds.slack.workspace import Workspace

Method = Callable[[Workspace, Arguments], Json]

METHODS: dict[str, Method] = {
    "auth.test": small.auth_test,
    "chat.postMessage": chat.post_message,
    "chat.postEphemeral": chat.post_ephemeral,
    "chat.update": chat.update,
    "chat.delete": chat.delete,
    "chat.getPermalink": chat.get_permalink,
    "agents.sessions.setStatus": small.set_status,
    "agents.sessions.rename": small.rename,
    "assistant.threads.setSuggestedPrompts": small.set_prompts,
    "conversations.info": conversations.info,
    "conversations.members": conversations.members,
    "conversations.open": conversations.open_,
    "conversations.replies": conversations.replies,
    "conversations.history": conversations.history,
    "reactions.add": small.reactions_add,
    "reactions.remove": small.reactions_remove,
    "reactions.get": small.reactions_get,
    "users.info": small.users_info,
    "usergroups.users.list": small.usergroups_users_list,
    "files.getUploadURLExternal": small.get_upload_url,
    "files.completeUploadExternal": small.complete_upload,
    "views.open": views.open_,
    "views.push": views.push,
    "views.update": views.update,
    "views.publish": views.publish,
}
