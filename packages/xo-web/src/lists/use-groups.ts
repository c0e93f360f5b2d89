import {
  computed,
  onScopeDispose,
  shallowRef,
  watch,
  type ComputedRef,
  type ShallowRef,
} from "vue";
import { useServer } from "../live/use-server.js";
import { isObject } from "../api/merge-patch.js";
import { groupIdOf, type Group } from "./group-term.js";

/** Groups are counted anew so often, milliseconds. */
const AGAIN_MS = 5_000;

export interface GroupRequest {
  readonly type: string;
  readonly filter: string;
  readonly search: string;
  readonly by: string;
}

export interface Groups {
  readonly list: ShallowRef<readonly Group[] | undefined>;
  readonly isOpen: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly setAll: (isOpen: boolean) => void;
  readonly openCount: ComputedRef<number>;
}

/** Into which groups a list falls, and which of them are open. Groups that are there keep their place. */
export function useGroups(request: () => GroupRequest | undefined): Groups {
  const { call, whenOpen } = useServer();
  const list = shallowRef<readonly Group[]>();
  const open = shallowRef<ReadonlySet<string>>(new Set());
  let turn = 0;

  async function count(isNew: boolean): Promise<void> {
    const wanted = request();
    const own = ++turn;
    if (wanted === undefined) {
      list.value = undefined;
      return;
    }
    const { by, ...selection } = wanted;
    const told = await call("query.group", { ...selection, by }).catch(
      () => undefined,
    );
    if (own !== turn || !Array.isArray(told)) return;
    const next = told.filter(isObject) as unknown as Group[];
    list.value = isNew ? next : inOrderOf(list.value ?? [], next);
  }

  watch(request, (next, before) => {
    if (JSON.stringify(next) === JSON.stringify(before)) return;
    if (next?.by !== before?.by) open.value = new Set();
    void count(true);
  });
  whenOpen(() => void count(list.value === undefined));
  const timer = setInterval(() => {
    if (!document.hidden && request() !== undefined) void count(false);
  }, AGAIN_MS);
  onScopeDispose(() => {
    clearInterval(timer);
  });

  return {
    list,
    openCount: computed(() => open.value.size),
    isOpen: (id) => open.value.has(id),
    toggle(id) {
      const next = new Set(open.value);
      if (!next.delete(id)) next.add(id);
      open.value = next;
    },
    setAll(isOpen) {
      open.value = new Set(isOpen ? (list.value ?? []).map(groupIdOf) : []);
    },
  };
}

function inOrderOf(
  before: readonly Group[],
  next: readonly Group[],
): readonly Group[] {
  const news = new Map(next.map((group) => [groupIdOf(group), group]));
  const kept = before.flatMap((group) => news.get(groupIdOf(group)) ?? []);
  const known = new Set(kept);
  return [...kept, ...next.filter((group) => !known.has(group))];
}
