import { randomBytes } from "node:crypto";
import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { Store } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testKeys(t: Test, harness: StoreHarness) {
  const newKey = () => randomBytes(32).toString("base64");
  const server = { host: "h", username: "root", password: "pw" };

  async function fill(store: Store) {
    const { id } = await store.servers.add(server);
    const user = await store.users.create({ name: "ada" });
    await store.users.setTotp(user.id, "TOTP");
    const job = await store.jobs.create({
      name: "j",
      type: "call",
      body: {},
      secret: { key: "JOB" },
    });
    const rule = await store.alarmRules.create({
      name: "r",
      body: {},
      secret: { key: "ALARM" },
    });
    await store.plugins.set("ldap", { configuration: { key: "PLUGIN" } });
    await store.audit.append({ operation: "x", outcome: "success" });
    return { id, userId: user.id, jobId: job.id, ruleId: rule.id };
  }

  async function check(
    t: Test,
    store: Store,
    ids: Awaited<ReturnType<typeof fill>>,
  ) {
    t.equal(store.servers.credentials(ids.id).password, "pw");
    t.equal(store.users.totpSecret(ids.userId), "TOTP");
    t.same(store.jobs.secret(ids.jobId), { key: "JOB" });
    t.same(store.alarmRules.secret(ids.ruleId), { key: "ALARM" });
    t.same(store.plugins.configuration("ldap"), { key: "PLUGIN" });
    t.same(await store.audit.verify(), { intact: true, checked: 1 });
  }

  t.test(
    "the key file is created once, readable only by its owner",
    async (t) => {
      const bench = await createBench(t, harness);
      await (await bench.open()).close();
      t.equal((await stat(bench.keyFile)).mode & 0o777, 0o600);
      const text = await readFile(bench.keyFile, "utf8");
      await bench.open();
      t.equal(await readFile(bench.keyFile, "utf8"), text);
    },
  );

  t.test("a key file that others can read is rejected", async (t) => {
    const bench = await createBench(t, harness);
    await (await bench.open()).close();
    await chmod(bench.keyFile, 0o640);
    await t.rejects(bench.open(), { code: "CONFIG_INVALID", message: /0600/ });
  });

  t.test(
    "a credential of the service manager is read, never written",
    async (t) => {
      const bench = await createBench(t, harness);
      await (await bench.open()).close();
      // systemd: owned by root, readable by the service by an ACL.
      await chmod(bench.keyFile, 0o440);
      const key = { credential: bench.keyFile };
      const store = await bench.open({ key });
      await t.rejects(store.rotateKey(), { code: "UNSUPPORTED" });
      await chmod(bench.keyFile, 0o444);
      await t.rejects(bench.open({ key }), { code: "CONFIG_INVALID" });
      await rm(bench.keyFile);
      await t.rejects(bench.open({ key }), {
        code: "CONFIG_INVALID",
        message: /the credential .* it is missing/,
      });
    },
  );

  t.test("a lost, wrong or damaged key is a clear error", async (t) => {
    const bench = await createBench(t, harness);
    await (await bench.open()).close();
    await t.rejects(bench.open({ key: { text: newKey() } }), {
      code: "STORE_KEY_WRONG",
      message:
        /^the secrets in the database are encrypted with key [0-9a-f]{8}, but the key of the environment contains key [0-9a-f]{8}$/,
    });
    await rm(bench.keyFile);
    await t.rejects(bench.open(), {
      code: "CONFIG_INVALID",
      message:
        /^the key file .*: it is missing, .*: restore the file, or copy it from another server of this database$/,
    });
    await writeFile(bench.keyFile, "not a key", { mode: 0o600 });
    const error = await bench.open().catch((e: unknown) => e as Error);
    t.match(error, { code: "CONFIG_INVALID" });
    t.notMatch((error as Error).message, "not a key");
  });

  t.test("rotation encrypts all secrets again", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const ids = await fill(store);
    const [before, oldKey] = [
      await bench.dump(),
      await readFile(bench.keyFile),
    ];
    const keyId = /"v1\.([0-9a-f]{8})\./.exec(before)![1]!;
    await store.rotateKey();
    await check(t, store, ids);
    t.match(before, keyId);
    t.notMatch(await bench.dump(), keyId);
    t.notSame(await readFile(bench.keyFile), oldKey);
    await store.close();
    await check(t, await bench.open(), ids);
  });

  t.test("another process loads a rotated key", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    const ids = await fill(one);
    await one.rotateKey();
    await two.refresh();
    await check(t, two, ids);
    const created = await two.servers.add({ ...server, host: "h2" });
    await one.refresh();
    t.equal(one.servers.credentials(created.id).password, "pw");
  });

  t.test("a deleted key file matters only at a restart", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    const ids = await fill(one);
    await rm(bench.keyFile);
    await two.refresh();
    await check(t, two, ids);
  });

  t.test("an interrupted rotation is finished at the start", async (t) => {
    const bench = await createBench(t, harness);
    const first = await bench.open();
    const ids = await fill(first);
    await first.close();
    const old = await readFile(bench.keyFile, "utf8");
    await writeFile(bench.keyFile, `${newKey()}\n${old}`);
    const second = await bench.open();
    await check(t, second, ids);
    await second.close();
    const keys = (await readFile(bench.keyFile, "utf8")).split("\n");
    t.equal(keys.filter((line) => /^[^#]/.test(line)).length, 1);
    await check(t, await bench.open(), ids);
  });

  t.test("a key of the environment is rotated with two starts", async (t) => {
    const bench = await createBench(t, harness);
    const [older, newer] = [newKey(), newKey()];
    const first = await bench.open({ key: { text: older } });
    const ids = await fill(first);
    await t.rejects(first.rotateKey(), { code: "UNSUPPORTED" });
    await check(t, first, ids);
    await first.close();
    const second = await bench.open({ key: { text: `${newer},${older}` } });
    await check(t, second, ids);
    await second.close();
    await check(t, await bench.open({ key: { text: newer } }), ids);
    await t.rejects(bench.open({ key: { text: older } }), {
      code: "STORE_KEY_WRONG",
    });
  });
}
