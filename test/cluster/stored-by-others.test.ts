import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { ApiSession } from "../api-session.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=300000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** What can be stored: created at one server, then used at another one at once. */
interface Kind {
  readonly create: string;
  readonly params: (n: number) => object;
  /** Reads it by its id. */
  readonly get?: string;
  readonly path?: (id: string) => string;
  /** Changes it. */
  readonly set?: string;
  readonly change?: object;
}

const UNKNOWN = "00000000-0000-4000-8000-00000000000f";

const accounts: Readonly<Record<string, Kind>> = {
  user: {
    create: "user.create",
    params: (n) => ({ email: `user${n}`, password: "a long word" }),
    get: "user.get",
    path: (id) => `/users/${id}`,
    set: "user.set",
    change: { permission: "admin" },
  },
  group: {
    create: "group.create",
    params: (n) => ({ name: `group${n}` }),
    get: "group.get",
    path: (id) => `/groups/${id}`,
    set: "group.set",
    change: { name: "other" },
  },
  role: {
    create: "role.create",
    params: (n) => ({ name: `role${n}` }),
    get: "role.get",
    path: (id) => `/acl-roles/${id}`,
    set: "role.set",
    change: { name: "other" },
  },
};

function kinds(t: Test, job: string): Readonly<Record<string, Kind>> {
  const folders = t.testdir({ 0: {}, 1: {}, 2: {} });
  return {
    job: {
      create: "job.create",
      params: (n) => ({
        job: { type: "call", name: `job${n}`, method: "vm.start" },
      }),
      get: "job.get",
    },
    schedule: {
      create: "schedule.create",
      params: () => ({ jobId: job, cron: "0 0 1 1 *" }),
      get: "schedule.get",
      path: (id) => `/schedules/${id}`,
      set: "schedule.set",
      change: { enabled: false },
    },
    pool: {
      create: "server.add",
      params: (n) => ({
        host: `192.0.2.${n + 1}`,
        username: "root",
        password: "x",
        autoConnect: false,
      }),
      path: (id) => `/servers/${id}`,
      set: "server.set",
      change: { label: "other" },
    },
    repository: {
      create: "remote.create",
      params: (n) => ({
        name: `repository${n}`,
        url: `file://${folders}/${n}`,
      }),
      get: "remote.get",
      set: "remote.set",
      change: { name: "other" },
    },
    "resource set": {
      create: "resourceSet.create",
      params: (n) => ({ name: `set${n}` }),
      get: "resourceSet.get",
      set: "resourceSet.set",
      change: { name: "other" },
    },
    "IP pool": {
      create: "ipPool.create",
      params: (n) => ({ name: `ips${n}` }),
      set: "ipPool.set",
      change: { name: "other" },
    },
    "cloud config": {
      create: "cloudConfig.create",
      params: (n) => ({ name: `config${n}`, template: "#cloud-config" }),
      set: "cloudConfig.update",
      change: { name: "other" },
    },
  };
}

function idOf(result: unknown): string {
  return typeof result === "string" ? result : (result as { id: string }).id;
}

t.test(
  "what was stored by one server is known by another one at once",
  { skip },
  async (t) => {
    const group = await ServerGroup.open(t, { bin: bin!, pool: [] });
    const urls = [(await group.start(0)).url, (await group.start(1)).url];
    const [first, second] = (await Promise.all(
      urls.map((url) => ApiSession.open(t, url, "admin", PASSWORD)),
    )) as [ApiSession, ApiSession];
    const created = await first.request("job.create", {
      job: { type: "call", name: "job", method: "vm.start" },
    });
    for (const [name, kind] of Object.entries({
      ...accounts,
      ...kinds(t, idOf(created)),
    }))
      await t.test(name, async (t) => {
        let n = 0;
        const create = async () =>
          idOf(await first.request(kind.create, kind.params(n++)));
        const { get, path, set } = kind;
        if (get !== undefined) {
          const answer = await second.call(get, { id: await create() });
          t.equal(answer.error, undefined, JSON.stringify(answer.error));
        }
        if (path !== undefined) {
          const { status } = await second.rest("GET", path(await create()));
          t.equal(status, 200);
        }
        if (set === undefined) return;
        const changed = { ...kind.change, id: await create() };
        const answer = await second.call(set, changed);
        t.equal(answer.error, undefined, JSON.stringify(answer.error));
      });

    await t.test("a user signs in", async (t) => {
      const account = { email: "new", password: "a long word" };
      await first.request("user.create", account);
      const other = await ApiSession.connect(t, urls[1]!);
      const signedIn = await other.call("session.signIn", account);
      t.equal(signedIn.error, undefined, JSON.stringify(signedIn.error));
    });

    await t.test("unknown ids load the database little", async (t) => {
      const [{ calls: before }] = await reads(group);
      const begun = performance.now();
      const answers = await Promise.all(
        Array.from({ length: 500 }, () =>
          second.call("user.get", { id: UNKNOWN }),
        ),
      );
      t.ok(answers.every(({ error }) => error !== undefined));
      const seconds = (performance.now() - begun) / 1000;
      const [{ calls }] = await reads(group);
      // Ten a second at most, and one a second by each server that it needs anyway.
      t.ok(
        calls - before <= 12 * seconds + 5,
        `${calls - before} reads in ${seconds} s`,
      );
    });
  },
);

/** Reads of the versions of tables. */
async function reads(group: ServerGroup) {
  return (await group.postgres.query(
    "xo",
    "select seq_scan::int as calls from pg_stat_user_tables where relname = 'table_versions'",
  )) as [{ calls: number }];
}
