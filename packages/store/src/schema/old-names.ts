/** Names in one object of stored JSON: those of release 0.1 with the current ones. */
interface OldNames {
  /** Names of members. */
  readonly members?: Readonly<Record<string, string>>;
  /** Values of members, by the current name of the member. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Members that are objects or arrays of objects, by their current name. */
  readonly parts?: Readonly<Record<string, OldNames>>;
}

const goals = { density: "consolidate" };
const purposes = {
  ...goals,
  repair: "enforce-rules",
  repairs: "enforce-rules",
};
const pauses = {
  "hosts-change": "host-maintenance",
  "others-move": "other-migrations",
};
const stops = {
  "no-better": "no-beneficial-migration",
  "most-moves": "max-migrations",
};

/**
 * Literal names in databases and exports of users of release 0.1, by table, each
 * with the current name. They are data: nothing else in the source has them.
 */
const names = {
  alarm_rules: {
    // oxlint-disable-next-line wording/denied-words -- a name of release 0.1
    members: { sendTo: "targets", tellsEnd: "notifyOnClear" },
  },
  placement_rules: {
    members: { strict: "required" },
    values: {
      kind: {
        together: "affinity",
        apart: "anti-affinity",
        location: "host-affinity",
      },
    },
  },
  balancer_policies: {
    members: {
      moveCost: "migrationCost",
      mostMoves: "maxMigrationsPerRun",
      repairs: "enforceRules",
    },
    values: { goal: goals },
  },
  balancer_runs: {
    values: { goal: goals, stopped: stops },
    parts: {
      moves: {
        members: { begunAt: "startedAt" },
        values: {
          status: { moving: "migrating", left: "skipped" },
          purpose: purposes,
        },
        parts: {
          score: { members: { locations: "hostAffinity", room: "headroom" } },
        },
      },
    },
  },
  balancer_watches: {
    parts: {
      state: {
        values: {
          state: {
            watching: "idle",
            holding: "pending",
            moving: "migrating",
            cooling: "cooldown",
            "backing-off": "back-off",
          },
          why: { ...stops, ...purposes },
        },
        parts: { reason: { values: { code: { ...pauses, ...purposes } } } },
      },
    },
  },
} as const satisfies Readonly<Record<string, OldNames>>;

/** A table whose rows may have names of release 0.1. */
export type RenamedTable = keyof typeof names;

export function isRenamedTable(table: string): table is RenamedTable {
  return Object.hasOwn(names, table);
}

/**
 * Replaces the names of release 0.1 in the JSON of a row. Members with the
 * current names take precedence.
 * @param json the column `body_json`, of `balancer_watches` `state_json`
 * @returns the same string if it has none of them
 * @throws SyntaxError if it is not JSON
 */
export function withCurrentNames(table: RenamedTable, json: string): string {
  const body: unknown = JSON.parse(json);
  return rename(body, names[table]) ? JSON.stringify(body) : json;
}

/** Changes the value itself. @returns whether it had an old name */
function rename(value: unknown, old: OldNames): boolean {
  if (Array.isArray(value))
    return value.map((one: unknown) => rename(one, old)).includes(true);
  if (typeof value !== "object" || value === null) return false;
  const body = value as Record<string, unknown>;
  let isChanged = false;
  for (const [name, current] of Object.entries(old.members ?? {})) {
    if (!Object.hasOwn(body, name)) continue;
    body[current] ??= body[name];
    delete body[name];
    isChanged = true;
  }
  for (const [name, values] of Object.entries(old.values ?? {})) {
    const stored = body[name];
    if (typeof stored !== "string" || !Object.hasOwn(values, stored)) continue;
    body[name] = values[stored];
    isChanged = true;
  }
  for (const [name, part] of Object.entries(old.parts ?? {}))
    if (rename(body[name], part)) isChanged = true;
  return isChanged;
}
