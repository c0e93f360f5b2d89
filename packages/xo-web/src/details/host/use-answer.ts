import { shallowRef, watch, type ShallowRef } from "vue";
import type { Json } from "@xo-server/kit";
import { useServer } from "../../live/use-server.js";
import { useLocale } from "../../locale/use-locale.js";
import { reasonOf } from "../reason-of.js";

/**
 * The result of an API call, which is sent when the connection is open and again
 * whenever `question` returns another method, parameters or version.
 */
export function useAnswer<T extends Json>(
  question: () => {
    readonly method: string;
    readonly params: Readonly<Record<string, Json>>;
    /** Anything that changes when the result may have changed. */
    readonly version?: unknown;
  },
): {
  /** The last result; undefined until one has arrived. */
  answer: Readonly<ShallowRef<T | undefined>>;
  /** Why the last call failed; undefined: it has not. */
  refusal: Readonly<ShallowRef<string | undefined>>;
  /** Sends the call again. */
  again: () => Promise<void>;
} {
  const { call, whenOpen } = useServer();
  const { text } = useLocale();
  const answer = shallowRef<T>();
  const refusal = shallowRef<string>();
  let last = 0;

  async function again(): Promise<void> {
    const own = ++last;
    const { method, params } = question();
    try {
      const received = await call(method, params);
      if (own !== last) return;
      answer.value = received as T;
      refusal.value = undefined;
    } catch (error) {
      if (own === last) refusal.value = reasonOf(error, text.value);
    }
  }
  whenOpen(() => void again());
  watch(
    () => JSON.stringify(question()),
    () => void again(),
  );
  return { answer, refusal, again };
}
