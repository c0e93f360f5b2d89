import {
  computed,
  inject,
  onScopeDispose,
  provide,
  watch,
  type ComputedRef,
  type InjectionKey,
  type Ref,
} from "vue";
import type { Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import { poolHealth, type PoolHealth } from "../api/pool-health.js";
import type { StatusView } from "../api/status-feed.js";
import { createSession, type Session } from "../session/use-session.js";
import { useKeepAlive } from "./use-keep-alive.js";
import { useConnection } from "./use-connection.js";

/** The connection of the page and its session, for all components. */
export interface Server {
  readonly view: Readonly<Ref<StatusView>>;
  /** Which pools are lost or loading. */
  readonly health: ComputedRef<PoolHealth>;
  readonly session: Session;
  /** Rejects with RpcError (an error of the server) or ConnectionLostError. */
  readonly call: Call;
  /** Until the scope ends. */
  readonly onNotification: (
    method: string,
    listener: (params: Json) => void,
  ) => void;
  /**
   * Calls the listener for each connection with a signed-in user: now, if there is one,
   * after each reconnection and after each sign-in. Until the scope ends.
   */
  readonly whenOpen: (listener: () => void) => void;
  /**
   * Calls `TOPIC.subscribe` for each connection, and `TOPIC.unsubscribe` when the last
   * scope that follows the topic ends. Notifications of the topic: onNotification.
   */
  readonly subscribe: (topic: string) => void;
  /** A name for a live query, unique on this page. */
  readonly nextQueryName: () => string;
  readonly retryNow: () => void;
}

const key: InjectionKey<Server> = Symbol("server");

/** The connection to the server. @throws Error outside of the app */
export function useServer(): Server {
  const server = inject(key);
  if (server === undefined) throw new Error("no server was provided");
  return server;
}

/** Connects; for the root component. */
export function provideServer(): Server {
  const session = createSession();
  const openings = new Set<() => void>();
  /** Number of scopes that follow a topic. */
  const followers = new Map<string, number>();
  /** Id of the user whose session this connection has; undefined: not signed in. */
  let signedIn: string | undefined;
  let lastQuery = 0;
  /** Counts connections. */
  let connections = 0;

  const { connection, view, start } = useConnection();
  connection.onState(({ name }) => {
    if (name !== "open") return;
    signedIn = undefined;
    const opened = ++connections;
    session.opened(connection.call).then(notifyOpened, () => {
      // The server has stopped meanwhile, or a proxy has no server: without a session there are no live queries.
      if (opened === connections) connection.reconnect("the sign-in failed");
    });
  });
  watch(session.user, notifyOpened);

  function notifyOpened(): void {
    const id = session.user.value?.id;
    if (id === signedIn) return;
    signedIn = id;
    if (id !== undefined) for (const opening of openings) opening();
  }

  const whenOpen: Server["whenOpen"] = (listener) => {
    openings.add(listener);
    onScopeDispose(() => openings.delete(listener));
    if (signedIn !== undefined && connection.state.name === "open") listener();
  };

  const server: Server = {
    view,
    health: computed<PoolHealth>((before) =>
      poolHealth(view.value.status, before),
    ),
    session,
    call: connection.call,
    whenOpen,
    onNotification(method, listener) {
      onScopeDispose(connection.onNotification(method, listener));
    },
    subscribe(topic) {
      const attempt = (method: string) =>
        // Subscriptions are repeated at each connection.
        void connection.call(`${topic}.${method}`).catch(() => undefined);
      followers.set(topic, (followers.get(topic) ?? 0) + 1);
      whenOpen(() => {
        attempt("subscribe");
      });
      onScopeDispose(() => {
        const others = (followers.get(topic) ?? 1) - 1;
        followers.set(topic, others);
        if (others === 0) attempt("unsubscribe");
      });
    },
    nextQueryName: () => `w${String(++lastQuery)}`,
    retryNow() {
      connection.retryNow();
    },
  };
  useKeepAlive(() => {
    // Anonymous clients have no session that could expire.
    if (session.user.value?.isGuest === false)
      void connection.call("session.keepAlive").catch(() => undefined);
  });
  start();
  provide(key, server);
  return server;
}
