"""A real Matrix homeserver on the loopback, people who talk on it, and a proxy that spoils the way there."""

from tests.beds.synapse.confidant import Confidant
from tests.beds.synapse.people import People
from tests.beds.synapse.person import MatrixError, Person
from tests.beds.synapse.proxy import Fault, Proxy
from tests.beds.synapse.seen import Post, Seen
from tests.beds.synapse.server import Homeserver, Login

__all__ = [
    "Confidant",
    "Fault",
    "Homeserver",
    "Login",
    "MatrixError",
    "People",
    "Person",
    "Post",
    "Proxy",
    "Seen",
]
