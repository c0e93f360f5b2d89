import type { Store } from "@xo-server/store";
import { counter, gauge, type Metric } from "./exposition.js";

/** `xo_store_*` and `xo_users` of GET /metrics. */
export function toStoreMetrics({
  state,
  counters,
  users,
}: Pick<Store, "state" | "counters" | "users">): Metric[] {
  return [
    gauge(
      "xo_store_up",
      "1: the database is available.",
      Number(state === "available"),
    ),
    counter("xo_store_changes_total", "Committed changes.", counters.changes),
    counter(
      "xo_store_transactions_total",
      "Committed transactions.",
      counters.transactions,
    ),
    gauge(
      "xo_store_waiting_changes",
      "Changes that wait to be committed.",
      counters.waiting,
    ),
    gauge("xo_users", "Users.", users.size),
  ];
}
