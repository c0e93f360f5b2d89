import { once } from "node:events";
import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { StatusPage } from "../status-page.js";
import { BalancedClient } from "./balanced-client.js";
import { LateLink } from "./late-link.js";
import { until } from "./lease-owners.js";
import { PASSWORD, ServerGroup, type GroupMember } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** No listings in the background. */
const SETTINGS =
  "server: { name: NAME }\ninventory: { verifyIntervalMs: 0 }\nhttp: { drainMs: 500 }";

/** Pool, hosts and tasks are read at each login. */
const LISTING = /\b(?!pool\b|host\b|task\b)\w+\.get_all_records/;

/** Servers whose listings of the pool are counted. */
async function openGroup(t: Test) {
  const listings: number[] = [];
  const group = await ServerGroup.open(t, {
    bin: bin!,
    settings: SETTINGS,
    linkTo: async ({ url }) => {
      const link = await LateLink.open(url);
      t.teardown(() => link.stop());
      const i = listings.push(0) - 1;
      link.hold((body) => {
        if (LISTING.test(body)) listings[i]!++;
        return false;
      });
      return link.url;
    },
  });
  return { group, listings };
}

/** Resolves when the server follows the pool. */
async function untilWatching(t: Test, { url }: GroupMember): Promise<void> {
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
}

/** A proxy that changes one bit of each part of a response. @returns its address */
async function startDamagingProxy(t: Test, { url }: GroupMember) {
  const proxy = createServer((request, response) => {
    const { headers } = request;
    const upstream = sendRequest(new URL(request.url!, url), { headers });
    upstream.on("response", (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.on("data", (part: Buffer) => {
        part[part.length >> 1]! ^= 1;
      });
      answer.pipe(response);
    });
    upstream.on("error", () => response.destroy());
    response.on("close", () => upstream.destroy());
    upstream.end();
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.teardown(() => proxy.close());
  return `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** The database names another address of the first server. */
async function redirect(group: ServerGroup, address: string): Promise<void> {
  await group.postgres.query(
    "xo",
    `create function redirect() returns trigger language plpgsql as
     $$ begin if new.id = 'xo1' then new.address := '${address}'; end if; return new; end $$;
     create trigger redirect before update on cluster_servers
       for each row execute function redirect()`,
  );
  await until(async () => {
    const rows = await group.postgres.query(
      "xo",
      "select address from cluster_servers",
    );
    return rows[0]!["address"] === address;
  });
}

async function metricsOf({ url }: GroupMember): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** Compares the objects of the mirror with those of the pool. */
async function verify(client: BalancedClient): Promise<unknown> {
  const pools = await client.fetch("/rest/v0/pools?fields=id");
  const [{ id }] = (await pools.json()) as [{ id: string }];
  const path = `/rest/v0/pools/${id}/actions/verify?sync=true`;
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", headers, body: "{}" };
  return (await client.fetch(path, request)).json();
}

t.test("servers that join late", { skip }, async (t) => {
  const { group, listings } = await openGroup(t);
  const first = await group.start(0);
  await untilWatching(t, first);
  t.ok(listings[0]! > 20);

  await t.test(
    "one that receives a changed copy does not use it, and lists the pool",
    async (t) => {
      const address = await startDamagingProxy(t, first);
      await redirect(group, address);
      const second = await group.start(1);
      await untilWatching(t, second);
      t.match(
        second.program.output,
        /P: no copy from xo1: it is damaged after \d+ of \d+ bytes; no further requests to this server for 60 s/,
      );
      t.match(
        second.program.output,
        /P: listing the pool, no copy from another server \(xo1: it is damaged/,
      );
      t.ok(listings[1]! > 20);
      await group.postgres.query("xo", "drop function redirect cascade");
    },
  );

  await t.test(
    "a server gets a copy of the pool from another one, requests no listing, and follows the pool",
    async (t) => {
      const third = await group.start(2);
      await untilWatching(t, third);
      t.match(
        third.program.output,
        /P: \d{3,} objects copied from server xo[12] \(\d+ bytes\) in \d+ ms/,
      );
      t.equal(listings[2], 0);
      t.match(
        await metricsOf(third),
        /xo_pool_copies_received_total\{result="fetched"\} 1\n/,
      );
      const client = await BalancedClient.signIn(third.url);
      await client.connect(t);
      const { updates } = client.query!;
      await client.query!.until(() => client.query!.updates > updates);
      t.equal(client.query!.ownDigest, client.query!.digest);
      t.match(await verify(client), { differing: 0, failed: [] });
      t.ok(listings[2]! > 20, "that was a listing");
      await third.program.stop("SIGKILL");
    },
  );

  await t.test(
    "servers that do not answer are not waited for, and one that leaves still sends copies",
    async (t) => {
      const leaving = group.run(1, "leave", "--force");
      t.equal(await leaving.ended, 0, leaving.output);
      first.program.child.kill("SIGSTOP");
      const fourth = await group.start(3);
      await untilWatching(t, fourth);
      t.match(fourth.program.output, /objects copied from server xo2/);
      t.equal(listings[3], 0);
    },
  );
});
