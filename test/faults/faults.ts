import type { FaultName, SimulatedPool } from "@xo-server/xapi-sim";
import type { FaultyLink } from "./faulty-link.js";
import { hostileAnswers } from "./hostile-answers.js";
import { pick, type Random } from "./seeded-random.js";

/** Objects that faults are applied to. */
export interface FaultTarget {
  readonly pool: SimulatedPool;
  /** The network between the client and the configured address of the pool. */
  readonly link: FaultyLink;
}

export interface Fault {
  readonly name: string;
  readonly apply: (target: FaultTarget, random: Random) => void;
}

/** Ends everything that faults have started. */
export function endFaults({ pool, link }: FaultTarget): void {
  pool.faults.clear();
  pool.injectedErrors.clear();
  link.clear();
}

const EVENTS = "event.from";
const listings = [
  "VM",
  "VBD",
  "VDI",
  "host",
  "SR",
  "VM_metrics",
  "task",
] as const;
const listingErrors = [
  "INTERNAL_ERROR",
  "HANDLE_INVALID",
  "MESSAGE_METHOD_UNKNOWN",
  "MESSAGE_REMOVED",
  "RBAC_PERMISSION_DENIED",
] as const;
const brokenAnswers = [
  "cut",
  "truncated",
  "badJson",
  "badXml",
  "invalidUtf8",
  "http500",
] as const;
const silences = ["hang", "drop", "stall"] as const;

/** The events continue in the next session. */
const loseSession = ({ pool }: FaultTarget) => {
  pool.faults.set("sessionInvalid", { value: true, times: 1 });
};

/** The pool is listed again. */
const restartXapi = ({ pool }: FaultTarget) => {
  pool.restartXapi();
};

const broken = (name: FaultName, method: string, times: number): Fault => ({
  name: `${name} ${method} ${times}`,
  apply: (target) => {
    const value = name === "cut" || name === "truncated" ? 100 : true;
    target.pool.faults.set(name, { value, method, times });
    if (method.endsWith("get_all_records")) restartXapi(target);
  },
});

const slow = (method: string, delayMs: number): Fault => ({
  name: `delay ${method} ${delayMs}`,
  apply: ({ pool }) => {
    pool.faults.set("delay", { value: delayMs, method });
  },
});

const refusedListing = (className: string, error: string): Fault => ({
  name: `${className} ${error}`,
  apply: (target, random) => {
    const method = `${className}.get_all_records`;
    target.pool.failNext(method, error, [method, "injected"], {
      times: 1 + random(2),
    });
    restartXapi(target);
  },
});

const hostile = (name: string): Fault => ({
  name: `hostile: ${name}`,
  apply: (target, random) => {
    restartXapi(target);
    target.link.reset();
    target.link.answerNext(hostileAnswers[name]!, 1 + random(3));
  },
});

/** Faults of the connection, of sessions and of the pool as a whole. */
const plain: readonly Fault[] = [
  { name: "session lost", apply: loseSession },
  { name: "XAPI restarted", apply: restartXapi },
  {
    name: "events lost",
    apply: ({ pool }) => {
      pool.faults.set("eventsLost", { value: true, times: 1 });
    },
  },
  {
    name: "booting",
    apply: (target) => {
      target.pool.faults.set("booting", true);
      restartXapi(target);
    },
  },
  ...silences.map((name): Fault => ({
    name: `${name} ${EVENTS}`,
    apply: ({ pool }) => {
      pool.faults.set(name, { value: 100, method: EVENTS });
    },
  })),
  {
    // Like a host that boots, or a proxy in front of it.
    name: "two logins fail",
    apply: (target) => {
      const method = "session.login_with_password";
      target.pool.faults.set("http500", { value: true, method, times: 2 });
      restartXapi(target);
    },
  },
  {
    name: "silent",
    apply: ({ pool }) => {
      pool.faults.set("silent", true);
    },
  },
  {
    // Afterwards the address that the client knows is that of a member.
    name: "coordinator replaced",
    apply: ({ pool }) => void pool.promote(),
  },
  {
    name: "coordinator dies and is replaced",
    apply: ({ pool }) => {
      pool.faults.set("silent", true);
      pool.promote();
    },
  },
  {
    name: "half-open network",
    apply: ({ link }) => {
      link.set("half-open");
    },
  },
  {
    name: "refused connections",
    apply: ({ link }) => {
      link.set("refuse");
    },
  },
  {
    name: "connections reset",
    apply: ({ link }) => {
      link.reset();
    },
  },
  {
    // A restored database: XAPI has restarted.
    name: "rewind",
    apply: (target) => {
      target.pool.rewind(5);
    },
  },
  ...[EVENTS, "VM.get_all_records"].map((method): Fault => ({
    name: `trickle ${method}`,
    apply: (target) => {
      target.pool.faults.set("trickle", { value: 20_000, method });
      if (method !== EVENTS) restartXapi(target);
    },
  })),
  {
    // More events than the pool retains, so that the deletions of some are dropped.
    name: "700 tasks destroyed",
    apply: ({ pool: { database } }) => {
      const refs = Array.from({ length: 700 }, () =>
        database.create("task", { name_label: "short-lived" }),
      );
      for (const ref of refs) database.destroy("task", ref);
    },
  },
];

/** Every fault, for a run of each one alone. */
export const allFaults: readonly Fault[] = [
  ...plain,
  ...Object.keys(hostileAnswers).map(hostile),
  ...brokenAnswers.flatMap((name) => [
    broken(name, EVENTS, 3),
    broken(name, "VM.get_all_records", 1),
  ]),
  ...listingErrors.map((error) => refusedListing("VM", error)),
  slow(EVENTS, 2_500),
  slow("VM.get_all_records", 2_500),
];

export function randomFault(random: Random): Fault {
  switch (random(6)) {
    case 0:
      return refusedListing(
        pick(random, listings),
        pick(random, listingErrors),
      );
    case 1:
      return broken(
        pick(random, brokenAnswers),
        `${pick(random, listings)}.get_all_records`,
        1 + random(2),
      );
    case 2:
      return broken(pick(random, brokenAnswers), EVENTS, 1 + random(4));
    case 3:
      return slow(pick(random, [EVENTS, "VM.get_all_records"]), random(3_000));
    case 4:
      return hostile(pick(random, Object.keys(hostileAnswers)));
    default:
      return pick(random, plain);
  }
}
