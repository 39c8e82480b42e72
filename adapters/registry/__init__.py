"""The `.forge` folder of a repository: intents, drafts, observations and histories as files of people and of the bot."""

from adapters.registry.registry import ForgeRegistry

__all__ = ["ForgeRegistry"]
