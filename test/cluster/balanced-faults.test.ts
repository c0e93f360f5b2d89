import { findPostgres } from "@xo-server/store/conformance";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { BalancedClient } from "./balanced-client.js";
import { EventClient, toTable } from "./event-client.js";
import { LeaseObserver } from "./lease-observer.js";
import { ownersOf, until } from "./lease-owners.js";
import { noBalancerReason } from "./load-balancer.js";
import { PASSWORD, ServerGroup, type GroupMember } from "./server-group.js";
import { readWatched } from "./watched-rows.js";
import { startBalancedThree } from "./watching-group.js";

t.comment("timeout=480000");

const bin = findPostgres();
const skip =
  noBalancerReason() || (bin === undefined && "PostgreSQL is not installed");

const setUp = (t: Test) =>
  startBalancedThree(t, {
    bin: bin!,
    pool: ["--churn", "20"],
    settings: "server: { name: NAME, leaseMs: 2000 }",
  });

/** A live query, an event stream and `xo-cli watch`, each behind the load balancer. */
async function follow(t: Test, url: string, ending: AbortController) {
  const queries = await Promise.all(
    Array.from({ length: 3 }, () => BalancedClient.signIn(url)),
  );
  const streams = Array.from({ length: 3 }, () => new EventClient(url));
  for (const stream of streams) await stream.signIn();
  const connected = [
    ...queries.map((client) => client.stayConnected(t, ending)),
    ...streams.map((client) => client.stayConnected(ending)),
  ];
  const cwd = t.testdir({});
  const cli = (...args: readonly string[]) =>
    new RunningProgram(t, "xo-cli", args, {
      cwd,
      env: { XO_PASSWORD: PASSWORD },
    });
  await cli("register", url, "admin").ended;
  const columns = ["--fields", "name_label,power_state"];
  const watches = Array.from({ length: 2 }, () =>
    cli("watch", "vm", "--json", ...columns),
  );
  for (const watch of watches) await watch.find(/"event":"ready"/);
  return { queries, streams, watches, connected };
}

/** The server that owns the schedules. */
async function ownerOf(group: ServerGroup): Promise<string | undefined> {
  return (await ownersOf(group.postgres)).get("jobs");
}

t.test(
  "clients behind HAProxy continue while servers freeze and PostgreSQL restarts",
  { skip },
  async (t) => {
    const { group, members, url } = await setUp(t);
    const ending = new AbortController();
    const { queries, streams, watches, connected } = await follow(
      t,
      url,
      ending,
    );
    const observer = new LeaseObserver(group.postgres);
    const observed = observer.run();

    /** @param meanwhile what happens while it is frozen */
    const freezeOwner = async (meanwhile: () => Promise<void>) => {
      await until(async () => (await ownerOf(group)) !== undefined);
      const owner = (await ownerOf(group))!;
      const frozen = members[Number(owner.slice(2)) - 1]!;
      frozen.program.child.kill("SIGSTOP");
      await meanwhile();
      await until(async () => {
        const next = await ownerOf(group).catch(() => undefined);
        return next !== undefined && next !== owner;
      });
      frozen.program.child.kill("SIGCONT");
      await frozen.program.find(/another server has taken over/);
      const isBack = async () =>
        (await fetch(`${frozen.url}/health/ready`)).status === 200;
      await until(() => isBack().catch(() => false));
    };
    const restartPostgres = async () => {
      await group.postgres.kill();
      await pause(1_000);
      await group.postgres.start();
    };

    // Each server has some of the clients; HAProxy closes their connections.
    const connections = () =>
      queries.reduce((sum, client) => sum + client.connections, 0) +
      streams.reduce((sum, client) => sum + client.streams, 0);
    const all = queries.length + streams.length;
    await until(async () => connections() === all);
    await freezeOwner(() => until(async () => connections() > all));
    await restartPostgres();
    await freezeOwner(restartPostgres);

    await fetch(`${group.pool.url}/sim/churn`, {
      method: "POST",
      body: JSON.stringify({ perSecond: 0 }),
    });
    const fresh = async ({ url: direct }: GroupMember) => {
      const client = queries[0]!.at(direct);
      const path = "/rest/v0/vms?fields=id,name_label,power_state";
      return toTable((await (await client.fetch(path)).json()) as never[]);
    };
    const tables = () => [
      ...queries.map(({ query }) => toTable(query?.rows ?? [])),
      ...streams.map(({ table }) => table),
      ...watches.map((watch) => readWatched(watch).table),
    ];
    const isSame = async () => {
      const [one, ...others] = await Promise.all(members.map(fresh));
      const all = [...others, ...tables()].map((table) => table.join());
      return all.every((table) => table === one!.join());
    };
    await until(isSame);

    for (const { query } of queries) {
      t.equal(query!.ownDigest, query!.digest);
      t.ok(query!.total > 0);
    }
    for (const watch of watches) {
      t.same(readWatched(watch).doubled, []);
      t.equal(watch.child.exitCode, null, "it goes on");
    }
    observer.stop();
    await observed;
    t.same(observer.problems, [], "one owner at a time");
    ending.abort();
    for (const { query } of queries) query?.close();
    await Promise.all(connected);
  },
);
