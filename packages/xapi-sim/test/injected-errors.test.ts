import t from "tap";
import { HOST, OTHER_VM, VM, tinyPool } from "./support/tiny-pool.js";
import { startPool } from "../src/index.js";
import { TestClient } from "./support/raw-client.js";
import { FailureProfile } from "../src/faults/failure-profile.js";
import type { XapiMap } from "../src/xapi-value.js";

t.test(
  "the next call of a message fails with the injected error, once",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    pool.failNext("VM.add_tags", "SR_BACKEND_FAILURE_46", ["", "in use", ""]);
    await client.call("host.get_all");
    await t.rejects(client.call("VM.add_tags", VM, "x"), {
      message: "SR_BACKEND_FAILURE_46  in use ",
    });
    t.strictSame(pool.database.get("VM", VM)["tags"], [], "nothing happened");
    await client.call("VM.add_tags", VM, "x");
    t.strictSame(pool.database.get("VM", VM)["tags"], ["x"]);
  },
);

t.test("a fault can apply to one object, and to several calls", async (t) => {
  const { pool, client } = await tinyPool(t);
  pool.failNext("VM.add_tags", "INTERNAL_ERROR", ["oops"], {
    object: VM,
    times: 2,
  });
  await client.call("VM.add_tags", OTHER_VM, "x");
  for (const tag of ["a", "b"])
    await t.rejects(client.call("VM.add_tags", VM, tag), {
      message: "INTERNAL_ERROR oops",
    });
  await client.call("VM.add_tags", VM, "c");
});

t.test(
  "the next call of an object is reported before its effect",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const seen: unknown[] = [];
    const tags = () => pool.database.get("VM", VM)["tags"];
    pool.whenCalled("VM.add_tags", () => seen.push(tags()), { object: VM });
    await client.call("VM.add_tags", OTHER_VM, "x");
    t.strictSame(seen, []);
    await client.call("VM.add_tags", VM, "x");
    await client.call("VM.add_tags", VM, "y");
    t.strictSame(seen, [[]]);
    t.strictSame(tags(), ["x", "y"]);
  },
);

t.test("a call of the Async form fails in its task", async (t) => {
  const { pool, client } = await tinyPool(t);
  pool.failNext("VM.start", "HOST_NOT_ENOUGH_FREE_MEMORY", ["9", "5"]);
  const task = (await client.call(
    "Async.VM.start",
    VM,
    false,
    false,
  )) as string;
  await settled(pool, task);
  const record = pool.database.get("task", task);
  t.equal(record["status"], "failure");
  t.strictSame(record["error_info"], ["HOST_NOT_ENOUGH_FREE_MEMORY", "9", "5"]);
});

t.test(
  "a failure during the operation comes after the preconditions, and leaves the object unchanged",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const seen: unknown[] = [];
    pool.database.onChange(({ ref, record }) => {
      if (ref === VM)
        seen.push(...Object.values(record["current_operations"] as XapiMap));
    });
    pool.failNext("VM.clone", "INTERNAL_ERROR", ["late"], { when: "work" });
    await t.rejects(client.call("VM.clone", "OpaqueRef:none", "x"), {
      message: /HANDLE_INVALID/,
    });
    pool.failNext("VM.clone", "INTERNAL_ERROR", ["late"], { when: "work" });
    await t.rejects(client.call("VM.clone", VM, "x"), {
      message: "INTERNAL_ERROR late",
    });
    t.ok(seen.includes("clone"), "it was at work");
    t.strictSame(pool.database.get("VM", VM)["current_operations"], {});
  },
);

t.test(
  "the next call of a message takes longer, and can be cancelled",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    pool.slowNext("VM.clone", 3_600_000);
    const task = (await client.call("Async.VM.clone", VM, "x")) as string;
    await client.call("task.cancel", task);
    await settled(pool, task);
    t.equal(pool.database.get("task", task)["status"], "cancelled");
  },
);

t.test("all of it over HTTP, and valid requests are not refused", async (t) => {
  const { pool, client } = await tinyPool(t);
  const post = (body: unknown) =>
    fetch(`${pool.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify(body),
    });
  const response = await post({
    method: "host.get_all",
    error: "HOST_OFFLINE",
    params: [HOST],
    times: 5,
  });
  t.match(await response.json(), {
    injectedErrors: [{ method: "host.get_all" }],
  });
  await t.rejects(client.call("host.get_all"), {
    message: `HOST_OFFLINE ${HOST}`,
  });
  await post({ clear: true });
  await client.call("host.get_all");
  for (const bad of [{}, { method: "VM.start" }, { method: 1, error: "X" }])
    t.equal((await post(bad)).status, 400);
});

t.test(
  "a handler's request fails as its message does, in its task",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    pool.failNext("http/get_export", "VDI_IO_ERROR", ["gone"]);
    const task = (await client.call("task.create", "x", "")) as string;
    const url = `${pool.url}/export?ref=${VM}&session_id=${client.session}&task_id=${task}`;
    t.equal((await fetch(url)).status, 500);
    t.match(pool.database.get("task", task)["error_info"], [
      /./,
      /./,
      /VDI_IO_ERROR/,
    ]);
  },
);

t.test("a flaky pool fails the same calls for the same seed", (t) => {
  const failures = (seed: number): readonly number[] => {
    const failureProfile = new FailureProfile("flaky", 1, seed);
    return Array.from({ length: 1000 }, (_, i) => i).filter(
      () => failureProfile.randomFailure("VM", [VM]) !== undefined,
    );
  };
  t.ok(failures(1).length > 10 && failures(1).length < 100);
  t.strictSame(failures(1), failures(1));
  t.notSame(failures(1), failures(2));
  const calm = new FailureProfile("calm", 1, 1);
  t.ok(
    Array.from({ length: 1000 }).every(
      () => calm.randomFailure("VM", [VM]) === undefined,
    ),
  );
  t.end();
});

t.test("the busy profile takes longer, and pace shortens everything", (t) => {
  t.equal(new FailureProfile("calm", 1, 1).duration(1000), 1000);
  t.equal(new FailureProfile("calm", 0.5, 1).duration(1000), 500);
  const busy = new FailureProfile("busy", 1, 1).duration(1000);
  t.ok(busy >= 2000 && busy <= 5000);
  t.equal(new FailureProfile("flaky", 0, 1).duration(1000), 0);
  t.end();
});

t.test("a flaky pool fails some operations with XAPI's errors", async (t) => {
  const pool = await startPool({ failureProfile: "flaky", pace: 0, seed: 5 });
  t.teardown(() => pool.stop());
  const client = await new TestClient(pool.url).logIn();
  const [vm] = [...pool.database.records("VM")].find(
    ([, record]) =>
      record["power_state"] === "Halted" && record["is_a_template"] === false,
  )!;
  const codes = new Set<string>();
  let successes = 0;
  // References are random, and failures depend on them: that none of these fails happens once in 10,000 runs.
  for (let i = 0; i < 300; i++)
    await client.call("VM.clone", vm, `clone ${i}`).then(
      () => successes++,
      (error: unknown) => codes.add((error as Error).message.split(" ")[0]!),
    );
  t.ok(codes.size > 0, "some fail");
  t.ok(successes > 200, `${successes} succeed`);
  for (const code of codes)
    t.match(code, /^(INTERNAL_ERROR|SR_BACKEND_FAILURE_46|VM_MIGRATE_FAILED)$/);
});

function settled(
  pool: Awaited<ReturnType<typeof startPool>>,
  task: string,
): Promise<void> {
  const isDone = () =>
    ["success", "failure", "cancelled"].includes(
      pool.database.get("task", task)["status"] as string,
    );
  if (isDone()) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = pool.database.onChange(({ ref }) => {
      if (ref !== task || !isDone()) return;
      stop();
      resolve();
    });
  });
}
