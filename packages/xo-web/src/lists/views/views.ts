import { isObject, type Json } from "@xo-server/kit";
import type { Messages } from "../../locale/messages.js";
import type { ListQuery } from "./list-query.js";

/** A saved view of a list. */
export interface View {
  readonly id: string;
  readonly name: string;
  readonly query: ListQuery;
}

/** Its name is a text of the locale. */
interface BuiltInView {
  readonly id: keyof Messages["lists"]["views"];
  readonly query: ListQuery;
}

/** Views at most of one type; names in characters at most. */
export const viewLimits = { views: 50, name: 60 };

const byName = [{ by: "name_label" }];
const most = (by: string) => [{ by, descending: true }];

function input(
  id: BuiltInView["id"],
  filter = "",
  { sort = byName, group }: Partial<ListQuery> = {},
): BuiltInView {
  return { id, query: { filter, sort, group } };
}

const byType: Readonly<Record<string, readonly BuiltInView[]>> = {
  VM: [
    input("all"),
    input("running", "power_state:Running"),
    input("mostCpu", "power_state:Running", { sort: most("now.cpu") }),
    input("mostMemory", "power_state:Running", { sort: most("now.memory") }),
    input("mostDisk", "power_state:Running", { sort: most("now.disk") }),
    input("noTools", "power_state:Running !managementAgentDetected?"),
    input("byHost", "", { group: "$container" }),
  ],
  "VM-snapshot": [
    input("all", "", { sort: most("snapshot_time") }),
    input("oldest", "", { sort: [{ by: "snapshot_time" }] }),
  ],
  host: [
    input("all"),
    input("mostCpu", "", { sort: most("now.cpu") }),
    input("needReboot", "rebootRequired?"),
    input("byPool", "", { group: "$pool" }),
  ],
  SR: [
    input("all", "!SR_type:|(iso udev)"),
    input("fullest", "!SR_type:|(iso udev)", { sort: most("physical_usage") }),
    input("withDrives", ""),
  ],
  VDI: [
    input("all"),
    input("largest", "", { sort: most("size") }),
    input("unattached", "!$VBDs:/./"),
  ],
  PIF: [input("all", "", { sort: [{ by: "device" }] })],
  message: [
    input("all", "", { sort: most("time") }),
    input("alarms", "name:ALARM", { sort: most("time") }),
  ],
};

/** The first is the default of a list. */
export function builtInViewsOf(type: string): readonly BuiltInView[] {
  return (Object.hasOwn(byType, type) && byType[type]) || [input("all")];
}

/** Saved views of a type; invalid ones are left out. */
export function readViews(preference: Json | undefined, type: string): View[] {
  const lists = isObject(preference) ? preference : {};
  const list = Object.hasOwn(lists, type) ? lists[type] : undefined;
  if (!Array.isArray(list)) return [];
  return (list as Json[])
    .flatMap((stored) => toView(stored))
    .slice(0, viewLimits.views);
}

/** The preference with these views of a type in the place of those before. */
export function writeViews(
  preference: Json | undefined,
  type: string,
  views: readonly View[],
): Json {
  const lists = isObject(preference) ? preference : {};
  return { ...lists, [type]: views as unknown as Json };
}

function toView(stored: Json): View[] {
  if (!isObject(stored)) return [];
  const { id, name, query } = stored;
  if (typeof id !== "string" || typeof name !== "string" || !isObject(query))
    return [];
  const { filter, sort, group, columns } = query;
  const keys = Array.isArray(sort) ? sort.filter(isObject) : [];
  return [
    {
      id,
      name,
      query: {
        filter: typeof filter === "string" ? filter : "",
        sort: keys.flatMap(({ by, descending }) =>
          typeof by === "string"
            ? [{ by, ...(descending === true ? { descending: true } : {}) }]
            : [],
        ),
        group: typeof group === "string" ? group : undefined,
        ...(Array.isArray(columns) ? { columns: columns.map(String) } : {}),
      },
    },
  ];
}
