import { Type } from "typebox";
import { defaultPolicy, policyMembers } from "../balancer/policy.js";

const time = Type.Integer({ description: "Milliseconds since the epoch." });
const optionalTime = Type.Optional(time);
const count = Type.Optional(Type.Integer());

const Policy = Type.Object({
  pool: Type.String(),
  isSet: Type.Boolean({ description: "False: these are the defaults." }),
  ...policyMembers,
});

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
  },
  { description: "Why; docs/balancing.md has the codes." },
);

const Standing = Type.Object({
  pool: Type.String(),
  name: Type.String(),
  policy: Policy,
  state: Type.Enum([
    ...["off", "watching", "holding", "moving"],
    ...["cooling", "paused", "backing-off"],
  ]),
  since: time,
  reason: Type.Optional(Reason),
  next: Type.Optional(
    Type.Integer({ description: "When it looks next; ms since the epoch." }),
  ),
  elsewhere: Type.Boolean({
    description: "Another server with the same store balances the pool.",
  }),
  notice: Type.Optional(
    Type.String({ description: "Somebody has to look, and why." }),
  ),
});

const Figures = Type.Array(
  Type.Object({
    host: Type.String(),
    cpu: Type.Number({ description: "Share of its cores in use." }),
    memory: Type.Number({ description: "Share of its memory in use." }),
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
    description: "overload, balance, density, repair or make-room.",
  }),
  score: Type.Object({
    locations: Type.Number(),
    groups: Type.Number(),
    room: Type.Number(),
  }),
  status: Type.Enum([
    ...["planned", "waiting", "moving"],
    ...["done", "failed", "left"],
  ]),
  begunAt: optionalTime,
  endedAt: optionalTime,
  error: Failure,
});

const Run = Type.Object({
  id: Type.String(),
  pool: Type.String(),
  status: Type.Enum([
    ...["pending", "success", "failure"],
    ...["stopped", "interrupted", "dry-run"],
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
  stopped: Type.String({
    description: "balanced, no-better or most-moves: why no more is moved.",
  }),
  moves: Type.Array(Move),
  hidden: Type.Integer({ description: "Moves of VMs that you may not see." }),
  figuresBefore: Figures,
  figuresAfter: Figures,
  figuresMeasured: Type.Optional(Figures),
  gain: Type.Number({
    description:
      "Planned: fall of the sum of squares of shares in use, over hosts; 1 for each host that is emptied.",
  }),
  emptied: Type.Array(Type.String()),
  reason: Failure,
});

/** What the operations of the load balancer answer. */
export const balancerShapes = { Policy, Standing, Run };

const pool = "00000000-0000-4000-8000-000000000001";

export const stateExample = {
  pool,
  name: "production",
  state: "watching",
  elsewhere: false,
  policy: { pool, isSet: true, ...defaultPolicy, mode: "automatic" },
  since: 1_790_000_000_000,
  next: 1_790_000_060_000,
  reason: { code: "balanced", message: "no host has too much to do" },
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
  stopped: "most-moves",
  gain: 0.12,
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
};
