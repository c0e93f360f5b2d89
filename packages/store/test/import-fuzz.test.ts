import t from "tap";
import { createBench } from "@xo-server/store/conformance";
import { sealFile } from "../src/configuration/sealed-file.js";
import { fillStore, describeStore } from "./conformance/configuration.js";
import { collect, once } from "./conformance/harness.js";
import { createRandom, pickSeed } from "./random.js";
import { sqliteHarness } from "./sqlite-harness.js";

const passphrase = "a long passphrase";
const head = JSON.stringify({ format: "xo-server configuration", version: 1 });
const setting = { id: "a", value_json: "1", updated_at: 1 };

async function* lines(texts: readonly string[]): AsyncGenerator<string> {
  yield `${texts.join("\n")}\n`;
}

function seal(texts: readonly string[]): Promise<Buffer> {
  return collect(sealFile(lines(texts), passphrase, 10));
}

t.test("invalid rows are rejected", async (t) => {
  const store = await (await createBench(t, sqliteHarness)).open();
  await fillStore(store);
  const before = describeStore(store);
  const row = (value: unknown) => [head, JSON.stringify(value)];
  const cases: Record<string, readonly string[]> = {
    "no head": [JSON.stringify(["settings", setting])],
    "another format": ['{"format":"other","version":1}'],
    "a later version": ['{"format":"xo-server configuration","version":2}'],
    "a head that is null": ["null"],
    "no JSON": [head, "{"],
    "a row that is a number": row(5),
    "an unknown table": row(["audit", { seq: 1 }]),
    "a table of the prototype": row(["__proto__", setting]),
    "a row that is null": row(["settings", null]),
    "a row that is a list": row(["settings", [setting]]),
    "an unknown column": row(["settings", { ...setting, extra: 1 }]),
    "a missing column": row(["settings", { id: "a" }]),
    "a text for a number": row(["settings", { ...setting, updated_at: "1" }]),
    "a number for a text": row(["settings", { ...setting, value_json: 1 }]),
    "a fraction": row(["settings", { ...setting, updated_at: 1.5 }]),
    "a number that is too large": row([
      "settings",
      { ...setting, updated_at: 2 ** 60 },
    ]),
    "a character that cannot be stored": row([
      "settings",
      { ...setting, id: "a\0" },
    ]),
    "one row twice": [
      ...row(["settings", setting]),
      row(["settings", setting])[1]!,
    ],
    "a member of no group": row([
      "memberships",
      { id: "m", group_id: "none", user_id: "none" },
    ]),
  };
  const choices = { allowNoAdmin: true };
  for (const [what, texts] of Object.entries(cases))
    await t.rejects(
      store.importConfiguration(once(await seal(texts)), passphrase, choices),
      { code: "IMPORT_INVALID" },
      what,
    );
  t.same(describeStore(store), before, "and nothing has changed");
  await store.importConfiguration(
    once(await seal(row(["settings", setting]))),
    passphrase,
    choices,
  );
  t.same([...store.settings.list()], [["a", 1]], "one that fits is taken");
  t.same([...store.users.list()], []);
});

t.test("a file with any changed byte is rejected", async (t) => {
  const seed = pickSeed();
  t.comment(`SEED=${seed}`);
  const random = createRandom(seed);
  const store = await (await createBench(t, sqliteHarness)).open();
  await fillStore(store);
  const before = describeStore(store);
  const file = await seal([head, JSON.stringify(["settings", setting])]);
  for (let i = 0; i < 60; i++) {
    const damaged = Buffer.from(file);
    const at = Math.floor(random() * damaged.length);
    damaged[at]! ^= 1 << Math.floor(random() * 8);
    const error = await store
      .importConfiguration(once(damaged), passphrase)
      .then(() => ({ code: "taken" }))
      .catch((e: unknown) => e as { code: string });
    t.match(error.code, /^(PASSPHRASE_WRONG|IMPORT_INVALID)$/, `byte ${at}`);
  }
  t.same(describeStore(store), before);
});
