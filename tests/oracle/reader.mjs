// Somebody in an encrypted room with the client that Element is made of. Every line on standard output is one thing it sees:
// {"ready": true}, or a message with the colour of its shield (0: none). Every line on standard input is something to say.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import path from "node:path";

// what it says about itself would stand between what it sees
for (const one of ["trace", "debug", "log", "info", "warn"]) console[one] = () => {};
const told = JSON.parse(process.env.READER);
const require = createRequire(path.join(told.packages, "node_modules", "x.js"));
const sdk = await import(pathToFileURL(require.resolve("matrix-js-sdk")));
const api = await import(pathToFileURL(require.resolve("matrix-js-sdk/lib/crypto-api/index.js")));
const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

const client = sdk.createClient({
  baseUrl: told.url,
  userId: told.user,
  deviceId: told.device,
  accessToken: told.token,
});
await client.initRustCrypto({ useIndexedDB: false });
const crypto = client.getCrypto();
if (told.onlySigned) crypto.setDeviceIsolationMode(new api.OnlySignedDevicesIsolationMode());
await crypto.bootstrapCrossSigning({
  authUploadDeviceSigningKeys: (upload) => upload(null),
});

async function see(event) {
  if (event.getSender() === told.user || !event.isEncrypted()) return;
  await client.decryptEventIfNeeded(event);
  const info = event.isDecryptionFailure() ? null : await crypto.getEncryptionInfoForEvent(event);
  tell({
    sender: event.getSender(),
    body: event.getContent().body ?? "",
    failure: event.isDecryptionFailure() ? event.decryptionFailureReason : null,
    shield: info ? info.shieldColour : null,
    reason: info ? info.shieldReason : null,
  });
}

client.on(sdk.RoomEvent.Timeline, (event, room, atStart) => {
  if (!atStart && room.roomId === told.room) see(event).catch((error) => tell({ error: String(error) }));
});
client.on(sdk.ClientEvent.Sync, (state, before) => {
  if (state === "PREPARED" && before === null) tell({ ready: true });
});
await client.startClient({ initialSyncLimit: 0 });
const lines = createInterface({ input: process.stdin });
lines.on("line", (body) =>
  client
    .sendMessage(told.room, { msgtype: "m.text", body, "m.mentions": { user_ids: [told.bot] } })
    .catch((error) => tell({ error: String(error) })),
);
lines.on("close", () => process.exit(0));
