import { phases, type Phase } from "./phases.js";
import type { WatchedUpdate } from "./watched-update.js";

/** Something that goes wrong during a rolling update. */
export interface UpdateFault {
  readonly name: string;
  /** When it is injected; absent: before the start. */
  readonly at?: Phase;
  readonly inject: (update: WatchedUpdate) => unknown;
  /** Repairs manually what the fault has broken permanently, before the update is resumed. */
  readonly repair?: (update: WatchedUpdate) => unknown;
  /** HA cannot be enabled while a host is offline. */
  readonly disablesHa?: boolean;
  /** References of hosts that the fault makes unavailable. */
  readonly takes?: (update: WatchedUpdate) => readonly string[];
  /** The update gives up only after a long time, so time has to pass faster. */
  readonly factor?: number;
  /** Expected text of the report. */
  readonly says?: RegExp;
}

/** Faults of connections, of the coordinator, and of users, at any step. */
const anywhere: readonly Pick<UpdateFault, "name" | "inject">[] = [
  {
    name: "another host becomes coordinator",
    inject: ({ pool }) => pool.sim.promote(),
  },
  {
    name: "connections break",
    inject: ({ pool }) =>
      pool.sim.faults.set("drop", { value: true, times: 3 }),
  },
  {
    name: "answers never come",
    inject: ({ pool }) =>
      pool.sim.faults.set("hang", { value: true, times: 2 }),
  },
  {
    name: "the sessions are invalid",
    inject: ({ pool }) => pool.sim.faults.set("sessionInvalid", true),
  },
  {
    name: "events are lost",
    inject: ({ pool }) =>
      pool.sim.faults.set("eventsLost", { value: true, times: 3 }),
  },
  {
    name: "the toolstack starts",
    inject: ({ pool }) =>
      pool.sim.faults.set("booting", { value: true, times: 5 }),
  },
  {
    name: "XAPI answers with exceptions",
    inject: ({ pool }) =>
      pool.sim.faults.set("http500", { value: true, times: 2 }),
  },
  {
    name: "answers are damaged",
    inject: ({ pool }) =>
      pool.sim.faults.set("badJson", { value: true, times: 2 }),
  },
  {
    name: "a user cancels it",
    async inject(update) {
      await update.api.request("task.abort", { id: await update.taskId });
    },
  },
  {
    name: "a user suspends and continues it",
    async inject({ api, pool }) {
      // The update is refused before anything has started.
      await api.call("pool.suspendRolling", { pool: pool.id });
      await api.call("pool.continueRolling", { pool: pool.id });
    },
  },
];

const second = (update: WatchedUpdate) => update.hosts[1]!;
const phase = (name: string): Phase => phases.find((one) => one.name === name)!;
const fail =
  (
    method: string,
    [error = "INTERNAL_ERROR", ...params]: readonly string[] = [],
    conditions: object = {},
  ): UpdateFault["inject"] =>
  ({ pool }) =>
    pool.sim.failNext(method, error, params, conditions);
const updater = (what: string) => `host.call_plugin/updater.py/${what}`;
const ofSecond =
  (method: string, failure: readonly string[]): UpdateFault["inject"] =>
  (update) =>
    fail(method, failure, { object: second(update) })(update);

/** Faults of single steps. */
const single: readonly UpdateFault[] = [
  {
    name: "the updater has no space",
    inject: ofSecond(updater("update"), [
      "-1",
      "No space left on device",
      "",
      "",
    ]),
  },
  {
    name: "the updater of the coordinator fails",
    inject: fail(updater("update"), ["-1", "yum exited with 1", "", ""]),
  },
  {
    name: "the updater is busy",
    inject: fail(
      updater("update"),
      [
        "-1",
        "The updater plugin is busy (current operation: check_update)",
        "",
        "",
      ],
      { times: 3 },
    ),
  },
  {
    name: "the updater hangs for a minute",
    inject: ({ pool }) => pool.sim.slowNext(updater("update"), 60_000),
  },
  {
    name: "repositories are unreachable after the reboot",
    at: phase("a host has returned"),
    inject: fail(
      updater("check_update"),
      ["-1", "Cannot find a valid baseurl for repo: xcp-ng-base", "", ""],
      { times: 2 },
    ),
  },
  {
    name: "a VM cannot be migrated",
    inject: fail("VM.pool_migrate", ["INTERNAL_ERROR", "xenopsd"], {
      when: "work",
    }),
  },
  {
    name: "a VM is refused by its host",
    inject: fail("VM.pool_migrate", ["HOST_NOT_ENOUGH_FREE_MEMORY", "1", "0"]),
  },
  {
    name: "a VM needs two minutes to migrate",
    inject: ({ pool }) => pool.sim.slowNext("VM.pool_migrate", 120_000),
  },
  { name: "a host cannot be disabled", inject: fail("host.disable") },
  { name: "a host is not evacuated", inject: fail("host.evacuate") },
  {
    name: "a host is not rebooted",
    inject: ofSecond("host.reboot", ["INTERNAL_ERROR", "the BMC is silent"]),
  },
  { name: "the coordinator is not rebooted", inject: fail("host.reboot") },
  {
    name: "a host returns disabled",
    inject: (update) => update.pool.sim.failBoot(second(update), "disabled"),
    repair: (update) => enable(update, second(update)),
    takes: (update) => [second(update)],
  },
  {
    name: "a host returns without its storage",
    inject: (update) => update.pool.sim.failBoot(second(update), "unplugged"),
  },
  {
    name: "storage of a host is connected at the third try",
    inject(update) {
      update.pool.sim.failBoot(second(update), "unplugged");
      update.pool.sim.failNext(
        "PBD.plug",
        "SR_BACKEND_FAILURE_73",
        ["", "NFS mount error", ""],
        { times: 2 },
      );
    },
  },
  {
    name: "a host returns with the software of before",
    inject: (update) => update.pool.sim.failBoot(second(update), "old-version"),
    // The next boot of the host succeeds.
    repair: (update) => reboot(update, second(update)),
  },
  {
    name: "a host does not return",
    inject: (update) => update.pool.sim.failBoot(second(update), "never"),
    repair: (update) => revive(update, second(update)),
    disablesHa: true,
    factor: 60,
    says: /still disabled: HA.*To do: start host \S+, or remove it from the pool, then resume the run/,
    takes: (update) => [second(update)],
  },
  {
    name: "the coordinator does not return",
    inject: (update) => update.pool.sim.failBoot(update.hosts[0]!, "disabled"),
    repair: (update) => enable(update, update.hosts[0]!),
    takes: (update) => update.hosts,
  },
  { name: "HA cannot be disabled", inject: fail("pool.disable_ha") },
  {
    name: "HA cannot be enabled again",
    inject: fail("pool.enable_ha", [
      "HA_CANNOT_CHANGE_BOND_STATUS_OF_MGMT_IFACE",
    ]),
  },
];

async function enable({ api }: WatchedUpdate, ref: string): Promise<void> {
  const hosts = await api.all({ type: "host" });
  const { id } = hosts.find((host) => host["_xapiRef"] === ref)!;
  await api.request("host.enable", { id });
}

async function reboot({ api }: WatchedUpdate, ref: string): Promise<void> {
  const hosts = await api.all({ type: "host" });
  const { id } = hosts.find((host) => host["_xapiRef"] === ref)!;
  await api.request("host.restart", { id });
}

async function revive({ pool }: WatchedUpdate, ref: string): Promise<void> {
  pool.sim.reviveHost(ref);
}

/** Every fault in every phase. */
export const updateFaults: readonly UpdateFault[] = [
  ...single,
  ...phases.flatMap((at) =>
    anywhere.map(({ name, ...fault }) => ({
      name: `${name} while ${at.name}`,
      at,
      ...fault,
    })),
  ),
];
