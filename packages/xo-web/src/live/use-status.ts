import { onScopeDispose, shallowRef, type ShallowRef } from "vue";
import type { Json } from "@xo-server/kit";
import {
  StatusStream,
  type Call,
  type StatusView,
} from "../api/status-stream.js";

/** The server's status, live, with the connection kept up for as long as the scope lives. */
export function useStatus(on: {
  onOpen: (call: Call) => void;
  onOther: (method: string, params: Json) => void;
}): {
  view: Readonly<ShallowRef<StatusView>>;
  retryNow: () => void;
} {
  const view = shallowRef<StatusView>({
    status: undefined,
    live: false,
    receivedAt: performance.now(),
    connection: { name: "idle" },
    refusal: undefined,
  });
  const stream = new StatusStream({
    url: socketUrl(),
    ...on,
    onView: (next) => {
      view.value = next;
    },
  });
  const retryNow = () => {
    stream.retryNow();
  };
  // Whoever comes back to the page, or to the network, does not wait for the pause to end.
  const events = new AbortController();
  const { signal } = events;
  addEventListener("online", retryNow, { signal });
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.visibilityState === "visible") retryNow();
    },
    { signal },
  );
  stream.start();
  onScopeDispose(() => {
    events.abort();
    stream.stop();
  });
  return { view, retryNow };
}

function socketUrl(): string {
  const url = new URL("api/", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = "";
  url.hash = "";
  return url.href;
}
