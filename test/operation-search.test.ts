import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import t, { type Test } from "tap";
import { WebSocketServer } from "ws";
import { main } from "@xo-server/xo-cli";
import { operations } from "@xo-server/xo-server";

/** What administrators search for, and an operation that they must find. */
const searches: readonly (readonly [words: string, operation: string])[] = [
  ["detach disk", "vbd.delete"],
  ["evacuate", "host.evacuate"],
  ["affinity", "placementRule.create"],
  ["disable HA", "pool.disableHa"],
  ["acknowledge", "alarm.acknowledge"],
  ["revoke token", "token.delete"],
  ["console", "session.createTicket"],
  ["maintenance mode", "host.setMaintenanceMode"],
  ["live migrate", "vm.migrate"],
  ["snapshot", "vm.snapshot"],
  ["clone", "vm.clone"],
  ["template", "vm.copyToTemplate"],
  ["resize disk", "vdi.set"],
  ["quiesce", "vm.snapshot"],
  ["emergency", "pool.emergencyShutdown"],
  ["certificate", "host.installCertificate"],
  ["2FA", "user.enrolTotp"],
  ["OTP", "session.signIn"],
  ["LDAP group", "signInProvider.setLdap"],
  ["syslog", "host.setRemoteSyslogHost"],
  ["webhook", "alarmRule.create"],
  ["retention", "metadataBackup.createJob"],
  ["cron", "schedule.create"],
  ["CPU topology", "vm.set"],
  ["PCI passthrough", "vm.attachPcis"],
  ["VLAN", "network.create"],
  ["bond", "network.createBonded"],
  ["MTU", "network.set"],
  ["NTP", "host.isHostServerTimeConsistent"],
  ["patch", "pool.installPatches"],
  ["rolling reboot", "pool.rollingReboot"],
];

/** A server that describes the operations. @returns its URL */
async function startServer(t: Test): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const result = Object.fromEntries(
    operations.map(({ name, summary, params }) => [
      name,
      { description: summary, params: params.properties },
    ]),
  );
  const json = JSON.stringify(result);
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => {
      const { id } = JSON.parse((data as Buffer).toString()) as { id: number };
      socket.send(`{"jsonrpc":"2.0","id":${id},"result":${json}}`);
    });
  });
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Names of the operations that `xo-cli methods` lists. */
async function search(url: string, words: string): Promise<readonly string[]> {
  const [stdin, stdout, stderr] = [
    new PassThrough(),
    new PassThrough(),
    new PassThrough(),
  ];
  const output = text(stdout);
  const interrupted = new AbortController().signal;
  const env = { XO_SERVER: url, HOME: "/nonexistent" };
  const args = ["methods", ...words.split(" "), "--json"];
  await main(args, { stdin, stdout, stderr, env, interrupted });
  stdout.end();
  return Object.keys(JSON.parse((await output) || "{}") as object);
}

t.test("the words of administrators find operations", async (t) => {
  const url = await startServer(t);
  for (const [words, operation] of searches)
    t.ok((await search(url, words)).includes(operation), words);
  t.same(await search(url, "detach moon"), []);
});
