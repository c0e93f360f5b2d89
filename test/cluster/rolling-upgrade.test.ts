import { join } from "node:path";
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { BalancedClient } from "./balanced-client.js";
import { LeaseObserver } from "./lease-observer.js";
import { ownersOf, until } from "./lease-owners.js";
import { ServerGroup, type OtherProgram } from "./server-group.js";

t.comment("timeout=480000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** @param migrations additional ones of this version: `additive`, `breaking` */
function nextVersion(migrations: string): OtherProgram {
  return {
    path: join(import.meta.dirname, "next-version.js"),
    env: { XO_TEST_MIGRATION: migrations },
  };
}

const SETTINGS =
  "server: { name: NAME, leaseMs: 2000 }\nhttp: { drainMs: 500 }";

function openGroup(t: Test): Promise<ServerGroup> {
  return ServerGroup.open(t, { bin: bin!, settings: SETTINGS });
}

async function createUser(client: BalancedClient, name: string) {
  const answer = await client.fetch("/rest/v0/users", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, password: "long enough" }),
  });
  return answer.status;
}

async function migrationsOf(group: ServerGroup): Promise<readonly string[]> {
  const rows = await group.postgres.query(
    "xo",
    "select name from kysely_migration where name > '9' order by name",
  );
  return rows.map(({ name }) => name as string);
}

t.test(
  "a server of the next version joins those of this one, whose tables it extends, and takes over",
  { skip },
  async (t) => {
    const group = await openGroup(t);
    const first = await group.start(0);
    const second = await group.start(1);
    const client = await BalancedClient.signIn(first.url);
    await client.connect(t);
    const observer = new LeaseObserver(group.postgres);
    const observed = observer.run();

    const third = await group.start(2, nextVersion("additive"));
    t.same(await migrationsOf(group), ["900-nicknames"]);
    t.match(third.program.output, /migrating the database from .*900-nick/);
    const { updates } = client.query!;
    await client.query!.until(() => client.query!.updates > updates);
    t.equal(await createUser(client, "ada"), 201, "a write of this version");
    const others = [second, third].map(({ url }) => client.at(url));
    for (const other of others)
      await until(async () => {
        const users = await other.fetch("/rest/v0/users?fields=name");
        return /"ada"/.test(await users.text());
      });
    t.equal(await createUser(others[1]!, "ben"), 201, "one of the next one");

    const owned = async () =>
      [...(await ownersOf(group.postgres))].filter(
        ([subject]) => !subject.startsWith("server/"),
      );
    const command = group.run(0, "leave");
    t.equal(await command.ended, 0, command.output);
    t.ok((await owned()).every(([, owner]) => owner !== "xo1"));
    t.equal(await first.program.stop("SIGTERM"), 0);
    t.equal(await client.query!.closed, 1001);

    const again = await group.start(0);
    t.match(
      again.program.output,
      /a newer version has migrated the database to 900-nicknames; this version is compatible with it/,
      "this version starts on it: the upgrade may be taken back",
    );
    t.equal(await createUser(client.at(again.url), "cem"), 201);
    for (const { program } of [again, second])
      t.equal(await program.stop("SIGTERM"), 0);
    await until(async () =>
      (await owned()).every(([, owner]) => owner === "xo3"),
    );
    observer.stop();
    await observed;
    t.same(observer.problems, [], "one owner at a time");
    const audit = group.run(0, "audit", "verify");
    t.equal(await audit.ended, 0, audit.output);
  },
);

t.test(
  "a change that running servers of this version cannot work with is refused until they have ended",
  { skip },
  async (t) => {
    const group = await openGroup(t);
    const first = await group.start(0);
    const second = await group.start(1);
    const client = await BalancedClient.signIn(first.url);
    const refused = await group.launch(2, nextVersion("breaking"));
    t.equal(await refused.ended, 69, refused.output);
    t.match(
      refused.output,
      /migration 901-renamed-users .*xo1 \(version .*\), xo2 \(version .*\); stop them, then start this one/,
    );
    t.same(await migrationsOf(group), [], "nothing was changed");
    t.equal(await createUser(client, "ada"), 201, "they work as before");

    const next = await group.launch(2, nextVersion("breaking"));
    // Its modules are loaded, which may take longer than the others' heartbeats count.
    await next.find(/Config from/);
    const killed = first.program.stop("SIGKILL");
    second.program.child.kill("SIGSTOP");
    await killed;
    const url = await next.find(/Web server listening on (http:\S+)/);
    t.match(
      next.output,
      /checking whether these servers are running: xo1 .*, xo2 .*/,
    );
    t.same(await migrationsOf(group), ["901-renamed-users"]);
    second.program.child.kill("SIGCONT");
    t.equal(await second.program.ended, 78, "a frozen one ends as it wakes");
    t.match(second.program.output, /written by a newer version/);

    const old = await group.launch(0);
    t.equal(await old.ended, 78, old.output);
    t.match(old.output, /newer version.*901-renamed-users/);
    t.equal(await createUser(client.at(url), "ben"), 201);
  },
);
