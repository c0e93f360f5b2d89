import { readonly, shallowRef, type ShallowRef } from "vue";

export interface Toast {
  /** A new one with the same id takes the place of the old one. */
  readonly id: string;
  readonly tone: "good" | "bad" | "busy" | "plain";
  readonly text: string;
  readonly detail?: string;
  /** Such as `Undo`. */
  readonly action?: { readonly label: string; readonly run: () => unknown };
}

/** More do not pile up: the oldest go. */
const MOST = 4;
/** What went wrong stays until it is put away. */
const SHOWN_MS = { good: 6_000, plain: 6_000, busy: 0, bad: 0 } as const;
/** Whoever may want to undo gets the time to read. */
const ACTION_MS = 12_000;

const toasts = shallowRef<readonly Toast[]>([]);
const timers = new Map<string, ReturnType<typeof setTimeout>>();
let lastId = 0;

export interface Toasts {
  readonly list: Readonly<ShallowRef<readonly Toast[]>>;
  /** @returns its id */
  readonly show: (
    toast: Omit<Toast, "id"> & { readonly id?: string },
  ) => string;
  readonly putAway: (id: string) => void;
  /** While the pointer or the focus is on them none goes away. */
  readonly hold: () => void;
  readonly release: () => void;
}

/** Short words about what has just happened, at the edge of the page. */
export function useToasts(): Toasts {
  return { list: readonly(toasts), show, putAway, hold, release };
}

function show(given: Omit<Toast, "id"> & { readonly id?: string }): string {
  const toast = { ...given, id: given.id ?? `t${++lastId}` };
  const others = toasts.value.filter(({ id }) => id !== toast.id);
  toasts.value = [...others, toast].slice(-MOST);
  plan(toast);
  return toast.id;
}

function putAway(id: string): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function plan({ id, tone, action }: Toast): void {
  clearTimeout(timers.get(id));
  const ms = SHOWN_MS[tone] > 0 && action ? ACTION_MS : SHOWN_MS[tone];
  if (ms > 0)
    timers.set(
      id,
      setTimeout(() => {
        putAway(id);
      }, ms),
    );
}

function hold(): void {
  for (const timer of timers.values()) clearTimeout(timer);
}

function release(): void {
  for (const toast of toasts.value) plan(toast);
}
