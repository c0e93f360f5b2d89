import { shallowRef, watch, type ShallowRef } from "vue";
import type { Json } from "@xo-server/kit";
import { useServer } from "../../live/use-server.js";
import { useLocale } from "../../locale/use-locale.js";
import { reasonOf } from "../reason-of.js";

/**
 * The answer to a question, requested at first and again
 * whenever `question` changes.
 */
export function useAnswer<T extends Json>(
  question: () => {
    readonly method: string;
    readonly params: Readonly<Record<string, Json>>;
    /** Requests again when it changes. */
    readonly version?: unknown;
  },
): {
  answer: Readonly<ShallowRef<T | undefined>>;
  /** Why the request failed. */
  refusal: Readonly<ShallowRef<string | undefined>>;
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
