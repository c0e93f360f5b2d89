import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@xo-server/kit";
import { openStore, type AuditRecord, type Store } from "@xo-server/store";
import t, { type Test } from "tap";
import { toAuditLine } from "../src/audit-forwarding/targets/audit-line.js";
import { toSyslogMessage } from "../src/audit-forwarding/targets/syslog-message.js";
import {
  Forwarder,
  type ForwarderOptions,
} from "../src/audit-forwarding/forwarder.js";
import { createTarget } from "../src/audit-forwarding/targets/create-target.js";
import type { TargetConfig } from "../src/audit-forwarding/targets/target.js";
import { until } from "./alarm-bench.js";
import {
  startHttpReceiver,
  startSyslog,
  startTlsSyslog,
  startUdpSyslog,
} from "./audit-receivers.js";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";
import { cheapCosts } from "./cheap-costs.js";

/** A database, and forwarders of its audit log. */
async function startBench(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const clock = new FakeClock();
  const key = { text: randomBytes(32).toString("base64") };
  const open = () =>
    openStore({
      location: join(folder, "store.db"),
      key,
      create: "always",
      ...cheapCosts,
    });
  let store = await open();
  const forwarders: Forwarder[] = [];
  const stop = async () => {
    for (const forwarder of forwarders.splice(0)) await forwarder.stop();
  };
  t.teardown(async () => {
    await stop();
    await store.close();
  });
  return {
    folder,
    clock,
    get store(): Store {
      return store;
    },
    /** Starts to forward, by default from the first entry. */
    forward(
      config: Partial<TargetConfig>,
      options: Partial<ForwarderOptions> = {},
    ) {
      const complete = toConfig(config);
      const forwarder = new Forwarder({
        name: "collector",
        target: createTarget(complete),
        existingEntries: complete.existingEntries,
        store,
        owner: "this server",
        clock,
        logger: silentLogger,
        ...options,
      });
      forwarders.push(forwarder);
      forwarder.start();
      return forwarder;
    },
    stop,
    async restart() {
      await stop();
      await store.close();
      store = await open();
    },
    async append(...operations: string[]) {
      for (const operation of operations)
        await store.audit.append({
          userName: "ada",
          address: "192.0.2.1",
          operation,
          parameters: { id: "a" },
          outcome: operation === "vm.stop" ? "failure" : "success",
        });
    },
  };
}

function toConfig(config: Partial<TargetConfig>): TargetConfig {
  return {
    name: "collector",
    url: "",
    caFile: "",
    certificateFile: "",
    keyFile: "",
    token: "",
    tokenFile: "",
    tokenEnv: "",
    existingEntries: true,
    maxEntryBytes: 8192,
    ...config,
  };
}

/** The operations of JSON lines or syslog messages. */
const operationsOf = (messages: readonly string[]) =>
  messages.map((message) => {
    const line = message.slice(message.indexOf("{"));
    return (JSON.parse(line) as AuditRecord).operation;
  });

t.test("syslog over TCP has the form of RFC 5424", async (t) => {
  const bench = await startBench(t);
  const receiver = await startSyslog(t);
  await bench.append("vm.start", "vm.stop");
  const forwarder = bench.forward({ url: `tcp://127.0.0.1:${receiver.port}` });
  await until(() => forwarder.status.state === "current");
  const [first, second] = receiver.messages;
  t.match(
    first,
    /^<109>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [!-~]+ xo-server - vm\.start - \{"time":"/,
  );
  t.match(second, /^<108>1 .* vm\.stop - /, "a failure is a warning");
  const entry = JSON.parse(first!.slice(first!.indexOf("{"))) as AuditRecord;
  const [, stored] = await bench.store.audit.list();
  t.match(entry, { seq: 1, userName: "ada", hash: stored!.hash });
  await bench.append("vm.pause");
  await until(() => receiver.messages.length === 3);
  // The receiver has a message before the forwarder counts it.
  await until(() => forwarder.status.sent === 3);
  t.match(forwarder.status, { sent: 3, failures: 0, pending: 0, lagMs: 0 });
});

t.test("a TLS receiver is verified", async (t) => {
  const bench = await startBench(t);
  const receiver = await startTlsSyslog(t);
  const url = `tls://127.0.0.1:${receiver.port}`;
  await bench.append("vm.start");
  const refused = bench.forward({ url });
  await until(() => refused.status.state === "failing");
  t.match(refused.status.error, /self-signed certificate/);
  t.same(receiver.messages, []);
  await bench.stop();

  const caFile = join(bench.folder, "ca.pem");
  await writeFile(caFile, receiver.cert);
  bench.forward({ url, caFile });
  await until(() => receiver.messages.length === 1);
  t.same(operationsOf(receiver.messages), ["vm.start"]);
});

t.test("syslog over UDP has one message a datagram", async (t) => {
  const bench = await startBench(t);
  const receiver = await startUdpSyslog(t);
  await bench.append("vm.start", "vm.stop");
  bench.forward({ url: `udp://127.0.0.1:${receiver.port}` });
  await until(() => receiver.messages.length === 2);
  t.same(operationsOf(receiver.messages), ["vm.start", "vm.stop"]);
});

t.test("JSON lines are posted with a token", async (t) => {
  const bench = await startBench(t);
  const receiver = await startHttpReceiver(t, true);
  const caFile = join(bench.folder, "ca.pem");
  await writeFile(caFile, receiver.cert);
  receiver.status = 503;
  await bench.append("vm.start", "vm.stop");
  const forwarder = bench.forward({
    url: `https://127.0.0.1:${receiver.port}/in?key=secret`,
    caFile,
    token: "hunter2",
  });
  await until(() => forwarder.status.state === "failing");
  t.match(forwarder.status, {
    error: /HTTP status 503/,
    pending: 2,
    address: `https://127.0.0.1:${receiver.port}/in`,
  });
  t.match(receiver.headers[0], {
    authorization: "Bearer hunter2",
    "content-type": "application/x-ndjson",
  });
  receiver.status = 200;
  await until(() => bench.clock.waiting > 0);
  bench.clock.pass(1_000);
  await until(() => forwarder.status.state === "current");
  t.same(operationsOf(receiver.messages), ["vm.start", "vm.stop"]);
});

t.test("entries wait for an absent receiver, and arrive once", async (t) => {
  const bench = await startBench(t);
  const first = await startSyslog(t);
  const { port } = first;
  const url = `tcp://127.0.0.1:${port}`;
  let forwarder = bench.forward({ url });
  await bench.append("a.1");
  await until(() => forwarder.status.sent === 1);
  await first.stop();
  await bench.append("a.2", "a.3");
  await until(() => forwarder.status.state === "failing");
  t.match(forwarder.status, { pending: 2, error: /ECONNREFUSED/ });
  await bench.append("a.4");
  t.equal(forwarder.status.pending, 3, "later entries are counted");
  bench.clock.pass(200);
  t.ok(forwarder.status.lagMs >= 0);
  t.equal(forwarder.status.failures, 1, "no attempt before the delay is over");

  await bench.restart();
  await bench.append("a.5");
  const second = await startSyslog(t, { port });
  forwarder = bench.forward({ url });
  await until(() => forwarder.status.state === "current");
  await bench.append("a.6");
  await until(() => second.messages.length === 5);
  t.same(operationsOf(second.messages), ["a.2", "a.3", "a.4", "a.5", "a.6"]);
});

t.test("what a receiver did not read is sent again", async (t) => {
  const bench = await startBench(t);
  let isRefusing = true;
  const receiver = await startSyslog(t, { refuses: () => isRefusing });
  await bench.append("a.1", "a.2");
  const forwarder = bench.forward({ url: `tcp://127.0.0.1:${receiver.port}` });
  await until(() => forwarder.status.failures === 1);
  isRefusing = false;
  await until(() => bench.clock.waiting > 0);
  bench.clock.pass(1_000);
  await until(() => forwarder.status.state === "current");
  t.same(operationsOf(receiver.messages), ["a.1", "a.2"]);
});

t.test("many entries arrive in order", async (t) => {
  const bench = await startBench(t);
  const receiver = await startSyslog(t);
  const names = Array.from({ length: 350 }, (_, i) => `a.${i}`);
  await Promise.all(names.map((name) => bench.append(name)));
  const forwarder = bench.forward({ url: `tcp://127.0.0.1:${receiver.port}` });
  await until(() => forwarder.status.sent === 350);
  const seqs = receiver.messages.map((message) =>
    Number(/"seq":(\d+)/.exec(message)?.[1]),
  );
  t.same(
    seqs,
    names.map((_, i) => i + 1),
  );
});

t.test("a new target gets new entries only, unless configured", async (t) => {
  const bench = await startBench(t);
  const receiver = await startSyslog(t);
  await bench.append("a.1");
  const forwarder = bench.forward({
    url: `tcp://127.0.0.1:${receiver.port}`,
    existingEntries: false,
  });
  await until(() => forwarder.status.state === "current");
  await bench.append("a.2");
  await until(() => receiver.messages.length > 0);
  t.same(operationsOf(receiver.messages), ["a.2"]);
});

t.test("a file gets JSON lines, each once", async (t) => {
  const bench = await startBench(t);
  const path = join(bench.folder, "audit.jsonl");
  const url = `file://${path}`;
  const lines = async () =>
    (await readFile(path, "utf8")).trimEnd().split("\n");
  await bench.append("a.1", "a.2");
  let forwarder = bench.forward({ url });
  await until(() => forwarder.status.sent === 2);
  t.same(operationsOf(await lines()), ["a.1", "a.2"]);
  t.equal((await stat(path)).mode & 0o777, 0o600);
  await bench.stop();

  // As if the server had been killed within the next attempt.
  await bench.append("a.3", "a.4");
  const [, third, fourth] = (await bench.store.audit.listAfter(1, 9)).map(
    (record) => toAuditLine(record, { host: "h", maxBytes: 8192 }),
  );
  await writeFile(path, `${third}\n${fourth!.slice(0, 40)}`, { flag: "a" });
  forwarder = bench.forward({ url });
  await until(() => forwarder.status.sent === 2);
  t.same(operationsOf(await lines()), ["a.1", "a.2", "a.3", "a.4"]);
  await rm(path);
  await bench.append("a.5");
  await until(() => forwarder.status.sent === 3);
  t.same(operationsOf(await lines()), ["a.5"], "after rotation");
});

t.test("one of several servers forwards to a target", async (t) => {
  const bench = await startBench(t);
  const receiver = await startSyslog(t);
  const url = `tcp://127.0.0.1:${receiver.port}`;
  // The claims of a database that several servers share.
  const store = { ...bench.store, engine: "postgres" as const };
  const one = bench.forward({ url }, { store, owner: "one" });
  await until(() => one.status.state === "current");
  const other = bench.forward({ url }, { store, owner: "other" });
  await until(() => other.status.state === "elsewhere");
  await bench.append("a.1", "a.2");
  await until(() => one.status.sent === 2);
  await one.stop();
  await bench.append("a.3");
  await until(() => bench.clock.waiting > 0);
  bench.clock.pass(10_000);
  await until(() => other.status.sent === 1);
  t.same(operationsOf(receiver.messages), ["a.1", "a.2", "a.3"]);
});

t.test("entries have a maximum size", async (t) => {
  const record: AuditRecord = {
    seq: 1,
    time: 0,
    hash: "0".repeat(64),
    userName: "\u00e9\n".repeat(500),
    operation: "x".repeat(1_000),
    objectId: "\u4e2d".repeat(1_000),
    parameters: { id: "y".repeat(10_000) },
    outcome: "unknown",
  };
  const host = "h".repeat(300);
  const options = { host, maxBytes: 2048 };
  const message = toSyslogMessage(record, options);
  t.ok(message.length <= 2048, `${message.length} bytes`);
  t.match(
    message,
    /^<108>1 1970-01-01T00:00:00\.000Z h{255} xo-server - x{32} - /,
  );
  t.match(message, /^[ -~]+$/, "ASCII in one line");
  const large = { ...options, maxBytes: 20_000 };
  const line = toAuditLine({ ...record, userName: "\u00e9\n" }, large);
  t.match(JSON.parse(line), {
    userName: "\u00e9\n",
    objectId: record.objectId,
    parameters: record.parameters,
  });
});

t.test("a server forwards without secrets, and shows it", async (t) => {
  const receiver = await startSyslog(t);
  const server = await startTestServer(
    t,
    `audit: {forward: [{name: siem, url: "tcp://127.0.0.1:${receiver.port}"}]}`,
  );
  const admin = await (await server.connect()).signIn();
  await admin.request("user.create", { email: "ada", password: "hunter22" });
  await until(() => receiver.messages.length === 2);
  t.same(operationsOf(receiver.messages), ["session.signIn", "user.create"]);
  const all = receiver.messages.join("");
  for (const secret of ["hunter22", ADMIN_PASSWORD])
    t.notOk(all.includes(secret));
  const isCurrent = async () => {
    const [status] = (await admin.request("audit.getForwarding")) as unknown[];
    return (status as { state: string }).state === "current";
  };
  await until(isCurrent);
  t.match(await admin.request("audit.getForwarding"), [
    {
      name: "siem",
      address: `tcp://127.0.0.1:${receiver.port}`,
      state: "current",
      pending: 0,
      sent: 2,
    },
  ]);
  const metrics = await (await server.get("/metrics")).text();
  t.match(metrics, 'xo_audit_forward_entries_total{target="siem"} 2\n');
  t.match(metrics, 'xo_audit_forward_lag_seconds{target="siem"} 0\n');
  const ada = await (await server.connect()).signIn("ada", "hunter22");
  t.match(await ada.call("audit.getForwarding"), { error: { code: 2 } });
});
