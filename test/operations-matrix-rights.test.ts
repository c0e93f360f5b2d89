import { isDeepStrictEqual } from "node:util";
import t, { type Test } from "tap";
import type { Answer } from "./api-session.js";
import { fillSchema, type Schema } from "./schema-values.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

interface MethodInfo {
  readonly permission?: string;
  readonly params: Readonly<Record<string, Schema>>;
}

/** Permissions that are levels, and none about an object. */
const LEVELS = ["none", "guest", "viewer", "user", "operator", "admin"];

const isRefused = ({ error }: Answer) => error?.code === 2;
const isUnknown = ({ error }: Answer) => error?.code === 1;

t.test("without the right nothing reaches a pool", async (t) => {
  const bench = await setUp(t);
  const { calls, stop, changes } = bench;

  await t.test("a read-only user changes nothing", (t) =>
    readOnlyUser(t, bench),
  );

  await t.test("hidden objects do not exist for the user", (t) =>
    hiddenObjects(t, bench),
  );

  await t.test("levels of access are stored too", (t) =>
    levelsOfAccess(t, bench),
  );

  t.same([...new Set(calls())], [], "no pool has been called");
  stop();
  t.same(changes, [], "nor changed");
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const { api, calls, pools } = await startControlled(t, {
    hosts: 2,
    vms: 6,
  });
  const roles = (await api.request("role.list")) as {
    id: string;
    name: string;
  }[];
  const viewer = roles.find(({ name }) => name === "viewer")!.id;
  const { session: reader } = await api.signUp(t, "reader", {
    roles: [viewer],
  });
  const { session: nobody } = await api.signUp(t, "nobody");

  const vm = (await api.all({ type: "VM" }))[0]!.id;
  await api.request("vm.snapshot", { id: vm });
  // Pools have none of these at first.
  const { database } = pools[0]!;
  for (const className of ["VGPU", "VTPM", "VUSB"])
    database.create(className, { VM: database.byUuid("VM", vm)! });
  // The pool deletes a pending task a day after its creation, looking every 30 s.
  const lasting = "a task that stays";
  database.create("task", {
    name_label: lasting,
    status: "pending",
    created: "20990101T00:00:00Z",
  });
  await api.request("vm.set", { id: vm, notes: "that its events have come" });
  const all = await api.all({});
  /** One object of each type. */
  const samples = new Map(
    all
      .filter((one) => one.type !== "task" || one["name_label"] === lasting)
      .map(({ type, id }) => [type, id] as const),
  );
  t.ok(samples.has("task"));
  const infos = (await api.request("system.getMethodsInfo")) as Record<
    string,
    MethodInfo
  >;
  const aboutObjects = Object.entries(infos).filter(
    ([, { permission = "none" }]) => !LEVELS.includes(permission),
  );
  /** The required parameters; the first one if all are optional. */
  const paramsOf = ({ params }: MethodInfo, id: string) => {
    const all = Object.entries(params);
    const required = all.filter(([, { optional }]) => optional !== true);
    const filled = required.length > 0 ? required : all.slice(0, 1);
    return Object.fromEntries(
      filled.map(([name, schema]) => [name, fillSchema(schema, id)]),
    );
  };
  t.ok(aboutObjects.length > 100, `${aboutObjects.length} operations`);
  const changes: string[] = [];
  const [, poolRecord] = [...database.records("pool")][0]!;
  const poolBefore = structuredClone(poolRecord);
  const stop = database.onChange(({ className, operation, record }) => {
    // As XAPI does, the pool removes tasks some time after their end.
    if (className === "task" && operation === "del") return;
    // event.inject, with which the server checks a silent pool, changes nothing.
    if (className === "pool" && isDeepStrictEqual(record, poolBefore)) return;
    changes.push(`${operation} ${className}`);
  });
  const refusedOf = new Map<string, string>();
  t.ok(calls().includes("VM.snapshot"), "calls that reach a pool are recorded");
  return {
    aboutObjects,
    samples,
    reader,
    paramsOf,
    refusedOf,
    vm,
    nobody,
    infos,
    calls,
    stop,
    changes,
  };
}

async function readOnlyUser(
  t: Test,
  { aboutObjects, samples, reader, paramsOf, refusedOf }: Bench,
) {
  for (const [method, info] of aboutObjects) {
    if (info.permission === "read") continue;
    for (const [type, id] of samples) {
      const answer = await reader.call(method, paramsOf(info, id));
      if (isRefused(answer)) refusedOf.set(method, id);
      else if (!isUnknown(answer))
        t.fail(`${method} of ${type}: ${JSON.stringify(answer)}`);
      if (refusedOf.has(method)) break;
    }
    t.ok(refusedOf.has(method), `${method} needs ${info.permission}`);
  }
}

async function hiddenObjects(
  t: Test,
  { aboutObjects, refusedOf, samples, vm, nobody, paramsOf }: Bench,
) {
  for (const [method, info] of aboutObjects) {
    const id = refusedOf.get(method);
    const ids = id === undefined ? [...samples.values()] : [id, vm];
    const answers = await Promise.all(
      ids.map((one) => nobody.call(method, paramsOf(info, one))),
    );
    const wrong = answers.find((answer) => !isUnknown(answer));
    t.equal(wrong, undefined, `${method}: ${JSON.stringify(wrong)}`);
  }
}

async function levelsOfAccess(t: Test, { infos, reader, paramsOf, vm }: Bench) {
  for (const [method, { permission, ...info }] of Object.entries(infos)) {
    if (permission !== "admin" && permission !== "operator") continue;
    const answer = await reader.call(method, paramsOf(info, vm));
    t.ok(isRefused(answer), `${method}: ${JSON.stringify(answer)}`);
  }
}
