import type { Store } from "@xo-server/store";
import { counter, gauge, type Metric } from "./exposition.js";

export function toStoreMetrics({
  state,
  counters,
  users,
}: Pick<Store, "state" | "counters" | "users">): Metric[] {
  return [
    gauge(
      "xo_store_up",
      "1: users, rights and settings can be changed.",
      Number(state === "available"),
    ),
    counter(
      "xo_store_changes_total",
      "Changes that were written.",
      counters.changes,
    ),
    counter(
      "xo_store_transactions_total",
      "Transactions that it took.",
      counters.transactions,
    ),
    gauge(
      "xo_store_waiting_changes",
      "Changes that wait to be written.",
      counters.waiting,
    ),
    gauge("xo_users", "Users.", users.size),
  ];
}
