import { readonly, shallowRef, watch, type ShallowRef } from "vue";
import { isObject, type Json } from "../api/merge-patch.js";
import type { Call, Session } from "./use-session.js";

export type Severity = "info" | "warning" | "critical";

/** An alarm that is open, as the server tells it. Times in ms. */
export interface OpenAlarm {
  readonly id: string;
  readonly ruleName: string;
  readonly severity: Severity;
  readonly type: string;
  readonly name: string;
  readonly value?: number;
  readonly text?: string;
  readonly beganAt: number;
  readonly acknowledgedAt?: number;
}

export interface Alarms {
  /** The newest first; undefined: whoever is in front of the page may not see any. */
  readonly list: Readonly<ShallowRef<readonly OpenAlarm[] | undefined>>;
  /** For each connection, when it is known who has signed in. */
  opened(call: Call): Promise<void>;
  /** The server says that they have changed. */
  changed(): void;
  acknowledge(id: string): Promise<void>;
}

/** More are not shown: they would be no list to work through. */
const MOST = 100;

/** The alarms that are open now. */
export function useAlarms({ user }: Pick<Session, "user">): Alarms {
  const list = shallowRef<readonly OpenAlarm[]>();
  let call: Call | undefined;
  let isAsking = false;
  let isOld = false;

  /** What changes while the server is asked is asked for once more. */
  async function ask(): Promise<void> {
    isOld = true;
    if (isAsking) return;
    isAsking = true;
    while (isOld && call !== undefined) {
      isOld = false;
      list.value = await read(call).catch(() => undefined);
    }
    isAsking = false;
  }

  async function read(ask: Call): Promise<readonly OpenAlarm[] | undefined> {
    await ask("alarm.subscribe");
    const told = await ask("alarm.getAll", { open: true, limit: MOST });
    return Array.isArray(told) ? told.filter(isAlarm) : undefined;
  }

  watch(user, () => void ask());
  return {
    list: readonly(list),
    async opened(given) {
      call = given;
      await ask();
    },
    changed: () => void ask(),
    async acknowledge(id) {
      await call?.("alarm.acknowledge", { id }).catch(() => undefined);
      await ask();
    },
  };
}

/** Looks at the outline only: the server is ours, but it may be of another version. */
function isAlarm(told: Json): told is Json & OpenAlarm {
  return (
    isObject(told) &&
    typeof told["id"] === "string" &&
    typeof told["name"] === "string" &&
    typeof told["beganAt"] === "number"
  );
}
