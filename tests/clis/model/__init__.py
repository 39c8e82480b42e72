"""A model played on the loopback, in the four dialects agent CLIs speak. It does what a script says."""

from tests.clis.model.script import Fail, Say, Shell, Step, Wait
from tests.clis.model.server import Asked, Model, playing

__all__ = ["Asked", "Fail", "Model", "Say", "Shell", "Step", "Wait", "playing"]
