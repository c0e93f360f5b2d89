import { computed, shallowRef, watch, type ComputedRef } from "vue";
import { isObject } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";
import { useColumns } from "./use-columns.js";
import { toChains, type Chain, type Image } from "./chains.js";

const types = ["VDI", "VDI-snapshot", "VDI-unmanaged"] as const;

/** The chains of images on an SR, live. */
export function useChains(sr: () => string): {
  chains: ComputedRef<readonly Chain[]>;
  isKnown: ComputedRef<boolean>;
  /** Images that wait to be merged, by id of the disk; undefined: not known. */
  waiting: Readonly<{ value: ReadonlyMap<string, number> | undefined }>;
} {
  const columns = types.map((type) =>
    useColumns(() => ({
      type,
      filter: `$SR:${sr()}`,
      paths: ["name_label", "parent"],
    })),
  );
  const images = computed(() =>
    columns.flatMap(({ table }, index): Image[] => {
      const names = table.value.column("name_label");
      const parents = table.value.column("parent");
      return table.value.ids.map((id, row) => ({
        id,
        name: textOf(names[row]) ?? id.slice(0, 8),
        type: types[index]!,
        parent: textOf(parents[row]),
      }));
    }),
  );
  const { call, whenOpen } = useServer();
  const waiting = shallowRef<ReadonlyMap<string, number>>();

  async function load(): Promise<void> {
    const id = sr();
    // Without an answer no chains are shown.
    const answer = await call("sr.getVdiChainsInfo", { id }).catch(() => null);
    if (id !== sr()) return;
    const disks = isObject(answer) ? answer["unhealthyVdis"] : undefined;
    waiting.value = isObject(disks)
      ? new Map(Object.entries(disks).map(([vdi, n]) => [vdi, Number(n)]))
      : undefined;
  }
  whenOpen(() => void load());
  watch(sr, () => {
    waiting.value = undefined;
    void load();
  });
  return {
    chains: computed(() => toChains(images.value)),
    isKnown: computed(() => columns.every(({ isKnown }) => isKnown.value)),
    waiting,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
