import {
  LOST_SERVER_MS,
  type ClusterServer,
  type Lease,
} from "@xo-server/store";
import t from "tap";
import { clusterRemoveServer } from "../src/methods/system/cluster.js";
import {
  findLostServers,
  listClusterServers,
} from "../src/status/cluster-servers.js";

const server = (name: string, silentMs: number): ClusterServer => ({
  name,
  instance: `1 ${name}`,
  origin: "secret of the installation",
  url: `https://${name}.example.org`,
  version: "0.2.0",
  startedAt: 1,
  seenAt: 2,
  silentMs,
  address: "10.0.0.1:9000",
  fingerprint: undefined,
  leavingAt: undefined,
});

const lease = (subject: string, owner: string, expiresInMs: number): Lease => ({
  subject,
  owner,
  epoch: 3,
  takenAt: 1,
  expiresInMs,
});

function setUp(engine: "sqlite" | "postgres" = "postgres") {
  const deleted: string[] = [];
  const servers = [server("xo1", 10), server("xo2", LOST_SERVER_MS)];
  const store = {
    engine,
    clusterServers: {
      list: async () => servers,
      delete: async (name: string, instance?: string) => {
        deleted.push(`${name} ${instance}`);
      },
    },
    leases: {
      list: async () => [
        lease("jobs", "xo1", 5_000),
        lease("balancer/p", "xo1", 0),
        lease("tasks/xo2", "xo2", 100),
      ],
    },
  } as never;
  return { store, deleted };
}

t.test("servers are listed with what they own", async (t) => {
  const { store } = setUp();
  const [xo1, xo2] = await listClusterServers(store, "xo1");
  t.match(xo1, { name: "xo1", isThisServer: true, state: "running" });
  t.same(
    xo1!.leases,
    [{ subject: "jobs", epoch: 3, takenAt: 1, expiresInMs: 5_000 }],
    "an expired lease is of no server",
  );
  t.match(xo2, {
    isThisServer: false,
    state: "lost",
    leases: [{ subject: "tasks/xo2" }],
  });
  t.notOk("origin" in xo1!);
  t.same(await findLostServers(store), ["xo2"]);
});

t.test(
  "a server with SQLite sends no heartbeats and is not lost",
  async (t) => {
    const { store } = setUp("sqlite");
    t.same(await findLostServers(store), []);
    for (const { state } of await listClusterServers(store, "xo1"))
      t.equal(state, "running");
  },
);

t.test("only lost servers are removed", async (t) => {
  const { store, deleted } = setUp();
  const remove = (name: string) =>
    clusterRemoveServer.handler(
      { name } as never,
      { services: { store } } as never,
    );
  await t.rejects(remove("xo1") as Promise<unknown>, {
    code: "FORBIDDEN_OPERATION",
  });
  await t.rejects(remove("xo3") as Promise<unknown>, {
    code: "NO_SUCH_OBJECT",
  });
  t.equal(await remove("xo2"), true);
  t.same(deleted, ["xo2 1 xo2"], "this process, not one that has joined since");
});
