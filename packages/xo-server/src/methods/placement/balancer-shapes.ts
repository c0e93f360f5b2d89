import { Type } from "typebox";
import { defaultPolicy, policyMembers } from "../../balancer/policy.js";

const time = Type.Integer({ description: "Time, in ms since the epoch." });
const optionalTime = Type.Optional(time);
const count = Type.Optional(Type.Integer());

const Policy = Type.Object({
  pool: Type.String(),
  isSet: Type.Boolean({
    description:
      "Whether a policy is stored; false: the defaults are returned.",
  }),
  ...policyMembers,
});

const share = Type.Number({ description: "Share in use, 0 to 1." });

const Overloaded = Type.Object(
  {
    host: Type.String(),
    name: Type.String(),
    cpu: share,
    memory: share,
    vms: Type.Array(
      Type.Object({
        vm: Type.String(),
        name: Type.String(),
        why: Type.String({
          description:
            "pinned, excluded, no-host, no-capacity, preference or cost.",
        }),
        message: Type.String(),
        gain: Type.Optional(Type.Number()),
        cost: Type.Optional(Type.Number()),
      }),
    ),
  },
  {
    description:
      "A host that remains overloaded, with the reasons for which its VMs with the highest demand are not migrated.",
  },
);

const Reason = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    until: optionalTime,
    since: optionalTime,
    hosts: Type.Optional(Type.Array(Type.String())),
    moves: count,
    failures: count,
    done: count,
    total: count,
    run: Type.Optional(Type.String()),
    vm: Type.Optional(
      Type.String({ description: "The VM that failed or changed." }),
    ),
    overloaded: Type.Optional(Type.Array(Overloaded)),
  },
  { description: "Reason, with one of the codes of docs/balancing.md." },
);

const Standing = Type.Object({
  pool: Type.String(),
  name: Type.String(),
  policy: Policy,
  state: Type.Enum([
    "off",
    "idle",
    "pending",
    "migrating",
    "cooldown",
    "paused",
    "back-off",
  ]),
  since: time,
  reason: Type.Optional(Reason),
  next: Type.Optional(
    Type.Integer({
      description: "Time of the next evaluation, in ms since the epoch.",
    }),
  ),
  elsewhere: Type.Boolean({
    description:
      "Whether another server with the same database balances the pool.",
  }),
  notice: Type.Optional(
    Type.String({ description: "Reason for which an administrator must act." }),
  ),
});

const Figures = Type.Array(
  Type.Object({
    host: Type.String(),
    cpu: Type.Optional(
      Type.Number({
        description: "Share of its cores in use, 0 to 1. Absent: unknown.",
      }),
    ),
    memory: Type.Number({ description: "Share of its memory in use, 0 to 1." }),
    vms: Type.Integer(),
  }),
);
const Failure = Type.Optional(
  Type.Object({ code: Type.String(), message: Type.String() }),
);

const Move = Type.Object({
  vm: Type.String(),
  vmName: Type.String(),
  from: Type.String(),
  fromName: Type.String(),
  to: Type.String(),
  toName: Type.String(),
  purpose: Type.String({
    description: "overload, balance, consolidate, enforce-rules or make-room.",
  }),
  score: Type.Object({
    hostAffinity: Type.Number(),
    groups: Type.Number(),
    headroom: Type.Number(),
  }),
  status: Type.Enum([
    "planned",
    "waiting",
    "migrating",
    "done",
    "failed",
    "skipped",
    "interrupted",
  ]),
  startedAt: optionalTime,
  endedAt: optionalTime,
  error: Failure,
});

const Run = Type.Object({
  id: Type.String(),
  pool: Type.String(),
  status: Type.Enum([
    "pending",
    "success",
    "failure",
    "stopped",
    "interrupted",
    "dry-run",
  ]),
  start: time,
  end: optionalTime,
  taskId: Type.Optional(Type.String()),
  by: Type.Object({
    cause: Type.Enum(["automatic", "manual"]),
    userId: Type.String(),
    userName: Type.String(),
  }),
  goal: Type.String(),
  stopped: Type.Optional(
    Type.String({
      description:
        "Reason for which the plan has no further migrations: balanced, no-beneficial-migration or max-migrations. Only of complete runs and dry runs.",
    }),
  ),
  moves: Type.Array(Move),
  hidden: Type.Integer({
    description: "Number of migrations of VMs that the caller may not read.",
  }),
  figuresBefore: Figures,
  figuresPlanned: Figures,
  figuresAfter: Type.Optional({
    ...Figures,
    description: "Host figures as planned. Only of complete runs and dry runs.",
  }),
  figuresMeasured: Type.Optional(Figures),
  gain: Type.Optional(
    Type.Number({
      description: "As gainPlanned; only of complete and dry runs.",
    }),
  ),
  gainPlanned: Type.Number({
    description:
      "Planned decrease of the sum, over all hosts, of the squared shares of CPU and memory in use, plus 1 for each evacuated host.",
  }),
  emptied: Type.Array(Type.String()),
  reason: Failure,
});

/** Schemas of the results of the load balancer's operations. */
export const balancerShapes = { Policy, Standing, Run };

const pool = "00000000-0000-4000-8000-000000000001";

export const stateExample = {
  pool,
  name: "production",
  state: "idle",
  elsewhere: false,
  policy: { pool, isSet: true, ...defaultPolicy, mode: "automatic" },
  since: 1_790_000_000_000,
  next: 1_790_000_060_000,
  reason: { code: "balanced", message: "no host is overloaded" },
};

const figures = [
  {
    host: "00000000-0000-4000-8000-000000000002",
    cpu: 0.9,
    memory: 0.6,
    vms: 9,
  },
];

export const historyExample = {
  id: "00000000-0000-4000-8000-000000000005",
  pool,
  status: "success",
  start: 1_790_000_000_000,
  end: 1_790_000_020_000,
  goal: "performance",
  stopped: "max-migrations",
  gain: 0.12,
  gainPlanned: 0.12,
  by: {
    cause: "automatic",
    userId: "load-balancer",
    userName: "load balancer",
  },
  moves: [],
  hidden: 0,
  emptied: [],
  figuresBefore: figures,
  figuresAfter: figures,
  figuresPlanned: figures,
};
