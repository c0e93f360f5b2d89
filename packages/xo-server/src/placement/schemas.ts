import { Type } from "typebox";

/* What the planner takes and tells, as clients see it: see the types of the placement package. */

const id = Type.String({ minLength: 1, maxLength: 256 });
const ids = Type.Array(id);
const bytes = Type.Number({ minimum: 0 });
const optional = Type.Optional;

/** One rule that keeps a VM from a host: `rule` says which, other members what of it. */
const Refusal = Type.Object(
  { rule: Type.String() },
  {
    additionalProperties: true,
    description:
      "state, memory, vcpus, network, sr, device, cpu, location, group or pinned, with what it is about.",
  },
);

const Conflict = Type.Object({
  rules: Type.Array(
    Type.Object({ rule: Type.String() }, { additionalProperties: true }),
  ),
  size: Type.String({
    description: "smallest, or irreducible: another set may be smaller.",
  }),
});

const Score = Type.Object({
  locations: Type.Number(),
  groups: Type.Number(),
  room: Type.Number(),
});

const Candidate = Type.Object({
  host: id,
  refusals: Type.Array(Refusal),
  score: optional(Score),
});

const placementMembers = {
  vm: id,
  host: optional(id),
  candidates: Type.Array(Candidate, {
    description: "All hosts, the best first, those that refuse it last.",
  }),
  conflict: optional(Conflict),
};

/** Where one VM should run, and why. */
export const PlacementResult = Type.Object(placementMembers);

export const PlacedVm = Type.Object({
  ...placementMembers,
  here: optional(Candidate),
  agility: Type.Object({
    vm: id,
    agile: Type.Boolean(),
    hosts: ids,
    why: Type.Array(Refusal),
  }),
});

export const ActionResult = Type.Object({
  kind: Type.String({ description: "start or move." }),
  vm: id,
  from: optional(id),
  to: id,
  purpose: Type.String(),
  score: Score,
  order: Type.Number(),
  after: Type.Array(Type.Integer()),
});

const planMembers = {
  actions: Type.Array(ActionResult),
  unplaced: Type.Array(
    Type.Object({
      vm: id,
      refusals: Type.Array(
        Type.Object({ rule: Type.String(), hosts: Type.Integer() }),
      ),
      crowded: Type.Boolean(),
    }),
  ),
  conflict: optional(Conflict),
  isProven: Type.Boolean(),
};

export const PlanResult = Type.Object(planMembers);

export const FailoverResult = Type.Object({
  ...planMembers,
  failed: ids,
  survives: Type.Boolean(),
  lost: ids,
});

export const SurvivalResult = Type.Object({
  failures: Type.Integer(),
  atMost: Type.Integer(),
  isExact: Type.Boolean(),
  steps: Type.Array(
    Type.Object({
      failures: Type.Integer(),
      holds: Type.String(),
      by: Type.String(),
      sets: Type.Integer(),
    }),
  ),
  worst: optional(
    Type.Object({
      hosts: ids,
      unplaced: ids,
      conflict: optional(Conflict),
    }),
  ),
});

const Figures = Type.Object({
  hosts: Type.Integer(),
  vms: Type.Integer(),
  memory: Type.Object({ size: Type.Number(), free: Type.Number() }),
  cpu: Type.Object({ cores: Type.Number(), busy: Type.Number() }),
  survival: SurvivalResult,
});

export const WhatIfResult = Type.Object({
  before: Figures,
  after: Figures,
  placed: PlanResult,
});

const HostFigures = Type.Array(
  Type.Object({
    host: id,
    cpu: Type.Number(),
    memory: Type.Number(),
    vms: Type.Integer(),
  }),
);

/** Of the goal `repairs`: without the figures. */
export const Recommendation = Type.Object({
  ...planMembers,
  figuresBefore: optional(HostFigures),
  figuresAfter: optional(HostFigures),
  emptied: optional(ids),
  stopped: optional(Type.String()),
  policy: Type.Object({}, { additionalProperties: true }),
});

/** One step that is to be done; what the planner says besides may stay with it. */
export const GivenAction = Type.Object(
  {
    kind: Type.Enum(["start", "move"]),
    vm: id,
    from: optional(id),
    to: id,
    order: optional(Type.Number({ minimum: 0 })),
    after: optional(Type.Array(Type.Integer({ minimum: 0 }))),
    purpose: optional(Type.String({ maxLength: 32 })),
    score: optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

const counted = Type.Array(
  Type.Object({ kind: id, count: Type.Integer({ minimum: 0 }) }),
  { maxItems: 256 },
);
const many = Type.Array(id, { maxItems: 4096 });
const amount = optional(bytes);

/** What a host or a VM would be; of one that is there, what is not said stays. */
export const GivenChange = Type.Union([
  Type.Object({ kind: Type.Enum(["host-out", "host-in"]), host: id }),
  Type.Object({ kind: Type.Enum(["vm-gone"]), vm: id }),
  Type.Object({
    kind: Type.Enum(["host"]),
    host: Type.Object({
      id,
      state: optional(Type.Enum(["up", "disabled", "down"])),
      memory: amount,
      cores: amount,
      load: amount,
      networks: optional(many),
      srs: optional(many),
      devices: optional(counted),
      cpu: optional(id),
    }),
  }),
  Type.Object({
    kind: Type.Enum(["vm"]),
    vm: Type.Object({
      id,
      memory: amount,
      vcpus: amount,
      load: amount,
      networks: optional(many),
      srs: optional(many),
      devices: optional(counted),
      host: optional(id),
      cpu: optional(id),
      pinned: optional(id),
      restart: optional(
        Type.Object({
          priority: Type.Enum(["restart", "best-effort"]),
          order: Type.Number({ minimum: 0 }),
          delay: Type.Number({ minimum: 0 }),
        }),
      ),
    }),
  }),
]);

const Step = Type.Object({
  kind: Type.String(),
  vm: id,
  from: optional(id),
  to: id,
});

export const OutcomeResult = Type.Object({
  done: Type.Array(Step),
  failed: Type.Array(
    Type.Object({
      step: Step,
      error: Type.Object({ code: Type.String(), message: Type.String() }),
    }),
  ),
  left: Type.Array(Step),
});
