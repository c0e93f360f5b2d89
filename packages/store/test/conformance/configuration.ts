import type { Store } from "@xo-server/store";
import type { Test } from "tap";
import { collect, createBench, once, type StoreHarness } from "./harness.js";

const passphrase = "a long passphrase";

/** Creates rows in every table. */
export async function fillStore(store: Store) {
  const user = await store.users.create({
    name: "ada",
    password: "pw",
    permission: "admin",
  });
  await store.users.setTotp(user.id, "TOTPSECRET");
  const group = await store.groups.create("staff");
  await store.groups.addMember(group.id, user.id);
  const role = await store.roles.create({ name: "viewer" });
  await store.privileges.create({
    roleId: role.id,
    effect: "allow",
    resource: "vm",
    action: "*",
    selector: { tags: "qa" },
  });
  await store.grants.add(role.id, { type: "group", id: group.id });
  await store.acls.add({ subject: user.id, object: "vm", action: "viewer" });
  const job = await store.jobs.create({
    name: "j",
    type: "call",
    body: [1],
    secret: { a: "JOBSECRET" },
  });
  await store.schedules.create({ jobId: job.id, cron: "0 0 * * *" });
  await store.cloudConfigs.create({
    kind: "network",
    name: "net",
    template: "version: 2\n",
  });
  await store.resourceSets.create({
    name: "students",
    subjects: [group.id],
    limits: { cpus: 4 },
  });
  await store.placementRules.create({
    pool: "p",
    name: "databases",
    kind: "anti-affinity",
    required: true,
    vms: ["a", "b"],
  });
  await store.balancerPolicies.set("p", { mode: "automatic" });
  await store.backupRepositories.add({
    name: "nightly",
    url: "file:///mnt/backups",
    credentials: { recoveryKey: "RECOVERYKEY" },
    state: { anchor: { sequence: 1, digest: "d" } },
  });
  await store.plugins.set("openmetrics", {
    autoload: true,
    configuration: { secret: "PLUGINSECRET" },
  });
  await store.settings.set("ui/theme", { emoji: "🚀", nul: "\0" });
  const server = { host: "h", username: "root", password: "pool-secret" };
  const { id } = await store.servers.add(server);
  const { text } = await store.tokens.create({ userId: user.id });
  return { userId: user.id, serverId: id, tokenText: text };
}

/** All data of a store, for comparison. */
export function describeStore(store: Store) {
  const sorted = (values: Iterable<unknown>) =>
    Array.from(values, (value) => JSON.stringify(value)).toSorted();
  return {
    settings: sorted(store.settings.list()),
    servers: sorted(store.servers.list()),
    users: sorted(store.users.list()),
    groups: sorted(store.groups.list()),
    members: Array.from(store.groups.list(), ({ id }) =>
      store.groups.membersOf(id),
    ),
    roles: sorted(store.roles.list()),
    privileges: sorted(store.privileges.list()),
    grants: Array.from(store.roles.list(), ({ id }) =>
      store.grants.subjectsOf(id),
    ),
    acls: sorted(store.acls.list()),
    jobs: sorted(store.jobs.list()),
    secrets: Array.from(store.jobs.list(), ({ id }) => store.jobs.secret(id)),
    schedules: sorted(store.schedules.list()),
    cloudConfigs: sorted(store.cloudConfigs.list()),
    resourceSets: sorted(store.resourceSets.list()),
    placementRules: sorted(store.placementRules.list()),
    balancerPolicies: sorted(store.balancerPolicies.list()),
    backupRepositories: sorted(store.backupRepositories.list()),
    recoveryKeys: Array.from(store.backupRepositories.list(), ({ id }) =>
      store.backupRepositories.credentials(id),
    ),
    openmetrics: store.plugins.configuration("openmetrics"),
  };
}

export async function testConfiguration(t: Test, harness: StoreHarness) {
  t.test("a configuration is exported and imported completely", async (t) => {
    const source = await (await createBench(t, harness)).open();
    const { serverId, userId, tokenText } = await fillStore(source);
    const file = await collect(source.exportConfiguration(passphrase));
    for (const secret of [
      "pool-secret",
      "TOTPSECRET",
      "PLUGINSECRET",
      "JOBSECRET",
      "scrypt$",
      "ada",
    ])
      t.notMatch(file.toString("latin1"), secret);

    const bench = await createBench(t, harness);
    const target = await bench.open();
    await target.settings.set("of the target", 1);
    await target.users.create({ name: "ada" });
    await target.importConfiguration(once(file), passphrase);
    for (const store of [target, await bench.open()]) {
      t.same(describeStore(store), describeStore(source));
      t.equal(store.servers.credentials(serverId).password, "pool-secret");
      t.equal(store.users.totpSecret(userId), "TOTPSECRET");
      t.ok(await store.users.verifyPassword("ada", "pw"));
      t.equal(store.tokens.find(tokenText)?.userId, userId);
    }
  });

  t.test(
    "an import gives alarm rules of release 0.1 the current names",
    async (t) => {
      const source = await (await createBench(t, harness)).open();
      await fillStore(source);
      const targets = [
        { id: "m", kind: "e-mail", addresses: ["a@example.org"] },
      ];
      const on = { kind: "pool" };
      await source.alarmRules.create({
        name: "r",
        // oxlint-disable-next-line wording/denied-words -- a name of release 0.1
        body: { on, sendTo: targets, tellsEnd: false },
        secret: { m: "RULESECRET" },
      });
      const file = await collect(source.exportConfiguration(passphrase));
      const target = await (await createBench(t, harness)).open();
      await target.importConfiguration(once(file), passphrase);
      const [rule] = target.alarmRules.list();
      t.strictSame(rule?.body, { on, targets, notifyOnClear: false });
      t.same(target.alarmRules.secret(rule!.id), { m: "RULESECRET" });
    },
  );

  t.test("an invalid file changes nothing", async (t) => {
    const store = await (await createBench(t, harness)).open();
    await store.settings.set("a", 1);
    const file = await collect(store.exportConfiguration(passphrase));
    const flipped = Buffer.from(file);
    flipped[flipped.length - 20]! ^= 1;
    const header = Buffer.from(file);
    header[header.indexOf('"p":1') + 4] = "2".charCodeAt(0);
    const cases = [
      [file, "another passphrase", "PASSPHRASE_WRONG"],
      [flipped, passphrase, "PASSPHRASE_WRONG"],
      [header, passphrase, "PASSPHRASE_WRONG"],
      [file.subarray(0, -1), passphrase, "PASSPHRASE_WRONG"],
      [file.subarray(0, 40), passphrase, "IMPORT_INVALID"],
      [Buffer.from("hello"), passphrase, "IMPORT_INVALID"],
      [
        Buffer.from('XOCONF1\n{"ln":40}\n0123456789abcdef'),
        passphrase,
        "IMPORT_INVALID",
      ],
      [Buffer.alloc(0), passphrase, "IMPORT_INVALID"],
    ] as const;
    for (const [bytes, words, code] of cases)
      await t.rejects(store.importConfiguration(once(bytes), words), { code });
    t.same([...store.settings.list()], [["a", 1]]);
    await t.rejects(collect(store.exportConfiguration("short")), {
      code: "INVALID_PARAMETERS",
    });
  });

  t.test("a configuration has an admin who can sign in", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const { id } = await store.users.create({
      name: "ada",
      permission: "admin",
    });
    const file = await collect(store.exportConfiguration(passphrase));
    await store.users.update(id, { authProviders: { ldap: "1" } });
    const usable = await collect(store.exportConfiguration(passphrase));
    const refused = { code: "IMPORT_INVALID", message: /permission admin/ };
    const importFile = (bytes: Buffer, choices = {}) =>
      store.importConfiguration(once(bytes), passphrase, choices);
    await t.rejects(importFile(file), refused);
    t.same(store.users.get(id)?.authProviders, { ldap: "1" }, "unchanged");
    await importFile(usable);
    await importFile(file, { allowNoAdmin: true });
    t.same(store.users.get(id)?.authProviders, {});
  });

  t.test("other processes load an imported configuration", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    await one.users.create({ name: "a", password: "pw", permission: "admin" });
    await one.settings.set("a", 1);
    const file = await collect(one.exportConfiguration(passphrase));
    await one.settings.set("a", 2);
    await two.refresh();
    await one.importConfiguration(once(file), passphrase);
    t.equal(one.settings.get("a"), 1);
    await two.refresh();
    t.equal(two.settings.get("a"), 1);
    await two.settings.set("a", 3);
    t.equal(two.settings.get("a"), 3);
  });
}
