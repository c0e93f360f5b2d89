import { setTimeout as pause } from "node:timers/promises";
import type { ApiSession } from "./api-session.js";

/** Resolves when the pool executes this number of calls of a method, as its tasks show. */
export async function untilBegun(
  api: ApiSession,
  method: string,
  count = 1,
): Promise<void> {
  for (;;) {
    const tasks = await api.all({ type: "task", status: "pending" });
    const begun = tasks.filter(({ name_label }) =>
      String(name_label).endsWith(method),
    );
    if (begun.length >= count) return;
    await pause(20);
  }
}
