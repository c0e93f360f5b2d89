import { Type } from "typebox";

/* Input and output of the planner, as clients see them: see the types of the placement package. */

const id = Type.String({ minLength: 1, maxLength: 256 });
const ids = Type.Array(id);
const bytes = Type.Number({ minimum: 0 });
const optional = Type.Optional;

/** A rule by which a host refuses a VM. Members depend on the rule. */
const Refusal = Type.Object(
  { rule: Type.String() },
  {
    additionalProperties: true,
    description:
      "rule: what the host does not satisfy (state, memory, vcpus, network, sr, device, cpu, host-affinity, group or pinned). The other members name the object concerned.",
  },
);

const Conflict = Type.Object({
  rules: Type.Array(
    Type.Object({ rule: Type.String() }, { additionalProperties: true }),
  ),
  size: Type.String({
    description:
      "smallest: no conflict with fewer rules exists; irreducible: without any one of its rules there is no conflict.",
  }),
});

const Score = Type.Object({
  hostAffinity: Type.Number(),
  groups: Type.Number(),
  headroom: Type.Number(),
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
    description:
      "All hosts, by descending score; hosts that refuse the VM come last.",
  }),
  conflict: optional(Conflict),
};

/** Evaluation of all hosts for one VM. */
export const PlacementResult = Type.Object(placementMembers);

export const PlacedVm = Type.Object({
  ...placementMembers,
  current: optional(Candidate),
  agility: Type.Object({
    vm: id,
    agile: Type.Boolean(),
    hosts: ids,
    reasons: Type.Array(Refusal),
  }),
});

export const ActionResult = Type.Object({
  kind: Type.String({ description: "start or migrate." }),
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
      fitsAlone: Type.Boolean(),
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
  notRestarted: ids,
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
    cpu: optional(
      Type.Number({ description: "Absent: the host has no metrics." }),
    ),
    memory: Type.Number(),
    vms: Type.Integer(),
  }),
);

const Staying = Type.Object({
  vm: id,
  why: Type.String({
    description: "pinned, excluded, no-host, no-capacity, preference or cost.",
  }),
  reason: optional(Type.String()),
  refusals: optional(
    Type.Array(Type.Object({ rule: Type.String(), hosts: Type.Integer() })),
  ),
  gain: optional(Type.Number()),
  cost: optional(Type.Number()),
});

const Overloaded = Type.Object({
  host: id,
  cpu: Type.Number(),
  memory: Type.Number(),
  vms: Type.Array(Staying),
});

/** The goal `enforce-rules` has no figures. */
export const Recommendation = Type.Object({
  ...planMembers,
  figuresBefore: optional(HostFigures),
  figuresAfter: optional(HostFigures),
  emptied: optional(ids),
  stopped: optional(Type.String()),
  overloaded: optional(Type.Array(Overloaded)),
  policy: Type.Object({}, { additionalProperties: true }),
});

/** An action to execute; other members of a planned action are ignored. */
export const ActionInput = Type.Object(
  {
    kind: Type.Enum(["start", "migrate"]),
    vm: id,
    from: optional(id),
    to: id,
    order: optional(Type.Number({ minimum: 0 })),
    after: optional(
      Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 10_000 }),
    ),
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

/** A hypothetical change. Members that are not given stay as they are. */
export const ChangeInput = Type.Union([
  Type.Object({
    kind: Type.Enum(["host-down", "host-up"]),
    host: id,
  }),
  Type.Object({
    kind: Type.Enum(["vm-removed"]),
    vm: id,
  }),
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
          order: Type.Number({
            minimum: 0,
            description:
              "XAPI's start order of the VM; those with a lower one are started first.",
          }),
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
  skipped: Type.Array(Step),
});
