import { shallowRef, type ShallowRef } from "vue";
import type { Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import { useServer } from "../live/use-server.js";
import { toFailure, type FormFailure } from "./failure.js";

export interface RequestResult<T> {
  /** The last response; retained while the connection is lost. */
  readonly value: Readonly<ShallowRef<T | undefined>>;
  readonly failure: Readonly<ShallowRef<FormFailure | undefined>>;
  /** Calls again, such as after a change. Never rejects. */
  readonly reload: () => Promise<void>;
}

/** Calls the server, and again with each new connection. */
export function useRequest<T = Json>(
  send: (call: Call) => Promise<unknown>,
): RequestResult<T> {
  const { call, whenOpen } = useServer();
  const value = shallowRef<T>();
  const failure = shallowRef<FormFailure>();
  let latest = 0;

  async function reload(): Promise<void> {
    const request = ++latest;
    try {
      const answer = (await send(call)) as T;
      if (request !== latest) return;
      value.value = answer;
      failure.value = undefined;
    } catch (error) {
      // While the connection is lost, the last answer stays; a banner reports it.
      const caught = toFailure(error);
      if (request === latest && caught.code !== undefined)
        failure.value = caught;
    }
  }

  whenOpen(() => void reload());
  return { value, failure, reload };
}
