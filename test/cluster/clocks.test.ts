import { join } from "node:path";
import { findPostgres } from "@xo-server/store/conformance";
import t from "tap";
import { BalancedClient } from "./balanced-client.js";
import { ServerGroup } from "./server-group.js";

t.comment("timeout=240000");

const DAY_MS = 86_400_000;
const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** @returns the date of its creation */
async function createVm(client: BalancedClient): Promise<string> {
  const read = async (path: string) =>
    (await (await client.fetch(`/rest/v0/${path}`)).json()) as unknown;
  const [template] = (await read("vm-templates?fields=id,$pool&limit=1")) as {
    readonly id: string;
    readonly $pool: string;
  }[];
  const answer = await client.fetch(
    `/rest/v0/pools/${template!.$pool}/actions/create_vm?sync=true`,
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ template: template!.id, name_label: "dated" }),
    },
  );
  if (answer.status !== 201)
    throw new Error(`HTTP ${answer.status} ${await answer.text()}`);
  const { id } = (await answer.json()) as { readonly id: string };
  const vm = (await read(`vms/${id}`)) as {
    readonly creation?: { readonly date?: string };
  };
  return String(vm.creation?.date);
}

t.test(
  "a server whose clock is 31 days ahead keeps the tokens and tasks of the others",
  { skip },
  async (t) => {
    const group = await ServerGroup.open(t, {
      bin: bin!,
      nodeArgs: [
        "--import",
        join(import.meta.dirname, "../faults/shifted-clock.js"),
      ],
      envOf: (i) => ({ XO_TEST_CLOCK_AHEAD_MS: String(i * 31 * DAY_MS) }),
    });
    const right = await group.start(0);
    const client = await BalancedClient.signIn(right.url);
    await group.postgres.query(
      "xo",
      `insert into tasks (id, owner, name, status, started_at, updated_at, ended_at, body_json)
       select 'ended', 'xo1', 'ended', 'success', now, now, now, '{}'
       from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now) clock`,
    );

    const ahead = await group.start(1);
    const tasks = await group.postgres.query("xo", "select id from tasks");
    t.ok(
      tasks.some(({ id }) => id === "ended"),
      "the ended task is not pruned at its start",
    );
    const there = client.at(ahead.url);
    t.equal((await there.fetch("/rest/v0/users")).status, 200, "token of xo1");
    await there.connect(t);
    t.ok(there.query, "signed in by a ticket");
    await there.query!.until(() => there.query!.total > 0);
    const [vm] = there.query!.rows;
    const taken = await there.fetch(
      `/rest/v0/vms/${String(vm!["id"])}/actions/snapshot?sync=true`,
      { method: "POST" },
    );
    t.equal(taken.status, 201, await taken.clone().text());
    const { id } = (await taken.json()) as { id: string };
    const snapshot = await there.fetch(`/rest/v0/vm-snapshots/${id}`);
    const { name_label: name } = (await snapshot.json()) as {
      name_label: string;
    };
    const isNow = (date: string) =>
      Math.abs(Date.parse(date) - Date.now()) < DAY_MS / 2;
    t.ok(
      isNow(name.slice(name.lastIndexOf("_") + 1)),
      `${name}: the date of the database`,
    );
    const created = await createVm(there);
    t.ok(isNow(created), `created at ${created}: the date of the database`);
    const back = (await BalancedClient.signIn(ahead.url)).at(right.url);
    t.equal((await back.fetch("/rest/v0/users")).status, 200, "token of xo2");
  },
);
