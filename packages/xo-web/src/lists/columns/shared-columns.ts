import type { Column, ColumnId } from "./column.js";
import { column, object, shown, textOf } from "./column-of.js";

export const name = shown(column("name_label", "name", 10.75, { grows: true }));
export const description = column("name_description", "text", 16, {
  grows: true,
});
export const state = shown(
  column("state", "state", 8, {
    sortBy: "power_state",
    fields: ["power_state", "current_operations"],
  }),
);
export const tags = column("tags", "tags", 11);
export const pool = object("$pool", "pool");
export const id = column("id", "code", 20);
export const cpuNow = shown(
  column("cpu", "share", 6.25, { sortBy: "now.cpu" }),
);
export const diskNow = column("disk", "rate", 5.75, { sortBy: "now.disk" });
export const networkNow = column("network", "rate", 5.75, {
  sortBy: "now.network",
});
/** The time at which an object was created. */
export const created = (id: ColumnId): Column => column(id, "time", 12);

/** The host on which it runs; the pool has a column of its own. */
export const home: Column = {
  ...object("$container", "host"),
  width: 7,
  fields: ["$container", "$pool"],
  value: (row) =>
    row["$container"] === row.$pool ? undefined : textOf(row["$container"]),
};
