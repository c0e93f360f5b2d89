import {
  provide,
  readonly,
  shallowRef,
  type InjectionKey,
  type ShallowRef,
} from "vue";
import { injectRequired } from "../injection.js";

export interface Toast {
  /** A toast replaces the toast with the same id. */
  readonly id: string;
  readonly tone: "good" | "bad" | "busy" | "plain";
  readonly text: string;
  readonly detail?: string;
  /** Shown until it is dismissed or replaced. */
  readonly isKept?: boolean;
  /** Label of its button, such as `Undo`. */
  readonly action?: { readonly label: string; readonly run: () => unknown };
}

/** Maximum number of visible toasts; the oldest are removed. */
const MAX_TOASTS = 4;
/**
 * Duration in ms; 0: shown until it is dismissed or replaced. Failures are also
 * listed in the tasks.
 */
const SHOWN_MS = { good: 6_000, plain: 6_000, busy: 0, bad: 30_000 } as const;
/** Duration of toasts with an action, such as `Undo`, in ms. */
const ACTION_MS = 12_000;

export interface Toasts {
  readonly list: Readonly<ShallowRef<readonly Toast[]>>;
  /** @returns the id of the toast */
  readonly show: (
    toast: Omit<Toast, "id"> & { readonly id?: string },
  ) => string;
  readonly dismiss: (id: string) => void;
  /** Stops the timers, while the pointer or the focus is on the toasts. */
  readonly hold: () => void;
  readonly release: () => void;
}

const key: InjectionKey<Toasts> = Symbol("toasts");

/** Short notifications at the edge of the page; for the root component. */
export function provideToasts(): Toasts {
  const toasts = createToasts();
  provide(key, toasts);
  return toasts;
}

/** For components below the one that called `provideToasts`. @throws Error in others */
export function useToasts(): Toasts {
  return injectRequired(key);
}

function createToasts(): Toasts {
  const toasts = shallowRef<readonly Toast[]>([]);
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  let lastId = 0;

  function dismiss(id: string): void {
    clearTimeout(timers.get(id));
    timers.delete(id);
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }

  function startTimer({ id, tone, action, isKept }: Toast): void {
    clearTimeout(timers.get(id));
    if (isKept === true) return;
    const shownMs = SHOWN_MS[tone];
    const ms = shownMs > 0 && action ? Math.max(ACTION_MS, shownMs) : shownMs;
    if (ms > 0)
      timers.set(
        id,
        setTimeout(() => {
          dismiss(id);
        }, ms),
      );
  }

  return {
    list: readonly(toasts),
    dismiss,
    show(content) {
      const toast = { ...content, id: content.id ?? `t${String(++lastId)}` };
      const others = toasts.value.filter(({ id }) => id !== toast.id);
      toasts.value = [...others, toast].slice(-MAX_TOASTS);
      startTimer(toast);
      return toast.id;
    },
    hold() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
    release() {
      for (const toast of toasts.value) startTimer(toast);
    },
  };
}
