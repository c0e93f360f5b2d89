import { computed, shallowRef, type ComputedRef } from "vue";
import { isObject } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";
import type { SidePage } from "./side-pages.js";

/** Pages that are empty without objects of a type. */
const typeOfPage: Partial<Readonly<Record<SidePage["page"], string>>> = {
  hosts: "host",
  pools: "pool",
  templates: "VM-template",
  srs: "SR",
  vdis: "VDI",
  networks: "network",
  pifs: "PIF",
  topology: "pool",
  storageMap: "SR",
  placement: "pool",
  health: "pool",
  updates: "pool",
};

/**
 * Whether a page shows something to the user: users with few rights get no
 * links to empty pages. Requested once per sign-in; administrators see all
 * pages.
 */
export function useVisiblePages(): ComputedRef<
  (page: SidePage["page"]) => boolean
> {
  const { call, session, whenOpen } = useServer();
  const empty = shallowRef<ReadonlySet<string>>(new Set());

  async function isEmpty(type: string): Promise<boolean> {
    const page = await call("query.page", { type, limit: 1, fields: ["id"] });
    return isObject(page) && page["total"] === 0;
  }
  async function load(): Promise<void> {
    const user = session.user.value;
    if (user == null || user.isAdmin || user.isGuest) {
      empty.value = new Set();
      return;
    }
    const types = [...new Set(Object.values(typeOfPage))];
    const flags = await Promise.all(
      // If objects cannot be counted, the page is shown: it reports the reason.
      types.map((type) => isEmpty(type).catch(() => false)),
    );
    empty.value = new Set(types.filter((_, i) => flags[i]));
  }
  whenOpen(() => void load());
  return computed(() => (page) => {
    const type = typeOfPage[page];
    return type === undefined || !empty.value.has(type);
  });
}
