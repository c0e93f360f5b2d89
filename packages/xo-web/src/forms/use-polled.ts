import { onScopeDispose } from "vue";
import { useServer } from "../live/use-server.js";
import { useRequest, type RequestResult } from "./use-request.js";
import type { Call } from "../api/server-connection.js";

/** Calls the server at an interval while the page is visible and connected, until the scope ends. */
export function usePolled<T>(
  send: (call: Call) => Promise<unknown>,
  everyMs: number,
): RequestResult<T> {
  const { view } = useServer();
  const result = useRequest<T>(send);
  const timer = setInterval(() => {
    if (view.value.connection.name === "open" && !document.hidden)
      void result.reload();
  }, everyMs);
  onScopeDispose(() => {
    clearInterval(timer);
  });
  return result;
}
