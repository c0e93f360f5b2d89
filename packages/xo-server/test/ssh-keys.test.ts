import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { startTestServer } from "./test-server.js";

/** A public key in OpenSSH's format. */
function ed25519(comment: string): string {
  const { publicKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const part = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const blob = Buffer.concat([part(Buffer.from("ssh-ed25519")), part(raw)]);
  return `ssh-ed25519 ${blob.toString("base64")} ${comment}`;
}

t.test("a user stores SSH keys with other preferences", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const id = await admin.request("user.create", {
    email: "eve",
    password: "eve",
  });
  const eve = await (await connect()).signIn("eve", "eve");
  const set = (preferences: object) =>
    eve.request("user.set", { id, preferences });
  const sshKeys = [
    { title: "laptop", key: ed25519("eve@laptop") },
    { title: "desk", key: ed25519("eve@desk") },
  ];
  t.equal(await set({ lang: "fr" }), true);
  t.equal(await set({ sshKeys }), true);
  const { preferences } = (await eve.request("session.getUser")) as {
    preferences: object;
  };
  t.same(preferences, { lang: "fr", sshKeys }, "preferences are merged");
  await set({ sshKeys: null });
  t.same(
    ((await eve.request("session.getUser")) as { preferences: object })
      .preferences,
    { lang: "fr" },
    "null removes one",
  );
});

t.test("what is not a public key is refused, and not repeated", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const { id } = (await admin.request("session.getUser")) as { id: string };
  const good = { title: "good", key: ed25519("x") };
  const [type, encoded] = good.key.split(" ") as [string, string];
  const secret = "b3BlbnNzaC1rZXktdjEAAAAA";
  for (const [sshKeys, reason] of [
    ["no list", /sshKeys: must be array/],
    [[{ title: "x" }], /sshKeys\/0: must have required properties key/],
    [[good, { ...good, key: ed25519("y") }], /\/1\/title: another key/],
    [
      [
        good,
        { title: "p", key: `-----BEGIN OPENSSH PRIVATE KEY-----${secret}` },
      ],
      /\/1\/key: it is a private key/,
    ],
    [[{ title: "x", key: `${good.key}\nssh_pwauth: true` }], /one line/],
    [
      [{ title: "x", key: `ssh-dss ${secret}` }],
      /must begin with one of ssh-ed/,
    ],
    [[{ title: "x", key: `ssh-rsa ${encoded}` }], /is not a key of this type/],
    [[{ title: "x", key: `${type} ${encoded}!` }], /is not a key of this type/],
  ] as const) {
    const answer = await admin.call("user.set", {
      id,
      preferences: { sshKeys },
    });
    t.match(answer, { error: { code: 10, data: { reason } } });
    t.notMatch(JSON.stringify(answer), secret);
  }
  t.match(await admin.request("session.getUser"), { preferences: {} });
});
