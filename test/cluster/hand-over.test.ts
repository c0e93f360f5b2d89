import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { BalancedClient } from "./balanced-client.js";
import { LeaseObserver } from "./lease-observer.js";
import { ownersOf, until } from "./lease-owners.js";
import type { GroupMember } from "./server-group.js";
import { startThree } from "./watching-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/**
 * Leases that are long enough that none is renewed, checked or expires during the test: changes
 * are caused by the hand-over and its notification.
 */
const SETTINGS =
  "server: { name: NAME, leaseMs: 600000 }\nhttp: { drainMs: 60000 }";

const setUp = (t: Test) => startThree(t, { bin: bin!, settings: SETTINGS });

const health = async ({ url }: GroupMember) =>
  (await (await fetch(`${url}/health`)).json()) as object;

t.test(
  "a server that leaves hands over, and serves its clients until it is stopped",
  { skip },
  async (t) => {
    const { group, members } = await setUp(t);
    const client = await BalancedClient.signIn(members[0]!.url);
    await client.connect(t);
    const owned = async () => {
      const owners = await ownersOf(group.postgres);
      return [...owners].filter(([, owner]) => owner === "xo1");
    };
    await until(async () => (await owned()).length >= 5);

    const subjects = (await owned()).map(([subject]) => subject);
    const command = group.run(0, "leave");
    t.equal(await command.ended, 0, command.output);
    t.match(command.lines[0], /^xo1 hands over its leases/);
    const owners = await ownersOf(group.postgres);
    for (const subject of subjects)
      if (subject !== "server/xo1")
        t.ok(
          command.lines.includes(`  ${subject}: now ${owners.get(subject)}`),
        );
    t.same(await owned(), [["server/xo1", "xo1"]], "its tasks stay");
    const answer = await fetch(`${members[0]!.url}/health/ready`);
    t.equal(answer.status, 404);
    t.match(await answer.json(), { leaving: true, draining: false });
    t.equal((await client.fetch("/rest/v0/users")).status, 200);
    const updates = client.query!.updates;
    await client.query!.until(() => client.query!.updates > updates);

    const admin = client.at(members[1]!.url);
    const states = async () => {
      const listed = await admin.fetch(
        "/rest/v0/cluster/servers?fields=name,state",
      );
      const rows = (await listed.json()) as { name: string; state: string }[];
      return rows.map(({ name, state }) => `${name} ${state}`);
    };
    t.same(await states(), ["xo1 leaving", "xo2 running", "xo3 running"]);
    const left = await admin.fetch("/rest/v0/cluster/servers/xo3/leave", {
      method: "POST",
    });
    t.equal(left.status, 200);
    const { moved } = (await left.json()) as { moved: { to: string }[] };
    t.ok(moved.length > 0);
    t.ok(moved.every(({ to }) => to === "xo2"));

    const refused = group.run(1, "leave");
    t.equal(await refused.ended, 1);
    t.match(refused.output, /no other server runs.*xo2; --force/);
    t.equal(await group.run(1, "leave", "--force").ended, 0);
    t.same(await states(), ["xo1 leaving", "xo2 leaving", "xo3 leaving"]);
    t.equal((await ownersOf(group.postgres)).size, 3, "tasks of each");

    await members[0]!.program.stop("SIGKILL");
    await group.start(0);
    await until(async () => (await owned()).length === subjects.length);
    t.same(await states(), ["xo1 running", "xo2 leaving", "xo3 leaving"]);
  },
);

t.test(
  "a server that is stopped hands its leases over while it still serves",
  { skip },
  async (t) => {
    const { group, members } = await setUp(t);
    const observer = new LeaseObserver(group.postgres);
    const observed = observer.run();
    const owned = async () => {
      const owners = await ownersOf(group.postgres);
      return [...owners].filter(([subject]) => !subject.startsWith("server/"));
    };
    await until(async () => (await owned()).length >= 4);
    const count = (await owned()).length;
    const areOwnedBy = async (...servers: readonly string[]) => {
      const rows = await owned();
      return (
        rows.length === count &&
        rows.every(([, owner]) => servers.includes(owner))
      );
    };
    t.ok(
      (await owned()).every(([, owner]) => owner === "xo1"),
      "the first server has them",
    );

    const [first, second] = members;
    const ended = first!.program.stop("SIGTERM");
    await until(() => areOwnedBy("xo2", "xo3"));
    t.match(await health(first!), { draining: true, ready: false });
    const owners = new Set((await owned()).map(([, owner]) => owner));
    t.same(owners, new Set(["xo2", "xo3"]), "shared by the others");
    t.equal((await ownersOf(group.postgres)).get("server/xo1"), "xo1");

    void second!.program.stop("SIGTERM");
    await until(() => areOwnedBy("xo3"));
    observer.stop();
    await observed;
    t.same(observer.problems, [], "one owner at a time");
    first!.program.child.kill("SIGKILL");
    await ended;
  },
);
