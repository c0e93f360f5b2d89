import {
  inject,
  onScopeDispose,
  provide,
  watch,
  type InjectionKey,
  type Ref,
} from "vue";
import type { Json } from "@xo-server/kit";
import type { Call, StatusView } from "../api/status-stream.js";
import { ConnectionLostError } from "../api/rpc-error.js";
import { createSession, type Session } from "../session/use-session.js";
import { useStatus } from "./use-status.js";

/** The one connection of the page, and who uses it. */
export interface Server {
  readonly view: Readonly<Ref<StatusView>>;
  readonly session: Session;
  /** Rejects with RpcError (the server's own) or ConnectionLostError. */
  readonly call: Call;
  /** Until the scope ends. */
  readonly onNotification: (
    method: string,
    listener: (params: Json) => void,
  ) => void;
  /** Now, if somebody has signed in and is connected, and each time that this begins anew. Until the scope ends. */
  readonly whenOpen: (listener: () => void) => void;
  readonly retryNow: () => void;
}

const key: InjectionKey<Server> = Symbol("server");

export function useServer(): Server {
  const server = inject(key);
  if (server === undefined) throw new Error("no server was provided");
  return server;
}

/** Connects; for the outermost component. */
export function provideServer(): Server {
  const session = createSession();
  const listeners = new Map<string, Set<(params: Json) => void>>();
  const openings = new Set<() => void>();
  let current: Call | undefined;
  /** Whose session this connection has; undefined: none yet. */
  let signedIn: string | undefined;

  const { view, retryNow } = useStatus({
    onOpen(call) {
      current = call;
      signedIn = undefined;
      void session.opened(call).then(begin);
    },
    onOther(method, params) {
      for (const listener of listeners.get(method) ?? []) listener(params);
    },
  });

  function begin(): void {
    const id = session.person.value?.id;
    if (id === signedIn) return;
    signedIn = id;
    if (id !== undefined) for (const opening of openings) opening();
  }
  watch(session.person, begin);

  const server: Server = {
    view,
    session,
    retryNow,
    call: (...call) =>
      current?.(...call) ??
      Promise.reject(new ConnectionLostError("not connected")),
    onNotification(method, listener) {
      addUntilDisposed(setOf(listeners, method), listener);
    },
    whenOpen(listener) {
      addUntilDisposed(openings, listener);
      if (signedIn !== undefined && view.value.connection.name === "open")
        listener();
    },
  };
  provide(key, server);
  return server;
}

function setOf<K, T>(sets: Map<K, Set<T>>, key: K): Set<T> {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  return set;
}

function addUntilDisposed<T>(set: Set<T>, member: T): void {
  set.add(member);
  onScopeDispose(() => set.delete(member));
}
