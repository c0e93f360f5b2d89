import t from "tap";
import type { Thing } from "./api-session.js";
import { chosenRows } from "./chosen-rows.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;
const STATES = ["Halted", "Running", "Paused", "Suspended"] as const;
type State = (typeof STATES)[number];

/** State of a VM afterwards, by its state before; absent: XAPI refuses. */
interface Row {
  readonly method: string;
  readonly more?: object;
  readonly becomes: Partial<Record<State, State | "gone" | "template">>;
  /** States that XAPI names where it refuses; by the state where they differ. */
  readonly needs?: string | Partial<Record<State, string>>;
  /** Codes of refusals, by state; default: VM_BAD_POWER_STATE. */
  readonly refusals?: Readonly<Partial<Record<string, string>>>;
}

const unchanged: Row["becomes"] = {
  Halted: "Halted",
  Running: "Running",
  Paused: "Paused",
  Suspended: "Suspended",
};

/** With the limit that the VM has while it is on. */
const limits: Row["refusals"] = {
  Running: "VM_NOT_HALTED",
  Paused: "VM_NOT_HALTED",
};

/** `OTHER` stands for another host of the pool, `SR` for one that all hosts reach. */
const rows: readonly Row[] = [
  {
    method: "vm.start",
    becomes: { Halted: "Running", Paused: "Running", Suspended: "Running" },
    needs: "halted",
  },
  {
    method: "vm.start",
    more: { paused: true },
    becomes: { Halted: "Paused", Paused: "Paused", Suspended: "Paused" },
    needs: "halted",
  },
  {
    method: "vm.start",
    more: { host: "OTHER" },
    becomes: { Halted: "Running", Paused: "Running", Suspended: "Running" },
    needs: "halted",
  },
  { method: "vm.stop", becomes: { Running: "Halted" }, needs: "running" },
  {
    method: "vm.stop",
    more: { force: true },
    becomes: { Running: "Halted", Paused: "Halted", Suspended: "Halted" },
    needs: "paused, suspended, running",
  },
  { method: "vm.restart", becomes: { Running: "Running" }, needs: "running" },
  {
    method: "vm.restart",
    more: { force: true },
    becomes: { Running: "Running", Paused: "Running" },
    needs: "paused, running",
  },
  { method: "vm.pause", becomes: { Running: "Paused" }, needs: "running" },
  { method: "vm.suspend", becomes: { Running: "Suspended" }, needs: "running" },
  {
    method: "vm.resume",
    becomes: { Suspended: "Running" },
    needs: "suspended",
  },
  {
    method: "vm.recoveryStart",
    becomes: { Halted: "Running" },
    needs: "halted",
  },
  { method: "vm.snapshot", becomes: unchanged },
  { method: "vm.snapshot", more: { quiesce: true }, becomes: unchanged },
  {
    method: "vm.snapshot",
    more: { saveMemory: true },
    becomes: {
      Running: "Running",
      Paused: "Paused",
      Suspended: "Suspended",
    },
    needs: "paused, suspended, running",
  },
  {
    method: "vm.clone",
    more: { name: "a copy" },
    becomes: { Halted: "Halted" },
    needs: "halted",
  },
  {
    method: "vm.clone",
    more: { name: "a copy", full_copy: true },
    becomes: unchanged,
  },
  { method: "vm.copy", more: { sr: "SR" }, becomes: unchanged },
  {
    method: "vm.migrate",
    more: { targetHost: "OTHER" },
    becomes: { Running: "Running" },
    needs: "running",
  },
  {
    method: "vm.convertToTemplate",
    becomes: { Halted: "template" },
    needs: "halted",
  },
  { method: "vm.set", more: { name_label: "named" }, becomes: unchanged },
  {
    method: "vm.set",
    more: { CPUs: 2, cpusMax: 2 },
    becomes: { Halted: "Halted" },
    needs: "halted",
    refusals: limits,
  },
  {
    method: "vm.set",
    more: { CPUs: 1 },
    becomes: { Halted: "Halted", Running: "Running" },
    needs: { Paused: "running", Suspended: "halted" },
  },
  {
    method: "vm.set",
    more: { memoryMax: 3 * GiB, memoryStaticMax: 3 * GiB },
    becomes: { Halted: "Halted" },
    needs: "halted",
    refusals: limits,
  },
  {
    method: "vm.setAndRestart",
    more: { cpusMax: 3, force: true },
    becomes: {
      Halted: "Halted",
      Running: "Running",
      Paused: "Running",
      Suspended: "Running",
    },
  },
  {
    method: "vm.delete",
    becomes: {
      Halted: "gone",
      Running: "gone",
      Paused: "gone",
      Suspended: "gone",
    },
  },
];

/** Operations that can be blocked for a VM, and the state that each requires. */
const blockable: readonly (readonly [string, State, string, object?])[] = [
  ["start", "Halted", "vm.start"],
  ["start_on", "Halted", "vm.start", { host: "OTHER" }],
  ["clean_shutdown", "Running", "vm.stop"],
  ["hard_shutdown", "Running", "vm.stop", { force: true }],
  ["clean_reboot", "Running", "vm.restart"],
  ["hard_reboot", "Running", "vm.restart", { force: true }],
  ["pause", "Running", "vm.pause"],
  ["unpause", "Paused", "vm.start"],
  ["suspend", "Running", "vm.suspend"],
  ["resume", "Suspended", "vm.resume"],
  ["resume_on", "Suspended", "vm.start", { host: "OTHER" }],
  ["snapshot", "Halted", "vm.snapshot"],
  ["checkpoint", "Running", "vm.snapshot", { saveMemory: true }],
  ["clone", "Halted", "vm.clone", { name: "x" }],
  ["copy", "Halted", "vm.copy", { sr: "SR" }],
  ["pool_migrate", "Running", "vm.migrate", { targetHost: "OTHER" }],
];

const titleOf = (method: string, more: object = {}) =>
  `${method} ${Object.keys(more).length > 0 ? JSON.stringify(more) : ""}`;

t.test("each operation, in each state", async (t) => {
  const { api, pools, record } = await startControlled(t, { hosts: 3, vms: 6 });
  const one = async (filter: object) => (await api.all(filter))[0] as Thing;
  const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
  const template = (await one(debian)).id;
  const shared = { type: "SR", shared: true, content_type: "user" };
  const sr = (await one(shared)).id;
  const hosts = (await api.all({ type: "host" })).map(({ id }) => id);

  /** By state, as long as they are in it. */
  const ready = new Map<State, string>();
  const make = async (state: State): Promise<string> => {
    const id = (await api.request("vm.create", {
      name_label: `in state ${state}`,
      template,
      CPUs: 1,
      VDIs: [{ SR: sr, size: GiB }],
      bootAfterCreate: state !== "Halted",
    })) as string;
    if (state === "Paused") await api.request("vm.pause", { id });
    if (state === "Suspended") await api.request("vm.suspend", { id });
    return id;
  };
  const inState = async (state: State): Promise<string> => {
    const id = ready.get(state) ?? (await make(state));
    ready.set(state, id);
    return id;
  };
  const stateIn = (id: string) => {
    const { database } = pools[0]!;
    const ref = database.byUuid("VM", id);
    if (ref === undefined) return "gone";
    const { is_a_template, power_state } = database.get("VM", ref);
    return is_a_template === true ? "template" : power_state;
  };
  const seen = async (id: string) => {
    const [vm] = await api.all({ id });
    if (vm === undefined) return "gone";
    return vm.type === "VM-template" ? "template" : vm["power_state"];
  };
  const fill = async (id: string, more: object = {}) => {
    const here = (await api.get(id))["$container"];
    const other = hosts.find((host) => host !== here)!;
    const words: Readonly<Record<string, string>> = { OTHER: other, SR: sr };
    const filled = Object.entries(more).map(([key, value]) => [
      key,
      words[String(value)] ?? (value as unknown),
    ]);
    return Object.fromEntries(filled) as Record<string, unknown>;
  };
  /** Some operations name the parameter `vm`. */
  const named = (method: string, id: string) =>
    ["vm.copy", "vm.migrate"].includes(method) ? { vm: id } : { id };

  for (const { method, more, becomes, needs, refusals = {} } of chosenRows(
    rows,
  ))
    await t.test(titleOf(method, more), async (t) => {
      for (const state of STATES) {
        const id = await inState(state);
        const params: Record<string, unknown> = {
          ...named(method, id),
          ...(await fill(id, more)),
        };
        const answer = await api.call(method, params);
        const after = becomes[state];
        if (after === undefined) {
          const expected = typeof needs === "object" ? needs[state] : needs;
          t.match(
            answer.error,
            {
              code: 13,
              data: {
                code: refusals[state] ?? "VM_BAD_POWER_STATE",
                objectId: id,
                expected,
                actual: state.toLowerCase(),
              },
            },
            `${state}: refused`,
          );
          t.equal(stateIn(id), state, `${state}: stays`);
          t.equal(await seen(id), state);
          continue;
        }
        t.notOk(answer.error, `${state}: ${JSON.stringify(answer.error)}`);
        t.equal(stateIn(id), after, `${state}: in XAPI it is ${after}`);
        t.equal(await seen(id), after, `${state}: clients see it ${after}`);
        if (typeof params["host"] === "string" && state !== "Paused")
          t.equal((await api.get(id))["$container"], params["host"]);
        if (typeof params["targetHost"] === "string")
          t.equal((await api.get(id))["$container"], params["targetHost"]);
        if (typeof answer.result === "string")
          await api.request("vm.delete", { id: answer.result });
        if (after !== state) ready.delete(state);
        if (after !== state && after !== "gone")
          await api.request("vm.delete", { id });
      }
    });

  await t.test("a blocked operation is refused with the reason", async (t) => {
    for (const [operation, state, method, more] of chosenRows(blockable)) {
      const id = await inState(state);
      const block = (reason: string | null) =>
        api.request("vm.set", {
          id,
          blockedOperations: { [operation]: reason },
        });
      await block("because");
      const params = { ...named(method, id), ...(await fill(id, more)) };
      t.match(
        (await api.call(method, params)).error,
        { code: 19, data: { objectId: id, code: "because" } },
        titleOf(method, more),
      );
      t.equal(stateIn(id), state);
      t.same(record("VM", id)["blocked_operations"], {
        [operation]: "because",
      });
      await block(null);
    }
  });

  await t.test("templates and snapshots are not VMs", async (t) => {
    const id = await inState("Halted");
    const snapshot = (await api.request("vm.snapshot", { id })) as string;
    const methods = new Set(
      rows
        .map(({ method }) => method)
        .filter(
          (method) => !/copy|clone|delete|set$|setAndRestart/.test(method),
        ),
    );
    for (const wrong of [snapshot, template, sr, "none"])
      for (const method of methods)
        t.match(
          await api.call(method, {
            ...named(method, wrong),
            ...(method === "vm.migrate" ? { targetHost: hosts[0] } : {}),
          }),
          { error: { code: 1 } },
          `${method} ${wrong}`,
        );
    await api.request("vm.delete", { id: snapshot });
  });
});
