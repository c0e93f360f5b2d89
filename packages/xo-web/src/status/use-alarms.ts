import {
  computed,
  readonly,
  shallowRef,
  watch,
  type Ref,
  type ShallowRef,
} from "vue";
import { isObject, type Json } from "@xo-server/kit";
import { RpcError } from "../api/rpc-error.js";
import { useServer } from "../live/use-server.js";

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
  /** Not known by anybody who has not signed in. */
  readonly canAcknowledge: Readonly<Ref<boolean>>;
  acknowledge(id: string): Promise<void>;
}

/** More are not shown: they would be no list to work through. */
const MOST = 100;

/** The alarms that are open now, until the scope ends. */
export function useAlarms(): Alarms {
  const { call, session, view, onNotification } = useServer();
  const list = shallowRef<readonly OpenAlarm[]>();
  let isAsking = false;
  let isOld = false;

  /** What changes while the server is asked is asked for once more. */
  async function ask(): Promise<void> {
    isOld = true;
    if (isAsking) return;
    isAsking = true;
    while (isOld) {
      isOld = false;
      // While the server is gone, what was known stays.
      list.value = await read().catch((error: unknown) =>
        error instanceof RpcError ? undefined : list.value,
      );
    }
    isAsking = false;
  }

  async function read(): Promise<readonly OpenAlarm[] | undefined> {
    await call("alarm.subscribe");
    const told = await call("alarm.getAll", { open: true, limit: MOST });
    return Array.isArray(told) ? told.filter(isAlarm) : undefined;
  }

  onNotification("alarms", () => void ask());
  // A demo shows them to everybody, so that it does not matter whether somebody has signed in.
  watch([session.user, () => view.value.connection.name], () => void ask(), {
    immediate: true,
  });
  return {
    list: readonly(list),
    canAcknowledge: computed(() => session.user.value?.isGuest === false),
    async acknowledge(id) {
      await call("alarm.acknowledge", { id }).catch(() => undefined);
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
