import { readonly, ref, shallowRef, type Ref, type ShallowRef } from "vue";
import type { Json } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";
import { useLocale } from "../locale/use-locale.js";
import { fill } from "../locale/messages.js";
import { useToasts } from "../toasts/use-toasts.js";
import { toFailure, type FormFailure } from "./failure.js";

/** Calls an operation that changes something: one call at a time, with the failure of the last. */
export interface Change {
  readonly isBusy: Readonly<Ref<boolean>>;
  readonly failure: Readonly<ShallowRef<FormFailure | undefined>>;
  /** The message for the form; undefined: no failure, or the failure belongs to fields. */
  readonly problem: () => string | undefined;
  /** The message for a field. */
  readonly at: (field: string) => string | undefined;
  readonly forget: () => void;
  /**
   * @returns the response; undefined: it failed, and `failure` has the reason
   */
  readonly run: <T = Json>(
    method: string,
    params?: object,
    timeoutMs?: number,
  ) => Promise<{ readonly answer: T } | undefined>;
}

/** @param where failures are shown: in the form (`problem`), or as a toast */
export function useChange(where: "form" | "toast" = "form"): Change {
  const { call } = useServer();
  const { text } = useLocale();
  const toasts = useToasts();
  const isBusy = ref(false);
  const failure = shallowRef<FormFailure>();

  const messageOf = ({ code, reason, seconds = 0 }: FormFailure): string => {
    const { refused } = text.value.settings;
    if (code === undefined) return text.value.ui.lost;
    const known = Object.hasOwn(refused, code)
      ? refused[code as keyof typeof refused]
      : text.value.ui.failed;
    return fill(known, { reason, seconds: String(seconds) });
  };

  return {
    isBusy: readonly(isBusy),
    failure,
    problem() {
      const { value } = failure;
      if (value === undefined || Object.keys(value.fields).length > 0)
        return undefined;
      return messageOf(value);
    },
    at(field) {
      const inputError = failure.value?.fields[field];
      if (inputError === undefined) return undefined;
      const { inputErrors } = text.value.settings;
      return Object.hasOwn(inputErrors, inputError.rule)
        ? inputErrors[inputError.rule as keyof typeof inputErrors]
        : inputError.message;
    },
    forget() {
      failure.value = undefined;
    },
    async run<T>(method: string, params: object = {}, timeoutMs?: number) {
      isBusy.value = true;
      failure.value = undefined;
      try {
        const json = JSON.parse(JSON.stringify(params)) as Json;
        return { answer: (await call(method, json, timeoutMs)) as T };
      } catch (error) {
        failure.value = toFailure(error);
        if (where === "toast")
          toasts.show({ tone: "bad", text: messageOf(failure.value) });
        return undefined;
      } finally {
        isBusy.value = false;
      }
    },
  };
}
