import { inspect } from "node:util";
import t from "tap";
import { Key } from "../src/secrets/key.js";
import { PasswordHasher } from "../src/secrets/password-hasher.js";
import { Vault } from "../src/secrets/vault.js";

t.test("sealed text decrypts with its context and key", async (t) => {
  const key = Key.random();
  const vault = new Vault("the test", [key]);
  for (const text of ["", "pw", "Grüße 🚀", "x".repeat(10_000)]) {
    const sealed = vault.seal(text, "servers/1");
    t.equal(vault.open(sealed, "servers/1"), text);
    t.not(vault.seal(text, "servers/1"), sealed, "never twice the same");
    t.throws(() => vault.open(sealed, "servers/2"), { code: "SECRET_DAMAGED" });
  }
  const sealed = vault.seal("pw", "p");
  const other = new Vault("the other", [Key.random()]);
  t.throws(() => other.open(sealed, "p"), {
    code: "STORE_KEY_WRONG",
    data: { expected: key.id, source: "the other", found: other.keyId },
  });
});

t.test("damage at any byte is detected", async (t) => {
  const vault = new Vault("the test", [Key.random()]);
  const sealed = vault.seal("a secret", "p");
  const [version, id, body] = sealed.split(".");
  const bytes = Buffer.from(body!, "base64url");
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes);
    changed[i]! ^= 0x10;
    const text = `${version}.${id}.${changed.toString("base64url")}`;
    t.throws(() => vault.open(text, "p"), { code: "SECRET_DAMAGED" }, `${i}`);
  }
  for (const text of ["", "v1", "v2.00000000.AAAA", `v1.${id}.AAAA`, "pw"])
    t.throws(() => vault.open(text, "p"), { code: "SECRET_DAMAGED" }, text);
});

t.test("an old key decrypts, the first one encrypts", async (t) => {
  const [older, newer] = [Key.random(), Key.random()];
  const vault = new Vault("the test", [older]);
  const sealed = vault.seal("pw", "p");
  const code = vault.authenticate("head", "1");
  vault.use([newer, older]);
  t.equal(vault.open(sealed, "p"), "pw");
  t.ok(vault.seal("pw", "p").startsWith(`v1.${newer.id}.`));
  t.ok(vault.isAuthentic("head", "1", code));
  t.notOk(vault.isAuthentic("head", "2", code));
  t.notOk(vault.isAuthentic("tail", "1", code));
  t.notOk(vault.isAuthentic("head", "1", ""));
  vault.use([newer]);
  t.notOk(vault.isAuthentic("head", "1", code));
});

t.test("a key has 32 bytes and is not revealed", async (t) => {
  const key = Key.random();
  t.equal(Key.parse(key.text)?.id, key.id);
  for (const text of ["", "x", "A".repeat(42), "A".repeat(45), "!".repeat(43)])
    t.equal(Key.parse(text), undefined, text);
  const seen = [
    inspect(key, { showHidden: true }),
    JSON.stringify(key),
    inspect(new Vault("v", [key]), { depth: 9, showHidden: true }),
  ].join();
  t.notMatch(seen, key.text);
  t.notMatch(seen, key.bytes.toString("hex"));
});

t.test("passwords are hashed in PHC string format", async (t) => {
  const hasher = new PasswordHasher({ ln: 10, r: 8, p: 1 });
  const hash = await hasher.hash("pässword");
  t.match(hash, /^\$scrypt\$ln=10,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  t.not(await hasher.hash("pässword"), hash);
  t.ok(await hasher.verify("pässword", hash));
  t.ok(await hasher.verify("pässword".normalize("NFD"), hash));
  t.notOk(await hasher.verify("password", hash));
  t.notOk(await hasher.verify("pässword", undefined));
  t.notOk(await hasher.verify("pässword", "$scrypt$ln=31,r=8,p=1$x$y"));
  t.notOk(await hasher.verify("pässword", hash.replace("ln=10", "ln=30")));
  t.notOk(hasher.isOutdated(hash));
  t.ok(new PasswordHasher({ ln: 11, r: 8, p: 1 }).isOutdated(hash));
});

t.test("password checks are queued up to a limit", async (t) => {
  const hasher = new PasswordHasher({ ln: 10, r: 8, p: 1 });
  const tries = await Promise.allSettled(
    Array.from({ length: 110 }, () => hasher.verify("guess", undefined)),
  );
  const refused = tries.filter(({ status }) => status === "rejected");
  t.equal(refused.length, 8, "2 at work, 100 in the line");
  t.match(refused[0], { reason: { code: "TOO_MANY_REQUESTS" } });
  t.equal(await hasher.verify("later", undefined), false);
});
