import { onScopeDispose, shallowRef, type ShallowRef } from "vue";
import { isReachable } from "../api/is-reachable.js";
import { ServerConnection } from "../api/server-connection.js";
import { StatusFeed, type StatusView } from "../api/status-feed.js";

/** Creates the connection to the server and its status feed; both stop with the scope. */
export function useConnection(): {
  readonly connection: ServerConnection;
  readonly view: Readonly<ShallowRef<StatusView>>;
  /** Call it when all listeners are registered. */
  readonly start: () => void;
} {
  const view = shallowRef<StatusView>({
    status: undefined,
    live: false,
    receivedAt: performance.now(),
    connection: { name: "idle" },
    refusal: undefined,
  });
  const connection = new ServerConnection({ url: socketUrl() });
  const feed = new StatusFeed(connection, {
    isReachable,
    onView: (next) => {
      view.value = next;
    },
  });
  // A page that becomes visible, or is online again, connects without waiting for the back-off.
  const events = new AbortController();
  const { signal } = events;
  const retryNow = () => {
    connection.retryNow();
  };
  addEventListener("online", retryNow, { signal });
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.visibilityState === "visible") retryNow();
    },
    { signal },
  );
  onScopeDispose(() => {
    events.abort();
    feed.stop();
    connection.stop();
  });
  return {
    connection,
    view,
    start() {
      connection.start();
    },
  };
}

function socketUrl(): string {
  const url = new URL("api/", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = "";
  url.hash = "";
  return url.href;
}
