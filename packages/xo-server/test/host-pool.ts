import { BulkRuns } from "../src/bulk/bulk-runs.js";
import { hostHealthOperations } from "../src/methods/host/host-health.js";
import { hostPowerOperations } from "../src/methods/host/host-power.js";
import { hostOperations } from "../src/methods/host/host.js";
import { poolHaOperations } from "../src/methods/pool/pool-ha.js";
import { poolMembersOperations } from "../src/methods/pool/pool-members.js";
import { poolPowerOperations } from "../src/methods/pool/pool-power.js";
import { poolRollingOperations } from "../src/methods/pool/pool-rolling.js";
import { poolSettingsOperations } from "../src/methods/pool/pool-settings.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import type { CallContext } from "../src/operations/operation.js";
import { Rights } from "../src/rights/rights.js";
import { FakeClock } from "./fake-clock.js";
import { FakeObjects, type FakeObject } from "./fake-objects.js";
import { RollingRecords } from "../src/rolling/rolling-records.js";
import { createTestDispatcher } from "./test-dispatcher.js";
import { silentLogger } from "@xo-server/kit";
import { StepJournal } from "../src/tasks/step-journal.js";
import { Tasks } from "../src/tasks/tasks.js";
import { fakeSeals } from "./fake-seals.js";
import { FakeStepStore } from "./fake-step-store.js";
import { FakeTaskStore } from "./fake-task-store.js";

export const host = (id: string, more: object = {}): FakeObject => ({
  id,
  type: "host",
  $pool: "p",
  _xapiRef: `ref:${id}`,
  power_state: "Running",
  enabled: true,
  residentVms: [`${id}-v`],
  name_label: id,
  startTime: 1,
  agentStartTime: 1,
  current_operations: {},
  controlDomain: "dom0",
  otherConfig: {},
  bios_strings: { "bios-version": "1.2" },
  ...more,
});
export const vm = (id: string, more: object = {}): FakeObject => ({
  id,
  type: "VM",
  $pool: "p",
  name_label: id,
  _xapiRef: `ref:${id}`,
  power_state: "Running",
  blockedOperations: {},
  ...more,
});
export const objects: FakeObject[] = [
  {
    id: "p",
    type: "pool",
    $pool: "p",
    _xapiRef: "ref:p",
    master: "h1",
    HA_enabled: false,
  },
  host("h1"),
  host("h2", { residentVms: ["h2-v", "dom0"] }),
  vm("h1-v"),
  vm("h2-v", { blockedOperations: { suspend: "mine" } }),
  { id: "dom0", type: "VM-controller", $pool: "p", _xapiRef: "ref:dom0" },
  {
    id: "sr",
    type: "SR",
    $pool: "p",
    _xapiRef: "ref:sr",
    shared: true,
    size: 2 ** 40,
    physical_usage: 0,
    $PBDs: ["pbd1", "pbd2"],
  },
  ...["1", "2"].map((of) => ({
    id: `pbd${of}`,
    type: "PBD",
    $pool: "p",
    _xapiRef: `ref:pbd${of}`,
    host: `h${of}`,
    SR: "sr",
    attached: true,
  })),
  { id: "net", type: "network", $pool: "p", _xapiRef: "ref:net" },
  { id: "pif", type: "PIF", $pool: "p", $host: "h1", _xapiRef: "ref:pif" },
];

type Answer = (params: readonly unknown[]) => unknown;

export function setUp(
  answers: Readonly<Record<string, Answer>> = {},
  bulkRuns = new BulkRuns(),
) {
  const fakes = new FakeObjects(objects);
  const calls: string[] = [];
  const clock = new FakeClock();
  const call = async (method: string, params: readonly unknown[] = []) => {
    calls.push([method, ...params.map(toText)].join(" "));
    return answers[method]?.(params) ?? "";
  };
  const session = async () => "OpaqueRef:session";
  const xapi = { call, callAsync: call, session };
  const { catalog, queries } = fakes.views;
  const poolObjects = new PoolObjects(catalog, { xapi: () => xapi as never });
  const credentialsService = {
    addressOf: async (_: string, address: string) => ({
      address,
      user: "root",
      password: "secret",
    }),
    disconnect: async () => undefined,
  };
  const services = {
    clock,
    queries,
    bulkRuns,
    credentialsService: credentialsService as never,
    rollingRecords: new RollingRecords(new FakeSettings()),
    tasks: new Tasks({
      store: new FakeTaskStore(),
      steps: new StepJournal({
        store: new FakeStepStore().store,
        seals: fakeSeals,
        clock,
        logger: silentLogger,
      }),
      clock,
      owner: "here",
      logger: silentLogger,
    }),
  };
  const operations = [
    ...hostOperations,
    ...hostPowerOperations,
    ...hostHealthOperations,
    ...poolSettingsOperations,
    ...poolHaOperations,
    ...poolMembersOperations,
    ...poolPowerOperations,
    ...poolRollingOperations,
  ];
  const logger = { error: () => undefined } as never;
  const dispatcher = createTestDispatcher(operations, {
    logger,
    services,
    objects: poolObjects,
  });
  const as = (rights: Rights, isAdmin = false): CallContext =>
    ({
      user: { id: "u", name: "u", isAdmin, groups: [], rights },
      permission: "user",
      address: "127.0.0.1",
    }) as never;
  const run = (name: string, params: object, context = as(Rights.all, true)) =>
    dispatcher.call(name, params, context);
  return { calls, run, as, operations, fakes, clock };
}

/** As the store keeps them. */
class FakeSettings {
  readonly #values = new Map<string, string>();

  get(key: string): unknown {
    const json = this.#values.get(key);
    return json === undefined ? undefined : JSON.parse(json);
  }

  async set(key: string, value: unknown): Promise<void> {
    this.#values.set(key, JSON.stringify(value));
  }

  async delete(key: string): Promise<void> {
    this.#values.delete(key);
  }
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
