import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

/** `t.testdir` is emptied by each server that is started. */
async function dataFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function settings(folder: string) {
  return {
    location: join(folder, "store.db"),
    key: { file: join(folder, "store.key") },
  };
}

const yaml = (folder: string) =>
  `store: {location: ${join(folder, "store.db")}, keyFile: ${join(folder, "store.key")}}`;

t.test("what was changed is written down, without secrets", async (t) => {
  const folder = await dataFolder(t);
  const { connect, stop, lines } = await startTestServer(t, yaml(folder));
  const admin = await (await connect()).signIn();
  const token = (await admin.ask("token.create", {})) as string;
  const user = { email: "ada", password: "hunter22" };
  const id = await admin.ask("user.create", user);
  await admin.ask("user.delete", { id });
  t.match(await admin.call("user.delete", { id }), { error: { code: 1 } });
  t.match(await admin.call("user.delete", {}), { error: { code: 10 } });
  await admin.ask("user.getAll");
  await stop();
  const store = await openStore(settings(folder));
  t.teardown(() => store.close());
  const who = { userName: "admin", address: "127.0.0.1" };
  t.match(await store.audit.list(), [
    {
      ...who,
      operation: "user.delete",
      objectId: id as string,
      outcome: "failure",
      errorCode: "NO_SUCH_OBJECT",
    },
    {
      ...who,
      operation: "user.delete",
      objectId: id as string,
      outcome: "success",
    },
    {
      ...who,
      operation: "user.create",
      outcome: "success",
      parameters: { email: "ada", password: "[redacted]" },
    },
    { ...who, operation: "token.create", outcome: "success" },
    {
      ...who,
      operation: "session.signIn",
      outcome: "success",
      parameters: { provider: "password" },
    },
  ]);
  t.match(await store.audit.verify(), { intact: true, checked: 5 });
  const all = lines.join("") + JSON.stringify(await store.audit.list());
  for (const secret of [token, ADMIN_PASSWORD, "hunter22"])
    t.notOk(all.includes(secret), "no secret in logs");
});

t.test("users and tokens are there after a restart", async (t) => {
  const folder = await dataFolder(t);
  const first = await startTestServer(t, yaml(folder));
  const admin = await (await first.connect()).signIn();
  await admin.ask("user.create", { email: "ada", password: "ada" });
  const token = await admin.ask("token.create", {});
  await first.stop();
  const second = await startTestServer(t, yaml(folder), {
    env: { XO_ADMIN_PASSWORD: "another" },
  });
  const client = await second.connect();
  t.match(await client.ask("session.signIn", { token }), { email: "admin" });
  await t.resolves(client.signIn("ada", "ada"));
  t.notMatch(second.lines.join(""), /Initial admin/);
});

t.test("the first start tells the password that it made, once", async (t) => {
  const folder = await dataFolder(t);
  const first = await startTestServer(t, yaml(folder), { env: {} });
  const password = /Initial admin password: (\S+)/.exec(
    first.lines.join(""),
  )?.[1];
  await t.resolves((await first.connect()).signIn("admin", password));
  await first.stop();
  const second = await startTestServer(t, yaml(folder), { env: {} });
  t.notMatch(second.lines.join(""), /Initial admin/);
});
