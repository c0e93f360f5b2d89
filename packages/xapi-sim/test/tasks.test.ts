import t from "tap";
import { XapiFailure } from "../src/xapi-failure.js";
import type { Database, PoolOptions } from "../src/index.js";
import { NETWORK, VM, tinyPool } from "./support/tiny-pool.js";

/** Resolves with the task's record once its status is final. */
function finished(
  db: Database,
  ref: string,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve) => {
    const look = (): void => {
      const record = db.get("task", ref);
      if (
        !["success", "failure", "cancelled"].includes(
          record["status"] as string,
        )
      )
        return;
      end();
      resolve(record);
    };
    const end = db.onChange(look);
    look();
  });
}

const slow: PoolOptions = {
  operations: {
    "VM.clone": async ({ delay, task }, [, name]) => {
      task?.progress(0.5);
      await delay(3600_000);
      return name;
    },
    "VM.start": () => {
      throw new XapiFailure("VM_IS_TEMPLATE", [VM, "start"]);
    },
    "VM.set_memory": () => undefined,
    "VM.get_possible_hosts": () => ["<a>"],
  },
};

t.test(
  "an asynchronous call returns a task immediately, and its result in it as XML",
  async (t) => {
    const { pool, client } = await tinyPool(t, slow);
    const ref = (await client.call(
      "Async.VM.get_possible_hosts",
      VM,
    )) as string;
    t.match(await finished(pool.database, ref), {
      name_label: "Async.VM.get_possible_hosts",
      status: "success",
      progress: 1,
      type: "<none/>",
      result:
        "<value><array><data><value>&lt;a&gt;</value></data></array></value>",
      error_info: [],
    });
    const nothing = (await client.call("Async.VM.set_memory", VM, 1)) as string;
    t.match(await finished(pool.database, nothing), {
      result: "<value></value>",
    });
  },
);

t.test("a task's status is written last", async (t) => {
  const { pool, client } = await tinyPool(t, slow);
  const written: string[] = [];
  let before: Readonly<Record<string, unknown>> = {};
  pool.database.onChange(({ className, record }) => {
    if (className !== "task") return;
    written.push(
      ...Object.keys(record).filter((name) => record[name] !== before[name]),
    );
    before = record;
  });
  const ref = (await client.call("Async.VM.get_possible_hosts", VM)) as string;
  await finished(pool.database, ref);
  t.same(written.slice(-5), [
    "allowed_operations",
    "finished",
    "progress",
    "result",
    "status",
  ]);
});

t.test("a failure is in the task, not in the answer", async (t) => {
  const { pool, client } = await tinyPool(t, slow);
  const ref = (await client.call("Async.VM.start", VM, false, false)) as string;
  t.match(await finished(pool.database, ref), {
    status: "failure",
    result: "",
    error_info: ["VM_IS_TEMPLATE", VM, "start"],
  });
  await t.rejects(client.call("VM.start", VM, false, false), {
    message: `VM_IS_TEMPLATE ${VM} start`,
  });
});

t.test(
  "a wrong number of parameters, a wrong session are in the answer",
  async (t) => {
    const { client } = await tinyPool(t, slow);
    await t.rejects(client.call("Async.VM.start", VM), {
      message: "MESSAGE_PARAMETER_COUNT_MISMATCH VM.start 3 1",
    });
    await t.rejects(client.send("Async.VM.start", ["x", VM, false, false]), {
      message: "SESSION_INVALID x",
    });
  },
);

t.test("a task that an operation works on can be cancelled", async (t) => {
  const { pool, client } = await tinyPool(t, slow);
  const ref = (await client.call("Async.VM.clone", VM, "copy")) as string;
  t.match(pool.database.get("task", ref), { status: "pending", progress: 0.5 });
  await client.call("task.cancel", ref);
  t.match(await finished(pool.database, ref), {
    status: "cancelled",
    error_info: ["TASK_CANCELLED", ref],
  });
  t.equal(
    await client.call("task.cancel", ref),
    "",
    "once more is not an error",
  );
});

t.test("cancelling a client's own task only records the request", async (t) => {
  const { pool, client } = await tinyPool(t, slow);
  const ref = (await client.call("task.create", "mine", "")) as string;
  await client.call("task.cancel", ref);
  const record = pool.database.get("task", ref);
  t.equal(record["status"], "pending");
  t.match(Object.entries(record["current_operations"]!), [
    [/^DummyRef:\|.*\|task\.cancel$/, "cancel"],
  ]);
  await client.call("task.set_status", ref, "cancelled");
  await client.call("task.destroy", ref);
  await t.rejects(client.call("task.get_record", ref), {
    message: `HANDLE_INVALID task ${ref}`,
  });
});

t.test(
  "a pending task that is destroyed stays until it ends, as with XAPI",
  async (t) => {
    const { client, pool } = await tinyPool(t);
    const task = (await client.call("task.create", "mine", "")) as string;
    await client.call("task.destroy", task);
    const record = (await client.call("task.get_record", task)) as {
      status: string;
      current_operations: Record<string, string>;
    };
    t.equal(record.status, "pending");
    t.same(Object.values(record.current_operations), ["destroy"]);
    await client.call("task.set_status", task, "success");
    await client.call("task.destroy", task);
    t.equal(pool.database.find("task", task), undefined);
  },
);

t.test("finished tasks are deleted after 65 minutes", async (t) => {
  const { pool, client } = await tinyPool(t, {
    ...slow,
    clock: leapingClock(70 * 60_000),
  });
  // On a busy machine the task is deleted before the answer with its reference is read.
  const gone = new Set<string>();
  let look = (): void => undefined;
  pool.database.onChange(({ operation, ref }) => {
    if (operation === "del") gone.add(ref);
    look();
  });
  const old = (await client.call("Async.network.destroy", NETWORK)) as string;
  if (!gone.has(old))
    await new Promise<void>((resolve) => {
      look = () => {
        if (gone.has(old)) resolve();
      };
    });
  t.ok(gone.has(old));
});

/** How often the simulator looks for old tasks. */
const SWEEP_MS = 30_000;

/** The timer that looks for old tasks is due at once, and the time has leapt; others, such as those of connections, are as usual. */
function leapingClock(leapMs: number): NonNullable<PoolOptions["clock"]> {
  let now = Date.parse("2026-11-21T00:00:00Z");
  return {
    now: () => now,
    setTimeout: (callback, ms) =>
      ms === SWEEP_MS
        ? setTimeout(() => {
            now += leapMs;
            callback();
          }, 1)
        : setTimeout(callback, ms),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  };
}

t.test("operations that were called are logged, in order", async (t) => {
  const { pool, client } = await tinyPool(t);
  await client.call("VM.clone", VM, "copy");
  await t.rejects(client.call("VM.start", VM, false, false));
  await client.call("VM.get_record", VM);
  const answer = await fetch(`${pool.url}/sim/calls`);
  const calls = (await answer.json()) as { method: string; object: string }[];
  t.same(
    calls.map(({ method, object }) => [method, object]),
    [
      ["VM.clone", VM],
      ["VM.start", VM],
    ],
    "also those that failed, not those that read",
  );
});
