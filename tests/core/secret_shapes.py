"""A test table for a secret masker, written without sight of the masker.

Four tuples stand here: ``LABELLED`` (values given away by a label or by what stands round them),
``TOKENS`` (values known by their own shape), ``EMBEDDINGS`` (ways a value stands in text) and
``BENIGN`` (harmless text that must stay unchanged). Every secret is made at call time from the
``random.Random`` that is handed in: ``seeded("any name")`` makes one: so no secret stands in this
file, and the same seed always gives the same text.
"""

import base64
import html
import json
import random
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

DIGITS = "0123456789"
LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEX = "0123456789abcdef"
UPPER_HEX = "0123456789ABCDEF"
LOWER_NUM = LOWER + DIGITS
UPPER_NUM = UPPER + DIGITS
ALNUM = UPPER + LOWER + DIGITS
URL64 = ALNUM + "-_"
BASE32 = UPPER + "234567"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WORD_LINES = (
    "amber anchor autumn bakery barrel basket beacon blanket bottle branch bridge candle carpet "
    "castle cherry copper cotton dancer desert dragon engine falcon feather forest garden ginger "
    "hammer harbor island jacket kettle ladder lantern lemon marble meadow mirror needle orange "
    "pepper pillow planet quartz rabbit ribbon river saddle silver sparrow summer thunder timber "
    "tunnel velvet violet walnut willow winter yellow zebra"
)
WORDS = tuple(_WORD_LINES.split())

Kind = Literal[
    "alnum",
    "base32",
    "base64",
    "basic",
    "digits",
    "encoded",
    "hex",
    "hex64",
    "passphrase",
    "password",
    "pem",
    "recovery",
    "short",
    "symbols",
    "url64",
    "uuid",
    "words",
]
Found = Literal["shape", "joined", "known"]
Part = str | tuple[str, int]
Filled = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A shape whose secret is told only by its label; ``make`` gives text and the secrets in it."""

    name: str
    kind: Kind
    make: Callable[[random.Random], Filled]


@dataclass(frozen=True, slots=True)
class Token:
    """A kind of token known by its own shape; ``make`` gives one such token."""

    name: str
    make: Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Embedding:
    """A way in which a value stands in text.

    ``make`` gives the text and the pieces of which none may be left after masking. ``found`` says
    by what the value can be found: "shape": it stands there whole; "joined": it is whole only
    once line ends, colours or marks between its parts are taken out; "known": only one who knows
    the value can find it (and need not find every such form). Values should be longer than 24
    letters: of cut values only pieces of eight letters and more are named.
    """

    name: str
    found: Found
    make: Callable[[str], Filled]

    @property
    def known_only(self) -> bool:
        """True when the shape is gone, so that only a known value can be found."""
        return self.found == "known"


@dataclass(frozen=True, slots=True)
class Benign:
    """Text that looks like a secret but is none: it must stay as it is."""

    name: str
    text: str


def seeded(name: str) -> random.Random:
    """Give a generator that always starts the same for one name."""
    return random.Random(f"secret shapes: {name}")  # noqa: S311 - test data, not cryptography


# --- making values ---------------------------------------------------------------------------


def _pick(rng: random.Random, letters: str, count: int) -> str:
    return "".join(rng.choices(letters, k=count))


def _b64(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    return base64.b64encode(raw).decode()


def _url64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _mixed(rng: random.Random, marks: str, low: int, high: int) -> str:
    """Give a password with lower, upper, digit and mark, a letter or digit at either end."""
    count = rng.randint(low, high) - 6
    inner = [rng.choice(LOWER), rng.choice(UPPER), rng.choice(DIGITS), rng.choice(marks)]
    inner += rng.choices(ALNUM + marks, k=count)
    rng.shuffle(inner)
    return rng.choice(LOWER + UPPER) + "".join(inner) + rng.choice(ALNUM)


def _uuid(rng: random.Random) -> str:
    raw = _pick(rng, HEX, 32)
    return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-{rng.choice('89ab')}{raw[17:20]}-{raw[20:]}"


def _recovery(rng: random.Random) -> str:
    return f"{_pick(rng, LOWER_NUM, 5)}-{_pick(rng, LOWER_NUM, 5)}"


_VALUES: dict[Kind, Callable[[random.Random], str]] = {
    "alnum": lambda rng: _pick(rng, ALNUM, 40),
    "base32": lambda rng: _pick(rng, BASE32, 32),
    "base64": lambda rng: _b64(rng.randbytes(32)),
    "basic": lambda rng: _b64("deploy:" + _mixed(rng, "_-.!", 14, 20)),
    "digits": lambda rng: _pick(rng, DIGITS, 8),
    "encoded": lambda rng: _b64(_mixed(rng, "_-.!", 16, 22)),
    "hex": lambda rng: _pick(rng, HEX, 32),
    "hex64": lambda rng: _pick(rng, HEX, 64),
    "passphrase": lambda rng: "-".join(rng.sample(WORDS, 4)),
    "password": lambda rng: _mixed(rng, "_-.!", 14, 22),
    "recovery": _recovery,
    "short": lambda rng: _mixed(rng, "_-.!", 8, 10),
    "symbols": lambda rng: _mixed(rng, "!@#%^*()-+=?.~", 16, 24),
    "url64": lambda rng: _pick(rng, URL64, 42) + rng.choice(ALNUM),
    "uuid": _uuid,
    "words": lambda rng: " ".join(rng.sample(WORDS, 4)),
}


def make_value(kind: Kind, rng: random.Random) -> str:
    """Give one secret of a kind (every kind but "pem", which has many lines)."""
    return _VALUES[kind](rng)


def _fill(name: str, kind: Kind, template: str) -> Labelled:
    """Make a shape from a template in which every ``§`` stands for another secret."""

    def make(rng: random.Random) -> Filled:
        first, *others = template.split("§")
        text, secrets = first, list[str]()
        for rest in others:
            secrets.append(make_value(kind, rng))
            text += secrets[-1] + rest
        return text, tuple(secrets)

    return Labelled(name, kind, make)


_DASHES = "-" * 5
_KEY_STARTS = {
    "PRIVATE": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "RSA PRIVATE": "MIIEpAIBAAKCAQEA",
    "EC PRIVATE": "MHcCAQEEI",
    "DSA PRIVATE": "MIIBugIBAAKBgQ",
    "OPENSSH PRIVATE": "b3BlbnNzaC1rZXktdjEAAAAA",
    "ENCRYPTED PRIVATE": "MIIFLTBXBgkqhkiG9w0BBQ0w",
    "PGP PRIVATE": "lQdGBGR",
}


def _key_block(rng: random.Random, key: str, lines: int) -> tuple[str, tuple[str, ...]]:
    """Give a private key's text and the lines of its body (these are what must not be seen)."""
    start = _KEY_STARTS[key]
    b64 = ALNUM + "+/"
    body = [_pick(rng, b64, 64) for _ in range(lines - 1)]
    body[0] = (start + body[0])[:64]
    body.append(_pick(rng, b64, 42) + "==")
    what = f"{key} KEY BLOCK" if key.startswith("PGP") else f"{key} KEY"
    head, foot = [f"{_DASHES}BEGIN {what}{_DASHES}"], [f"{_DASHES}END {what}{_DASHES}"]
    if key.startswith("PGP"):
        head.append("")
        foot.insert(0, "=" + _pick(rng, b64, 4))
    return "\n".join([*head, *body, *foot]), tuple(body)


def _key(
    name: str, wrap: Callable[[str], str], key: str = "PRIVATE", lines: int = 6, cut: int = 0
) -> Labelled:
    """Make a shape round a private key; ``cut`` lines are taken off its end."""

    def make(rng: random.Random) -> Filled:
        text, body = _key_block(rng, key, lines)
        if cut:
            text = "\n".join(text.splitlines()[:-cut])
        return wrap(text), tuple(line for line in body if line in text)

    return Labelled(name, "pem", make)


def _plain(text: str) -> str:
    return text


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def _legacy_encrypted(text: str) -> str:
    first, rest = text.split("\n", 1)
    head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,5D0A7C9E4B3F21886E1D90C2A4B7F350"
    return f"{first}\n{head}\n\n{rest}"


def _each_line(mark: str) -> Callable[[str], str]:
    return lambda text: "\n".join(mark + line for line in text.splitlines())


# --- 1. values given away by their label -------------------------------------------------------

_ENV = (
    _fill("env db pass", "password", "DB_HOST=db.internal\nDB_PASS=§\nDB_NAME=shop\n"),
    _fill("env pgpassword", "password", "PGPASSWORD=§"),
    _fill("env mysql root password", "passphrase", "MYSQL_ROOT_PASSWORD=§"),
    _fill("env rediscli auth", "hex", "REDISCLI_AUTH=§"),
    _fill("env short password", "short", "SMTP_PASSWORD=§"),
    _fill("env passphrase", "passphrase", "SSH_KEY_PASSPHRASE=§"),
    _fill("env secret key base", "hex64", "SECRET_KEY_BASE=§"),
    _fill("env jwt secret", "base64", "JWT_SECRET=§"),
    _fill("env encryption key", "base64", "APP_ENCRYPTION_KEY=§"),
    _fill("env laravel app key", "base64", "APP_KEY=base64:§"),
    _fill("env api key uuid", "uuid", "WEATHER_API_KEY=§"),
    _fill("env datadog keys", "hex", "DD_API_KEY=§\nDD_APP_KEY=§"),
    _fill("env aws session token", "base64", "AWS_SESSION_TOKEN=§"),
    _fill("env consul token", "uuid", "CONSUL_HTTP_TOKEN=§"),
    _fill("env export", "password", "export DB_PASSWORD=§"),
    _fill("env export single quotes", "symbols", "export ADMIN_PASSWORD='§'"),
    _fill("env quoted words", "words", 'BACKUP_PASSPHRASE="§"'),
    _fill("env single-quoted words", "words", "RESTIC_PASSWORD='§'"),
    _fill("env blanks round equals", "password", "db_password = §"),
    _fill("env with comment after", "password", "SMTP_PASS=§ # rotate in May"),
    _fill("env commented out", "password", "# OLD_DB_PASSWORD=§"),
    _fill("env lower case", "password", "http_proxy_password=§"),
    _fill("env camel label", "password", "dbPassword=§"),
    _fill("env powershell", "password", "$env:DB_PASSWORD = '§'"),
    _fill("env cmd set", "password", "set DB_PASSWORD=§\r\necho done\r\n"),
    _fill("env fish", "password", "set -gx DB_PASSWORD §"),
    _fill("printenv among others", "password", "HOME=/root\nDB_PASS=§\nLANG=C.UTF-8\nTERM=xterm\n"),
    _fill("printenv words unquoted", "words", "HOME=/root\nBACKUP_PASSPHRASE=§\nLANG=C\n"),
    _fill("proc environ", "password", "USER=app\0DB_PASSWORD=§\0SHLVL=1\0"),
    _fill("docker -e", "password", "docker run -d -e POSTGRES_PASSWORD=§ -p 5432:5432 postgres:16"),
    _fill("docker --build-arg", "password", "docker build --build-arg NPM_PASSWORD=§ ."),
    _fill("dockerfile env", "password", "FROM alpine\nENV DB_PASSWORD=§\nUSER app\n"),
    _fill(
        "docker inspect env", "password", '"Env": [\n  "POSTGRES_PASSWORD=§",\n  "PATH=/usr/bin"\n]'
    ),
    _fill(
        "compose list",
        "password",
        "services:\n  db:\n    environment:\n      - POSTGRES_USER=app\n      - POSTGRES_PASSWORD=§\n",
    ),
    _fill(
        "compose map",
        "password",
        "services:\n  db:\n    environment:\n      POSTGRES_USER: app\n      POSTGRES_PASSWORD: §\n",
    ),
)

_FILES = (
    _fill("yaml bare", "password", "database:\n  user: app\n  password: §\n  port: 5432\n"),
    _fill("yaml double quotes", "symbols", 'password: "§"'),
    _fill("yaml words bare", "words", "passphrase: §\nretries: 3\n"),
    _fill("yaml block |", "password", "admin_password: |\n  §\nport: 80\n"),
    _fill("yaml block |-", "base64", "encryption_key: |-\n  §\nport: 80\n"),
    _fill("yaml block >", "words", "passphrase: >\n  §\nport: 80\n"),
    _fill("yaml block two lines", "hex", "client_secret: >-\n  §\n  §\nport: 80\n"),
    _fill("yaml flow map", "password", "db: {user: app, password: §, port: 5432}"),
    _fill("yaml value on next line", "password", "password:\n  §\nport: 80\n"),
    _fill("yaml list of secrets", "password", "secrets:\n  - §\n  - §\n"),
    _fill("yaml name and value", "password", "env:\n  - name: DB_PASSWORD\n    value: §\n"),
    _fill("yaml name and quoted value", "symbols", '- name: DB_PASSWORD\n  value: "§"\n'),
    _fill("yaml anchor", "password", "password: &dbpass §"),
    _fill("ansible ssh inventory", "password", "web1 ansible_user=root ansible_ssh_pass=§"),
    _fill("toml", "password", '[database]\npassword = "§"\n'),
    _fill("toml inline table", "password", 'db = { user = "app", password = "§" }'),
    _fill("toml multi-line", "passphrase", 'password = """\n§\n"""'),
    _fill("json", "password", '{"user": "app", "password": "§", "port": 5432}'),
    _fill("json pretty", "alnum", '{\n  "clientId": "web",\n  "clientSecret": "§"\n}'),
    _fill("json access token", "url64", '{"access_token":"§","token_type":"bearer"}'),
    _fill("json list", "password", '{"passwords": ["§", "§"]}'),
    _fill("json name and value", "password", '{"name": "DB_PASSWORD", "value": "§"}'),
    _fill("json ecs environment", "password", '{"value": "§", "name": "DB_PASSWORD"}'),
    _fill("json in json", "password", '{"body": "{\\"user\\":\\"app\\",\\"password\\":\\"§\\"}"}'),
    _fill("json in json in json", "hex", '"{\\\\\\"api_key\\\\\\": \\\\\\"§\\\\\\"}"'),
    _fill(
        "json service account client secret",
        "hex",
        '{"type": "service_account", "client_secret": "§"}',
    ),
    _fill("json docker config", "basic", '{"auths": {"ghcr.io": {"auth": "§"}}}'),
    _fill("json5 bare key", "password", "{password: '§', port: 5432}"),
    _fill("ini", "password", "[client]\nuser=app\npassword=§\nport=3306\n"),
    _fill("ini aws credentials", "alnum", "[default]\naws_secret_access_key = §\n"),
    _fill("ini wifi psk", "words", 'network={\n  ssid="home"\n  psk="§"\n}'),
    _fill("nm connection psk", "password", "[wifi-security]\nkey-mgmt=wpa-psk\npsk=§\n"),
    _fill("wireguard", "base64", "[Interface]\nPrivateKey = §\nAddress = 10.0.0.2/32\n"),
    _fill("properties", "password", "spring.datasource.password=§"),
    _fill("properties blank", "password", "db.password §"),
    _fill("gradle signing", "password", "signing.password=§\nsigning.keyId=24875D73\n"),
    _fill("gradle groovy", "password", "storePassword '§'\nkeyAlias 'app'\n"),
    _fill("xml element", "password", "<user>app</user>\n<password>§</password>"),
    _fill("xml element with attribute", "password", '<password type="plain">§</password>'),
    _fill("xml cdata", "symbols", "<password><![CDATA[§]]></password>"),
    _fill("xml attribute", "password", '<dataSource user="app" password="§" />'),
    _fill("xml add key value", "password", '<add key="Password" value="§"/>'),
    _fill("xml add key value secret", "base64", '<add key="ClientSecret" value="§" />'),
    _fill("xml property", "password", '<property name="hibernate.connection.password" value="§"/>'),
    _fill("xml property body", "password", '<property name="password">§</property>'),
    _fill("xml plist", "password", "<key>Password</key>\n<string>§</string>"),
    _fill(
        "maven settings",
        "password",
        "<server>\n  <id>nexus</id>\n  <username>ci</username>\n  <password>§</password>\n</server>",
    ),
    _fill("maven master password", "password", "<passphrase>§</passphrase>"),
    _fill(
        "hcl",
        "password",
        'resource "aws_db_instance" "a" {\n  username = "app"\n  password = "§"\n}',
    ),
    _fill(
        "terraform variable default",
        "password",
        'variable "db_password" {\n  type    = string\n  default = "§"\n}',
    ),
    _fill("terraform plan", "password", '  + master_password = "§"'),
    _fill("terraform plan change", "password", '  ~ password = "§" -> "§"'),
    _fill(
        "terraform output json",
        "password",
        '{"db_password": {"sensitive": true, "type": "string", "value": "§"}}',
    ),
    _fill(
        "k8s stringData",
        "password",
        "apiVersion: v1\nkind: Secret\nstringData:\n  username: app\n  password: §\n",
    ),
    _fill(
        "k8s data",
        "encoded",
        "apiVersion: v1\nkind: Secret\ntype: Opaque\ndata:\n  password: §\n",
    ),
    _fill("k8s data without telling key", "encoded", "kind: Secret\ndata:\n  config: §\n"),
    _fill("k8s data json", "encoded", '{"kind": "Secret", "data": {"db-password": "§"}}'),
    _fill("k8s dockerconfigjson", "basic", 'kind: Secret\nstringData:\n  x: \'{"auth":"§"}\'\n'),
    _fill("helm set", "password", "helm upgrade app ./chart --set postgresql.auth.password=§"),
    _fill("netrc one line", "password", "machine api.example.com login deploy password §"),
    _fill(
        "netrc several lines",
        "password",
        "machine api.example.com\n  login deploy\n  password §\n",
    ),
    _fill("netrc default", "password", "default login anonymous password §"),
    _fill("netrc quoted", "words", 'machine api.example.com login deploy password "§"'),
    _fill("pgpass", "password", "db.internal:5432:shop:app:§"),
    _fill("pgpass stars", "password", "# ~/.pgpass\n*:*:*:postgres:§\n"),
    _fill("npmrc _auth", "basic", "//registry.example.com/:_auth=§"),
    _fill("npmrc _auth bare", "basic", "registry=https://npm.example.com/\n_auth = §\n"),
    _fill("yarnrc", "uuid", 'npmAuthToken: "§"'),
    _fill("pip.conf", "password", "[global]\nindex-url = https://ci:§@pypi.example.com/simple\n"),
    _fill("git remote -v", "password", "origin\thttps://ci:§@git.example.com/a/b.git (fetch)"),
    _fill("git remote without user", "alnum", "url = https://§@git.example.com/a/b.git"),
    _fill(
        "git extraheader", "basic", "http.https://x.example.com/.extraheader=AUTHORIZATION: basic §"
    ),
    _fill("bundle config", "password", "BUNDLE_GEMS__EXAMPLE__COM: ci:§"),
    _fill("rclone config", "url64", "[box]\ntype = sftp\npass = §\n"),
    _fill("shadow line", "base64", "root:$6$saltsalt$§:19000:0:99999:7:::"),
    _fill("htpasswd apr1", "alnum", "admin:$apr1$f4l9x2qp$§"),
    _fill("cifs credentials", "password", "username=app\npassword=§\ndomain=CORP\n"),
    _fill("ldap config", "password", "bind_dn: cn=admin,dc=example,dc=com\nbind_password: §\n"),
    _fill("postfix sasl", "password", "smtp_sasl_password_maps = static:relay:§"),
    _fill("redis.conf", "password", "requirepass §"),
    _fill("redis acl", "password", "user app on >§ ~* +@all"),
    _fill("nginx proxy header", "basic", 'proxy_set_header Authorization "Basic §";'),
    _fill("cisco", "password", "username admin privilege 15 secret 0 §"),
    _fill("snmp community", "password", "snmp-server community § RO"),
)

_CODE = (
    _fill("python assignment", "password", 'password = "§"'),
    _fill("python annotated", "password", 'db_password: str = "§"'),
    _fill("python django key", "symbols", "SECRET_KEY = 'django-insecure-§'"),
    _fill("python SecretStr", "symbols", "token=SecretStr('§')"),
    _fill("python SecretStr alone", "password", "Settings(SecretStr('§'))"),
    _fill("python kwarg", "password", "psycopg.connect(host='db', user='app', password='§')"),
    _fill("python dict entry", "symbols", "config = {'user': 'app', 'password': '§'}"),
    _fill("python item", "password", "app.config['SECRET_KEY'] = '§'"),
    _fill("python environ", "password", 'os.environ["DB_PASSWORD"] = "§"'),
    _fill("python setdefault", "password", "os.environ.setdefault('DB_PASSWORD', '§')"),
    _fill("python getenv default", "password", 'os.getenv("DB_PASSWORD", "§")'),
    _fill("python auth tuple", "password", 'requests.get(url, auth=("deploy", "§"))'),
    _fill("python HTTPBasicAuth", "password", "HTTPBasicAuth('deploy', '§')"),
    _fill("python bytes", "hex", 'HMAC_KEY = b"§"'),
    _fill("python triple quotes", "words", 'passphrase = """§"""'),
    _fill("python comparison", "password", 'if password == "§":'),
    _fill("python repr", "password", "User(name='app', password='§', active=True)"),
    _fill("python login call", "password", "smtp.login('app', '§')"),
    _fill("js const", "password", 'const dbPassword = "§";'),
    _fill("ts typed", "password", 'private readonly apiKey: string = "§";'),
    _fill("js object quoted key", "hex", '{ "x-api-key": "§" }'),
    _fill("js process.env fallback", "password", "process.env.JWT_SECRET || '§'"),
    _fill("js nullish fallback", "password", 'password: process.env.DB_PASS ?? "§",'),
    _fill("js header object", "url64", "headers: { Authorization: 'Bearer §' }"),
    _fill("java setter", "password", 'dataSource.setPassword("§");'),
    _fill("java property setter", "password", 'props.setProperty("db.password", "§");'),
    _fill("java map put", "password", 'env.put("DB_PASSWORD", "§");'),
    _fill("java getConnection", "password", 'DriverManager.getConnection(url, "app", "§");'),
    _fill("java char array", "password", 'char[] password = "§".toCharArray();'),
    _fill("go short", "base64", 'apiSecret := "§"'),
    _fill("go struct", "password", '&redis.Options{Addr: "db:6379", Password: "§"}'),
    _fill("go SetBasicAuth", "password", 'req.SetBasicAuth("deploy", "§")'),
    _fill("go setenv", "password", 'os.Setenv("DB_PASSWORD", "§")'),
    _fill("ruby symbol", "password", ":password => '§',"),
    _fill("ruby env", "password", "ENV['DB_PASSWORD'] ||= '§'"),
    _fill("php define", "password", "define('DB_PASSWORD', '§');"),
    _fill("csharp property", "password", 'new Options { ClientSecret = "§" }'),
    _fill("csharp credential", "password", 'new NetworkCredential("app", "§")'),
    _fill("rust constant", "password", 'const API_SECRET: &str = "§";'),
    _fill("c define", "password", '#define WIFI_PASSWORD "§"'),
    _fill("powershell secure string", "password", 'ConvertTo-SecureString "§" -AsPlainText -Force'),
    _fill("shell read into", "password", "readonly ADMIN_PASS='§'"),
    _fill("makefile", "password", "DB_PASSWORD := §"),
)

_CONNECTIONS = (
    _fill("ado pwd", "password", "Server=db;Uid=app;Pwd=§;SslMode=Required"),
    _fill("ado quoted", "symbols", 'Server=db;User Id=app;Password="§";'),
    _fill("odbc braces", "symbols", "Driver={PostgreSQL};Server=db;Uid=app;Pwd={§};"),
    _fill("azure account key", "base64", "AccountName=shop;AccountKey=§;EndpointSuffix=core.net"),
    _fill("service bus", "base64", "Endpoint=sb://a.example.net/;SharedAccessKey=§"),
    _fill("postgresql url label", "password", "DATABASE_URL=postgresql+asyncpg://app:§@db/shop"),
    _fill("postgres url query", "password", "postgresql://db/shop?user=app&password=§"),
    _fill("libpq quoted", "words", "host=db user=app password='§'"),
    _fill("go mysql dsn", "password", "app:§@tcp(db:3306)/shop?parseTime=true"),
    _fill(
        "jdbc semicolons", "password", "jdbc:sqlserver://db:1433;user=app;password=§;encrypt=true"
    ),
    _fill("jdbc oracle thin", "password", "jdbc:oracle:thin:app/§@//db:1521/shop"),
    _fill("sqlplus", "password", "sqlplus app/§@//db:1521/shop"),
    _fill("redis url", "password", "redis://:§@cache:6379/0"),
    _fill("https url mail user", "password", "https://a%40b.example:§@files.example.com/"),
    _fill("proxy url", "password", "HTTPS_PROXY=http://app:§@proxy.internal:3128"),
    _fill("ldap url", "password", "ldap://cn=admin:§@ldap.example.com"),
    _fill("short password in url", "short", "postgres://app:§@db/shop"),
    _fill("sentry old dsn", "hex", "https://public:§@sentry.example.com/42"),
)

_SHELL = (
    _fill("curl -u", "password", "curl -u deploy:§ https://api.example.com/v1"),
    _fill("curl -u quoted", "symbols", "curl -s -u 'deploy:§' https://api.example.com/v1"),
    _fill("curl -u joined", "password", "curl -udeploy:§ https://api.example.com/v1"),
    _fill("curl --user=", "password", "curl --user=deploy:§ https://api.example.com/v1"),
    _fill("curl --proxy-user", "password", "curl --proxy-user deploy:§ https://api.example.com"),
    _fill("curl basic", "basic", "curl -H 'Authorization: Basic §' https://api.example.com"),
    _fill("curl token header", "alnum", "curl -H 'Authorization: token §' https://api.example.com"),
    _fill("curl -d form", "password", "curl -d 'user=app&password=§' https://a.example.com/login"),
    _fill(
        "curl -d json", "password", 'curl -d \'{"user":"app","password":"§"}\' https://a.example'
    ),
    _fill("curl -b cookie", "alnum", "curl -b 'session=§' https://a.example.com"),
    _fill("curl --oauth2-bearer", "url64", "curl --oauth2-bearer § https://a.example.com"),
    _fill("httpie -a", "password", "http -a deploy:§ GET a.example.com/v1"),
    _fill("httpie header", "url64", "http a.example.com 'Authorization:Bearer §'"),
    _fill("wget --http-password", "password", "wget --http-password=§ https://a.example.com/x"),
    _fill("mysql -p joined", "alnum", "mysql -h db -u app -p§ shop"),
    _fill("mysql -p quoted", "symbols", "mysql -u app -p'§' shop"),
    _fill("mysqladmin", "password", "mysqladmin -u root password '§'"),
    _fill("sshpass -p", "password", "sshpass -p § ssh root@10.0.0.5"),
    _fill("sshpass -p joined", "password", "sshpass -p§ ssh root@10.0.0.5"),
    _fill("pgpassword psql", "password", "PGPASSWORD=§ psql -h db -U app shop"),
    _fill("openssl -passin pass", "password", "openssl rsa -in k.pem -passin pass:§ -out p.pem"),
    _fill("openssl -k", "password", "openssl enc -aes-256-cbc -pbkdf2 -k § -in a -out b"),
    _fill("openssl -K hex", "hex64", "openssl enc -aes-256-cbc -K § -iv 00 -in a -out b"),
    _fill("docker login -p", "password", "docker login -u ci -p § registry.example.com"),
    _fill("podman --creds", "password", "podman pull --creds ci:§ registry.example.com/a"),
    _fill("skopeo", "password", "skopeo copy --dest-creds=ci:§ dir:/tmp/a docker://r.example/a"),
    _fill("echo docker login", "password", "echo '§' | docker login -u ci --password-stdin"),
    _fill("printf docker login", "password", "printf '%s' '§' | docker login --password-stdin"),
    _fill("aws configure set", "alnum", "aws configure set aws_secret_access_key §"),
    _fill("aws rds", "password", "aws rds modify-db-instance --master-user-password §"),
    _fill("aws ssm", "password", "aws ssm put-parameter --type SecureString --value '§'"),
    _fill("aws secretsmanager", "password", "aws secretsmanager create-secret --secret-string '§'"),
    _fill("az login", "password", "az login --service-principal -u app -p § --tenant t"),
    _fill("gh secret set", "password", "gh secret set DB_PASSWORD --body '§'"),
    _fill("gh secret set -b", "password", "gh secret set DB_PASSWORD -b§"),
    _fill("wrangler echo", "alnum", "echo § | wrangler secret put API_SECRET"),
    _fill("htpasswd -b", "password", "htpasswd -b /etc/nginx/.htpasswd admin §"),
    _fill("zip -P", "password", "zip -P § -r out.zip dir"),
    _fill("7z -p", "alnum", "7z a -p§ out.7z dir"),
    _fill("expect send", "password", 'expect "assword:"\nsend "§\\r"\n'),
    _fill("expect send --", "password", 'expect "assword:" { send -- "§\\r" }'),
    _fill(
        "kubectl literal",
        "password",
        "kubectl create secret generic db --from-literal=password=§",
    ),
    _fill(
        "kubectl literal untold key",
        "password",
        "kubectl create secret generic db --from-literal=value='§'",
    ),
    _fill(
        "kubectl docker registry",
        "password",
        "kubectl create secret docker-registry r --docker-username=ci --docker-password=§",
    ),
    _fill("kubectl --token", "url64", "kubectl --token=§ get pods"),
    _fill("kubeadm join", "alnum", "kubeadm init --certificate-key §"),
    _fill("gpg --passphrase quoted", "words", 'gpg --batch --passphrase "§" -c a.txt'),
    _fill("ssh-keygen -N", "words", "ssh-keygen -t ed25519 -N '§' -f id"),
    _fill("vault login", "alnum", "vault login §"),
    _fill("vault userpass", "password", "vault login -method=userpass username=a password=§"),
    _fill("vault unseal", "base64", "vault operator unseal §"),
    _fill("redis-cli -a", "password", "redis-cli -h cache -a § PING"),
    _fill("redis AUTH", "password", "127.0.0.1:6379> AUTH §\nOK"),
    _fill("redis config set", "password", 'CONFIG SET requirepass "§"'),
    _fill("mongo -p", "password", "mongosh -u app -p § shop"),
    _fill("ldapsearch -w", "password", "ldapsearch -x -D cn=admin,dc=a -w § -b dc=a"),
    _fill("echo sudo -S", "password", "echo § | sudo -S apt-get update"),
    _fill("sudo here-string", "password", "sudo -S whoami <<< '§'"),
    _fill("chpasswd", "password", "echo 'root:§' | chpasswd"),
    _fill("passwd --stdin", "password", "echo '§' | passwd --stdin app"),
    _fill("useradd -p", "password", "useradd -m -p '§' app"),
    _fill("net use", "password", "net use Z: \\\\nas\\share § /user:CORP\\app"),
    _fill("net user", "password", "net user app § /add"),
    _fill("smbclient -U", "password", "smbclient //nas/share -U app%§"),
    _fill("rdp", "password", "xfreerdp /v:10.0.0.5 /u:app /p:§"),
    _fill("lftp", "password", "lftp -u app,§ sftp://files.example.com"),
    _fill("sqlcmd", "password", "sqlcmd -S db -U app -P § -Q 'select 1'"),
    _fill("keytool", "password", "keytool -list -keystore a.jks -storepass § -alias a"),
    _fill("security add", "password", "security add-generic-password -a app -s db -w §"),
    _fill("secret-like flag", "alnum", "app serve --client-secret=§ --port 80"),
    _fill("flag with blank", "alnum", "app serve --api-key § --port 80"),
    _fill("flag quoted words", "words", 'app unlock --master-password "§"'),
    _fill("cryptsetup", "words", "echo -n '§' | cryptsetup luksOpen /dev/sdb1 data -"),
    _fill("nmcli", "password", "nmcli dev wifi connect home password §"),
    _fill("tailscale-like authkey", "alnum", "agent up --authkey §"),
    _fill("here-doc", "password", "cat > .env <<EOF\nDB_PASSWORD=§\nEOF"),
)

_SQL_HTTP = (
    _fill("sql identified by", "password", "CREATE USER 'app'@'%' IDENTIFIED BY '§';"),
    _fill("sql identified with by", "symbols", "ALTER USER a IDENTIFIED WITH sha2 BY '§';"),
    _fill("sql password", "password", "ALTER ROLE app PASSWORD '§';"),
    _fill("sql encrypted password", "password", "CREATE USER app WITH ENCRYPTED PASSWORD '§';"),
    _fill("sql set password", "password", "SET PASSWORD FOR 'app'@'%' = PASSWORD('§');"),
    _fill("sql server login", "password", "CREATE LOGIN app WITH PASSWORD = N'§';"),
    _fill("sql pgp_sym_encrypt", "words", "SELECT pgp_sym_encrypt(body, '§') FROM notes;"),
    _fill("sql update", "password", "UPDATE users SET password = '§' WHERE id = 7;"),
    _fill("header bearer", "url64", "Authorization: Bearer §"),
    _fill("header basic", "basic", "Authorization: Basic §"),
    _fill("header digest", "hex", 'Authorization: Digest username="app", response="§"'),
    _fill(
        "header aws4", "hex64", "Authorization: AWS4-HMAC-SHA256 SignedHeaders=host, Signature=§"
    ),
    _fill("header apikey", "uuid", "Authorization: ApiKey §"),
    _fill("header proxy", "basic", "Proxy-Authorization: Basic §"),
    _fill("header pagerduty", "url64", "Authorization: Token token=§"),
    _fill("header consul", "uuid", "X-Consul-Token: §"),
    _fill("telegram bot address", "url64", "https://api.telegram.org/bot4815162342:§/getMe"),
    _fill("cloudinary address", "url64", "CLOUDINARY_URL=cloudinary://481516234200815:§@shop"),
    _fill("header x-api-key", "hex", "X-Api-Key: §"),
    _fill(
        "header dump verbose",
        "url64",
        "> GET /v1 HTTP/1.1\n> Authorization: Bearer §\n> Accept: */*",
    ),
    _fill("header set-cookie", "alnum", "Set-Cookie: session=§; Path=/; HttpOnly; Secure"),
    _fill("header set-cookie named id", "hex", "Set-Cookie: PHPSESSID=§; path=/"),
    _fill("header cookie", "url64", "Cookie: theme=dark; sessionid=§; lang=en"),
    _fill("cookie jar line", "alnum", "a.example.com\tFALSE\t/\tTRUE\t0\tsessionid\t§"),
    _fill("header tuple", "url64", "('Authorization', 'Bearer §')"),
    _fill("http2 header", "url64", "[HTTP/2] [1] [authorization: Bearer §]"),
    _fill("sig in address", "url64", "https://a.blob.example.net/c/f?sv=2024-01-01&se=2030&sig=§"),
    _fill(
        "amz signature", "hex64", "https://b.s3.example.com/f?X-Amz-Expires=60&X-Amz-Signature=§"
    ),
    _fill("amz security token", "alnum", "https://b.example.com/f?X-Amz-Security-Token=§&x=1"),
    _fill(
        "cloudfront signature",
        "url64",
        "https://d.example.net/f?Expires=1&Signature=§&Key-Pair-Id=K",
    ),
    _fill("token in query", "url64", "https://a.example.com/d?token=§&page=2"),
    _fill("access_token in fragment", "url64", "https://a.example.com/cb#access_token=§&state=x"),
    _fill("api_key in query", "hex", "https://api.example.com/v1?api_key=§&q=rain"),
    _fill("key in query", "alnum", "https://maps.example.com/api?key=§"),
    _fill("reset link", "url64", "https://a.example.com/password/reset?reset_token=§"),
    _fill("oauth code", "url64", "https://a.example.com/cb?code=§&state=abc"),
    _fill("oauth body", "alnum", "grant_type=client_credentials&client_id=web&client_secret=§"),
    _fill("oauth password grant", "password", "grant_type=password&username=app&password=§"),
    _fill("encoded body", "password", "payload=%7B%22password%22%3A%22§%22%7D"),
    _fill("saml", "base64", '<input type="hidden" name="SAMLResponse" value="§"/>'),
    _fill("html password field", "password", '<input type="password" name="pw" value="§">'),
    _fill(
        "multipart", "password", 'Content-Disposition: form-data; name="password"\r\n\r\n§\r\n--b'
    ),
)

_DIFF_LOG_PROSE = (
    _fill("diff add env", "password", "@@ -1,2 +1,2 @@\n DB_USER=app\n+DB_PASS=§\n"),
    _fill("diff remove yaml", "password", "-password: §\n+password: ${DB_PASS}\n"),
    _fill("diff both", "password", "-DB_PASS=§\n+DB_PASS=§\n"),
    _fill("diff context", "password", "@@ -1 +1 @@\n DB_PASS=§\n+DEBUG=1\n"),
    _fill("diff word", "password", "DB_PASS=[-§-]{+§+}"),
    _fill("diff side by side", "password", "DB_PASS=§            | DB_PASS=§"),
    _fill("diff yaml block", "password", "+admin_password: |\n+  §\n+port: 80\n"),
    _fill("grep with line number", "password", "config/.env:12:DB_PASSWORD=§"),
    _fill("git grep", "password", "main:config/app.yml:7:  password: §"),
    _fill("git blame", "password", "^3f2a1b9c (Ann 2024-01-02 10:00:00 +0000 7) DB_PASSWORD=§"),
    _fill("bat gutter", "password", "   7   │ DB_PASSWORD=§"),
    _fill(
        "log label", "password", "2024-05-01 10:00:00 INFO connecting user=app password=§ db=shop"
    ),
    _fill("log logfmt quoted", "words", 'level=info msg=login passphrase="§" ok=true'),
    _fill("log generated", "password", "Generated root password: §"),
    _fill(
        "log mysql temporary", "symbols", "A temporary password is generated for root@localhost: §"
    ),
    _fill(
        "log jenkins", "hex", "Please use the following password to proceed to installation:\n\n§\n"
    ),
    _fill("log jupyter", "hex", "http://127.0.0.1:8888/lab?token=§"),
    _fill("log default credentials", "password", "Login with admin / § at http://localhost:3000"),
    _fill(
        "log unseal keys", "base64", "Unseal Key 1: §\nUnseal Key 2: §\nInitial Root Token: hidden"
    ),
    _fill("log prompt echoed", "password", "Password: §"),
    _fill("log traceback value", "password", "ValueError: bad password '§' for user app"),
    _fill("table row", "password", "| DB_PASSWORD | § |"),
    _fill("box table", "password", "│ password │ § │"),
    _fill("markdown bold", "password", "**Password:** §"),
    _fill("markdown code", "password", "The password is `§`."),
    _fill("markdown label code", "password", "- password: `§`"),
    _fill("prose is", "password", "the admin password is §, please change it"),
    _fill("prose my", "password", "My API secret is: §"),
    _fill("prose quotes", "words", "Use the passphrase “§” to open the vault."),
    _fill("prose pin", "digits", "PIN: §"),
    _fill("csv", "password", "url,username,password\nhttps://a.example.com,app,§\n"),
    _fill("german", "password", "Benutzer: app\nPasswort: §"),
    _fill("german is", "password", "Das Passwort lautet §"),
    _fill("german kennwort", "password", "Kennwort: §"),
    _fill("italian", "password", "parola d'ordine: §"),
    _fill("japanese", "password", "ユーザー：app\nパスワード：§"),
    _fill("japanese secret key", "alnum", "秘密鍵：§"),
    _fill("chinese", "password", "用户名：app\n密码：§"),
    _fill("korean", "password", "비밀번호: §"),
    _fill("russian", "password", "логин: app\nпароль: §"),
    _fill("ukrainian", "password", "пароль — §"),
    _fill("otpauth", "base32", "otpauth://totp/Shop:app?secret=§&issuer=Shop"),
    _fill("totp seed", "base32", "TOTP_SECRET=§"),
    _fill("totp secret prose", "base32", "Your TOTP secret key: §"),
    _fill("oathtool", "base32", "oathtool --totp -b §"),
    _fill("recovery codes", "recovery", "Recovery codes:\n§\n§\n§\n"),
    _fill("recovery json", "recovery", '{"recovery_codes": ["§", "§"]}'),
    _fill("one-time code", "digits", "Your verification code is §"),
    _fill("seed phrase", "words", "seed phrase: §"),
    _fill("mnemonic", "words", 'MNEMONIC="§ § §"'),
    _fill("wallet private key", "hex64", "PRIVATE_KEY=0x§"),
    _fill("ssh-ish passphrase prompt", "words", "Enter passphrase for key 'id_ed25519': §"),
)

_KEYS = (
    _key("key pkcs8", _plain),
    _key("key rsa", _plain, "RSA PRIVATE", 12),
    _key("key ec", _plain, "EC PRIVATE", 3),
    _key("key dsa", _plain, "DSA PRIVATE", 8),
    _key("key openssh", _plain, "OPENSSH PRIVATE", 6),
    _key("key encrypted pkcs8", _plain, "ENCRYPTED PRIVATE", 10),
    _key("key rsa legacy encrypted", _legacy_encrypted, "RSA PRIVATE", 8),
    _key("key pgp block", _plain, "PGP PRIVATE", 14),
    _key("key with text round it", lambda t: f"$ cat id_rsa\n{t}\n$ ls\nREADME.md\n"),
    _key("key crlf", lambda t: t.replace("\n", "\r\n")),
    _key("key one line after label", lambda t: f"PRIVATE_KEY={_one_line(t)}"),
    _key("key one line quoted", lambda t: f'PRIVATE_KEY="{_one_line(t)}\\n"'),
    _key("key one line doubly escaped", lambda t: t.replace("\n", "\\\\n")),
    _key("key joined by blanks", lambda t: t.replace("\n", " ")),
    _key("key in env file quoted", lambda t: f'APP_ID=1\nPRIVATE_KEY="{t}"\nPORT=80\n'),
    _key("key in printenv", lambda t: f"HOME=/root\nPRIVATE_KEY={t}\nLANG=C\n"),
    _key("key exported", lambda t: f"export TLS_KEY='{t}'"),
    _key("key in diff", lambda t: "@@ -0,0 +1,8 @@\n" + _each_line("+")(t)),
    _key("key in diff removed", _each_line("-"), "OPENSSH PRIVATE"),
    _key("key in diff of yaml", lambda t: "+tls_key: |\n" + _each_line("+  ")(t)),
    _key("key in yaml block", lambda t: f"tls:\n  key: |\n{_each_line('    ')(t)}\n  port: 443\n"),
    _key("key in yaml folded", lambda t: f"key: >-\n{_each_line('  ')(t)}\nport: 443\n"),
    _key("key in yaml quoted", lambda t: f'key: "{_one_line(t)}"'),
    _key("key in json", lambda t: json.dumps({"type": "service_account", "private_key": t + "\n"})),
    _key("key in json in json", lambda t: json.dumps({"body": json.dumps({"private_key": t})})),
    _key("key after bearer", lambda t: f"Authorization: Bearer {_one_line(t)}", "EC PRIVATE", 3),
    _key("key truncated", _plain, "RSA PRIVATE", 10, cut=1),
    _key("key truncated early", lambda t: f"{t}\n[output cut]", "PRIVATE", 12, cut=8),
    _key("key truncated one line", lambda t: f"KEY={_one_line(t)}…", "RSA PRIVATE", 10, cut=4),
    _key("key quoted in mail", _each_line("> ")),
    _key("key with line numbers", lambda t: _numbered(t)),
    _key("key in log lines", _each_line("2024-05-01T10:00:00Z app[web.1]: ")),
    _key("key in terminal box", lambda t: "\n".join(f"│ {x:<64} │" for x in t.splitlines())),
    _key("key in python string", lambda t: f'KEY = """{t}"""'),
    _key("key in python repr of bytes", lambda t: repr(t.encode())),
    _key(
        "key in js parts",
        lambda t: " +\n".join(f'  "{line}\\n"' for line in t.splitlines()),
    ),
    _key("key in terraform heredoc", lambda t: f"private_key = <<EOT\n{t}\nEOT\n"),
    _key("key in markdown fence", lambda t: f"```\n{t}\n```"),
    _key("key in xml", lambda t: f"<privateKey>\n{t}\n</privateKey>"),
)


def _numbered(text: str) -> str:
    return "\n".join(f"{at:6}\t{line}" for at, line in enumerate(text.splitlines(), 1))


LABELLED: tuple[Labelled, ...] = (
    *_ENV,
    *_FILES,
    *_CODE,
    *_CONNECTIONS,
    *_SHELL,
    *_SQL_HTTP,
    *_DIFF_LOG_PROSE,
    *_KEYS,
)

# --- 2. tokens known by their own shape --------------------------------------------------------


def _seq(name: str, *parts: Part) -> Token:
    """Make a kind of token from parts: fixed text, or (letters, how many)."""

    def make(rng: random.Random) -> str:
        return "".join(part if isinstance(part, str) else _pick(rng, *part) for part in parts)

    return Token(name, make)


def _with_uuid(name: str, *head: str, tail: str = "") -> Token:
    return Token(name, lambda rng: "".join(head) + _uuid(rng) + tail)


def _jwt(rng: random.Random, **claims: str | int) -> str:
    head = _url64(json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":")))
    body = {"sub": _pick(rng, DIGITS, 10), "iat": 1700000000 + rng.randrange(10**7), **claims}
    return f"{head}.{_url64(json.dumps(body, separators=(',', ':')))}.{_pick(rng, URL64, 43)}"


def _jwe(rng: random.Random) -> str:
    head = _url64('{"alg":"dir","enc":"A256GCM"}')
    return f"{head}..{_pick(rng, URL64, 16)}.{_pick(rng, URL64, 90)}.{_pick(rng, URL64, 22)}"


def _discord(rng: random.Random) -> str:
    user = _url64(rng.choice("23456") + _pick(rng, DIGITS, 17))
    return f"{user}.{_pick(rng, URL64, 6)}.{_pick(rng, URL64, 38)}"


def _sentry_org(rng: random.Random) -> str:
    body = {"iat": 1700000000.5, "url": "https://sentry.io", "org": _pick(rng, LOWER, 8)}
    return "sntr" + "ys_" + _b64(json.dumps(body)) + "_" + _pick(rng, ALNUM + "+/", 43)


def _matrix(rng: random.Random) -> str:
    user = _b64(_pick(rng, LOWER, 7)).rstrip("=")
    return "sy" + f"t_{user}_{_pick(rng, LOWER + UPPER, 20)}_{_pick(rng, ALNUM, 6)}"


def _mapbox(rng: random.Random) -> str:
    body = {"u": _pick(rng, LOWER, 8), "a": _pick(rng, LOWER_NUM, 25)}
    return (
        "sk" + "." + _url64(json.dumps(body, separators=(",", ":"))) + "." + _pick(rng, URL64, 22)
    )


def _one_password(rng: random.Random) -> str:
    body = {"email": _pick(rng, LOWER_NUM, 13) + "@1passwordserviceaccounts.com"}
    body |= {"muk": _pick(rng, URL64, 43), "secretKey": _pick(rng, UPPER_NUM, 36)}
    body |= {"srpX": _pick(rng, HEX, 64), "throttleSecret": _pick(rng, HEX, 32)}
    return "op" + "s_" + _url64(json.dumps(body, separators=(",", ":")))


def _grafana_cloud(rng: random.Random) -> str:
    body = {"o": _pick(rng, DIGITS, 6), "n": "ci", "k": _pick(rng, ALNUM, 24), "m": {"r": "us"}}
    return "gl" + "c_" + _b64(json.dumps(body, separators=(",", ":")))


def _new_relic_licence(rng: random.Random) -> str:
    return _pick(rng, HEX, 36) + "NR" + "AL"


def _slack_hook(kind: str) -> Callable[[random.Random], str]:
    return lambda rng: (
        f"https://hooks.slack.com/{kind}/T{_pick(rng, UPPER_NUM, 10)}/"
        f"{rng.choice('AB')}{_pick(rng, UPPER_NUM, 10)}/{_pick(rng, ALNUM, 24)}"
    )


def _teams_hook(rng: random.Random) -> str:
    return (
        f"https://shop.webhook.office.com/webhookb2/{_uuid(rng)}@{_uuid(rng)}"
        f"/IncomingWebhook/{_pick(rng, HEX, 32)}/{_uuid(rng)}"
    )


TOKENS: tuple[Token, ...] = (
    # code hosts
    _seq("github personal", "gh", "p_", (ALNUM, 36)),
    _seq("github server-to-server", "gh", "s_", (ALNUM, 36)),
    _seq("github refresh", "gh", "r_", (ALNUM, 76)),
    _seq("github fine-grained", "github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    _seq("gitlab personal", "gl", "pat-", (URL64, 20)),
    _seq("gitlab personal routable", "gl", "pat-", (URL64, 27), ".01.", (LOWER_NUM, 9)),
    _seq("gitlab runner routable", "gl", "rt-t1_", (URL64, 27), ".01.", (LOWER_NUM, 9)),
    _seq("gitlab runner registration", "GR", "1348941", (URL64, 20)),
    _seq("gitlab ci job", "gl", "cbt-", (HEX, 2), "_", (URL64, 20)),
    _seq("gitlab trigger", "gl", "ptt-", (HEX, 40)),
    _seq("gitlab incoming mail", "gl", "imt-", (LOWER_NUM, 25)),
    _seq("gitlab agent", "gl", "agent-", (URL64, 50)),
    _seq("gitlab oauth app", "gl", "oas-", (HEX, 64)),
    _seq("bitbucket app password", "AT", "BB", (ALNUM, 24), (UPPER_HEX, 8)),
    _seq("sourcegraph", "sg", "p_", (HEX, 16), "_", (HEX, 40)),
    # chat
    _seq("slack bot", "xo", "xb-", (DIGITS, 12), "-", (DIGITS, 13), "-", (ALNUM, 24)),
    _seq(
        "slack user",
        "xo",
        "xp-",
        (DIGITS, 12),
        "-",
        (DIGITS, 12),
        "-",
        (DIGITS, 13),
        "-",
        (HEX, 32),
    ),
    _seq("slack refresh", "xo", "xe-1-", (ALNUM, 146)),
    _seq("slack rotated user", "xo", "xe.xoxp-1-", (ALNUM, 163)),
    _seq("slack app", "xa", "pp-1-A", (UPPER_NUM, 10), "-", (DIGITS, 13), "-", (HEX, 64)),
    _seq("slack cookie", "xo", "xd-", (ALNUM + "-", 60), (ALNUM, 1)),
    Token("slack webhook", _slack_hook("services")),
    Token("slack workflow", _slack_hook("triggers")),
    Token("teams webhook", _teams_hook),
    Token("discord bot", _discord),
    _seq(
        "discord webhook", "https://discord.com/api/", "webhooks/", (DIGITS, 18), "/", (URL64, 68)
    ),
    _seq("telegram bot", ("123456789", 10), ":AA", (URL64, 33)),
    Token("matrix access", _matrix),
    _seq("matrix refresh", "sy", "r_", (BASE58, 24), "_", (ALNUM, 20), "_", (ALNUM, 6)),
    # cloud
    _seq("aws key id", "AK", "IA", (BASE32, 16)),
    _seq("aws bedrock", "AB", "SK", (ALNUM + "+/", 128)),
    _with_uuid("aws mws", "amzn", ".mws."),
    _seq("google api key", "AI", "za", (URL64, 35)),
    _seq("google oauth secret", "GO", "CSPX-", (URL64, 28)),
    _seq("google refresh", "1/", "/0", (URL64, 100)),
    _seq("azure client secret", (URL64, 3), "8", "Q~", (ALNUM + "-_.~", 33), (ALNUM, 1)),
    _seq("azure devops", (ALNUM, 52), "JQ", "QJ99", (ALNUM, 18), "AZ", "DO", (ALNUM, 4)),
    _seq("azure storage", (ALNUM + "+/", 76), "+", "ASt", (ALNUM, 6), "=", "="),
    _seq("azure cosmos", (ALNUM, 76), "AC", "Db", (ALNUM, 6), "=="),
    _seq("azure registry", (ALNUM, 42), "+", "ACR", (ALNUM, 6)),
    _seq("azure search", (ALNUM, 42), "Az", "Se", (ALNUM, 6)),
    _seq("alibaba key id", "LT", "AI", (ALNUM, 20)),
    _seq("tencent secret id", "AK", "ID", (ALNUM, 32)),
    _seq("yandex api", "AQ", "VN", (URL64, 36)),
    _seq("digitalocean personal", "do", "p_v1_", (HEX, 64)),
    _seq("digitalocean spaces", "DO", "00", (UPPER_NUM, 16)),
    _seq("scaleway-like scalingo", "tk", "-us-", (URL64, 48)),
    _seq("cloudflare user token", "cf", "ut_", (ALNUM, 40), (HEX, 8)),
    _seq("cloudflare origin ca", "v1.", "0-", (HEX, 24), "-", (HEX, 146)),
    _seq("fly access", "fo", "1_", (URL64, 43)),
    _seq("fly macaroon", "fm", "2_", (ALNUM + "+/", 160), "="),
    _seq("heroku", "HR", "KU-AA", (URL64, 58)),
    _seq("render", "rn", "d_", (ALNUM, 28)),
    _seq("vercel", "vc", "p_", (ALNUM, 56)),
    _seq("vercel blob", "vercel", "_blob_rw_", (ALNUM, 16), "_", (ALNUM, 30)),
    _seq("netlify", "nf", "p_", (ALNUM, 36)),
    _seq("deno deploy", "dd", "p_", (ALNUM, 36)),
    _seq("supabase personal", "sb", "p_", (HEX, 40)),
    _seq("supabase secret", "sb", "_secret_", (URL64, 22), "_", (URL64, 8)),
    _seq("planetscale token", "pscale", "_tkn_", (URL64, 43)),
    _seq("neon", "na", "pi_", (LOWER_NUM, 64)),
    _seq("neon password", "np", "g_", (ALNUM, 12)),
    _seq("aiven", "AV", "NS_", (URL64, 19)),
    _seq("databricks", "da", "pi", (HEX, 32)),
    _seq("tailscale auth", "ts", "key-auth-k", (BASE58, 11), "CNTRL-", (BASE58, 32)),
    # artificial intelligence
    _seq("openai old", "s", "k-", (ALNUM, 20), "T3Blbk", "FJ", (ALNUM, 20)),
    _seq("openai project", "s", "k-proj-", (URL64, 74), "T3Blbk", "FJ", (URL64, 73), (ALNUM, 1)),
    _seq("openai admin", "s", "k-admin-", (URL64, 58), "T3Blbk", "FJ", (URL64, 57), (ALNUM, 1)),
    _seq("anthropic api", "s", "k-ant-api03-", (URL64, 93), "AA"),
    _seq("anthropic oauth", "s", "k-ant-oat01-", (URL64, 93), "AA"),
    _seq("openrouter", "s", "k-or-v1-", (HEX, 64)),
    _seq("deepseek", "s", "k-", (HEX, 32)),
    _seq("groq", "gs", "k_", (ALNUM, 52)),
    _seq("xai", "xa", "i-", (ALNUM, 80)),
    _seq("perplexity", "pp", "lx-", (ALNUM, 48)),
    _seq("replicate", "r", "8_", (ALNUM, 37)),
    _seq("fireworks", "fw", "_", (ALNUM, 24)),
    _seq("cerebras", "cs", "k-", (LOWER_NUM, 48)),
    _seq("nvidia", "nv", "api-", (URL64, 63), (ALNUM, 1)),
    _seq("hugging face user", "h", "f_", (LOWER + UPPER, 34)),
    _seq("hugging face organisation", "api", "_org_", (LOWER + UPPER, 34)),
    _seq("langsmith", "ls", "v2_pt_", (HEX, 32), "_", (HEX, 10)),
    _seq(
        "langfuse",
        *("s", "k-lf-"),
        (HEX, 8),
        "-",
        (HEX, 4),
        "-",
        (HEX, 4),
        "-",
        (HEX, 4),
        "-",
        (HEX, 12),
    ),
    _seq("pinecone", "pc", "sk_", (ALNUM, 5), "_", (ALNUM, 63)),
    _seq("tavily", "tv", "ly-", (ALNUM, 32)),
    _seq("jina", "ji", "na_", (HEX, 32), (ALNUM, 28)),
    _seq("elevenlabs", "s", "k_", (HEX, 48)),
    _seq("weights and biases", "wandb", "_v1_", (ALNUM, 80)),
    # money
    _seq("stripe live", "s", "k_live_", (ALNUM, 99)),
    _seq("stripe restricted", "r", "k_live_", (ALNUM, 99)),
    _seq("stripe webhook", "wh", "sec_", (ALNUM, 32)),
    _seq("square access", "sq", "0atp-", (URL64, 22)),
    _seq("square production", "EA", "AA", (URL64, 60)),
    _with_uuid("plaid access", "access-", "production-"),
    _seq("braintree", "access_", "token$production$", (LOWER_NUM, 16), "$", (HEX, 32)),
    _seq("razorpay", "rz", "p_live_", (ALNUM, 14)),
    _seq("flutterwave", "FLW", "SECK-", (HEX, 32), "-X"),
    _seq("paystack-like easypost", "EZ", "AK", (ALNUM, 54)),
    _seq("duffel", "duffel", "_live_", (URL64, 43)),
    _seq("shippo", "shippo", "_live_", (HEX, 40)),
    _seq("paddle", "pd", "l_live_apikey_", (LOWER_NUM, 26), "_", (ALNUM, 22), "_", (ALNUM, 3)),
    # mail and messages
    _seq("twilio api key", "S", "K", (HEX, 32)),
    _seq("sendgrid", "S", "G.", (URL64, 22), ".", (URL64, 43)),
    _seq("mailgun", "ke", "y-", (HEX, 32)),
    _seq("mailchimp", (HEX, 32), "-", "us12"),
    _seq("mandrill", "md", "-", (ALNUM, 22)),
    _seq("brevo", "xkey", "sib-", (HEX, 64), "-", (ALNUM, 16)),
    _seq("resend", "r", "e_", (ALNUM, 8), "_", (ALNUM, 24)),
    _seq("intercom", "dG", "9rO", (ALNUM, 54), "="),
    _with_uuid("hubspot", "pat", "-na1-"),
    # packages and builds
    _seq("npm", "np", "m_", (ALNUM, 36)),
    _seq("pypi", "py", "pi-AgEIcHlwaS5vcmc", (URL64, 150)),
    _seq("rubygems", "ruby", "gems_", (HEX, 48)),
    _seq("crates.io", "ci", "o", (ALNUM, 32)),
    _seq("clojars", "CLO", "JARS_", (HEX, 60)),
    _seq("nuget", "oy", "2", ("abcdefghijklmnop", 1), (LOWER_NUM, 42)),
    _seq("docker personal", "dckr", "_pat_", (URL64, 27)),
    _seq("jfrog api key", "AK", "Cp", (ALNUM, 69)),
    _seq("jfrog reference token", "cmVm", "dGtu", (ALNUM, 56)),
    _seq("terraform cloud", (ALNUM, 14), ".atlas", "v1.", (URL64, 67)),
    _seq("pulumi", "pu", "l-", (HEX, 40)),
    _seq("circleci personal", "CCI", "PAT_", (BASE58, 22), "_", (HEX, 40)),
    _seq("buildkite", "bk", "ua_", (HEX, 40)),
    _seq("harness", "pa", "t.", (ALNUM, 22), ".", (HEX, 24), ".", (ALNUM, 20)),
    _seq("octopus", "AP", "I-", (UPPER_NUM, 26)),
    _seq("prefect", "pn", "u_", (ALNUM, 36)),
    _seq("openshift", "sha", "256~", (URL64, 43)),
    _seq("snyk personal", "snyk", "_uat.", (HEX, 8), ".", (URL64, 120)),
    _seq("sonar user", "sq", "u_", (HEX, 40)),
    _seq("infracost", "ic", "o-", (ALNUM, 32)),
    # watching
    Token("sentry organisation", _sentry_org),
    _seq("new relic user", "NR", "AK-", (UPPER_NUM, 27)),
    Token("new relic licence", _new_relic_licence),
    _seq("grafana service account", "gl", "sa_", (ALNUM, 32), "_", (HEX, 8)),
    Token("grafana cloud", _grafana_cloud),
    _seq("honeycomb", "hca", "ik_01", (LOWER_NUM, 56)),
    _seq("dynatrace", "dt", "0c01.", (BASE32, 24), ".", (BASE32, 64)),
    _seq("posthog personal", "ph", "x_", (ALNUM, 43)),
    _seq("logfire", "py", "lf_v1_us_", (ALNUM, 43)),
    _seq("rootly", "root", "ly_", (HEX, 64)),
    _with_uuid("launchdarkly sdk", "sd", "k-"),
    # work tools
    _seq("figma", "fi", "gd_", (URL64, 40)),
    _seq("postman", "PM", "AK-", (HEX, 24), "-", (HEX, 34)),
    _seq("linear", "lin", "_api_", (ALNUM, 40)),
    _seq("notion", "nt", "n_", (ALNUM, 46)),
    _seq("airtable", "pa", "t", (ALNUM, 14), ".", (HEX, 64)),
    _seq("atlassian", "AT", "ATT3xFfGF0", (URL64, 180), "=", (UPPER_HEX, 8)),
    _seq("trello", "AT", "TA", (HEX, 64), (UPPER_HEX, 8)),
    _seq("asana", *("1", "/"), (DIGITS, 16), ":", (HEX, 32)),
    _seq("typeform", "tf", "p_", (URL64, 58), (ALNUM, 1)),
    _seq("contentful", "CF", "PAT-", (URL64, 43)),
    _seq("readme", "rd", "me_", (LOWER_NUM, 70)),
    _seq("dropbox", "s", "l.", (URL64, 135)),
    _seq("shopify private", "sh", "pat_", (HEX, 32)),
    _seq("facebook", "EA", "A", (ALNUM, 160)),
    Token("mapbox secret", _mapbox),
    _seq("adobe secret", "p8", "e-", (URL64, 32)),
    # keepers of secrets
    _seq("vault service", "hv", "s.", (URL64, 95)),
    _seq("doppler personal", "dp", ".pt.", (ALNUM, 43)),
    _seq("doppler service", "dp", ".st.prd.", (ALNUM, 43)),
    _seq("infisical", "st", ".", (HEX, 24), ".", (HEX, 32), ".", (HEX, 32)),
    Token("1password service", _one_password),
    _seq(
        "1password secret key",
        *("A", "3-"),
        *((UPPER_NUM, 6), "-", (UPPER_NUM, 6), "-"),
        *((UPPER_NUM, 5), "-", (UPPER_NUM, 5), "-", (UPPER_NUM, 5), "-", (UPPER_NUM, 5)),
    ),
    _seq("age", "AGE-SECRET", "-KEY-1", (BECH32, 58)),
    _seq("defined networking", "dn", "key-", (BASE32, 26), "-", (BASE32, 52)),
    Token("jwt", _jwt),
    Token("jwe", _jwe),
)

# --- 3. ways in which a value stands in text ---------------------------------------------------


def _put(name: str, template: str) -> Embedding:
    """The value stands whole where the template has ``§``."""
    return Embedding(name, "shape", lambda value: (template.replace("§", value), (value,)))


def _through(
    name: str, found: Found, change: Callable[[str], str], template: str = "value: §"
) -> Embedding:
    """The value stands changed; what it was changed into must be gone, and the value too."""

    def make(value: str) -> Filled:
        changed = change(value)
        return template.replace("§", changed), (changed,)

    return Embedding(name, found, make)


def _chunks(value: str, size: int) -> list[str]:
    return [value[at : at + size] for at in range(0, len(value), size)]


def _telling(parts: list[str]) -> tuple[str, ...]:
    """Give the parts long enough to mean something: of eight letters, else the longest one."""
    return tuple(part for part in parts if len(part) > 7) or (max(parts, key=len),)


def _parted(name: str, found: Found, between: str, template: str = "§", size: int = 0) -> Embedding:
    """The value stands in parts (of ``size``, or in three) with something between them.

    Of the parts only the telling ones must be gone; short ones could stand anywhere.
    """

    def make(value: str) -> Filled:
        parts = _chunks(value, size or -(-len(value) // 3))
        return template.replace("§", between.join(parts)), _telling(parts)

    return Embedding(name, found, make)


def _wrapped(name: str, columns: int, lead: str, mark: str = "") -> Embedding:
    """The line with the value is cut hard at a column, as a narrow terminal does."""
    width = columns - len(mark)

    def make(value: str) -> Filled:
        line = f"{lead} {value} and then more text"
        start, end = len(lead) + 1, len(lead) + 1 + len(value)
        cuts = range(0, len(line), width)
        pieces = [line[max(start, at) : min(end, at + width)] for at in cuts]
        text = "\n".join(mark + part for part in _chunks(line, width))
        return text, _telling(pieces)

    return Embedding(name, "joined", make)


def _percent_all(value: str) -> str:
    return "".join(f"%{byte:02X}" for byte in value.encode())


def _entities(value: str) -> str:
    return "".join(f"&#{ord(letter)};" for letter in value)


def _unicode_escapes(value: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in value)


def _hex_escapes(value: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in value.encode())


def _hex_dump(value: str) -> str:
    return " ".join(_chunks(value.encode().hex(), 2))


def _offset64(lead: str) -> Callable[[str], str]:
    """Base64 of the value behind a lead that shifts where its letters fall."""
    return lambda value: _b64(lead + value)


def _string_escapes(value: str) -> str:
    return repr("a\tb " + value + "\n'c'\"")


def _quoted_printable(value: str) -> str:
    return re.sub("[^ -<>-~]|=", lambda m: f"={ord(m.group()):02X}", value)


EMBEDDINGS: tuple[Embedding, ...] = (
    _put("bare", "§"),
    _put("in a sentence", "Please use § for the deploy."),
    _put("end of sentence", "The key is §."),
    _put("in brackets", "the key (§) was sent"),
    _put("double quotes", '"§"'),
    _put("single quotes", "'§'"),
    _put("curly quotes", "“§”"),
    _put("backticks", "`§`"),
    _put("after label =", "API_TOKEN=§"),
    _put("after label :", "token: §"),
    _put("with comma after", "token=§, user=app"),
    _put("in a query", "https://api.example.com/v1?token=§&page=2"),
    _put("in userinfo", "https://oauth2:§@git.example.com/a/b.git"),
    _put("in a path", "https://api.example.com/hooks/§/run"),
    _put("json value", '{"id": 7, "token": "§"}'),
    _put("json untold key", '{"x": ["a", "§"]}'),
    _put("json in json", '{"body": "{\\"x\\":\\"§\\"}"}'),
    _put("yaml value", "a:\n  b: §\n  c: 1\n"),
    _put("xml element", "<x>§</x>"),
    _put("header", "Authorization: Bearer §"),
    _put("diff added", "@@ -1 +1 @@\n-x = 1\n+x = '§'\n"),
    _put("diff removed", "-§\n"),
    _put("markdown table", "| name | value |\n|---|---|\n| ci | § |\n"),
    _put("markdown fence", "```sh\nexport T=§\n```"),
    _put("markdown link", "[open](https://a.example.com/§)"),
    _put("slack link", "<https://a.example.com/?t=§|open>"),
    _put("shell command", "curl -sH 'Authorization: token §' https://api.example.com | jq ."),
    _put("shell here-string", "cat <<< §"),
    _put("log line", "2024-05-01T10:00:00Z DEBUG app: got § from cache"),
    _put("escaped newline after", '"first\\n§\\nlast"'),
    _put("escaped tab before", '"a\\t§"'),
    _put("null bytes round it", "a\0§\0b"),
    _put("crlf", "a\r\n§\r\nb\r\n"),
    _put("html attribute", '<a data-x="§">x</a>'),
    _put("letters next to it in Japanese", "鍵は§です"),
    _put("twice", "§ and again §"),
    _put("colour before and after", "\x1b[32m§\x1b[0m"),
    _through("python repr with escapes", "shape", lambda v: v, repr("a\tb 'c' \"") + "§"),
    Embedding("python repr", "shape", lambda v: (_string_escapes(v), (v,))),
    Embedding("bytes repr", "shape", lambda v: (repr(v.encode()), (v,))),
    Embedding("json dump", "shape", lambda v: (json.dumps({"x": v}), (json.dumps(v)[1:-1],))),
    _through(
        "percent-encoded", "shape", lambda v: urllib.parse.quote(v, safe=""), "https://a/?x=§"
    ),
    _through("html-escaped", "shape", html.escape, "<td>§</td>"),
    _through("quoted-printable", "joined", _quoted_printable),
    _parted("colours within", "joined", "\x1b[1;31m", "tok \x1b[0m§\x1b[0m end"),
    _parted("grep highlight within", "joined", "\x1b[m\x1b[K", "a.env:\x1b[01;31m\x1b[K§\x1b[m"),
    _wrapped("wrapped at 40", 40, "The token that was made is"),
    _wrapped(
        "wrapped at 80", 80, "The token that was made for the deploy of the shop on Monday is"
    ),
    _wrapped("wrapped at 40 in quote", 40, "The token that was made is", "> "),
    _parted("line continuation", "joined", "\\\n", "export T=§"),
    _parted("zero-width spaces within", "joined", "\u200b"),
    _parted("soft hyphens within", "joined", "\u00ad"),
    _parted("soft line ends of mail", "joined", "=\n"),
    _parted("html word breaks", "joined", "<wbr>", "<td>§</td>"),
    _parted("base64-style lines of 20", "joined", "\n", "token:\n§\n", 20),
    _parted("yaml folded", "known", "\n  ", "x: >-\n  §\n"),
    _parted("python string parts", "known", '" "', 'x = "§"'),
    _parted("js string parts", "known", "' + '", "x = '§'"),
    _parted("blanks in groups of eight", "known", " ", "§", 8),
    _through("percent-encoded whole", "known", _percent_all, "https://a/?x=§"),
    _through("html number entities", "known", _entities, "<td>§</td>"),
    _through("unicode escapes", "known", _unicode_escapes, '"§"'),
    _through("hex escapes", "known", _hex_escapes, "b'§'"),
    _through("base64", "known", _b64),
    _through("base64 without padding", "known", lambda v: _b64(v).rstrip("=")),
    _through("base64 of url kind", "known", _url64),
    _through("base64 behind one letter", "known", _offset64("x")),
    _through("base64 behind two letters", "known", _offset64("xy")),
    _through("base64 of user and value", "known", _offset64("deploy:"), "x §"),
    _through("base64 with line end", "known", lambda v: _b64(v + "\n")),
    _through("base32", "known", lambda v: base64.b32encode(v.encode()).decode()),
    _through("hex", "known", lambda v: v.encode().hex()),
    _through("upper hex", "known", lambda v: v.encode().hex().upper()),
    _through("hex dump", "known", _hex_dump),
    _through("reversed", "known", lambda v: v[::-1]),
    _through("letters with blanks", "known", " ".join),
)

# --- 4. harmless text --------------------------------------------------------------------------


def _public_block(what: str, lines: int) -> str:
    rng = seeded(what)
    body = [_pick(rng, ALNUM + "+/", 64) for _ in range(lines)]
    body[0] = "MIID" + body[0][4:]
    return "\n".join([f"{_DASHES}BEGIN {what}{_DASHES}", *body, f"{_DASHES}END {what}{_DASHES}"])


def _benign(group: str, *texts: str) -> tuple[Benign, ...]:
    return tuple(Benign(f"{group} {at}", text) for at, text in enumerate(texts, 1))


_SHA = seeded("sha").randbytes(20).hex()
_SHA256 = seeded("sha256").randbytes(32).hex()
_SHA512 = _b64(seeded("sha512").randbytes(64))
_SSH_PUBLIC = "AAAAC3NzaC1lZDI1NTE5AAAAI" + _pick(seeded("ssh"), ALNUM + "+/", 43)

BENIGN: tuple[Benign, ...] = (
    *_benign(
        "python",
        "password = get_password()",
        "password = getpass.getpass()",
        "token: str",
        "token: str | None = None",
        "secret=None",
        "api_key: SecretStr = Field(default=...)",
        "def check_password(password: str, hashed: bytes) -> bool:",
        "self._token = token",
        "self.password = password",
        "password = os.environ['DB_PASSWORD']",
        'password = os.getenv("DB_PASSWORD")',
        "token = request.headers.get('Authorization')",
        "if not password:",
        "if token is None:",
        "assert token != other_token",
        "return User(name=name, password=hash_password(raw))",
        "rows.sort(key=lambda row: row.name)",
        "max(items, key=len)",
        "for key, value in secrets.items():",
        "import secrets",
        "from getpass import getpass",
        "from app.auth.tokens import TokenStore, make_token",
        "token = secrets.token_urlsafe(32)",
        "secret = base64.b64encode(os.urandom(32))",
        "tokens = tokenizer.encode(text)",
        "max_tokens=4096",
        "class PasswordResetTokenGenerator:",
        "def test_wrong_password_is_refused() -> None:",
        "def test_token_expires_after_an_hour(client: Client) -> None:",
        "raise ValueError('password is too short')",
        'log.info("password changed for %s", user.name)',
        "password_validators = [MinimumLength(12)]",
        "PASSWORD_MIN_LENGTH = 12",
        "TOKEN_TTL_SECONDS = 3600",
        "password = '' if user is None else user.password",
        "SECRET_KEY = env('SECRET_KEY')",
        "print(f'password={password}')",
        "Authorization = Annotated[str, Header()]",
    ),
    *_benign(
        "other code",
        "const token = await getToken();",
        "const password = process.env.DB_PASSWORD;",
        "const { password, ...rest } = user;",
        "password: z.string().min(12),",
        "type Props = { token: string; onLogin: () => void };",
        "interface Credentials { username: string; password: string }",
        "headers: { Authorization: `Bearer ${token}` }",
        "import { useToken } from './hooks/useToken';",
        '<input type="password" name="password" autocomplete="current-password">',
        '<label for="password">Password</label>',
        ".password-field { color: var(--token-color-primary); }",
        ".btn-secret:hover { opacity: 0.8; }",
        "private String password;",
        "public void setPassword(String password) { this.password = password; }",
        "String token = tokenService.issue(user);",
        'password := os.Getenv("DB_PASSWORD")',
        "func (s *Store) Token(ctx context.Context) (string, error) {",
        "password: ENV.fetch('DB_PASSWORD'),",
        "$password = $_POST['password'];",
        "'password' => env('DB_PASSWORD'),",
        'var password = Configuration["Db:Password"];',
        "let secret_key: SecretKey = SecretKey::generate(&mut rng);",
        "#define TOKEN_EOF 0",
        "case TokenKind.Semicolon:",
        "password = var.db_password",
        "password = data.aws_secretsmanager_secret_version.db.secret_string",
        'variable "db_password" {\n  type      = string\n  sensitive = true\n}',
        "SELECT password_hash FROM users WHERE id = $1;",
        "CREATE TABLE users (id int, password varchar(255) NOT NULL);",
        "ALTER ROLE app PASSWORD :'db_password';",
    ),
    *_benign(
        "configuration",
        "PASSWORD=${DB_PASS}",
        "PASSWORD=$DB_PASS",
        'export DB_PASSWORD="$(pass show db/shop)"',
        "export TOKEN=$(gh auth token)",
        "DB_PASSWORD=",
        'DB_PASSWORD=""',
        "DB_PASSWORD=<your-password>",
        "API_KEY=your-api-key-here",
        "API_KEY=xxxxxxxxxxxxxxxx",
        "API_KEY=changeme",
        "password: ****",
        "password: '********'",
        "password: [REDACTED]",
        "password: <redacted>",
        "token: ...",
        "token: null",
        "token: true",
        "secret: false",
        "password: ~",
        "DB_PASSWORD_FILE=/run/secrets/db_password",
        "password: !vault |",
        "password: ${{ secrets.DB_PASSWORD }}",
        "password: {{ .Values.db.password }}",
        "password: '{{ db_password }}'",
        "password=%(DB_PASSWORD)s",
        "token = %s",
        "spring.datasource.password=${DB_PASSWORD}",
        "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
        "valueFrom:\n  secretKeyRef:\n    name: db\n    key: password\n",
        "secretName: shop-tls",
        "imagePullSecrets:\n  - name: registry\n",
        "kind: Secret\nmetadata:\n  name: db\n",
        "tokenEndpoint: https://login.example.com/oauth2/token",
        "PasswordAuthentication no",
        "permit-root-login: prohibit-password",
        "<password>${env.NEXUS_PASSWORD}</password>",
        '<add key="PasswordLength" value="12"/>',
        "Server=db;Database=shop;Trusted_Connection=True;",
        "postgres://app:${DB_PASS}@db:5432/shop",
        "postgres://db.internal:5432/shop",
        "postgres://user:<password>@localhost/db",
        "secrets:\n  db_password:\n    external: true\n",
    ),
    *_benign(
        "shell",
        "docker login --password-stdin ghcr.io",
        "psql --no-password -h db",
        "app serve --password-file /run/secrets/db",
        'curl -H "Authorization: Bearer $TOKEN" https://api.example.com',
        'curl -u "$USER:$PASS" https://api.example.com',
        "curl -u deploy https://api.example.com",
        "mysql -u app -p shop",
        "mysql -h db -P 3306 -u app -p",
        "sshpass -e ssh root@10.0.0.5",
        "read -rs -p 'Password: ' PASS",
        "vault login -method=oidc",
        "vault kv get -field=password secret/db",
        "kubectl get secret db -o yaml",
        "kubectl create secret generic db --from-file=password.txt",
        'kubectl create secret generic db --from-literal=password="$DB_PASS"',
        "gh secret set DB_PASSWORD < password.txt",
        "aws configure set region eu-central-1",
        "mkdir -p /etc/secrets",
        "ssh -p 2222 root@10.0.0.5",
        "cp -p a.txt b.txt",
        "[sudo] password for ann: ",
        "Enter passphrase for key '/root/.ssh/id_ed25519': ",
        "git log --format=%H --grep=password",
        "pytest tests/test_password_reset.py::test_token_is_single_use",
    ),
    *_benign(
        "hash",
        f"commit {_SHA}",
        f"{_SHA[:9]} Fix the password form",
        f"index {_SHA[:7]}..{_SHA[8:15]} 100644",
        f"git checkout {_SHA}",
        f"uses: actions/checkout@{_SHA}",
        f"https://github.com/example/shop/commit/{_SHA}",
        f"Digest: sha256:{_SHA256}",
        f"FROM python:3.12@sha256:{_SHA256}",
        f"--hash=sha256:{_SHA256}",
        f'hash = "sha256:{_SHA256}"',
        f"{_SHA256}  shop-1.2.3.tar.gz",
        f'"integrity": "sha512-{_SHA512}"',
        f"integrity sha512-{_SHA512}",
        f'checksum = "{_SHA256}"',
        f'ETag: "{_SHA256[:32]}"',
        f"request_id={_uuid(seeded('request'))}",
        f"X-Request-Id: {_uuid(seeded('header'))}",
        f"trace_id={_SHA256[:32]} span_id={_SHA256[:16]}",
        f'<Project ProjectGuid="{{{_uuid(seeded("guid")).upper()}}}">',
        f"container {_SHA256[:12]} started",
        "md5: d41d8cd98f00b204e9800998ecf8427e",
        "color: #a1b2c3; background: #deadbeef",
        "0x7ffe5a3b1c80 in main () at app.c:12",
        "inet6 fe80::42:acff:fe11:2/64 scope link",
        "link/ether 02:42:ac:11:00:02 brd ff:ff:ff:ff:ff:ff",
    ),
    *_benign(
        "public",
        _public_block("CERTIFICATE", 5),
        _public_block("PUBLIC KEY", 4),
        _public_block("CERTIFICATE REQUEST", 4),
        "ssh-ed25519 " + _SSH_PUBLIC + " ann@laptop",
        "example.com ssh-ed25519 " + _SSH_PUBLIC,
        "SHA256:" + _pick(seeded("print"), ALNUM + "+/", 43) + " ann@laptop (ED25519)",
        "PublicKey = " + _b64(seeded("wireguard").randbytes(32)),
        "age1" + _pick(seeded("age"), BECH32.lower(), 58),
        "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
        '<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ">',
        "gpg: key 4AEE18F83AFDEB23: public key imported",
        "Signed-off-by: Ann Example <ann@example.com>",
    ),
    *_benign(
        "prose",
        "Please change your password every year.",
        "The token is expired, so log in again.",
        "The password is wrong.",
        "Your password must have at least 12 letters.",
        "Never put a secret into the repository.",
        "Forgot your password? Reset it here.",
        "The secret is to start early.",
        "Password: required",
        "## Password rules",
        "- [ ] rotate the API key",
        "The API key is read from the environment.",
        "Use `--token <TOKEN>` to log in.",
        "Set `DB_PASSWORD` in `.env` before the first start.",
        "Authorization: Bearer <your-token>",
        "Invalid password for user ann",
        "used 1,204 tokens of 200,000",
        "Tokens: 12k in, 3k out",
        "Das Passwort muss mindestens zwölf Zeichen haben.",
        "Passwort vergessen?",
        "Le mot de passe est trop court.",
        "La contraseña no es correcta.",
        "A senha deve ser alterada.",
        "パスワードを忘れた場合はこちら。",
        "パスワードは12文字以上にしてください。",
        "密码不正确，请重试。",
        "비밀번호를 잊으셨나요?",
        "Пароль должен содержать не менее 12 символов.",
        "The keyboard has a key for every secret passage.",
        "He passed the pass at 2,300 m.",
        "Bearer bonds are rarely seen today.",
        "Basic authentication is switched off.",
    ),
    *_benign(
        "log",
        "2024-05-01 10:00:00 INFO password reset mail sent to user 42",
        "POST /api/token 200 12ms",
        "GET /users/password/edit HTTP/1.1",
        "error: missing field `token` at line 3 column 5",
        "warning: unused variable: `password`",
        "KeyError: 'password'",
        "E   AssertionError: assert 'password' in form",
        "SyntaxError: Unexpected token } in JSON at position 42",
        "tests/test_tokens.py::test_refresh PASSED [ 12%]",
        "src/auth/password.ts:12:5 - error TS2322: Type 'string' is not assignable.",
        "secret/db created",
        "remote: Support for password authentication was removed.",
        "npm notice access token is stored in ~/.npmrc",
        "+    password = read_password(path)",
        "-    token: str | None",
        " M src/auth/token_store.py",
        "https://example.com/docs/password-reset#token-lifetime",
        "https://example.com/search?q=password+manager&page=2",
        "s3://shop-secrets/prod/",
        "arn:aws:secretsmanager:eu-central-1:123456789012:secret:shop/db",
        "projects/shop/secrets/db-password/versions/latest",
        "op://Shop/Database/password",
        "sk-learn, task-force and risk-free are words, not keys",
    ),
)
