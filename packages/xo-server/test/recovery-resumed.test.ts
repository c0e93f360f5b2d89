import { XoError } from "@xo-server/model";
import t from "tap";
import { Rights } from "../src/rights/rights.js";
import { setUp, settle, person, oneCall, VM, ada } from "./recovered-tasks.js";

t.test("a resumed task is cancelled in the pool", async (t) => {
  const { open, begin, restart, pool } = setUp(t);
  const id = await begin(open(), (xapi) => xapi().callAsync("VM.start", [VM]));
  const { tasks, done } = await restart();
  for (let i = 0; i < 5; i++) await settle();
  await tasks.abort(id, ada);
  await done;
  t.same(pool.cancelled, ["OpaqueRef:1"]);
  t.match(await tasks.get(id, ada), {
    status: "failure",
    result: { code: "ABORTED" },
  });
});

t.test("a server that stops leaves its tasks to recovery", async (t) => {
  const { open, begin, restart, pool, store } = setUp(t, oneCall);
  const first = open();
  const id = await begin(first, (xapi) => xapi().callAsync("VM.start", [VM]));
  await first.tasks.suspendAll();
  await pool.end("OpaqueRef:1", new XoError("CLOSED", { what: "pool" }));
  await settle();
  t.match(store.rows.get(id), { status: "pending" });
  const { tasks, done } = await restart();
  await pool.end("OpaqueRef:1");
  await done;
  t.match(await tasks.get(id, ada), { status: "success" });
});

t.test("a server that stops begins nothing that is not recorded", async (t) => {
  const { open, begin, restart, pool } = setUp(t, oneCall);
  const first = open();
  let choose = () => undefined as void;
  const chosen = new Promise<void>((resolve) => (choose = resolve));
  await begin(first, async (xapi, work) => {
    await chosen;
    await work.persistStep("item", { name: "begun" });
    return xapi().callAsync("VM.start", [VM]);
  });
  await begin(first, async (xapi) => {
    await chosen;
    return xapi().callAsync("VM.start", [VM]);
  });
  await first.tasks.suspendAll();
  choose();
  for (let i = 0; i < 10; i++) await settle();
  t.same(pool.asked, [], "the next start would ask for it again");
  const { done } = await restart();
  await done;
  t.same(pool.asked, []);
});

t.test("a server that stops writes the known outcomes of tasks", async (t) => {
  const { open, begin, restart, pool, stepStore } = setUp(t, oneCall);
  const first = open();
  const id = await begin(first, async (xapi) => {
    await xapi().callAsync("VM.start", [VM]);
    await new Promise(() => undefined);
  });
  await pool.end("OpaqueRef:1");
  await settle();
  await first.tasks.suspendAll();
  t.match(
    [...stepStore.rows.values()],
    [{ body: { ended: { status: "success" } } }],
    "a delayed step",
  );
  const { tasks, done } = await restart();
  await done;
  t.match(await tasks.get(id, ada), { status: "success" });
});

t.test(
  "an operation with `resume` continues with its persisted data",
  async (t) => {
    const resumed: unknown[] = [];
    const abandoned: unknown[] = [];
    const setUpResume = async () => {
      const all = setUp(t, {
        abandon: async (kept, { task, interrupted }) => {
          const ended = await interrupted.awaitOutcomes();
          const outcomes = ended.map(({ outcome }) => outcome.name);
          abandoned.push([kept, task.taskId, outcomes]);
        },
        resume: (kept, { user: person, task: work }) => {
          resumed.push([kept, person?.name, work.taskId]);
          return true;
        },
      });
      const id = await all.begin(all.open(), async (xapi, work) => {
        await work.persistState({ next: "host 2" });
        await xapi().callAsync("host.evacuate", []);
      });
      return { ...all, id };
    };

    t.test(
      "as the same user, under the same task, when the pool is done",
      async (t) => {
        const { restart, pool, audit, id } = await setUpResume();
        const { tasks, done } = await restart();
        for (let i = 0; i < 10; i++) await settle();
        t.same(resumed, [], "the pool has something to do yet");
        await pool.end("OpaqueRef:1");
        await done;
        t.same(resumed.splice(0), [[{ next: "host 2" }, "ada", id]]);
        t.same(abandoned, []);
        t.match(await tasks.get(id, ada), { status: "success" });
        t.same(audit, ["success"]);
      },
    );

    t.test("not for users who have lost the right", async (t) => {
      const { restart, pool, setPerson, id } = await setUpResume();
      const right = {
        effect: "allow",
        resource: "VM",
        action: "read",
      } as const;
      setPerson(person(new Rights([right])));
      const { tasks, done } = await restart();
      await pool.end("OpaqueRef:1");
      await done;
      t.match(await tasks.get(id, ada), {
        status: "failure",
        result: { code: "FORBIDDEN" },
      });
      t.same(resumed, []);
      t.same(
        abandoned.splice(0),
        [[{ next: "host 2" }, id, ["success"]]],
        "what it has created is deleted",
      );
    });

    t.test("not for deleted users", async (t) => {
      const { restart, pool, setPerson, id } = await setUpResume();
      setPerson(undefined);
      const { tasks, done } = await restart();
      await pool.end("OpaqueRef:1");
      await done;
      t.match(await tasks.get(id, ada), {
        status: "failure",
        result: { code: "FORBIDDEN_OPERATION" },
      });
      t.same(resumed, []);
      t.same(abandoned.splice(0), [[{ next: "host 2" }, id, ["success"]]]);
    });
  },
);

t.test(
  "an operation continues whose task is about another object than its permission",
  async (t) => {
    const { open, begin, restart } = setUp(t, {
      permission: {
        action: "operate:use",
        resource: "VM",
        id: ({ vm }: { vm?: string }) => vm ?? "",
      },
      resume: () => true,
    });
    const id = await begin(
      open(),
      async (_xapi, work) => {
        await work.persistState({ vm: "v" });
        await new Promise(() => undefined);
      },
      // As a restore over REST, whose path has the archive.
      { objectType: "backup-archives", objectId: "a", params: { vm: "v" } },
    );
    const { tasks, done } = await restart();
    await done;
    t.match(await tasks.get(id, ada), { status: "success" });
  },
);
