import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";
import { cheapCosts } from "./cheap-costs.js";

/** `t.testdir` is emptied by each server that is started. */
async function dataFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function settings(folder: string) {
  return {
    location: join(folder, "store.db"),
    key: { file: join(folder, "store.key") },
    ...cheapCosts,
  };
}

const yaml = (folder: string) =>
  `store: {location: ${join(folder, "store.db")}, keyFile: ${join(folder, "store.key")}}`;

t.test("changes are audited, without secrets", async (t) => {
  const folder = await dataFolder(t);
  const { connect, stop, lines } = await startTestServer(t, yaml(folder));
  const admin = await (await connect()).signIn();
  const token = (await admin.request("token.create", {})) as string;
  const user = { email: "ada", password: "hunter22" };
  const id = await admin.request("user.create", user);
  await admin.request("user.delete", { id });
  t.match(await admin.call("user.delete", { id }), { error: { code: 1 } });
  t.match(await admin.call("user.delete", {}), { error: { code: 10 } });
  await admin.request("user.getAll");
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

t.test("of the URLs of webhooks only the origin is audited", async (t) => {
  const folder = await dataFolder(t);
  const { connect, stop } = await startTestServer(t, yaml(folder));
  const admin = await (await connect()).signIn();
  const url =
    "https://hooks.example:8443/services/T0/path-token?key=query-token";
  await admin.request("alarmRule.create", {
    name: "VM down",
    on: { kind: "object", type: "VM", filter: "power_state:Halted" },
    forSeconds: 0,
    targets: [{ kind: "web-hook", url }],
  });
  const webHooks = [url, "https://hooks.example/#x"];
  const job = {
    type: "backup",
    name: "nightly",
    vms: ["none"],
    repositories: ["none"],
    retention: { keepLast: 1 },
    report: { when: "always", webHooks },
  };
  t.match(await admin.call("job.create", { job }), { error: { code: 1 } });
  await stop();
  const store = await openStore(settings(folder));
  t.teardown(() => store.close());
  const records = await store.audit.list();
  const origin = "https://hooks.example:8443/[redacted]";
  const targets = [{ kind: "web-hook", url: origin }];
  const shown = [origin, "https://hooks.example/[redacted]"];
  t.match(records, [
    {
      operation: "job.create",
      parameters: { job: { report: { webHooks: shown } } },
    },
    { operation: "alarmRule.create", parameters: { targets } },
  ]);
  t.notMatch(JSON.stringify(records), /-token/);
});

t.test("users and tokens exist after a restart", async (t) => {
  const folder = await dataFolder(t);
  const first = await startTestServer(t, yaml(folder));
  const admin = await (await first.connect()).signIn();
  await admin.request("user.create", { email: "ada", password: "ada" });
  const token = await admin.request("token.create", {});
  await first.stop();
  const second = await startTestServer(t, yaml(folder), {
    env: { XO_ADMIN_PASSWORD: "another" },
  });
  const client = await second.connect();
  t.match(await client.request("session.signIn", { token }), {
    email: "admin",
  });
  await t.resolves(client.signIn("ada", "ada"));
  t.notMatch(second.lines.join(""), /Initial admin/);
});

t.test("a generated password is in a file, not in the log", async (t) => {
  const folder = await dataFolder(t);
  const place = `${yaml(folder)}\ndataDir: ${folder}/data`;
  const first = await startTestServer(t, place, { env: {} });
  const file = join(folder, "data", "initial-admin-password");
  t.match(first.lines.join(""), `Its password is in ${file}`);
  const password = (await readFile(file, "utf8")).trim();
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.notMatch(first.lines.join(""), password);
  await t.resolves((await first.connect()).signIn("admin", password));
  await first.stop();
  await rm(file);
  const second = await startTestServer(t, place, { env: {} });
  t.notMatch(second.lines.join(""), /Initial admin/);
  await t.rejects(stat(file));
});

t.test(
  "the file of a generated password does not outlive the password",
  async (t) => {
    const folder = await dataFolder(t);
    const place = `${yaml(folder)}\ndataDir: ${folder}/data`;
    const file = join(folder, "data", "initial-admin-password");
    const first = await startTestServer(t, place, { env: {} });
    const password = (await readFile(file, "utf8")).trim();
    await first.stop();

    await t.test("it stays while it is right", async (t) => {
      const { connect, stop } = await startTestServer(t, place, { env: {} });
      const admin = await (await connect()).signIn("admin", password);
      await admin.request("user.create", { email: "ada", password: "ada" });
      await stop();
      t.equal((await readFile(file, "utf8")).trim(), password);
    });

    await t.test("it is deleted when the password is changed", async (t) => {
      const { connect, stop } = await startTestServer(t, place, { env: {} });
      const admin = await (await connect()).signIn("admin", password);
      await admin.request("user.changePassword", {
        oldPassword: password,
        newPassword: "another password",
      });
      while (await exists(file));
      await stop();
    });

    await t.test(
      "it is deleted a minute after the start, if the users were replaced meanwhile",
      async (t) => {
        await writeFile(file, `${password}\n`);
        const clock = new FakeClock();
        const { stop } = await startTestServer(t, place, { env: {}, clock });
        clock.pass(59_000);
        t.ok(await exists(file));
        clock.pass(1_000);
        while (await exists(file));
        await stop();
      },
    );
  },
);

t.test("passwords have a minimum length", async (t) => {
  const yaml = "auth: { minPasswordLength: 8 }";
  const { connect } = await startTestServer(t, yaml);
  const admin = await (await connect()).signIn();
  const refused = {
    error: {
      code: 10,
      data: { reason: "a password must have at least 8 characters" },
    },
  };
  const short = { email: "ada", password: "7 chars" };
  t.match(await admin.call("user.create", short), refused);
  const id = await admin.request("user.create", {
    ...short,
    password: "8 chars.",
  });
  t.match(await admin.call("user.set", { id, password: "short" }), refused);
  const ada = await (await connect()).signIn("ada", "8 chars.");
  const change = { oldPassword: "8 chars.", newPassword: "short" };
  t.match(await ada.call("user.changePassword", change), refused);
  await t.rejects(
    startTestServer(t, yaml, { env: { XO_ADMIN_PASSWORD: "short" } }),
    { code: "CONFIG_INVALID", message: /^\$XO_ADMIN_PASSWORD: a password/ },
  );
});

t.test("refused calls are in the audit log, few of many", async (t) => {
  const clock = new FakeClock();
  const { connect } = await startTestServer(t, "", { clock });
  const admin = await (await connect()).signIn();
  await admin.request("user.create", { email: "olga", password: "olga" });
  const olga = await (await connect()).signIn("olga", "olga");
  const forbidden = { error: { code: 2 } };
  for (let i = 0; i < 30; i++)
    t.match(
      await olga.call("user.create", { email: `u${i}`, password: "secret" }),
      forbidden,
    );
  t.match(await olga.call("user.getAll"), forbidden);
  clock.pass(60_000);
  const ofOlga = async () =>
    (
      (await admin.request("audit.getRecords", {
        filter: "subject:userName:olga",
      })) as {
        records: { event: string; data: object }[];
      }
    ).records.filter(({ event }) => event.startsWith("user."));
  let records = await ofOlga();
  while (records.length < 3) records = await ofOlga();
  t.match(records.toReversed(), [
    {
      event: "user.create",
      data: {
        outcome: "failure",
        errorCode: "FORBIDDEN",
        parameters: { email: "u0", password: "[redacted]" },
      },
    },
    { event: "user.getAll", data: { errorCode: "FORBIDDEN" } },
    { event: "user.create", data: { parameters: { repeated: 29 } } },
  ]);
  t.equal(records.length, 3);
});

t.test(
  "calls that operations reject are in the audit log, few of many",
  async (t) => {
    const clock = new FakeClock();
    const { connect } = await startTestServer(t, "", { clock });
    const admin = await (await connect()).signIn();
    await admin.request("user.create", { email: "olga", password: "olga" });
    const olga = await (await connect()).signIn("olga", "olga");
    const reject = (i: number) =>
      olga.call("bulk.run", { method: "vm.start", ids: [`vm ${i}`] });
    for (let i = 0; i < 40; i++)
      t.match(await reject(i), { error: { data: { id: `vm ${i}` } } });
    const token = { method: "token.rename", ids: ["x"] };
    t.match(await olga.call("bulk.run", token), { error: { code: 10 } });
    const records = async () => {
      const filter = "subject:userName:olga";
      const answer = await admin.request("audit.getRecords", { filter });
      return (
        answer as { records: { event: string; data: object }[] }
      ).records.filter(({ event }) => event === "bulk.run");
    };
    const untilWritten = async (count: number) => {
      let all = await records();
      while (all.length < count) all = await records();
      t.equal(all.length, count);
      return all;
    };
    await untilWritten(11);
    clock.pass(60_000);
    const all = await untilWritten(12);
    t.match(all[0], {
      data: {
        outcome: "failure",
        errorCode: "NO_SUCH_OBJECT",
        parameters: { repeated: 30, withinMs: 60_000 },
      },
    });
    t.match(all.at(-1), { data: { parameters: { ids: ["vm 0"] } } });
    t.match(await admin.request("audit.checkIntegrity"), { nValid: 15 });
    // Afterwards they have entries of their own again.
    await reject(41);
    await untilWritten(13);
  },
);

t.test("a token made with a token ends with it", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const token = await admin.request("token.create", { expiresIn: "1 hour" });
  const other = await connect();
  await other.request("session.signIn", { token });
  await other.request("token.create", {
    expiresIn: "180 days",
    description: "d",
  });
  const all = (await admin.request("user.getAuthenticationTokens")) as {
    description?: string;
    expiration: number;
    created_at: number;
  }[];
  const created = all.find(({ description }) => description === "d")!;
  t.ok(created.expiration - created.created_at <= 3_600_000);
});
