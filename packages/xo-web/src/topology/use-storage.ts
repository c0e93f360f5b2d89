import { computed } from "vue";
import { useObjects } from "../live/use-window.js";
import { hostFields, type HostRow } from "./rows.js";
import {
  pbdFields,
  srFields,
  toStorageMap,
  type PbdRow,
  type SrRow,
} from "./storage.js";

const MAX_OBJECTS = { host: 500, SR: 2_000, PBD: 10_000 } as const;

/** The storage of a pool, live. Undefined: no pool. */
export function useStorage(pool: () => string | undefined) {
  const window = <T>(
    type: keyof typeof MAX_OBJECTS,
    fields: readonly string[],
  ) =>
    useObjects<T>(() => {
      const id = pool();
      if (id === undefined) return undefined;
      return { type, fields, filter: `$pool:${id}`, limit: MAX_OBJECTS[type] };
    });
  const hosts = window<HostRow>("host", hostFields);
  const srs = window<SrRow>("SR", srFields);
  const pbds = window<PbdRow>("PBD", pbdFields);
  const windows = [hosts, srs, pbds];
  return {
    map: computed(() => ({
      ...toStorageMap({
        hosts: hosts.rows.value,
        srs: srs.rows.value,
        pbds: pbds.rows.value,
      }),
      /** Of hosts, by id. */
      names: new Map(
        hosts.rows.value.map(({ id, name_label }) => [
          id,
          name_label ?? id.slice(0, 8),
        ]),
      ),
    })),
    isLoading: computed(() =>
      windows.some(({ state }) => state.value === "loading"),
    ),
    refusal: computed(() =>
      windows.map(({ error }) => error.value).find(Boolean),
    ),
  };
}
