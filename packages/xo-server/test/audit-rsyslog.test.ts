import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { until } from "./alarm-bench.js";
import { startTestServer } from "./test-server.js";

const PROGRAM = "/usr/sbin/rsyslogd";
const skip = !existsSync(PROGRAM) && "Debian's rsyslog is not installed";

/** rsyslog with a TCP input on loopback, which writes the id and text of each message to a file. */
async function startRsyslog(t: Test, folder: string) {
  const file = (name: string) => join(folder, name);
  writeFileSync(
    file("rsyslog.conf"),
    `global(workDirectory="${folder}")
module(load="imtcp")
input(type="imtcp" address="127.0.0.1" port="0" listenPortFileName="${file("port")}")
template(name="parts" type="string" string="%app-name%|%msgid%|%syslogfacility%|%syslogseverity-text%|%msg%\\n")
action(type="omfile" file="${file("received")}" template="parts")
`,
  );
  const process = spawn(PROGRAM, [
    "-n",
    "-f",
    file("rsyslog.conf"),
    "-i",
    file("pid"),
  ]);
  t.teardown(async () => {
    process.kill("SIGTERM");
    if (process.exitCode === null) await once(process, "exit");
  });
  const read = (name: string) =>
    existsSync(file(name)) ? readFileSync(file(name), "utf8") : "";
  await until(() => /^\d+/.test(read("port")));
  return {
    port: Number(read("port").trim()),
    lines: () => read("received").split("\n").slice(0, -1),
  };
}

t.test("rsyslog reads what is forwarded", { skip }, async (t) => {
  // `t.testdir` is emptied by the server.
  const folder = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const rsyslog = await startRsyslog(t, folder);
  const server = await startTestServer(
    t,
    `audit: {forward: [{name: rsyslog, url: "tcp://127.0.0.1:${rsyslog.port}"}]}`,
  );
  const admin = await (await server.connect()).signIn();
  await admin.request("user.create", {
    email: "\u00e4da",
    password: "hunter22",
  });
  await admin.call("user.delete", { id: "nobody" });
  await until(() => rsyslog.lines().length === 3);
  const [signIn, create, remove] = rsyslog.lines();
  t.match(signIn, /^xo-server\|session\.signIn\|13\|notice\|/);
  t.match(JSON.parse(create!.slice(create!.indexOf("{"))), {
    operation: "user.create",
    parameters: { email: "\u00e4da", password: "[redacted]" },
  });
  t.match(remove, /\|user\.delete\|13\|warning\|.*"NO_SUCH_OBJECT"/);
  await until(async () => {
    const [status] = (await admin.request("audit.getForwarding")) as {
      state: string;
    }[];
    return status!.state === "current";
  });
});
