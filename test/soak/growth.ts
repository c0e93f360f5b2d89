import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { KillableClient } from "../faults/killable-client.js";
import { growthTable, type Growth } from "./growth-table.js";
import { InspectedProcess, INSPECTOR_URL } from "./inspected-process.js";
import { repeatedUses, type UsedServer } from "./repeated-uses.js";
import {
  PACKAGE_ENVIRONMENT,
  startPools,
  startServer,
} from "./soak-programs.js";

// npm run growth -- [--count N] [--uses NAME,NAME] [--objects N]: what a use leaves in the memory of the server

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "500" },
    uses: { type: "string", default: Object.keys(repeatedUses).join(",") },
    /** Kinds of objects that are listed for each use. */
    objects: { type: "string", default: "6" },
  },
});
const PASSWORD = "a password of the soak";
/** Time for connections to be closed and changes to be written, in ms: WebSockets wait 30 s for the closing handshake. */
const SETTLE_MS = 35_000;
/** Uses before the first reading: caches fill, and code is compiled. */
const FIRST_SHARE = 1 / 5;

const folder = await mkdtemp(join(tmpdir(), "xo-growth-"));
const ends: (() => Promise<void>)[] = [];
const owner = {
  teardown: (end: () => Promise<void>) => void ends.unshift(end),
  testdir: () => folder,
};
const pools = await startPools(owner, ["C"], "0");
const { program, url } = await startServer(owner, [], {
  password: PASSWORD,
  nodeArgs: ["--inspect=127.0.0.1:0"],
  env: PACKAGE_ENVIRONMENT,
});
const inspected = await InspectedProcess.connect(
  await program.find(INSPECTOR_URL),
);
const server = await prepare();
const growths: Growth[] = [];
for (const name of values.uses.split(",")) {
  growths.push(await measure(name));
  process.stdout.write(growthTable(growths.slice(-1), Number(values.objects)));
}
process.stdout.write(`\n${growthTable(growths, 0)}`);
inspected.close();
for (const end of ends) await end();
await rm(folder, { recursive: true });
process.exit(0);

async function prepare(): Promise<UsedServer> {
  const admin = new KillableClient(new URL(url).host);
  await admin.signIn(PASSWORD);
  const token = (await admin.request("token.create", {})) as string;
  const [pool] = pools;
  const { user: username, password } = pool!;
  const host = pool!.url;
  await admin.request("server.add", { host, username, password, label: "P0" });
  let vms: string[] = [];
  while (vms.length === 0) {
    const filter = { type: "VM", power_state: "Running" };
    const found = await admin.request("xo.getAllObjects", { filter });
    vms = Object.keys(found as object);
    await pause(100);
  }
  // A page that stays open.
  const list = { name: "list", type: "VM", offset: 0, limit: 100 };
  await admin.request("query.open", list);
  return { url, pool: pool!, password: PASSWORD, token, admin, vms };
}

async function measure(name: string): Promise<Growth> {
  const use = repeatedUses[name];
  if (use === undefined) throw new Error(`no such use: ${name}`);
  const count = Number(values.count);
  const first = Math.ceil(count * FIRST_SHARE);
  for (let i = 0; i < first; i++) await use(server, i);
  await pause(SETTLE_MS);
  const before = await inspected.collect();
  for (let i = 0; i < count; i++) await use(server, first + i);
  await pause(SETTLE_MS);
  return { name, count, before, after: await inspected.collect() };
}
