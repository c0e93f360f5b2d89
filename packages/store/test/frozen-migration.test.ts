// slow
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { silentLogger } from "@xo-server/kit";
import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { cheapScrypt } from "./conformance/harness.js";
import {
  findPostgres,
  PostgresCluster,
} from "./conformance/postgres-cluster.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "Debian's postgresql is not installed";
const program = fileURLToPath(new URL("./frozen-migrator.js", import.meta.url));

async function setUp(t: Test) {
  const cluster = new PostgresCluster(bin!);
  t.teardown(() => cluster.remove());
  await cluster.start();
  await cluster.query("postgres", "create database xo");
  const key = { text: randomBytes(32).toString("base64") };
  const log: string[] = [];
  const open = async () => {
    const store = await openStore({
      location: cluster.url("xo"),
      key,
      create: "always",
      scryptCost: cheapScrypt,
      logger: {
        ...silentLogger,
        info: (message: string) => log.push(message),
      },
    });
    await store.close();
  };
  await open();
  return { cluster, open, log };
}

/** A server that has the lock of migrations. */
async function startMigrator(t: Test, url: string) {
  const child = spawn(process.execPath, [program, url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  const input = createInterface(child.stdout);
  input.on("line", (line) => lines.push(line));
  const ended = once(child, "close");
  await once(input, "line");
  return { child, lines, ended };
}

t.test(
  "a server that freezes before a migration does not keep others from starting, and completes its start when it wakes",
  { skip },
  async (t) => {
    const { cluster, open, log } = await setUp(t);
    const { child, lines, ended } = await startMigrator(t, cluster.url("xo"));
    t.same(lines, ["locked"]);
    child.kill("SIGSTOP");
    await open();
    t.match(log, [/^waiting until another server has checked the schema/]);
    child.kill("SIGCONT");
    t.same(await ended, [0, null], lines.join("\n"));
    t.match(lines, [
      "locked",
      /suspended.*trying again/,
      "locked",
      "completed",
    ]);
  },
);

t.test(
  "a server waits for as long as another one migrates",
  { skip },
  async (t) => {
    const { cluster, open, log } = await setUp(t);
    const { lines, ended } = await startMigrator(t, cluster.url("xo"));
    await Promise.all([open(), ended]);
    t.same(lines, ["locked", "completed"]);
    t.ok(log.length <= 1, "the wait is logged once");
  },
);

t.test(
  "a migration that waits for a locked table ends with an error that says so",
  { skip },
  async (t) => {
    const { cluster, open } = await setUp(t);
    await cluster.query(
      "xo",
      `drop table reservations; alter table cluster_servers drop column address, drop column fingerprint;
       delete from kysely_migration where name >= '018'`,
    );
    const locked = cluster.query(
      "xo",
      "begin; lock table cluster_servers in access share mode; select pg_sleep(60)",
    );
    // The cluster is stopped before it ends.
    locked.catch(() => undefined);
    await t.rejects(open(), {
      code: "STORE_UNAVAILABLE",
      message:
        /not migrated, as another session .* has locked a table for 20 s/,
    });
  },
);
