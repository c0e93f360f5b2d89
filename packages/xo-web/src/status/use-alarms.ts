import {
  computed,
  onScopeDispose,
  readonly,
  shallowRef,
  watch,
  type Ref,
  type ShallowRef,
} from "vue";
import { isObject, monotonicClock, type Json } from "@xo-server/kit";
import { RpcError } from "../api/rpc-error.js";
import { toFailure } from "../forms/failure.js";
import type { AlarmRule } from "../settings/alarms/rule.js";
import { SpacedRuns } from "../live/spaced-runs.js";
import { useServer } from "../live/use-server.js";
import { useToasts } from "../toasts/use-toasts.js";

export type Severity = "info" | "warning" | "critical";

/** An open alarm. Times in ms since the epoch. */
export interface OpenAlarm {
  readonly id: string;
  readonly ruleName: string;
  readonly severity: Severity;
  readonly type: string;
  readonly name: string;
  readonly ruleId?: string;
  /** Of the object, if it is known. */
  readonly objectId?: string;
  readonly value?: number;
  readonly text?: string;
  readonly raisedAt: number;
  readonly acknowledgedAt?: number;
}

interface Alarms {
  /** The newest first; undefined: no permission. */
  readonly list: Readonly<ShallowRef<readonly OpenAlarm[] | undefined>>;
  /** Enabled alarm rules; undefined: no permission to read them. */
  readonly rules: Readonly<Ref<number | undefined>>;
  /** Conditions, by the id of the rule: they contain the units of values. Empty without permission to read rules. */
  readonly conditions: Readonly<Ref<ReadonlyMap<string, AlarmRule["on"]>>>;
  /** Only for a signed-in user. */
  readonly canAcknowledge: Readonly<Ref<boolean>>;
  acknowledge(id: string): Promise<void>;
}

/** Alarms that are shown. */
const MAX_ALARMS = 100;
/** Between two requests: with many pools, alarms change all the time. */
const INTERVAL_MS = 3_000;

/** The open alarms, live, until the scope ends. */
export function useAlarms(): Alarms {
  const { call, session, view, onNotification } = useServer();
  const toasts = useToasts();
  const list = shallowRef<readonly OpenAlarm[]>();
  const rules = shallowRef<readonly AlarmRule[]>();
  let isAsking = false;
  let isOld = false;

  /** One request at a time; again, if an alarm changed meanwhile. */
  async function load(): Promise<void> {
    isOld = true;
    if (isAsking) return;
    isAsking = true;
    while (isOld) {
      isOld = false;
      // Without a connection the last known alarms stay.
      list.value = await read().catch((error: unknown) =>
        error instanceof RpcError ? undefined : list.value,
      );
      rules.value = await readRules();
    }
    isAsking = false;
  }

  async function readRules(): Promise<readonly AlarmRule[] | undefined> {
    if (session.user.value?.isAdmin !== true) return undefined;
    // Without an answer the number of rules is not shown.
    const all = await call("alarmRule.getAll").catch(() => null);
    return Array.isArray(all) ? all.filter(isRule) : undefined;
  }

  async function read(): Promise<readonly OpenAlarm[] | undefined> {
    await call("alarm.subscribe");
    const alarms = await call("alarm.getAll", {
      open: true,
      limit: MAX_ALARMS,
    });
    return Array.isArray(alarms) ? alarms.filter(isAlarm) : undefined;
  }

  const changes = new SpacedRuns({
    clock: monotonicClock,
    everyMs: INTERVAL_MS,
    run: () => void load(),
  });
  onScopeDispose(() => {
    changes.stop();
  });
  onNotification("alarms", () => {
    changes.request();
  });
  // A demo shows alarms to anonymous users too.
  watch([session.user, () => view.value.connection.name], () => void load(), {
    immediate: true,
  });
  return {
    list: readonly(list),
    rules: computed(
      () => rules.value?.filter(({ enabled }) => enabled !== false).length,
    ),
    conditions: computed(
      () => new Map((rules.value ?? []).map(({ id, on }) => [id, on])),
    ),
    canAcknowledge: computed(() => session.user.value?.isGuest === false),
    async acknowledge(id) {
      try {
        await call("alarm.acknowledge", { id });
      } catch (error) {
        toasts.show({ tone: "bad", text: toFailure(error).reason });
      }
      await load();
    },
  };
}

function isRule(value: Json): value is Json & AlarmRule {
  return (
    isObject(value) && typeof value["id"] === "string" && isObject(value["on"])
  );
}

/** Checks the outline only: the server can be of another version than the page. */
function isAlarm(value: Json): value is Json & OpenAlarm {
  return (
    isObject(value) &&
    typeof value["id"] === "string" &&
    typeof value["name"] === "string" &&
    typeof value["raisedAt"] === "number"
  );
}
