import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readInventoryKey } from "../src/objects/inventory-key.js";

const warnings: string[] = [];
const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => void warnings.push(message),
  error: () => undefined,
};
const env = {};

t.beforeEach(() => {
  warnings.length = 0;
});

t.test(
  "a key is created at the first start and read at the next",
  async (t) => {
    const path = join(t.testdir(), "data", "inventory.key");
    const [one, two] = await Promise.all([
      readInventoryKey({ path, env, logger }),
      readInventoryKey({ path, env, logger }),
    ]);
    t.equal(one!.length, 32);
    t.same(two, one, "two that start at a time have the same");
    t.same(await readInventoryKey({ path, env, logger }), one);
    t.equal(statSync(path).mode & 0o077, 0, "no other user can read it");
    t.same(warnings, []);
  },
);

t.test("the environment overrides the file", async (t) => {
  const path = join(t.testdir(), "inventory.key");
  const key = "0f".repeat(32);
  const input = { XO_INVENTORY_KEY: ` ${key}\n` };
  t.same(
    await readInventoryKey({ path, env: input, logger }),
    Buffer.from(key, "hex"),
  );
  t.throws(() => statSync(path), { code: "ENOENT" });
});

t.test("an invalid key is reported without its value, and kept", async (t) => {
  const path = join(t.testdir({ key: "hunter2" }), "key");
  chmodSync(path, 0o600);
  t.equal(await readInventoryKey({ path, env, logger }), undefined);
  t.match(warnings, [/is not 64 hexadecimal digits: pools are not persisted/]);
  t.equal(readFileSync(path, "utf8"), "hunter2");
  const input = { XO_INVENTORY_KEY: "hunter2" };
  t.equal(await readInventoryKey({ path, env: input, logger }), undefined);
  t.notMatch(warnings.join(), "hunter2");
});

t.test("a key that others can read is used, with a warning", async (t) => {
  const path = join(t.testdir(), "key");
  writeFileSync(path, "ab".repeat(32));
  chmodSync(path, 0o644);
  t.equal((await readInventoryKey({ path, env, logger }))!.length, 32);
  t.match(warnings, [/can be read by other users: chmod 600/]);
});

t.test("without a usable key, nothing is cached", async (t) => {
  const path = join(t.testdir({ file: "" }), "file", "key");
  t.equal(await readInventoryKey({ path, env, logger }), undefined);
  t.match(warnings, [/no key, pools are not persisted: ENOTDIR/]);
});
