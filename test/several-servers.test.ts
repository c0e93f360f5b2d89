import { findPostgres } from "@xo-server/store/conformance";
import t from "tap";
import { BalancedClient } from "./cluster/balanced-client.js";
import { noBalancerReason, startBalancer } from "./cluster/load-balancer.js";
import { startGroup } from "./cluster/server-group.js";

t.comment("timeout=480000");

const bin = findPostgres();
const skip =
  noBalancerReason() || (bin === undefined && "PostgreSQL is not installed");

t.test("three servers behind HAProxy", { skip }, async (t) => {
  const members = await startGroup(t, bin!, 3);
  const ports = members.map(({ url }) => Number(new URL(url).port));
  const url = await startBalancer(t, ports);
  const isReady = async () => (await fetch(`${url}/health`)).status === 200;
  while (!(await isReady().catch(() => false)));

  await t.test("any server serves what another has issued", async (t) => {
    for (let i = 0; i < 6; i++) {
      const client = await BalancedClient.signIn(url);
      const users = await client.fetch("/rest/v0/users");
      t.equal(users.status, 200, "a token of a moment before");
      await client.connect(t);
      const { result } = await client.query!.call("xo.exportConfig", {
        passphrase: "long enough",
      });
      const { $getFrom } = result as { $getFrom: string };
      const download = await client.fetch($getFrom);
      t.equal(download.status, 200, "a one-time path");
      t.match(await download.text(), /^XOCONF1/);
      const again = await Promise.all(
        members.map(() => client.fetch($getFrom)),
      );
      for (const { status } of again) t.equal(status, 404, "valid once");
    }
  });

  await t.test("clients of a killed server continue on others", async (t) => {
    const ending = new AbortController();
    const clients = await Promise.all(
      Array.from({ length: 9 }, () => BalancedClient.signIn(url)),
    );
    const connected = clients.map((client) => client.stayConnected(t, ending));
    await until(() => clients.every(({ query }) => query !== undefined));
    await members[0]!.program.stop("SIGKILL");
    await until(() => clients.some(({ connections }) => connections > 1));
    await until(() => clients.every(({ query }) => (query?.updates ?? 0) > 0));
    for (const { query } of clients) {
      t.ok(query!.total > 0);
      t.equal(
        query!.ownDigest,
        query!.digest,
        "the rows are those of the server",
      );
    }
    ending.abort();
    for (const { query } of clients) query!.close();
    await Promise.all(connected);
  });

  await t.test(
    "a stopping server gets no new clients before it closes its connections (1001, going away)",
    async (t) => {
      const { program, url: direct } = members[1]!;
      const client = await BalancedClient.signIn(direct);
      await client.connect(t);
      // About half of them at this server.
      const clients = await Promise.all(
        Array.from({ length: 8 }, () => BalancedClient.signIn(url)),
      );
      const codes: number[] = [];
      for (const one of clients) {
        await one.connect(t);
        void one.query!.closed.then((code) => codes.push(code));
      }
      const ended = program.stop("SIGTERM");
      let health = await fetch(`${direct}/health/ready`);
      while (health.status === 200)
        health = await fetch(`${direct}/health/ready`);
      t.equal(health.status, 404, "HAProxy keeps its connections");
      t.match(await health.json(), { ready: false, draining: true });
      t.equal(await client.query!.closed, 1001, "ending");
      t.equal(await ended, 0);
      await until(() => codes.length > 0);
      t.ok(codes.length < clients.length, "others are at another server");
      t.same(new Set(codes), new Set([1001]), "through HAProxy too");
      const other = await BalancedClient.signIn(url);
      t.equal((await other.fetch("/rest/v0/users")).status, 200);
    },
  );
});

/** The clients take what the servers send meanwhile. */
async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setTimeout(resolve, 50));
}
