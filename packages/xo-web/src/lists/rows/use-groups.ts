import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { useServer } from "../../live/use-server.js";
import { RpcError } from "../../api/rpc-error.js";
import { isObject } from "@xo-server/kit";
import { groupIdOf, listedGroups, type Group } from "./group-term.js";

/** Interval of counting groups, in ms. */
const AGAIN_MS = 5_000;

interface GroupRequest {
  readonly type: string;
  readonly filter: string;
  readonly search: string;
  readonly by: string;
}

export interface Groups {
  readonly list: ShallowRef<readonly Group[] | undefined>;
  /** Matching objects, each counted once although it may be in several groups. */
  readonly total: ShallowRef<number | undefined>;
  /** False: a pool is still being loaded, there may be more objects. */
  readonly isComplete: ShallowRef<boolean>;
  /** Why the server did not count them. */
  readonly refusal: ShallowRef<string | undefined>;
  readonly isOpen: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly setAll: (isOpen: boolean) => void;
}

/** The groups of a list, and which of them are expanded. Existing groups keep their position. */
export function useGroups(request: () => GroupRequest | undefined): Groups {
  const { call, whenOpen } = useServer();
  const list = shallowRef<readonly Group[]>();
  const total = shallowRef<number>();
  const isComplete = shallowRef(true);
  const refusal = shallowRef<string>();
  const open = shallowRef<ReadonlySet<string>>(new Set());
  let turn = 0;

  async function count(isNew: boolean): Promise<void> {
    const requested = request();
    const own = ++turn;
    if (requested === undefined) {
      list.value = total.value = undefined;
      isComplete.value = true;
      return;
    }
    const { by, ...selection } = requested;
    try {
      const details = true;
      const answer = await call("query.group", { ...selection, by, details });
      if (own !== turn || !isObject(answer)) return;
      const next = listedGroups(
        by,
        answer["groups"] as unknown as readonly Group[],
      );
      total.value = Number(answer["total"]);
      isComplete.value = answer["complete"] !== false;
      list.value = isNew ? next : inOrderOf(list.value ?? [], next);
      refusal.value = undefined;
    } catch (error) {
      // While disconnected, the last known groups stay.
      if (own !== turn || !(error instanceof RpcError)) return;
      list.value = [];
      total.value = 0;
      refusal.value = error.message;
    }
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
    total,
    isComplete,
    refusal,
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
