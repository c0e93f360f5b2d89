import t from "tap";
import type { Database } from "../src/index.js";
import { TestClient } from "./support/raw-client.js";
import { NETWORK, OTHER_VM, POOL, VM, tinyPool } from "./support/tiny-pool.js";

interface Events {
  readonly events: {
    readonly id: string;
    readonly class: string;
    readonly operation: string;
    readonly ref: string;
    readonly snapshot?: Record<string, unknown>;
  }[];
  readonly valid_ref_counts: Record<string, number>;
  readonly token: string;
}

async function from(
  client: TestClient,
  classes: readonly string[],
  token: string,
  timeout = 0.1,
): Promise<Events> {
  return (await client.call("event.from", classes, token, timeout)) as Events;
}

/** A token from now on, messages left out. */
async function tokenNow(client: TestClient): Promise<string> {
  await client.call("event.inject", "pool", POOL);
  return (await from(client, ["*"], "")).token;
}

function brief({ events }: Events): string[] {
  return events.map((event) => `${event.class} ${event.operation}`);
}

t.test("an empty token brings every object as an add", async (t) => {
  const { client } = await tinyPool(t);
  const { events, valid_ref_counts: counts } = await from(client, ["VM"], "");
  t.same(
    events.map(({ operation, ref }) => [operation, ref]),
    [
      ["add", OTHER_VM],
      ["add", VM],
    ],
  );
  t.match(counts, { vm: 2, host: 2, pool: 1, session: 1, message: 0 });
});

const histories: readonly (readonly [
  what: string,
  change: (db: Database) => void,
  expected: readonly string[],
])[] = [
  [
    "many changes of an object are one mod",
    (db) => {
      for (let i = 0; i < 10; i++)
        db.update("VM", VM, { name_description: `${i}` });
    },
    ["vm mod"],
  ],
  [
    "made and changed is one add",
    (db) => {
      const ref = db.create("network", {});
      db.update("network", ref, { name_label: "x" });
    },
    ["network add"],
  ],
  [
    "changed and destroyed is one del",
    (db) => {
      db.update("VM", OTHER_VM, { name_label: "x" });
      db.destroy("VM", OTHER_VM);
    },
    ["vm del"],
  ],
  [
    "made and destroyed is nothing",
    (db) => db.destroy("network", db.create("network", {})),
    [],
  ],
  [
    "writing the value that is there is nothing",
    (db) => db.update("VM", VM, { name_label: "one" }),
    [],
  ],
  [
    "a relation changes its other side too",
    (db) => db.create("VIF", { VM, network: NETWORK }),
    ["vif add", "network mod", "vm mod"],
  ],
  [
    "an object that goes leaves the other side",
    (db) => db.destroy("VIF", "OpaqueRef:vif"),
    ["network mod", "vm mod", "vif del"],
  ],
];

for (const [what, change, expected] of histories) {
  t.test(what, async (t) => {
    const { pool, client } = await tinyPool(t);
    const token = await tokenNow(client);
    change(pool.database);
    t.same(brief(await from(client, ["*"], token)), expected);
  });
}

t.test("a del has no snapshot, the rest has the record of now", async (t) => {
  const { pool, client } = await tinyPool(t);
  const token = await tokenNow(client);
  pool.database.update("VM", VM, { name_label: "new name" });
  pool.database.destroy("VM", OTHER_VM);
  const [mod, del] = (await from(client, ["VM"], token)).events;
  t.equal(mod!.snapshot!["name_label"], "new name");
  t.notOk("snapshot" in del!);
});

t.test("the token advances only to events that the filter saw", async (t) => {
  const { pool, client } = await tinyPool(t);
  const token = await tokenNow(client);
  pool.database.update("VM", VM, { name_label: "x" });
  t.equal((await from(client, ["network"], token)).token, token);
  t.not((await from(client, ["vm"], token)).token, token);
});

t.test("a filter names a class in any case, or one object", async (t) => {
  const { client } = await tinyPool(t);
  const count = async (...classes: string[]) =>
    (await from(client, classes, "")).events.length;
  t.equal(await count("vm"), 2);
  t.equal(await count(`Vm/${VM}`), 1);
  t.equal(await count("VM/*"), 0);
  t.equal(await count("nonsense", ""), 0);
});

t.test(
  "600 deletions at once are reported only in part, without an error",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const { database: db } = pool;
    const refs = Array.from({ length: 600 }, () => db.create("network", {}));
    const token = await tokenNow(client);
    for (const ref of refs) db.destroy("network", ref);
    const answer = await from(client, ["network"], token);
    t.ok(answer.events.length < 512, "some are lost");
    t.equal(answer.events.length, 343, "the newest 256 and what came after");
    t.equal(answer.valid_ref_counts["network"], 1, "the count is right");
  },
);

t.test(
  "a token from the future gets no event until the pool reaches it",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const token = await tokenNow(client);
    pool.rewind(5);
    await client.logIn();
    pool.database.update("VM", VM, { name_label: "x" });
    const answer = await from(client, ["*"], token);
    t.same(answer.events, []);
    t.equal(answer.token, token);
  },
);

t.test("tokens are read as leniently as OCaml reads integers", async (t) => {
  const { client } = await tinyPool(t);
  for (const token of ["1,0", "-1,-1", "0x1,0"])
    t.equal((await from(client, ["VM"], token)).events.length, 2, token);
  for (const token of [
    "abc",
    "1",
    "1,2,3",
    ",",
    " 1, 0",
    "99999999999999999999,0",
  ])
    await t.rejects(from(client, ["pool"], token), {
      message: `EVENT_FROM_TOKEN_PARSE_FAILURE ${token}`,
    });
});

t.test("a waiting call is woken by the change that it waits for", async (t) => {
  const { pool, client } = await tinyPool(t);
  const token = await tokenNow(client);
  const waiting = from(client, ["VM"], token, 3600);
  pool.database.update("network", NETWORK, { name_label: "x" });
  pool.database.update("VM", VM, { name_label: "y" });
  t.same(brief(await waiting), ["vm mod"]);
});

t.test("a negative timeout waits for a day", async (t) => {
  const { pool, client } = await tinyPool(t);
  const token = await tokenNow(client);
  let answered = false;
  const waiting = from(client, ["VM"], token, -1).then((answer) => {
    answered = true;
    return answer;
  });
  await from(client, ["VM"], token, 5);
  t.notOk(answered);
  pool.database.update("VM", VM, { name_label: "y" });
  t.same(brief(await waiting), ["vm mod"]);
});

t.test("logging out ends the session's waiting calls", async (t) => {
  const { client, pool } = await tinyPool(t);
  const other = await new TestClient(pool.url).logIn();
  const token = await tokenNow(client);
  const waiting = from(client, ["VM"], token, 3600);
  const alsoWaiting = from(other, ["VM"], token, 3600);
  const refused = t.rejects(waiting, {
    message: `SESSION_INVALID ${client.session}`,
  });
  await from(other, ["VM"], token, 1);
  await client.call("session.logout");
  await refused;
  pool.database.update("VM", VM, { name_label: "y" });
  t.same(brief(await alsoWaiting), ["vm mod"], "others wait on");
});

t.test(
  "messages are add and del events, with a token half of their own",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const ref = (await client.call(
      "message.create",
      "ALARM",
      3,
      "VM",
      "uuid-vm-1",
      "body",
    )) as string;
    const added = await from(client, ["message"], "");
    t.match(added.events, [
      { id: "0", class: "message", operation: "add", ref },
    ]);
    t.equal(added.token, "00000000000000000000,00000000000000000001");
    pool.database.destroy("message", ref);
    const gone = await from(client, ["message"], added.token);
    t.same(brief(gone), ["message del"]);
    t.equal(gone.valid_ref_counts["message"], 0);
    t.equal(gone.valid_ref_counts["role"], 0);
  },
);

t.test(
  "event.inject returns a token from just before its change",
  async (t) => {
    const { client } = await tinyPool(t);
    const token = (await client.call("event.inject", "pool", POOL)) as string;
    t.same(brief(await from(client, ["*"], token)), ["pool mod"]);
    await t.rejects(client.call("event.inject", "Pool", POOL), {
      message: `HANDLE_INVALID Pool ${POOL}`,
    });
  },
);

t.test(
  "the old interface returns each change, deletions with their record",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    await t.rejects(client.call("event.next"), {
      message: /^SESSION_NOT_REGISTERED trackid=[0-9a-f]{32}$/,
    });
    await client.call("event.register", ["vm"]);
    pool.database.update("VM", VM, { name_label: "x" });
    pool.database.destroy("VM", OTHER_VM);
    const events = (await client.call("event.next")) as Events["events"];
    t.match(events, [
      { id: "0", class: "vm", operation: "mod", ref: VM },
      {
        id: "1",
        class: "vm",
        operation: "del",
        snapshot: { name_label: "two" },
      },
    ]);
  },
);

t.test(
  "the old interface loses events above 10 MB, and reports it",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    await client.call("event.register", ["*"]);
    for (let i = 0; i < 40; i++)
      pool.database.update("VM", VM, {
        name_description: `${i}`.padEnd(300_000),
      });
    await t.rejects(client.call("event.next"), { message: "EVENTS_LOST" });
  },
);
