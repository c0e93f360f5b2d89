import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { StatusPage } from "../status-page.js";
import { LeaseObserver } from "./lease-observer.js";
import { ownersOf, until } from "./lease-owners.js";
import { PASSWORD, ServerGroup, type GroupMember } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/**
 * Leases so long that nothing is renewed, checked or expires during the test: what
 * moves was handed over and noticed.
 */
const SETTINGS =
  "server: { name: NAME, leaseMs: 600000 }\nhttp: { drainMs: 60000 }";

async function startThree(t: Test) {
  const group = await ServerGroup.open(t, { bin: bin!, settings: SETTINGS });
  const members: GroupMember[] = [];
  for (let i = 0; i < 3; i++) {
    const member = await group.start(i);
    const page = await StatusPage.open(t, member.url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    members.push(member);
  }
  return { group, members };
}

const health = async ({ url }: GroupMember) =>
  (await (await fetch(`${url}/health`)).json()) as object;

t.test(
  "a server that is stopped hands its leases over while it still serves",
  { skip },
  async (t) => {
    const { group, members } = await startThree(t);
    const observer = new LeaseObserver(group.postgres);
    const observed = observer.run();
    const owned = async () => {
      const owners = await ownersOf(group.postgres);
      return [...owners].filter(([subject]) => !subject.startsWith("server/"));
    };
    await until(async () => (await owned()).length >= 4);
    t.ok(
      (await owned()).every(([, owner]) => owner === "xo1"),
      "the first server has them",
    );

    const [first, second] = members;
    const ended = first!.program.stop("SIGTERM");
    await until(async () =>
      (await owned()).every(([, owner]) => owner === "xo2" || owner === "xo3"),
    );
    t.match(await health(first!), { draining: true, ready: false });
    const owners = new Set((await owned()).map(([, owner]) => owner));
    t.same(owners, new Set(["xo2", "xo3"]), "shared by the others");
    t.equal((await ownersOf(group.postgres)).get("server/xo1"), "xo1");

    const [before] = [await owned()];
    void second!.program.stop("SIGTERM");
    await until(async () =>
      (await owned()).every(([, owner]) => owner === "xo3"),
    );
    t.equal((await owned()).length, before.length, "none is left behind");
    observer.stop();
    await observed;
    t.same(observer.problems, [], "one owner at a time");
    first!.program.child.kill("SIGKILL");
    await ended;
  },
);
