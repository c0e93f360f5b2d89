import { provide, type ComputedRef, type InjectionKey } from "vue";
import { injectRequired } from "../injection.js";

const key: InjectionKey<ComputedRef<number>> = Symbol("clock");

/** Provides the time that ages are relative to, in ms since the epoch. */
export function provideClock(clock: ComputedRef<number>): void {
  provide(key, clock);
}

/** The current time, in ms since the epoch, as the server has it. */
export function useClock(): ComputedRef<number> {
  return injectRequired(key);
}
