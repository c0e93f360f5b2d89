import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { BalancedClient } from "./balanced-client.js";
import { CutNetwork } from "./cut-network.js";
import { until } from "./lease-owners.js";
import { ServerGroup, type GroupMember } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

const settings =
  "server: { name: NAME, leaseMs: 3000 }\nhttp: { drainMs: 500 }";

interface Health {
  readonly ready: boolean;
  readonly isolated: boolean;
  readonly store: string;
}

async function readHealth({ url }: GroupMember) {
  const answer = await fetch(`${url}/health/ready`);
  return { status: answer.status, ...((await answer.json()) as Health) };
}

/** Two servers; the way of the first one to PostgreSQL can be cut. */
async function openGroup(t: Test) {
  const group = await ServerGroup.open(t, { bin: bin!, settings });
  const database = group.postgres.url("xo");
  const network = await CutNetwork.open(database.replace("postgres:", "tcp:"));
  t.teardown(() => network.stop());
  const cut = new URL(database);
  cut.port = String(network.port);
  const env = { XO_STORE: cut.href };
  const members = [
    await group.start(0, { path: "xo-server", env }),
    await group.start(1),
  ] as const;
  for (const member of members)
    await until(async () => (await readHealth(member)).ready);
  // Each has seen the other one.
  await until(async () =>
    members.every(({ program }, i) =>
      program.output.includes(`server xo${2 - i} is running`),
    ),
  );
  return { group, network, members };
}

t.test("a server that alone does not reach PostgreSQL", { skip }, async (t) => {
  const { group, network, members } = await openGroup(t);
  const [first, second] = members;
  const client = await BalancedClient.signIn(first.url);

  await t.test(
    "is not ready, and still answers reads; the other one is ready",
    async (t) => {
      network.cut();
      await until(async () => !(await readHealth(first)).ready);
      t.match(await readHealth(first), {
        status: 503,
        isolated: true,
        draining: false,
      });
      t.match(await readHealth(second), { status: 200, isolated: false });
      const vms = await client.fetch("/rest/v0/vms?fields=id");
      t.equal(vms.status, 200);
      t.match(first.program.output, /does not reach the database, server xo2/);
    },
  );

  await t.test("is ready again when it reaches PostgreSQL", async (t) => {
    network.repair();
    await until(async () => (await readHealth(first)).ready);
    t.match(await readHealth(first), { status: 200, isolated: false });
    t.match(first.program.output, /reaches the database again/);
  });

  await t.test("stays ready if PostgreSQL ends for all", async (t) => {
    await group.postgres.kill();
    await until(async () =>
      (await Promise.all(members.map(readHealth))).every(
        ({ store }) => store === "unavailable",
      ),
    );
    for (const member of members)
      t.match(await readHealth(member), { status: 200, isolated: false });
  });

  await t.test(
    "is ready again if the others lose PostgreSQL as well",
    async (t) => {
      await group.postgres.start();
      network.cut();
      await until(async () => (await readHealth(first)).isolated);
      await group.postgres.kill();
      await until(async () => (await readHealth(first)).ready);
      t.match(await readHealth(first), { status: 200, isolated: false });
    },
  );
});
