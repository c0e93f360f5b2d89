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

/** A server that has the lock of migrations. @param statement what it executes after a second */
async function startMigrator(t: Test, url: string, statement = "select 1") {
  const child = spawn(process.execPath, [program, url, statement], {
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

t.test(
  "a migration whose statements take longer than those of a server may is completed",
  { skip },
  async (t) => {
    const { cluster, open } = await setUp(t);
    await cluster.query(
      "xo",
      `drop table reservations; alter table cluster_servers drop column address, drop column fingerprint;
       delete from kysely_migration where name >= '018';
       create function wait() returns event_trigger language plpgsql as $$ begin
         if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.reservations')
         then perform pg_sleep(32); end if; end $$;
       create event trigger slow on ddl_command_end execute function wait();
       alter database xo set statement_timeout = '20s'`,
    );
    const started = performance.now();
    await open();
    t.ok(performance.now() - started >= 32_000, "it was as slow as intended");
    t.same(await cluster.query("xo", "select id from reservations"), []);
  },
);

t.test(
  "the statement of a server that is killed during a migration ends with it",
  { skip },
  async (t) => {
    const { cluster } = await setUp(t);
    const { child, ended } = await startMigrator(
      t,
      cluster.url("xo"),
      "select pg_sleep(600)",
    );
    const sleeping = () =>
      cluster.query(
        "xo",
        "select pid from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'",
      );
    while ((await sleeping()).length === 0);
    child.kill("SIGKILL");
    await ended;
    // Else the test does not end.
    while ((await sleeping()).length > 0);
    t.pass("its locks are free");
  },
);
