import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { BalancedClient } from "./balanced-client.js";
import { LateLink } from "./late-link.js";
import { until } from "./lease-owners.js";
import type { GroupMember } from "./server-group.js";
import { startThree } from "./watching-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** No listings in the background. */
const settings =
  "server: { name: NAME, leaseMs: 3000 }\ninventory: { verifyIntervalMs: 0 }\nhttp: { drainMs: 500 }";

/** Pool, hosts and tasks are read at each login. */
const LISTING = /\b(?!pool\b|host\b|task\b)\w+\.get_all_records/;

/** What one server has requested from the pool. */
interface Requests {
  polls: number;
  listings: number;
}

async function openGroup(t: Test) {
  const requests: Requests[] = [];
  const { members } = await startThree(t, {
    bin: bin!,
    settings,
    linkTo: async ({ url }) => {
      const link = await LateLink.open(url);
      t.teardown(() => link.stop());
      const own: Requests = { polls: 0, listings: 0 };
      requests.push(own);
      link.hold((body) => {
        if (LISTING.test(body)) own.listings++;
        if (body.includes("event.from")) own.polls++;
        return false;
      });
      return link.url;
    },
  });
  return members.map((member, i) => ({ ...member, requests: requests[i]! }));
}

type Member = Awaited<ReturnType<typeof openGroup>>[number];

async function readMetric({ url }: GroupMember, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}

const EQUAL = 'xo_event_relay_digests_total{result="equal"}';
const DIFFERENT = 'xo_event_relay_digests_total{result="different"}';

/** Resolves when one server sends events to all others. */
async function untilRelayed(members: readonly Member[]) {
  let sender: Member | undefined;
  await until(async () => {
    const [sent, received] = await Promise.all(
      ["sent", "received"].map((direction) =>
        Promise.all(
          members.map((member) =>
            readMetric(
              member,
              `xo_event_relay_streams{direction="${direction}"}`,
            ),
          ),
        ),
      ),
    );
    sender = members[sent!.indexOf(members.length - 1)];
    return (
      sender !== undefined &&
      received!.filter((streams) => streams === 1).length === members.length - 1
    );
  });
  return { sender: sender!, others: members.filter((one) => one !== sender) };
}

/** Resolves when the server has received some more answers from another one. */
async function untilReceived(member: Member, answers: number): Promise<void> {
  const name = 'xo_event_relay_answers_total{direction="received"}';
  const first = await readMetric(member, name);
  await until(async () => (await readMetric(member, name)) >= first + answers);
}

/** Compares the rows of a client with those of the server, and the mirror with the pool. */
async function checkMirror(t: Test, member: Member): Promise<void> {
  const client = await BalancedClient.signIn(member.url);
  await client.connect(t);
  const { updates } = client.query!;
  await client.query!.until(() => client.query!.updates > updates);
  t.equal(client.query!.ownDigest, client.query!.digest);
  const pools = await client.fetch("/rest/v0/pools?fields=id");
  const [{ id }] = (await pools.json()) as [{ id: string }];
  const answer = await client.fetch(
    `/rest/v0/pools/${id}/actions/verify?sync=true`,
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    },
  );
  t.match(await answer.json(), { differing: 0, failed: [] });
}

t.test("events of a pool, between three servers", { skip }, async (t) => {
  const members = await openGroup(t);
  const listed = () => members.map(({ requests }) => requests.listings);

  await t.test(
    "one server requests events from XAPI, the others receive them from it",
    async (t) => {
      const { others } = await untilRelayed(members);
      // A poll of before may still wait for its answer.
      for (const other of others) await untilReceived(other, 2);
      const polls = others.map(({ requests }) => requests.polls);
      for (const other of others) await untilReceived(other, 4);
      t.same(
        others.map(({ requests }) => requests.polls),
        polls,
      );
      await checkMirror(t, others[0]!);
    },
  );

  await t.test("the others compare their digests with its own", async (t) => {
    const { others } = await untilRelayed(members);
    for (const other of others) {
      await until(async () => (await readMetric(other, EQUAL)) > 0);
      t.equal(await readMetric(other, DIFFERENT), 0);
    }
  });

  await t.test(
    "if the sender hangs, the others request events from XAPI, without a listing",
    async (t) => {
      const { sender, others } = await untilRelayed(members);
      const before = listed();
      const polls = others.map(({ requests }) => requests.polls);
      sender.program.child.kill("SIGSTOP");
      await until(async () =>
        others.every(({ requests }, i) => requests.polls > polls[i]!),
      );
      const { others: rest } = await untilRelayed(others);
      await untilReceived(rest[0]!, 2);
      t.same(listed(), before);
      await checkMirror(t, rest[0]!);
      sender.program.child.kill("SIGCONT");
    },
  );

  await t.test(
    "if the sender is killed, another one replaces it, without a listing",
    async (t) => {
      const { sender, others } = await untilRelayed(members);
      const before = listed();
      await sender.program.stop("SIGKILL");
      const { others: rest } = await untilRelayed(others);
      await untilReceived(rest[0]!, 2);
      t.same(listed(), before);
      await checkMirror(t, rest[0]!);
    },
  );
});
