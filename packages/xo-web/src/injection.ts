import { inject, type InjectionKey } from "vue";

/** @throws Error when no component above has provided the value */
export function injectRequired<T>(key: InjectionKey<T>): T {
  const value = inject(key);
  if (value === undefined)
    throw new Error(`not provided: ${key.description ?? "unnamed key"}`);
  return value;
}
