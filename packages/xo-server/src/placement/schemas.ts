import { Type } from "typebox";

/* Output of the planner, as clients see it: see the types of the placement package. */

const optional = Type.Optional;
/** An id of an object. */
export const id = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, description });
const ids = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { description });
const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ description });
const number = (description: string) => Type.Number({ description });
const flag = (description: string) => Type.Boolean({ description });

/** A rule by which a host refuses a VM. Members depend on the rule. */
const Refusal = Type.Object(
  { rule: text("Name of the rule.") },
  {
    additionalProperties: true,
    description:
      "rule: what the host does not satisfy (state, memory, vcpus, network, sr, device, cpu, host-affinity, group or pinned). The other members name the object concerned; `missing` is in bytes for memory, else a number.",
  },
);

const Conflict = Type.Object(
  {
    rules: Type.Array(
      Type.Object(
        { rule: text("Name of the rule, as in refusals.") },
        { additionalProperties: true },
      ),
      {
        description:
          "Rules that cannot all hold. The other members name the objects concerned; `needed` and `free` are in bytes.",
      },
    ),
    size: text(
      "smallest: no conflict with fewer rules exists; irreducible: without any one of its rules there is no conflict.",
    ),
  },
  { description: "Why not all VMs can be placed. Absent: none was found." },
);

const Score = Type.Object(
  {
    hostAffinity: number("Sum of the scores of preferred host affinities."),
    groups: number(
      "Sum of the weights of preferred groups: 0 or less for anti-affinity, 0 or more for affinity.",
    ),
    headroom: number(
      "Share of memory or CPU, whichever is scarcer, that stays free with the VM placed there. 1: all; 0: none; below 0: overloaded.",
    ),
  },
  {
    description:
      "How well a host suits a VM: preferences are compared first, then headroom.",
  },
);

const Candidate = Type.Object({
  host: id("Id of the host."),
  refusals: Type.Array(Refusal, {
    description: "Rules that exclude the host; empty: the host accepts the VM.",
  }),
  score: optional(Score),
});

const refusalCounts = Type.Array(
  Type.Object({
    rule: text("Name of the rule, as in refusals."),
    hosts: count("Number of hosts that it excludes."),
  }),
  { description: "A host can be excluded by several rules." },
);

const placementMembers = {
  vm: id("Id of the VM."),
  host: optional(
    id(
      "Id of the host with the highest score. Absent: no host accepts the VM.",
    ),
  ),
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
  current: optional({
    ...Candidate,
    description: "The host that runs the VM. Absent: it is not running.",
  }),
  agility: Type.Object({
    vm: id("Id of the VM."),
    agile: flag("Whether the VM can restart on every host of its pool."),
    hosts: ids(
      "Ids of hosts that could run the VM if they were empty, whatever their state.",
    ),
    reasons: Type.Array(Refusal, {
      description: "Rules that exclude the other hosts, each once.",
    }),
  }),
});

const ActionResult = Type.Object({
  kind: text("start or migrate."),
  vm: id("Id of the VM."),
  from: optional(id("Id of the source host of a migration.")),
  to: id("Id of the target host."),
  purpose: text(
    "start: requested; restart: its host failed; evacuate: its host is being evacuated; overload: its host is overloaded; balance: counterpart of another migration; consolidate: its host is not needed; enforce-rules: it violates an affinity rule; make-room: another VM needs the capacity.",
  ),
  score: Score,
  order: number(
    "XAPI's start order of a VM that starts: VMs with a lower one have started before. 0 for migrations.",
  ),
  after: Type.Array(Type.Integer(), {
    description:
      "Indices of actions of this plan that must have ended before this one begins.",
  }),
});

const planMembers = {
  actions: Type.Array(ActionResult, {
    description: "In an order in which they can be executed one by one.",
  }),
  unplaced: Type.Array(
    Type.Object({
      vm: id("Id of the VM."),
      refusals: refusalCounts,
      fitsAlone: flag(
        "Whether some host would accept this VM alone: the VMs to be placed do not all fit.",
      ),
    }),
    { description: "VMs that the plan does not place." },
  ),
  conflict: optional(Conflict),
  isProven: flag(
    "true: it is proven that not all VMs can be placed. false with unplaced VMs: no solution was found.",
  ),
};

export const PlanResult = Type.Object(planMembers);

export const FailoverResult = Type.Object({
  ...planMembers,
  failed: ids("Ids of the hosts that are assumed to fail."),
  survives: flag(
    "Whether all VMs with the HA restart priority `restart` are placed.",
  ),
  notRestarted: ids(
    "Ids of VMs of the failed hosts that are not protected by HA.",
  ),
});

export const SurvivalResult = Type.Object(
  {
    failures: count(
      "Number of hosts that can fail at the same time, whichever they are: proven minimum.",
    ),
    atMost: count("Proven maximum of that number."),
    isExact: flag("Whether both are equal."),
    steps: Type.Array(
      Type.Object({
        failures: count("Number of failed hosts."),
        holds: text("Whether all VMs can be restarted: yes, no or unknown."),
        by: text(
          "exhaustive: every set of hosts was planned; bound: proven for all sets at once; counterexample: a set fails; budget: undecided within the budget of the planner.",
        ),
        sets: count("Number of sets of hosts that were planned."),
      }),
      { description: "How each number of failures, from 1 on, was decided." },
    ),
    worst: optional(
      Type.Object(
        {
          hosts: ids("Ids of the hosts."),
          unplaced: ids("Ids of VMs that cannot be restarted."),
          conflict: optional(Conflict),
        },
        {
          description:
            "The smallest set of hosts found that cannot fail at the same time.",
        },
      ),
    ),
  },
  {
    description:
      "Number of hosts that can fail at the same time while all VMs with the HA restart priority `restart` are restarted.",
  },
);

const figures = (description: string) =>
  Type.Object(
    {
      hosts: count("Number of hosts that accept VMs."),
      vms: count("Number of running VMs."),
      memory: Type.Object(
        { size: number("Total."), free: number("Not in use by VMs.") },
        { description: "Bytes, of hosts that accept VMs." },
      ),
      cpu: Type.Object(
        { cores: number("Total."), busy: number("In use, as measured.") },
        { description: "Cores, of hosts that accept VMs." },
      ),
      survival: SurvivalResult,
    },
    { description },
  );

export const WhatIfResult = Type.Object({
  before: figures("The pool as it is."),
  after: figures("The pool after the changes."),
  placed: {
    ...PlanResult,
    description:
      "Where VMs would start: new ones, and those whose host is assumed to be down.",
  },
});

const hostFigures = (description: string) =>
  Type.Array(
    Type.Object({
      host: id("Id of the host."),
      cpu: optional(number("Absent: the host has no metrics.")),
      memory: number("Share of memory in use."),
      vms: count("Number of running VMs."),
    }),
    {
      description: `${description}: shares in use, 0 to 1, above 1 if more is demanded than the host has.`,
    },
  );

const Staying = Type.Object({
  vm: id("Id of the VM."),
  why: text(
    "pinned: it cannot be migrated; excluded: by the policy; no-host: no other host accepts it; no-capacity: each host that accepts it would exceed a threshold; preference: a preferred rule would be violated; cost: the migration gains no more than it costs.",
  ),
  reason: optional(
    text("XAPI's error code, such as VM_HAS_PCI_ATTACHED, if it is pinned."),
  ),
  refusals: optional(refusalCounts),
  gain: optional(
    number(
      "Decrease of the sum of squared shares in use, over all hosts, by its migration.",
    ),
  ),
  cost: optional(
    number("Gain that its migration must exceed: grows with its memory."),
  ),
});

const Overloaded = Type.Object({
  host: id("Id of the host."),
  cpu: number("Share of cores in use, 0 to 1."),
  memory: number("Share of memory in use, 0 to 1."),
  vms: Type.Array(Staying, {
    description: "Its VMs with the highest demand, and why they stay.",
  }),
});

/** The goal `enforce-rules` has no figures. */
export const Recommendation = Type.Object({
  ...planMembers,
  figuresBefore: optional(hostFigures("Hosts before the plan")),
  figuresAfter: optional(hostFigures("Hosts after the plan")),
  emptied: optional(
    ids("Ids of hosts that run VMs now and none after the plan."),
  ),
  stopped: optional(
    text(
      "Why the plan ends: balanced: no host is overloaded and none can be evacuated; no-beneficial-migration: a host is overloaded, but no migration gains more than it costs; max-migrations: the limit was reached.",
    ),
  ),
  overloaded: optional(
    Type.Array(Overloaded, {
      description:
        "Hosts that stay overloaded, if `stopped` is no-beneficial-migration.",
    }),
  ),
  policy: Type.Object(
    {},
    {
      additionalProperties: true,
      description: "Goal and thresholds of the pool that were used.",
    },
  ),
});

const Step = Type.Object({
  kind: text("start or migrate."),
  vm: id("Id of the VM."),
  from: optional(id("Id of the source host of a migration.")),
  to: id("Id of the target host."),
});

export const OutcomeResult = Type.Object({
  done: Type.Array(Step, { description: "Actions that succeeded." }),
  failed: Type.Array(
    Type.Object({
      step: Step,
      error: Type.Object({
        code: text("Error code, of XAPI or of this server."),
        message: text("The same as a sentence."),
      }),
    }),
    { description: "Actions that failed." },
  ),
  skipped: Type.Array(Step, {
    description: "Actions that did not begin, because another one had failed.",
  }),
});
