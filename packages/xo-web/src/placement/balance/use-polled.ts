import { onScopeDispose } from "vue";
import { useServer } from "../../live/use-server.js";
import { useAsked, type Asked } from "../../settings/use-asked.js";
import type { Call } from "../../api/server-connection.js";

/** What the server answers to a question, asked anew every so often while somebody looks. Until the scope ends. */
export function usePolled<T>(
  ask: (call: Call) => Promise<unknown>,
  everyMs: number,
): Asked<T> {
  const { view } = useServer();
  const asked = useAsked<T>(ask);
  const timer = setInterval(() => {
    if (view.value.connection.name === "open" && !document.hidden)
      void asked.again();
  }, everyMs);
  onScopeDispose(() => {
    clearInterval(timer);
  });
  return asked;
}
