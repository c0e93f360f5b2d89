import { shallowRef, type ShallowRef } from "vue";
import type { Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import { useServer } from "../live/use-server.js";
import { toFailure, type Failure } from "./failure.js";

export interface Asked<T> {
  /** The last answer; kept while the server is gone. */
  readonly value: Readonly<ShallowRef<T | undefined>>;
  readonly failure: Readonly<ShallowRef<Failure | undefined>>;
  /** Asks again, after something was changed. Never rejects. */
  readonly again: () => Promise<void>;
}

/** What the server answers to a question, asked anew with each connection. */
export function useAsked<T = Json>(
  ask: (call: Call) => Promise<unknown>,
): Asked<T> {
  const { call, whenOpen } = useServer();
  const value = shallowRef<T>();
  const failure = shallowRef<Failure>();
  let turn = 0;

  async function again(): Promise<void> {
    const mine = ++turn;
    try {
      const answer = (await ask(call)) as T;
      if (mine !== turn) return;
      value.value = answer;
      failure.value = undefined;
    } catch (error) {
      // What was known stays while the server is gone: the banner tells of that.
      const found = toFailure(error);
      if (mine === turn && found.code !== undefined) failure.value = found;
    }
  }

  whenOpen(() => void again());
  return { value, failure, again };
}
